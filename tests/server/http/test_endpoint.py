"""Many requests at once, bounds, and a good end."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.server.http import endpoint as endpoints
from jupyter_mcp.server.http import sessions
from jupyter_mcp.server.http.endpoint import Endpoint
from tests.server.http.conftest import serving, until
from tests.server.http.raw import Raw

pytestmark = pytest.mark.anyio


async def test_stopping_waits_for_calls_in_flight_and_answers_them():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        legacy = await raw.request("tools/call", {"name": "block"})
        modern = await raw.modern("tools/call", {"name": "block"})
        closing = asyncio.create_task(raw.running.endpoint.close(grace=10))
        await until(lambda: raw.running.endpoint.closing)
        gates.thread.set()
        for answer in (legacy, modern):
            assert (await answer.message())["result"]["content"][0]["text"] == "done"
            assert await answer.event() is None
        await closing


async def test_stopping_cancels_what_does_not_end_in_time():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        legacy = await raw.request("tools/call", {"name": "wait"})
        modern = await raw.modern("tools/call", {"name": "wait"})
        await asyncio.wait_for(raw.running.endpoint.close(grace=0.05), 5)
        assert gates.seen == ["cancelled", "cancelled"]
        for answer in (legacy, modern):
            assert await answer.event() is None


async def test_a_handler_that_does_not_let_itself_be_cancelled_does_not_hold_the_end():
    server, free = Server("stubborn"), asyncio.Event()

    @server.tool
    async def stay(ctx: AsyncContext) -> str:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                pass
        return "at last"

    async with serving(server, patience=0.01) as (raw, _, _):
        await raw.modern("tools/call", {"name": "stay"})
        await asyncio.wait_for(raw.running.endpoint.close(grace=0.05), 5)
        free.set()


async def test_streams_end_and_new_requests_are_turned_away_while_it_stops():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        stream = await raw.get()
        waiting = await raw.modern("tools/call", {"name": "block"})
        closing = asyncio.create_task(raw.running.endpoint.close(grace=10))
        assert await stream.event() is None
        answer = await raw.modern("tools/list")
        assert answer.status == 503 and "retry-after" in answer.headers
        gates.thread.set()
        await waiting.last()
        await closing


async def test_closing_twice_is_closing_once():
    async with serving() as (raw, _, _):
        await raw.modern("tools/list")
        await raw.running.endpoint.close()
        await raw.running.endpoint.close()


async def test_nothing_of_a_session_that_ended_is_held_by_the_server():
    async with serving() as (raw, server, _):
        held = server._sessions  # pyright: ignore[reportPrivateUsage]
        for _ in range(3):
            raw.session = None
            await raw.initialize()
            await raw.http("DELETE", raw.of_session())
        assert len(held) == 0
        await raw.modern("tools/list")
        assert len(held) == 1
    assert len(held) == 0


async def test_beyond_the_cap_requests_are_turned_away_until_there_is_room():
    async with serving(max_open=3, patience=0.01) as (raw, _, gates):
        waiting = [await raw.modern("tools/call", {"name": "block"}) for _ in range(3)]
        assert (await raw.modern("tools/list")).status == 503
        gates.thread.set()
        for answer in waiting:
            await answer.last()
        await until(lambda: raw.running.endpoint.running == 0)
        assert (await raw.modern("tools/list")).status == 200


async def test_calls_of_a_client_that_left_have_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, "MOST_RUNNING", 3)
    async with serving(patience=0.01) as (raw, _, _):
        await raw.initialize()
        for _ in range(3):
            connection = await raw.connect()
            await raw.request("tools/call", {"name": "wait"}, on=connection)
            connection.abort()
        assert (await raw.request("ping")).status == 503
        assert (await raw.notify("notifications/x")).status == 202


async def test_a_body_that_does_not_come_ends_its_connection(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(endpoints, "_BODY_SECONDS", 0.05)
    async with serving(keep_alive=0.04) as (raw, _, _):
        connection = await raw.connect()
        await connection.send("POST", raw.path, {**raw.base, "Content-Type": "x", "Content-Length": "9"})
        assert await connection.is_closed()
        await until(lambda: raw.running.endpoint.running == 0)


async def test_what_a_session_keeps_of_streams_that_ended_is_let_go(monkeypatch: pytest.MonkeyPatch):
    async with serving(keep_alive=0.04) as (raw, _, _):
        await raw.initialize()
        for _ in range(5):
            await (await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}})).last()
        session = next(iter(raw.running.endpoint.sessions))
        assert session.kept > 0
        monkeypatch.setattr(sessions, "KEPT_SECONDS", 0.01)
        await until(lambda: session.kept == 0)


@pytest.mark.parametrize("bound", ["MOST_STREAMS", "MOST_KEPT"])
async def test_what_a_session_keeps_has_a_bound(bound: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, bound, 3 if bound == "MOST_STREAMS" else 3000)
    async with serving() as (raw, _, _):
        await raw.initialize()
        for _ in range(20):
            await (await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}})).last()
        session = next(iter(raw.running.endpoint.sessions))
        assert session.kept < 5000


async def test_all_sessions_together_keep_no_more_than_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions, "MOST_KEPT_IN_ALL", 100)
    async with serving(keep_alive=0.04) as (raw, _, _):
        for _ in range(3):
            raw.session = None
            await raw.initialize()
            await (await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}})).last()
        table = raw.running.endpoint.sessions
        await until(lambda: sum(session.kept for session in table) <= 100)


async def test_hundreds_of_streams_hear_of_one_change():
    async with serving() as (raw, server, _), Raw(raw.running) as other:
        wanted = {"notifications": {"toolsListChanged": True}}
        streams = [await other.modern("subscriptions/listen", wanted) for _ in range(300)]
        for one in streams:
            await one.message()
        server.tools_changed()
        told = [await one.message() for one in streams]
        assert {one["method"] for one in told} == {"notifications/tools/list_changed"}
        assert len({one["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for one in told}) == 300


@pytest.mark.parametrize("path", ["", "mcp", "/", "/mcp/", "//mcp", "/a//b", "/a\n"])
def test_a_path_that_is_none_is_refused(path: str):
    with pytest.raises(UsageError):
        Endpoint(Server("x"), token="t", path=path)


async def test_any_path_is_matched_letter_by_letter():
    async with serving(path="/a.b/mcp") as (raw, _, _):
        assert (await raw.modern("tools/list")).status == 200
        for path in ("/aXb/mcp", "/a.b/mcp/x", "/mcp"):
            assert (await raw.http("POST", path=path, body=b"{}")).status == 404


async def test_a_server_can_be_served_twice_at_once():
    async with serving() as (one, server, _), serving(server) as (two, _, _):
        answers = [
            await raw.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            for raw in (one, two)
        ]
        for answer in answers:
            await answer.message()
        server.tools_changed()
        for answer in answers:
            assert (await answer.message())["method"] == "notifications/tools/list_changed"
