"""The legacy era over HTTP: sessions, streams that can be taken up again, questions, batches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.protocol.revisions import LEGACY
from jupyter_mcp.server import AsyncContext, Context, Server
from tests.server.http.conftest import serving, until
from tests.server.http.raw import INFO, Answer, Raw

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from jupyter_mcp.protocol.sse import Event

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", LEGACY)
CALL = {"name": "add", "arguments": {"a": 1}}
SEAT_A = {"action": "accept", "content": {"seat": "a"}}


def text_of(message: Any) -> str:
    return message["result"]["content"][0]["text"]


# --- sessions


@every_revision
async def test_initialize_begins_a_session_that_later_requests_name(revision: str):
    async with serving() as (raw, _, _):
        answer = await raw.initialize(revision)
        assert answer.status == 200 and answer.kind == "application/json"
        assert raw.session is not None and len(raw.session) >= 32 and raw.session.isascii()
        assert raw.revision == revision
        assert text_of(await (await raw.request("tools/call", CALL)).last()) == "2"


async def test_two_clients_have_sessions_of_their_own():
    async with serving() as (one, _, _), Raw(one.running) as two:
        await one.initialize("2025-06-18")
        await two.initialize("2025-11-25")
        assert one.session != two.session
        again = [await (await raw.request("ping", id="same")).json() for raw in (one, two)]
        assert [message["id"] for message in again] == ["same", "same"]


async def test_an_initialize_that_fails_begins_no_session():
    async with serving() as (raw, _, _):
        answer = await raw.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
        assert answer.status == 400 and (await answer.json())["error"]["code"] == -32602
        assert "mcp-session-id" not in answer.headers
        assert len(raw.running.endpoint.sessions) == 0


async def test_a_request_without_a_session_is_400_and_with_an_unknown_one_404():
    async with serving() as (raw, _, _):
        answer = await raw.request("tools/list", id=5)
        body = await answer.json()
        assert (answer.status, body["id"], body["error"]["code"]) == (400, 5, -32600)
        raw.session, raw.revision = "none", "2025-11-25"
        assert (await raw.request("tools/list")).status == 404
        assert (await raw.notify("notifications/initialized")).status == 404
        assert (await raw.get()).status == 404
        assert (await raw.http("DELETE", raw.of_session())).status == 404


async def test_delete_ends_a_session_its_work_and_its_streams():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        stream = await raw.get()
        waiting = await raw.request("tools/call", {"name": "wait"})
        assert (await raw.http("DELETE", raw.of_session())).status == 200
        assert await stream.event() is None
        assert await waiting.event() is None
        assert gates.seen == ["cancelled"]
        assert (await raw.request("ping")).status == 404


@pytest.mark.parametrize("said", ["2099-01-01", "x", "2025-11-25, 2025-11-25"])
async def test_a_revision_that_is_not_spoken_is_400(said: str):
    async with serving() as (raw, _, _):
        await raw.initialize()
        assert (await raw.request("ping", headers={"MCP-Protocol-Version": said})).status == 400
        assert (await raw.request("ping", headers={"MCP-Protocol-Version": None})).status == 200


async def test_a_session_belongs_to_whoever_began_it():
    async with serving() as (raw, _, _):
        await raw.initialize()
        sessions = raw.running.endpoint.sessions
        assert raw.session is not None
        assert sessions.find(raw.session, "somebody else") is None


async def test_a_session_that_nobody_uses_ends_and_one_that_is_read_stays():
    async with serving(session_idle=0.05, keep_alive=0.02) as (raw, _, _), Raw(raw.running) as reader:
        await reader.initialize()
        stream = await reader.get()
        await raw.initialize()
        sessions = raw.running.endpoint.sessions
        await until(lambda: len(sessions) == 1)
        assert (await raw.request("ping")).status == 404
        assert (await reader.request("ping")).status == 200
        assert not stream.ended


async def test_beyond_the_cap_the_session_unused_for_longest_makes_room():
    async with serving(max_sessions=2) as (first, _, _), Raw(first.running) as second, Raw(first.running) as third:
        await first.initialize()
        await second.initialize()
        await first.request("ping")
        await third.initialize()
        assert [(await raw.request("ping")).status for raw in (first, second, third)] == [200, 404, 200]
        for raw in (first, third):
            await raw.get()
        second.session = None
        answer = await second.post(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
        )
        assert answer.status == 503 and answer.headers["retry-after"]


# --- notifications, responses, other messages


async def test_notifications_and_responses_are_accepted_without_a_body():
    async with serving() as (raw, _, _):
        await raw.initialize()
        messages: list[dict[str, Any]] = [
            {"jsonrpc": "2.0", "method": "notifications/vendor"},
            {"jsonrpc": "2.0", "id": 77, "result": {}},
            {"jsonrpc": "2.0", "id": 77, "error": {"code": 1, "message": "no"}},
        ]
        for message in messages:
            answer = await raw.post(message)
            assert (answer.status, await answer.body()) == (202, b"")


async def test_an_unknown_method_is_an_error_in_a_good_response():
    async with serving() as (raw, _, _):
        await raw.initialize()
        answer = await raw.request("no/such")
        assert (answer.status, (await answer.json())["error"]["code"]) == (200, -32601)


async def test_an_id_in_flight_is_not_taken_twice():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        waiting = await raw.request("tools/call", {"name": "block"}, id="same")
        answer = await raw.request("ping", id="same")
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)
        gates.thread.set()
        assert text_of(await waiting.message()) == "done"


async def test_cancelled_ends_the_response_without_an_answer():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        waiting = await raw.request("tools/call", {"name": "wait"}, id="it")
        await raw.notify("notifications/cancelled", {"requestId": "it"})
        assert await waiting.event() is None
        assert gates.seen == ["cancelled"]


# --- streams


async def test_messages_of_a_request_go_on_its_own_stream_and_others_on_the_get_stream():
    async with serving() as (raw, server, _):
        await raw.initialize("2025-06-18")
        stream = await raw.get()
        answer = await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}})
        methods = [one.get("method") async for one in answer.messages()]
        assert methods == ["notifications/progress"] * 3 + ["notifications/message", None]
        server.tools_changed()
        assert (await stream.message())["method"] == "notifications/tools/list_changed"


async def test_what_changed_before_the_get_stream_came_is_told_on_it():
    async with serving() as (raw, server, _):
        await raw.initialize()
        await raw.request("resources/subscribe", {"uri": "notes://today"})
        server.resource_updated("notes://today")
        await raw.request("ping")
        stream = await raw.get()
        assert (await stream.message())["params"] == {"uri": "notes://today"}


async def test_only_2025_11_25_begins_a_stream_with_an_id_alone():
    async with serving() as (raw, _, _):
        for revision, primed in (("2025-06-18", False), ("2025-11-25", True)):
            raw.session = None
            await raw.initialize(revision)
            answer = await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}})
            await answer.last()
            assert (b"-0\ndata: \n\n" in answer.raw) == primed
            assert b"id: " in answer.raw


async def test_a_disconnect_does_not_cancel_and_the_rest_is_fetched_with_the_last_event_id():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        connection = await raw.connect()
        answer = await raw.request("tools/call", {"name": "block"}, on=connection)
        await answer.chunk()
        answer.decoder.feed(answer.raw)
        last = answer.decoder.last_id
        connection.abort()
        endpoint = raw.running.endpoint
        await until(lambda: not endpoint.open)
        gates.thread.set()
        again = await raw.get(last)
        assert text_of(await again.message()) == "done"
        assert await again.event() is None
        assert gates.seen == ["finished"]


async def test_every_event_can_be_fetched_again_from_any_point():
    async with serving() as (raw, _, _):
        await raw.initialize()
        answer = await raw.request("tools/call", {"name": "tell_blocking", "_meta": {"progressToken": 1}})
        first = [event async for event in events(answer)]
        assert len(first) == 201
        ids = [event.id for event in first]
        assert len(set(ids)) == len(ids)
        for at in (0, 57, 199, 200):
            again = [event async for event in events(await raw.get(ids[at]))]
            assert [event.data for event in again] == [event.data for event in first[at + 1 :]]


async def events(answer: Answer) -> AsyncIterator[Event]:
    while (event := await answer.event()) is not None:
        yield event


@pytest.mark.parametrize("last", ["99-1", "x", "0", "-1", "1-x", "1-99999999999999999999", "é-1", "0-0-0"])
async def test_a_last_event_id_that_names_nothing_is_400(last: str):
    async with serving() as (raw, _, _):
        await raw.initialize()
        answer = await raw.get(last)
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)


async def test_a_new_get_stream_takes_over_from_the_old_one():
    async with serving() as (raw, server, _):
        await raw.initialize()
        old = await raw.get()
        new = await raw.get()
        assert await old.event() is None
        server.tools_changed()
        assert (await new.message())["method"] == "notifications/tools/list_changed"


async def test_the_get_stream_goes_on_after_its_last_event():
    async with serving() as (raw, server, _):
        await raw.initialize()
        connection = await raw.connect()
        stream = await raw.get(on=connection)
        server.tools_changed()
        first = await stream.event()
        assert first is not None
        connection.abort()
        await until(lambda: not raw.running.endpoint.open)
        server.prompts_changed()
        await raw.request("ping")
        again = await raw.get(first.id)
        assert (await again.message())["method"] == "notifications/prompts/list_changed"


def closing(blocking: bool) -> tuple[Server, asyncio.Event]:
    server, back = Server("closing"), asyncio.Event()

    @server.tool
    async def job(ctx: AsyncContext) -> str:
        await ctx.progress(1, 2)
        await ctx.close_stream(retry_ms=1234)
        await back.wait()
        await ctx.progress(2, 2)
        return "finished"

    @server.tool
    def job_blocking(ctx: Context) -> str:
        ctx.progress(1, 2)
        ctx.close_stream(retry_ms=1234)
        asyncio.run_coroutine_threadsafe(back.wait(), ctx._run.loop).result(10)  # pyright: ignore
        ctx.progress(2, 2)
        return "finished"

    return server, back


@pytest.mark.parametrize("name", ["job", "job_blocking"])
async def test_a_handler_may_send_its_client_away_and_the_client_comes_back(name: str):
    server, back = closing(False)
    async with serving(server) as (raw, _, _):
        await raw.initialize()
        answer = await raw.request("tools/call", {"name": name, "_meta": {"progressToken": 1}})
        assert (await answer.message())["params"]["progress"] == 1
        assert await answer.event() is None
        assert answer.decoder.retry == 1234
        back.set()
        again = await raw.get(answer.decoder.last_id)
        assert (await again.message())["params"]["progress"] == 2
        assert text_of(await again.message()) == "finished"
        assert await again.event() is None


async def test_a_client_of_an_older_revision_is_not_sent_away():
    server, back = closing(False)
    async with serving(server) as (raw, _, _):
        await raw.initialize("2025-06-18")
        back.set()
        answer = await raw.request("tools/call", {"name": "job", "_meta": {"progressToken": 1}})
        assert [one.get("id") is not None async for one in answer.messages()] == [False, False, True]


async def test_a_get_that_reads_no_events_is_406():
    async with serving() as (raw, _, _):
        await raw.initialize()
        assert (await raw.http("GET", {**raw.of_session(), "Accept": "application/json"})).status == 406


# --- questions


async def test_a_question_goes_on_the_stream_of_its_call_and_is_answered_by_a_post():
    async with serving() as (raw, _, _):
        await raw.initialize()
        stream = await raw.get()
        answer = await raw.request("tools/call", {"name": "book", "arguments": {"city": "Ulm"}})
        for result in (SEAT_A, {"action": "accept", "content": {"value": True}}):
            asked = await answer.message()
            assert asked["method"] == "elicitation/create"
            assert (await raw.post({"jsonrpc": "2.0", "id": asked["id"], "result": result})).status == 202
        assert (await answer.message())["result"]["structuredContent"] == {"booked": True, "seat": "a"}
        assert stream.decoder.feed(b"") == [] and not stream.waiting


async def test_a_client_without_events_is_asked_on_its_get_stream():
    async with serving() as (raw, _, _):
        await raw.initialize()
        stream = await raw.get()
        params = {"name": "book_blocking"}
        posting = asyncio.create_task(raw.request("tools/call", params, headers={"Accept": "application/json"}))
        asked = await stream.message()
        result = {"action": "accept", "content": {"value": 3}}
        await raw.post({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        assert text_of(await (await posting).json()) == "accept 3"


async def test_a_question_to_a_client_that_lost_its_stream_waits_for_it():
    async with serving() as (raw, _, _):
        await raw.initialize()
        connection = await raw.connect()
        answer = await raw.request("tools/call", {"name": "book_blocking"}, on=connection)
        await answer.chunk()
        answer.decoder.feed(answer.raw.split(b"-0\n")[0] + b"-0\ndata: \n\n")
        connection.abort()
        again = await raw.get(answer.decoder.last_id)
        asked = await again.message()
        await raw.post({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}})
        assert text_of(await again.message()) == "decline None"


# --- batches


async def test_a_batch_is_answered_by_one_array_at_2025_03_26():
    async with serving() as (raw, _, _):
        await raw.initialize("2025-03-26")
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/x"},
            {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": CALL},
            7,
            {"id": 3},
        ]
        answer = await raw.post(messages)
        answers = await answer.last()
        assert answer.status == 200
        assert {str(one["id"]) for one in answers} == {"1", "b", "None", "3"}
        assert (await raw.post([{"jsonrpc": "2.0", "method": "notifications/x"}])).status == 202


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
async def test_a_batch_is_refused_elsewhere(revision: str):
    async with serving() as (raw, _, _):
        await raw.initialize(revision)
        answer = await raw.post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * 1001,
    ],
)
async def test_a_batch_that_is_none_is_refused(messages: list[Any]):
    async with serving() as (raw, _, _):
        await raw.initialize("2025-03-26")
        answer = await raw.post(messages)
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)


async def test_progress_of_a_batch_comes_before_its_answers():
    async with serving() as (raw, _, _):
        await raw.initialize("2025-03-26")
        call = {"name": "tell_blocking", "_meta": {"progressToken": 1}}
        answer = await raw.post([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}])
        *before, last = [one async for one in answer.messages()]
        assert {one["method"] for one in before} == {"notifications/progress"} and isinstance(last, list)


# --- both eras at once


async def test_both_eras_are_served_at_one_url_at_the_same_time():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        waiting = await raw.request("tools/call", {"name": "block"}, id=1)
        modern = await raw.modern("tools/call", CALL)
        assert (await modern.last())["result"]["resultType"] == "complete"
        gates.thread.set()
        assert "resultType" not in (await waiting.message())["result"]


async def test_a_modern_request_with_the_headers_of_a_session_is_modern():
    async with serving() as (raw, _, _):
        await raw.initialize()
        assert (await (await raw.modern("server/discover")).json())["result"]["supportedVersions"] == ["2026-07-28"]


async def test_a_server_of_the_legacy_era_only_takes_an_envelope_for_any_member():
    async with serving(Server("old", versions=["2025-06-18"])) as (raw, _, _):
        answer = await raw.modern("server/discover")
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)
        params = {"protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": INFO}
        answer = await raw.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert (await answer.json())["result"]["protocolVersion"] == "2025-06-18"
