"""A raw HTTP/1.1 client for tests of the endpoint: bytes out, what came back in, nothing done behind one's back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.headers import for_request
from jupyter_mcp.protocol.sse import Event, SseDecoder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from jupyter_mcp.server.http.running import Running

LIMIT = 10.0
INFO = {"name": "raw", "version": "1"}
EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
BOTH = "application/json, text/event-stream"


@dataclass
class Answer:
    """One response; its body is read as it comes."""

    status: int
    headers: dict[str, str]
    connection: Connection
    decoder: SseDecoder = field(default_factory=SseDecoder)
    waiting: list[Event] = field(default_factory=list[Event])
    ended: bool = False
    raw: bytes = b""

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "")

    async def chunk(self) -> bytes:
        """The next part of the body; b"" at its end."""
        if self.ended:
            return b""
        reader = self.connection.reader
        async with asyncio.timeout(LIMIT):
            if "content-length" in self.headers:
                self.ended = True
                data = await reader.readexactly(int(self.headers["content-length"]))
            elif self.headers.get("transfer-encoding") == "chunked":
                size = int(await reader.readline(), 16)
                data = await reader.readexactly(size)
                await reader.readexactly(2)
                self.ended = size == 0
            else:
                data = await reader.read(65536)
                self.ended = not data
        self.raw += data
        return data

    async def body(self) -> bytes:
        """All of it."""
        while not self.ended:
            await self.chunk()
        return self.raw

    async def json(self) -> Any:
        return json.loads(await self.body())

    async def text(self) -> str:
        return (await self.body()).decode()

    async def event(self) -> Event | None:
        """The next event; None at the end of the stream."""
        while not self.waiting:
            data = await self.chunk()
            if not data:
                return None
            self.waiting += [one for one in self.decoder.feed(data) if isinstance(one, Event)]
        return self.waiting.pop(0)

    async def message(self) -> Any:
        """The JSON of the next event."""
        event = await self.event()
        assert event is not None, "the stream ended"
        return json.loads(event.data)

    async def messages(self) -> AsyncIterator[Any]:
        while (event := await self.event()) is not None:
            yield json.loads(event.data)

    async def last(self) -> Any:
        """The answer: the JSON body, or the last event of the stream."""
        if self.kind.startswith("application/json"):
            return await self.json()
        return [one async for one in self.messages()][-1]


class Connection:
    """One TCP connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | list[tuple[str, str]] = {},  # noqa: B006
        body: bytes | None = None,
        *,
        version: str = "HTTP/1.1",
    ) -> None:
        pairs = list(headers.items() if not isinstance(headers, list) else headers)
        if body is not None:
            pairs.append(("Content-Length", str(len(body))))
        head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
        await self.write(f"{method} {path} {version}\r\n{head}\r\n".encode("latin-1") + (body or b""))

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Answer:
        async with asyncio.timeout(LIMIT):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Answer(int(first.split()[1]), headers, self)

    def close(self) -> None:
        self.writer.close()

    def abort(self) -> None:
        self.writer.transport.abort()

    async def is_closed(self) -> bool:
        """Wait for the other side to close."""
        async with asyncio.timeout(LIMIT):
            try:
                while await self.reader.read(65536):
                    pass
            except ConnectionError:
                pass
        return True


class Raw:
    """A client of one running endpoint. Connections are kept until the end of the `async with`."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.path = running.endpoint.path
        self.base = {"Host": f"127.0.0.1:{running.port}", **running.headers}
        self.session: str | None = None
        self.revision = ""
        self._ids = iter(range(1, 10**6))
        self._connections: list[Connection] = []

    async def __aenter__(self) -> Raw:
        return self

    async def __aexit__(self, *exc: object) -> None:
        for connection in self._connections:
            connection.abort()

    async def connect(self, **options: Any) -> Connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.running.port, limit=2**20, **options)
        connection = Connection(reader, writer)
        self._connections.append(connection)
        return connection

    async def http(
        self,
        method: str,
        headers: Mapping[str, str | None] | None = None,
        body: bytes | None = None,
        *,
        path: str | None = None,
        on: Connection | None = None,
    ) -> Answer:
        """Any request; a header that is None is left out."""
        connection = on or await self.connect()
        given = {**self.base, **(headers or {})}
        kept = {name: value for name, value in given.items() if value is not None}
        await connection.send(method, path or self.path, kept, body)
        return await connection.answer()

    async def post(
        self,
        message: Any,
        headers: Mapping[str, str | None] | None = None,
        *,
        on: Connection | None = None,
        path: str | None = None,
    ) -> Answer:
        """A POST of JSON, with the headers of the session if there is one."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given: dict[str, str | None] = {"Content-Type": "application/json", "Accept": BOTH, **self.of_session()}
        return await self.http("POST", {**given, **(headers or {})}, body, on=on, path=path)

    def of_session(self) -> dict[str, str]:
        if self.session is None:
            return {}
        return {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": self.revision}

    # --- legacy

    async def initialize(self, revision: str = "2025-11-25", capabilities: Mapping[str, Any] = EVERYTHING) -> Answer:
        """The whole handshake; returns the answer to initialize."""
        params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": INFO}
        answer = await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        result = (await answer.last())["result"]
        self.session, self.revision = answer.headers["mcp-session-id"], result["protocolVersion"]
        assert (await self.notify("notifications/initialized")).status == 202
        return answer

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        return await self.post({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, id: int | str | None = None, **options: Any
    ) -> Answer:
        """A legacy request in the session."""
        id_ = next(self._ids) if id is None else id
        return await self.post({"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}, **options)

    async def get(self, last: str | None = None, **options: Any) -> Answer:
        """A GET stream of the session."""
        given = {"Accept": "text/event-stream", **self.of_session(), **({"Last-Event-ID": last} if last else {})}
        return await self.http("GET", given, **options)

    # --- modern

    def enveloped(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """A modern request."""
        capabilities = meta.pop("capabilities", EVERYTHING)
        given = modern.envelope(params, revision="2026-07-28", client_info=INFO, capabilities=capabilities)
        given["_meta"] |= meta
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": given}

    async def modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        log: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        on: Connection | None = None,
        **meta: Any,
    ) -> Answer:
        """A modern request with the headers that go with it."""
        if log is not None:
            meta[modern.LOG_LEVEL_KEY] = log
        message = self.enveloped(method, params, **meta)
        return await self.post(message, {**for_request(message), **(headers or {})}, on=on)
