"""HTTP to a server on this machine, on asyncio alone: what makes the bridge start in the time that its agent has.

The library that knows all of HTTP takes longer to load than everything else here. Between the bridge and a notebook
there are no proxies, redirects, cookies, compression or TLS; what is left is HTTP/1.1 with bodies of known length, in
chunks, or to the end of the connection. Anything else is an error, not a guess.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jupyter_mcp.errors import ConnectionLost
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.transport.http.wire import Answer, Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    import yarl

    from jupyter_mcp.transport.http.options import HttpOptions

IDLE_SECONDS = 30.0
"""A connection unused for longer is not used again: the server may be about to close it."""
CONNECT_SECONDS = 5.0
_LIMIT = 2**18  # bytes of a head, or of one line
_PIECE = 2**18


class _Connection:
    """One connection, and since when nobody uses it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.since = 0.0

    def close(self) -> None:
        self.writer.close()


class NearAnswer(Answer):
    """An answer on one of the wire's connections."""

    __slots__ = ("_chunked", "_connection", "_done", "_headers", "_left", "_wire")

    def __init__(self, wire: NearWire, connection: _Connection, head: bytes) -> None:
        self._wire = wire
        self._connection = connection
        self._done = False
        self.authorized = wire.authorized
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, rest = first.partition(" ")
        code, _, reason = rest.partition(" ")
        if not version.startswith("HTTP/1.") or not code.isdecimal():
            raise ValueError("not an HTTP/1.1 answer")
        self._headers: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            self._headers[name.strip().lower()] = value.strip()
        self.status = int(code)
        self.reason = printable(reason, 80)
        self.media_type = self.header("content-type").partition(";")[0].strip().lower()
        self._chunked = self.header("transfer-encoding").lower() == "chunked"
        length = self.header("content-length")
        self._left: int | None = int(length) if length else None  # of this chunk, or of the body; None: to the end
        if self._chunked:
            self._left = 0
        elif self._left == 0 or self.status in (204, 304):
            self._end()

    def header(self, name: str) -> str:
        """One header; "" when it is absent."""
        return self._headers.get(name.lower(), "")

    async def some(self) -> bytes:
        """The next bytes of the body; b"" at its end. Raises `ConnectionLost`."""
        if self._done:
            return b""
        try:
            return await self._some(self._connection.reader)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            self.close()
            raise ConnectionLost(f"{self._wire.where} closed the connection in the middle of its answer.") from error

    async def _some(self, reader: asyncio.StreamReader) -> bytes:
        if self._chunked and self._left == 0:
            self._left = int((await reader.readuntil(b"\n")).partition(b";")[0], 16)
            if self._left == 0:
                while (await reader.readuntil(b"\n")).strip():
                    pass  # trailers
                self._end()
                return b""
        data = await reader.read(_PIECE if self._left is None else min(self._left, _PIECE))
        if self._left is None:
            if not data:
                self.close()
            return data
        if not data:
            raise EOFError
        self._left -= len(data)
        if self._left == 0:
            if self._chunked:
                await reader.readuntil(b"\n")
            else:
                self._end()
        return data

    def _end(self) -> None:
        """The body was read: the connection may be used again."""
        self._done = True
        if self._left is None or self.header("connection").lower() == "close":
            self._connection.close()
        else:
            self._wire.give_back(self._connection)

    def resolve(self, location: str) -> yarl.URL | None:
        """Nothing leads anywhere else."""
        return None

    def close(self) -> None:
        """Done with it; a body that was not read to its end costs the connection."""
        if not self._done:
            self._done = True
            self._connection.close()


class NearWire(Wire):
    """The connections to one server on this machine."""

    def __init__(self, url: str, options: HttpOptions) -> None:
        super().__init__(url, options)
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._head = f"{parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        self.authorized = any(name.lower() == "authorization" for name in self._headers)
        self._own = {name: value for name, value in self._headers.items() if name != "Accept-Encoding"}
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()
        self._closed = False

    def open(self) -> None:
        """Get ready; nothing is sent. Raises `ConnectionFailed` for what cannot be sent."""
        self._check()

    async def send(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        target: yarl.URL | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """Send one request and return its answer. Raises ConnectionLost, with `may_have_run`; TimeoutError."""
        async with asyncio.timeout(seconds):
            return await self._sent(method, headers, body)

    async def _sent(self, method: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        connection = await self._connected()
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**self._own, **headers}.items())
        head = f"{method} {self._head}{lines}Content-Length: {len(body or b'')}\r\n\r\n"
        try:
            connection.writer.write(head.encode("latin-1") + (body or b""))
            await connection.writer.drain()
            found = await connection.reader.readuntil(b"\r\n\r\n")
            return NearAnswer(self, connection, found[:-4])
        except asyncio.IncompleteReadError:
            connection.close()
            raise ConnectionLost(f"{self.where} closed the connection without an answer.") from None
        except (OSError, ValueError, asyncio.LimitOverrunError) as error:
            connection.close()
            raise ConnectionLost(f"The connection to {self.where} broke ({type(error).__name__}).") from error
        except asyncio.CancelledError:
            connection.close()
            raise

    async def _connected(self) -> _Connection:
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if now - connection.since < IDLE_SECONDS and not connection.reader.at_eof():
                return connection
            connection.close()
        if self._closed:
            raise ConnectionLost("The connection has been closed.", may_have_run=False)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await asyncio.open_connection(self._host, self._port, limit=_LIMIT)
        except OSError as error:
            text = f"{self.where} cannot be reached ({error.strerror or type(error).__name__})."
            raise ConnectionLost(text, may_have_run=False) from None
        connection = _Connection(reader, writer)
        self._open.add(connection)
        return connection

    def give_back(self, connection: _Connection) -> None:
        """Its answer was read to the end."""
        connection.since = asyncio.get_running_loop().time()
        self._idle.append(connection)
        self._open = {one for one in self._open if not one.writer.is_closing()}

    async def close(self) -> None:
        """Close every connection."""
        self._closed = True
        for connection in self._open:
            connection.close()
        await asyncio.sleep(0)
