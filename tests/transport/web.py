"""A transport over HTTP opened to a fake server, and what it tells its receiver; nothing may be left after closing."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.transport.http import HttpOptions, HttpTransport
from jupyter_mcp.transport.sse import SseTransport
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from jupyter_mcp.transport.base import Message

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Web(Recorder):
    """A receiver that HTTP may tell of failures."""

    def __init__(self) -> None:
        super().__init__()
        self.failed: dict[int | str | None, Exception] = {}
        self.alive: list[int | str | None] = []

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None:
        assert request_id not in self.failed
        self.failed[request_id] = error
        self._changed.set()

    def on_alive(self, request_id: int | str | None) -> None:
        self._add(self.alive, request_id)

    def answers(self, id: int | str) -> list[Message]:
        """The responses with this id."""
        return [message for message in self.messages if message.get("id") == id and "method" not in message]

    async def settled(self, id: int | str, seconds: float = 40.0) -> Message | Exception:
        """The one answer to a request, or why there is none."""
        await self.until(lambda: self.answers(id) or id in self.failed, seconds)
        found = [*self.answers(id), *([self.failed[id]] if id in self.failed else [])]
        assert len(found) == 1, found
        return found[0]

    async def failure(self, id: int | str, seconds: float = 40.0) -> Exception:
        """Why there is no answer."""
        found = await self.settled(id, seconds)
        assert isinstance(found, Exception), found
        return found

    async def answer(self, id: int | str, seconds: float = 40.0) -> Message:
        """The answer."""
        found = await self.settled(id, seconds)
        if isinstance(found, Exception):
            raise found
        return found


@asynccontextmanager
async def opened(url: str, options: HttpOptions | None = None) -> AsyncGenerator[tuple[HttpTransport, Web]]:
    """A Streamable HTTP transport; when it is closed, no task and no connection of it is left."""
    web = Web()
    transport = HttpTransport(url, options)
    await transport.open(web)
    try:
        yield transport, web
    finally:
        await transport.close()
    assert [closed.reason for closed in web.closed] == ["was closed"]
    assert left_over() == []


@asynccontextmanager
async def opened_sse(url: str, options: HttpOptions | None = None) -> AsyncGenerator[tuple[SseTransport, Web]]:
    """An HTTP+SSE transport, likewise."""
    web = Web()
    transport = SseTransport(url, options)
    await transport.open(web)
    try:
        yield transport, web
    finally:
        await transport.close()
    assert len(web.closed) == 1
    assert left_over() == []


def left_over() -> list[str]:
    """Names of tasks of ours that still run."""
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("mcp ") and not task.done()]


def legacy(method: str, id: int | str | None = None, **params: Any) -> dict[str, Any]:
    """A message of the legacy era; a notification without an id."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if id is None else {**message, "id": id}


def modern(method: str, id: int | str, **params: Any) -> dict[str, Any]:
    """A request of the modern era."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": META}}


async def initialize(transport: HttpTransport, web: Web, id: int = 0) -> None:
    """Go through the handshake of the legacy era."""
    await transport.send(legacy("initialize", id, protocolVersion="2025-11-25"))
    await web.answer(id)
    await transport.send(legacy("notifications/initialized"))


def legacy_server(
    on_request: Callable[[Request, Reply], Awaitable[None]] | None = None,
    *,
    session: str | None = "s-1",
    on_get: Callable[[Request, Reply], Awaitable[None]] | None = None,
    on_other: Callable[[Request, Reply], Awaitable[None]] | None = None,
) -> Callable[[Request, Reply], Awaitable[None]]:
    """A script that does the handshake, has no GET stream, and gives `{}` for everything unless told otherwise."""

    async def script(request: Request, reply: Reply) -> None:
        if request.method == "GET":
            await (on_get(request, reply) if on_get else reply.send(405))
        elif request.method == "DELETE":
            await reply.send(204)
        elif request.rpc == "initialize":
            extra = {"mcp_session_id": session} if session else {}
            await reply.result({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}, **extra)
        elif request.rpc == "reply" or "id" not in request.json:
            await (on_other(request, reply) if on_other else reply.accepted())
        else:
            await (on_request(request, reply) if on_request else reply.result({}))

    return script


def fake(script: Callable[[Request, Reply], Awaitable[None]], **options: Any) -> FakeHttp:
    """The server for it."""
    return FakeHttp(script, **options)
