"""What somebody could do to an endpoint who means harm, without its token and with it."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import listen, tasks
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.server.http import endpoint as endpoints
from jupyter_mcp.server.http import running, sessions
from jupyter_mcp.server.http.endpoint import Endpoint
from jupyter_mcp.server.http.guard import Names
from jupyter_mcp.server.http.handler import NowhereHandler
from jupyter_mcp.server.http.running import Running
from tests.server.http.conftest import serving, until
from tests.server.http.raw import Raw
from tests.server.http.test_guard import Mine
from tests.server.http.test_old_sse import open_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.server.http.raw import Connection

pytestmark = pytest.mark.anyio
CALL = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "wait"}}


# --- without the token


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "//mcp", "/%2fmcp", "/%6dcp", "/mcp/../mcp", "/mcp;x", "http://localhost/mcp"])
async def test_another_address_is_404_without_a_word_about_the_server(method: str, path: str):
    async with serving() as (raw, _, _):
        answer = await raw.http(method, {"Authorization": None}, b"x", path=path)
        assert (answer.status, "server" in answer.headers) == (404, False)
        assert await answer.text() == "There is nothing at this address.\n"


async def test_a_body_for_another_address_is_not_kept(monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[int, int]] = []
    taken = NowhereHandler.data_received

    def data_received(self: NowhereHandler, chunk: bytes) -> None:
        taken(self, chunk)
        seen.append((len(chunk), len(vars(self)["_chunks"]) + len(self.request.body)))

    monkeypatch.setattr(NowhereHandler, "data_received", data_received)
    async with serving() as (raw, _, _):
        assert (await raw.http("POST", {"Authorization": None}, b"x" * 300_000, path="/nothing")).status == 404
        assert sum(size for size, _ in seen) == 300_000 and not any(kept for _, kept in seen)


@pytest.mark.parametrize(("method", "path"), [("POST", "/mcp"), ("PUT", "/mcp"), ("GET", "/mcp"), ("POST", "/nothing")])
async def test_a_body_that_does_not_come_ends_the_connection_of_a_stranger_too(
    method: str, path: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(endpoints, "_BODY_SECONDS", 0.05)
    async with serving(keep_alive=0.04) as (raw, _, _):
        connection = await raw.connect()
        await connection.send(method, path, {"Host": "localhost", "Content-Length": "9"})
        assert await connection.is_closed()


async def test_connections_have_a_bound_and_the_next_one_is_closed_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running, "_most_connections", at_most_five)
    async with serving() as (raw, _, _):
        held = [await raw.connect() for _ in range(5)]
        for one in held:
            await one.send("GET", "/mcp", {"Host": "localhost"})
            assert (await one.answer()).status == 401
        assert await (await raw.connect()).is_closed()
        held[0].abort()

        async def served() -> bool:
            connection: Connection = await raw.connect()
            await connection.send("GET", "/mcp", {"Host": "localhost"})
            try:
                return (await connection.answer()).status == 401
            except (ConnectionError, EOFError, AssertionError, ValueError):
                return False

        for _ in range(200):
            if await served():
                return
        pytest.fail("a place that became free was not given away")


def at_most_five(wanted: int) -> int:
    return min(wanted, 5)


def _1024(which: int) -> tuple[int, int]:
    return 1024, 4096


def _unlimited(which: int) -> tuple[int, int]:
    return -1, -1


def test_the_bound_leaves_files_for_the_process(monkeypatch: pytest.MonkeyPatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", _1024)
    assert running._most_connections(11_000) == 960  # pyright: ignore[reportPrivateUsage]
    assert running._most_connections(10) == 10  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(resource, "getrlimit", _unlimited)
    assert running._most_connections(11_000) == 11_000  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    "host", ["[::1]evil.example", "[::1]:8a", "localhost\t", "localhost%", "::1", "[localhost]", "localhost:+80"]
)
def test_a_host_that_only_begins_like_ours_is_not_ours(host: str):
    assert Names(("localhost", "[::1]")).check([host], []) is not None


@pytest.mark.parametrize(
    "origin", ["null", "http://localhost:6", "http://localhost.:5", "http://a@localhost:5", "file://", "http://[::1]:5"]
)
def test_an_origin_that_only_resembles_ours_is_not_ours(origin: str):
    refusal = Names(("localhost", "[::1]")).check(["localhost:5"], [origin])
    assert refusal is not None and refusal.status == 403


@pytest.mark.parametrize("token", ["", None])
async def test_a_token_that_was_not_set_is_not_the_wish_to_have_none(token: Any):
    with pytest.raises(UsageError):
        async with Server("x").serve_http(token=token):
            pass
    with pytest.raises(UsageError):
        Server("x").application(token=token)


async def test_names_that_proxies_report_are_not_believed():
    async with serving() as (raw, _, _):
        claims = {
            "X-Forwarded-Host": "localhost",
            "Forwarded": "host=localhost;for=127.0.0.1",
            "X-Real-Ip": "127.0.0.1",
        }
        assert (await raw.modern("tools/list", headers={"Host": "evil.example", **claims})).status == 421


SMUGGLED = [
    "Content-Length: 4\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding: gzip, chunked",
    "Content-Length: 4\r\nContent-Length: 5",
    "Content-Length: +4",
    "Content-Length: 4_0",
]


@pytest.mark.parametrize("length", SMUGGLED)
async def test_a_body_of_doubtful_length_ends_its_connection(length: str):
    async with serving() as (raw, _, _):
        connection = await raw.connect()
        head = "\r\n".join(f"{name}: {value}" for name, value in raw.base.items())
        rest = "0\r\n\r\nGET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
        await connection.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n{length}\r\n\r\n{rest}".encode())
        assert (await connection.answer()).status == 400
        assert await connection.is_closed()


# --- with the token


async def test_a_session_of_one_principal_is_none_for_another():
    async with serving(token="one") as (raw, _, _):
        await raw.initialize()
        session = next(iter(raw.running.endpoint.sessions))
        assert raw.running.endpoint.sessions.find(session.id, "another") is None
        assert raw.running.endpoint.sessions.find(session.id, session.principal) is session


async def test_events_of_another_session_are_never_replayed():
    async with serving() as (raw, _, _):
        await raw.initialize()
        told = await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}})
        first = await told.event()
        assert first is not None and first.id
        raw.session = None
        await raw.initialize()
        for last in (first.id, "1-0", "2-0", "-1", "1--1", "0-0-0", "\xb2-1"):
            assert (await raw.get(last)).status == 400, last


async def test_the_id_of_a_session_that_was_ended_is_good_for_nothing():
    async with serving() as (raw, _, _):
        await raw.initialize()
        assert (await raw.http("DELETE", raw.of_session())).status == 200
        assert (await raw.request("tools/list")).status == 404
        assert (await raw.get()).status == 404
        assert (await raw.http("DELETE", raw.of_session())).status == 404
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert (await raw.request("initialize", params)).status == 404  # a client cannot choose the id of a session


@pytest.fixture
def few_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_RUNNING", 3)


@pytest.mark.usefixtures("few_running")
async def test_batches_do_not_get_around_the_bound_of_a_session():
    async with serving(patience=0.01) as (raw, _, _):
        await raw.initialize("2025-03-26")
        await raw.post([{**CALL, "id": f"a{n}"} for n in range(3)])
        assert (await raw.post([{**CALL, "id": "b"}])).status == 503


@pytest.mark.usefixtures("few_running")
async def test_the_old_transport_has_the_same_bound():
    async with serving(sse=True) as (raw, _, _):
        stream, address = await open_stream(raw)
        params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        await raw.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, path=address)
        await stream.event()
        for n in range(3):
            assert (await raw.post({**CALL, "id": f"a{n}"}, path=address)).status == 202
        assert (await raw.post({**CALL, "id": "b"}, path=address)).status == 503


async def test_what_a_client_may_watch_has_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(listen, "MOST_WATCHED", 2)
    server = Server("files")

    @server.resource("files://{name}")
    def read(name: str) -> str:
        return name

    async def watch(raw: Raw, name: str) -> Any:
        return await (await raw.request("resources/subscribe", {"uri": f"files://{name}"})).last()

    async with serving(server) as (raw, _, _):
        wanted = {"resourceSubscriptions": [f"files://{n}" for n in range(3)]}
        refused = json.loads(await (await raw.modern("subscriptions/listen", {"notifications": wanted})).text())
        assert refused["error"]["code"] == -32602
        await raw.initialize()
        assert [("result" in await watch(raw, name)) for name in ("a", "b", "a", "c")] == [True, True, True, False]
        await raw.request("resources/unsubscribe", {"uri": "files://a"})
        assert "result" in await watch(raw, "c")


async def test_the_files_of_a_connection_that_was_refused_are_free_again():
    async with serving() as (raw, _, _):
        for _ in range(20):
            (await raw.connect()).abort()
        await until(lambda: raw.running.endpoint.running == 0)
        assert (await raw.modern("tools/list")).status == 200


# --- two clients of one endpoint


@asynccontextmanager
async def two_users() -> AsyncGenerator[tuple[Raw, Raw]]:
    """Ann and Bob, at an endpoint of an application that knows both."""
    server = Server("shared")

    @server.tool
    async def secret(ctx: AsyncContext) -> str:
        return f"{ctx.principal} said {(await ctx.elicit('Your secret?', str)).data}"

    @server.tool(task=True)
    async def work(ctx: AsyncContext) -> str:
        return f"{ctx.principal} said {(await ctx.elicit('Your secret?', str)).data}"

    endpoint = Endpoint(server, token=None)
    http = HTTPServer(Application([(path, Mine, given) for path, _, given in endpoint.rules()]))
    sockets = bind_sockets(0, "127.0.0.1")
    http.add_sockets(sockets)
    where = Running("", None, sockets[0].getsockname()[1], endpoint)
    try:
        async with Raw(where) as ann, Raw(where) as bob:
            ann.base["X-Key"], bob.base["X-Key"] = "key-1", "key-2"
            yield ann, bob
    finally:
        http.stop()
        await endpoint.close(0.5)
        await http.close_all_connections()


async def test_the_state_of_a_question_is_good_for_nobody_else():
    async with two_users() as (ann, bob):
        asked = (await (await ann.modern("tools/call", {"name": "secret"})).last())["result"]
        (key,) = asked["inputRequests"]
        answer = {"action": "accept", "content": {"value": "x"}}
        params = {"name": "secret", "requestState": asked["requestState"], "inputResponses": {key: answer}}
        stolen = await (await bob.modern("tools/call", params)).last()
        assert stolen["error"]["code"] == -32602 and "ann" not in json.dumps(stolen)
        own = (await (await ann.modern("tools/call", params)).last())["result"]  # the theft has cost her nothing
        assert own["content"][0]["text"].startswith("ann said")


async def test_a_task_is_there_for_nobody_else():
    extensions: dict[str, Any] = {"elicitation": {"form": {}}, "extensions": {tasks.EXTENSION: {}}}
    async with two_users() as (ann, bob):
        begun = (await (await ann.modern("tools/call", {"name": "work"}, capabilities=extensions)).last())["result"]
        task = {"taskId": begun["taskId"]}
        acts: dict[str, dict[str, Any]] = {"get": {}, "cancel": {}, "update": {"inputResponses": {}}}
        for act, more in acts.items():
            method = f"tasks/{act}"
            refused = await (await bob.modern(method, {**task, **more}, capabilities=extensions)).last()
            unknown: dict[str, Any] = {"taskId": "x" * 32, **more}
            absent = await (await bob.modern(method, unknown, capabilities=extensions)).last()
            assert refused["error"] == absent["error"] and refused["error"]["code"] == -32602
        wanted = {"notifications": {"taskIds": [begun["taskId"]]}}
        heard = await (await bob.modern("subscriptions/listen", wanted, capabilities=extensions)).message()
        assert "taskIds" not in heard["params"]["notifications"]
        state = (await (await ann.modern("tasks/get", task, capabilities=extensions)).last())["result"]
        assert state["status"] in ("working", "input_required")


async def test_a_session_and_its_events_are_there_for_nobody_else():
    async with two_users() as (ann, bob):
        await ann.initialize()
        told = await ann.request("tools/call", {"name": "secret"})
        first = await told.event()
        assert first is not None and first.id
        bob.session, bob.revision = ann.session, ann.revision
        assert (await bob.get(first.id)).status == 404
        assert (await bob.request("ping")).status == 404
        assert (await bob.http("DELETE", bob.of_session())).status == 404
        assert (await ann.request("ping")).status == 200
