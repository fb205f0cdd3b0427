"""A raw HTTP/1.1 server whose every byte the test chooses.

    async def script(request: Request, reply: Reply) -> None:
        if request.method == "POST":
            await reply.json({"jsonrpc": "2.0", "id": request.json["id"], "result": {}})

    async with FakeHttp(script) as fake:
        ... fake.url, fake.requests, await fake.until(lambda: len(fake.requests) == 2)

It can drop a connection, reset it, answer in pieces, speak TLS, listen on a Unix socket and be a proxy.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol import sse

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Mapping

WORDS = {200: "OK", 202: "Accepted", 204: "No Content", 307: "Temporary Redirect", 404: "Not Found", 502: "Bad Gateway"}


@dataclass
class Request:
    """What arrived. `headers` keeps order and spelling; `target` is the request line's, verbatim."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    connection: int = 0
    json: Any = field(init=False)

    def __post_init__(self) -> None:
        try:
            self.json = json.loads(self.body) if self.body else None
        except ValueError:
            self.json = None

    def all(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """The one value of a header, None when it is absent."""
        values = self.all(name)
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def rpc(self) -> str:
        """The JSON-RPC method, "reply" for a response, else the HTTP method."""
        if isinstance(self.json, dict):
            return str(self.json.get("method", "reply"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return self.method


class Gone(Exception):
    """The client closed the connection."""


class Reply:
    """How the script answers one request."""

    def __init__(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._request = request
        self._reader = reader
        self._writer = writer
        self._chunked = False
        self.over = False  # the connection ends after this answer

    async def raw(self, data: bytes) -> None:
        """These very bytes."""
        self._writer.write(data)
        try:
            await self._writer.drain()
        except ConnectionError as error:
            raise Gone from error

    async def send(self, status: int, body: bytes = b"", **headers: str) -> None:
        """A whole answer; `content_type=…` becomes `Content-Type`."""
        await self.raw(self._head(status, {"content_length": str(len(body)), **headers}) + body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        """A JSON answer."""
        await self.send(status, json.dumps(value).encode(), content_type="application/json", **headers)

    async def result(self, result: Any, **headers: str) -> None:
        """A JSON-RPC result for the request."""
        await self.json(self.answer(result), 200, **headers)

    def answer(self, result: Any) -> dict[str, Any]:
        """That result, as a message."""
        return {"jsonrpc": "2.0", "id": self._request.json["id"], "result": result}

    async def accepted(self) -> None:
        """202, empty."""
        await self.send(202)

    async def stream(self, **headers: str) -> None:
        """Begin an event stream."""
        self._chunked = True
        given = {"content_type": "text/event-stream", "transfer_encoding": "chunked", **headers}
        await self.raw(self._head(200, given))

    async def piece(self, data: bytes) -> None:
        """Some bytes of the stream, as one chunk."""
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def event(
        self, value: Any = None, *, id: str | None = None, retry: int | None = None, name: str = ""
    ) -> None:
        """An event with this value as JSON (None: empty data)."""
        data = b"" if value is None else json.dumps(value, ensure_ascii=False).encode()
        await self.piece(sse.encode(data, event=name, id=id, retry=retry))

    async def end(self) -> None:
        """The proper end of the stream."""
        await self.raw(b"0\r\n\r\n")
        self._chunked = False

    async def event_stream_of(self, value: Any) -> None:
        """A whole event stream with one event."""
        await self.stream()
        await self.event(value)
        await self.end()

    async def gone(self) -> None:
        """Wait until the client closes the connection."""
        while await self._reader.read(1000):
            pass

    def drop(self) -> None:
        """Close the connection, whatever has been said."""
        self.over = True
        self._writer.close()

    def reset(self) -> None:
        """Cut the connection the hard way (RST)."""
        self.over = True
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def tunnel(self, host: str, port: int) -> None:
        """Answer CONNECT and pass bytes to and fro until either side ends."""
        self.over = True
        reader, writer = await asyncio.open_connection(host, port)
        await self.raw(b"HTTP/1.1 200 Connection established\r\n\r\n")
        ways = [asyncio.create_task(copy(self._reader, writer)), asyncio.create_task(copy(reader, self._writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {status} {WORDS.get(status, 'Status')}"]
        lines += [f"{name.replace('_', '-').title()}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on bytes until their end."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


class FakeHttp:
    """The server; an asynchronous context manager.

    Args:
        script: called with each request; what it raises fails the test at the end.
        path: of the URL.
        tls: speak TLS with this context.
        unix: listen on this Unix socket instead of a port.

    Attributes:
        requests: what has arrived, in order.
        open: connections open now.
    """

    def __init__(
        self,
        script: Callable[[Request, Reply], Awaitable[None]],
        *,
        path: str = "/mcp",
        tls: ssl.SSLContext | None = None,
        unix: str | None = None,
    ) -> None:
        self._script = script
        self._path = path
        self._tls = tls
        self._unix = unix
        self.requests: list[Request] = []
        self.open = 0
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: list[BaseException] = []
        self._changed = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}{self._path}"

    async def __aenter__(self) -> FakeHttp:
        if self._unix:
            self._server = await asyncio.start_unix_server(self._connected, self._unix)
        else:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls, limit=2**25)
            self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if kind is None and self._failures:
            raise self._failures[0]

    def methods(self) -> list[str]:
        """What arrived, by `Request.rpc`."""
        return [request.rpc for request in self.requests]

    async def until(self, condition: Callable[[], object], seconds: float = 40.0) -> None:
        """Wait until `condition` holds, asked again after each request and each change of connections."""
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self._connections += 1
        number = self._connections
        try:
            while (request := await _read(reader, number)) is not None:
                self.requests.append(request)
                self._changed.set()
                reply = Reply(request, reader, writer)
                await self._script(request, reply)
                if reply.over:
                    break
        except (Gone, ConnectionError, asyncio.IncompleteReadError):
            pass
        except Exception as error:
            self._failures.append(error)
        finally:
            writer.close()
            self.open -= 1
            self._changed.set()


async def _read(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    return Request(method, target, headers, await reader.readexactly(length), connection)
