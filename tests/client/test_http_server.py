"""A connection to real HTTP: a raw server whose every answer is chosen here, and this package's own server."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client import opening
from jupyter_mcp.client.connection import Connection
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.server import Server
from jupyter_mcp.transport.http import HttpOptions, HttpTransport
from tests.client.peer import PATIENT, FakePeer
from tests.fakes.http import FakeHttp, Reply, Request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio

TEXT: dict[str, Any] = {"content": [{"type": "text", "text": "fine"}]}
HINTS: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_remembered", {})


async def legacy(request: Request, reply: Reply, *, session: str | None = None) -> None:
    """A legacy server in order."""
    method = request.rpc
    if method == "server/discover":
        await reply.send(400, b"Bad Request: no session")
    elif method == "initialize":
        headers = {} if session is None else {"mcp_session_id": session}
        capabilities = {"tools": {}, "resources": {"subscribe": True}}
        answer = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {}}
        await reply.result(answer, **headers)
    elif method in ("GET", "DELETE"):
        await reply.send(405)
    elif request.json is not None and "id" not in request.json:
        await reply.accepted()
    elif method == "tools/list":
        await reply.result({"tools": [{"name": "probe", "inputSchema": {"type": "object"}}]})
    elif method == "resources/read":
        await reply.result({"contents": []})
    else:
        await reply.result(TEXT)


async def modern(request: Request, reply: Reply) -> None:
    """A modern server in order."""
    if request.rpc == "server/discover":
        await reply.result({**HINTS, "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
    elif request.rpc == "tools/list":
        await reply.result({**HINTS, "tools": [{"name": "probe", "inputSchema": {"type": "object"}}]})
    elif request.rpc in ("GET", "DELETE"):
        await reply.send(405)
    else:
        await reply.result({**HINTS, **TEXT})


@asynccontextmanager
async def connected(url: str, **options: Any) -> AsyncGenerator[tuple[Connection, FakePeer]]:
    peer = FakePeer()
    headers = options.pop("headers", {})
    connection = Connection(
        "web", lambda: HttpTransport(url, HttpOptions(headers=headers)), replace(PATIENT, **options), peer
    )
    try:
        await connection.open()
        yield connection, peer
    finally:
        await connection.close()


# -- eras ---------------------------------------------------------------------------------------------------------


async def test_an_old_server_is_found_by_its_event_stream() -> None:
    async def script(request: Request, reply: Reply) -> None:
        streams: list[Reply] = script.__dict__.setdefault("streams", [])
        if request.method == "GET":
            await reply.stream()
            await reply.piece(b"event: endpoint\ndata: /messages?session=1\n\n")
            streams.append(reply)
            await reply.gone()
        elif request.target != "/messages?session=1":
            await reply.send(404)
        else:
            await reply.accepted()
            if "id" in request.json:
                answer = TEXT if request.rpc == "tools/call" else {"protocolVersion": "2024-11-05"}
                result: dict[str, Any] = {**answer, "capabilities": {"tools": {}}, "serverInfo": {"name": "old"}}
                await streams[-1].event({"jsonrpc": "2.0", "id": request.json["id"], "result": result})

    async with FakeHttp(script, path="/sse") as fake:
        async with connected(fake.url) as (connection, _):
            assert (connection.revision, connection.info["name"]) == ("2024-11-05", "old")
            assert (await connection.call_tool("probe"))["content"] == TEXT["content"]
        assert fake.methods()[:4] == ["server/discover", "initialize", "GET", "initialize"]
        before = len(fake.requests)
        async with connected(fake.url):
            pass
        assert fake.methods()[before:][:2] == ["GET", "initialize"]  # it is remembered


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_wants_a_token_says_so_with_its_status_whatever_it_wraps_it_in(status: int) -> None:
    async def script(request: Request, reply: Reply) -> None:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Unauthorized"}}
        await reply.json(error, status, www_authenticate="Bearer")

    async with FakeHttp(script) as fake:
        with pytest.raises(ConnectionFailed, match=f"HTTP {status} .*Unauthorized.*--bearer") as caught:
            async with connected(fake.url):
                pass
        assert caught.value.status == status
        assert fake.methods() == ["server/discover"]


async def test_nobody_at_the_port_is_told_at_once() -> None:
    async with FakeHttp(legacy) as fake:
        url = fake.url
    started = time.monotonic()
    with pytest.raises(ConnectionFailed, match="refuses connections"):
        async with connected(url):
            pass
    assert time.monotonic() - started < 2


async def test_a_half_modern_server_needs_no_flag() -> None:
    async def script(request: Request, reply: Reply) -> None:
        enveloped = "io.modelcontextprotocol/protocolVersion" in str(request.json)
        if request.rpc in ("server/discover", "tools/list") and enveloped:
            await modern(request, reply)
        elif enveloped and request.rpc != "GET":
            error = {"code": -32600, "message": "Bad Request: Server not initialized"}
            await reply.json({"jsonrpc": "2.0", "id": request.json["id"], "error": error}, 400)
        else:
            await legacy(request, reply)

    async with FakeHttp(script) as fake, connected(fake.url) as (connection, peer):
        assert connection.era == "modern"
        assert len((await connection.list("tools")).items) == 1
        assert await connection.call_tool("probe") == TEXT
        assert connection.era == "legacy"
        assert fake.requests[-1].header("MCP-Protocol-Version") == "2025-11-25"
        assert sum("half-modern" in note or "wants the initialize handshake" in note for note in peer.notes) == 1


# -- one request --------------------------------------------------------------------------------------------------


async def test_giving_up_a_modern_call_closes_its_stream_and_sends_nothing() -> None:
    closed = asyncio.Event()

    async def script(request: Request, reply: Reply) -> None:
        if request.rpc != "tools/call":
            await modern(request, reply)
            return
        await reply.stream()
        await reply.piece(b": working\n\n")
        await reply.gone()
        closed.set()

    async with FakeHttp(script) as fake, connected(fake.url) as (connection, _):
        call = asyncio.ensure_future(connection.call_tool("slow"))
        await fake.until(lambda: "tools/call" in fake.methods())
        call.cancel()
        await asyncio.wait_for(closed.wait(), 1)
        await connection.list("tools")
        assert fake.methods().count("tools/call") == 1
        assert "notifications/cancelled" not in fake.methods()


@pytest.mark.parametrize("how", ["drop", "reset", "half"])
@pytest.mark.parametrize("server", [legacy, modern])
async def test_a_connection_that_breaks_in_a_call_may_have_run_it_and_is_not_repeated(how: str, server: Any) -> None:
    async def script(request: Request, reply: Reply) -> None:
        if request.rpc != "tools/call" or fake.methods().count("tools/call") > 1:
            await server(request, reply)
        elif how == "half":
            await reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{")
            reply.drop()
        else:
            getattr(reply, how)()

    async with FakeHttp(script) as fake, connected(fake.url) as (connection, _):
        with pytest.raises(ConnectionLost, match=r"It may have been run\.$") as caught:
            await connection.call_tool("buy")
        assert caught.value.may_have_run
        assert connection.state == "ready"
        assert fake.methods().count("tools/call") == 1
        assert (await connection.call_tool("buy"))["content"] == TEXT["content"]


@pytest.mark.parametrize("server", [legacy, modern])
async def test_what_does_no_harm_is_asked_once_more_when_the_connection_broke_under_it(server: Any) -> None:
    async def script(request: Request, reply: Reply) -> None:
        if request.rpc == "tools/list" and fake.methods().count("tools/list") in broken:
            reply.drop()
        else:
            await server(request, reply)

    async with FakeHttp(script) as fake, connected(fake.url) as (connection, _):
        broken = [1]
        assert len((await connection.list("tools")).items) == 1
        broken = [3, 4, 5]
        with pytest.raises(ConnectionLost):
            await connection.list("tools", refresh=True)
        assert fake.methods().count("tools/list") == 4


# -- sessions -----------------------------------------------------------------------------------------------------

NO_SESSION = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32001, "message": "Session not found"}}


@pytest.mark.parametrize("how", ["bare", "json-rpc", "page", "400"])
async def test_a_forgotten_session_is_begun_anew_without_its_id(how: str) -> None:
    known: list[str] = []

    async def script(request: Request, reply: Reply) -> None:
        given = request.header("Mcp-Session-Id")
        if request.rpc == "initialize":
            known[:] = [f"s{fake.methods().count('initialize')}"]
            assert given is None
            await legacy(request, reply, session=known[0])
        elif request.rpc == "server/discover" or given in known:
            await legacy(request, reply)
        elif how == "bare":
            await reply.send(404)
        elif how == "json-rpc":
            await reply.json(NO_SESSION, 404)
        elif how == "page":
            await reply.send(404, b"<html>gone</html>", content_type="text/html")
        else:
            message = "Bad Request: No valid session ID provided"
            error = {"code": -32000, "message": message}
            await reply.json({"jsonrpc": "2.0", "id": None, "error": error}, 400)

    async with FakeHttp(script) as fake:
        async with connected(fake.url) as (connection, _):
            assert await connection.read("n://a") == {"contents": []}
            known.clear()
            reads = [connection.read(f"n://{number}") for number in range(8)]
            assert await asyncio.gather(*reads) == [{"contents": []}] * 8
            assert fake.methods().count("initialize") == 2
            known.clear()
            with pytest.raises(ConnectionLost, match="ended the session before tools/call buy") as caught:
                await connection.call_tool("buy")
            assert not caught.value.may_have_run
            assert fake.methods().count("tools/call") == 1
            assert await connection.call_tool("buy") == TEXT
        assert fake.requests[-1].method == "DELETE"
        assert fake.requests[-1].header("Mcp-Session-Id") == "s3"


# -- this package's own server ------------------------------------------------------------------------------------


def notes_server() -> tuple[Server, asyncio.Event]:
    """A server, and an event: its slow tool has begun."""
    server = Server("notes")
    begun = asyncio.Event()

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def slow() -> str:
        begun.set()
        await asyncio.sleep(60)
        return "slept"

    @server.resource("notes://{day}")
    def note(day: str) -> str:
        return day

    return server, begun


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_that_restarts_is_connected_again_and_the_watch_goes_on(era: Any) -> None:
    server, begun = notes_server()
    told = asyncio.Event()
    async with server.serve_http(token=False, grace=0.1) as running:
        port = int(running.url.rsplit(":", 1)[1].split("/")[0])
        peer = FakePeer()
        connection = Connection("web", lambda: HttpTransport(running.url), replace(PATIENT, era=era), peer)
        await connection.open()
        await connection.watch("notes://today", lambda uri: told.set())
        server.resource_updated("notes://today")
        await asyncio.wait_for(told.wait(), 5)
        begun.clear()
        slow = asyncio.ensure_future(connection.call_tool("slow", {}, timeout=40))
        await asyncio.wait_for(begun.wait(), 5)
    told.clear()
    server, _ = notes_server()
    async with server.serve_http(port, token=False):
        await asyncio.wait_for(told.wait(), 20)  # it may have changed unseen
        await peer.until(lambda: connection.state == "ready", 20)
        told.clear()
        server.resource_updated("notes://today")
        await asyncio.wait_for(told.wait(), 5)
        assert (await connection.call_tool("add", {"a": 1, "b": 2}))["structuredContent"]
        with pytest.raises(ConnectionLost, match="may have been run"):
            await asyncio.wait_for(slow, 30)
        await connection.close()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_that_was_away_is_there_again_for_whoever_needs_it(era: Any) -> None:
    server, _ = notes_server()
    async with server.serve_http(token=False) as running:
        port = int(running.url.rsplit(":", 1)[1].split("/")[0])
        connection = Connection("web", lambda: HttpTransport(running.url), replace(PATIENT, era=era), FakePeer())
        await connection.open()
        assert [item["name"] for item in (await connection.list("tools")).items] == ["add", "slow"]
    with pytest.raises(ConnectionLost):
        await connection.call_tool("add", {"a": 1, "b": 2})
    assert connection.state == "lost"
    with pytest.raises(ConnectionFailed, match="refuses connections"):
        await connection.ensure()
    assert connection.state == "lost"
    server, _ = notes_server()

    @server.tool
    def more() -> str:
        return "more"

    async with server.serve_http(port, token=False):
        await asyncio.sleep(0.6)  # the pause after a failure
        await connection.ensure()
        assert len((await connection.list("tools")).items) == 3
        assert (await connection.call_tool("add", {"a": 1, "b": 2}))["content"][0]["text"] == "3"
        await connection.close()
