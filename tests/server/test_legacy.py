"""The legacy era over the wire: handshake, concurrency, cancelling, questions as requests, batches, notifications."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import inbound
from jupyter_mcp.protocol.revisions import LATEST_LEGACY, LEGACY
from jupyter_mcp.server import Server
from tests.server.sample import make_server
from tests.server.talk import EVERYTHING, INFO, RpcFailure, Talk, always

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", LEGACY)
SEAT_A = {"action": "accept", "content": {"seat": "a"}}


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


# --- handshake


@every_revision
async def test_the_offered_revision_is_answered_with_what_it_knows(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        answer = talk.initialized
        assert answer["protocolVersion"] == revision
        assert answer["instructions"] == "Use it."
        info = {"name": "sample", "version": "2"}
        if revision >= "2025-06-18":
            info["title"] = "Sample"
        assert {key: answer["serverInfo"][key] for key in info} == info
        assert ("icons" in answer["serverInfo"]) == (revision >= "2025-11-25")
        assert ("title" in answer["serverInfo"]) == (revision >= "2025-06-18")
        assert ("completions" in answer["capabilities"]) == (revision >= "2025-03-26")
        assert answer["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}


@pytest.mark.parametrize("offered", ["1999-01-01", "2025-12-31", "2026-07-28", "2099-01-01", "x"])
async def test_another_revision_is_answered_with_our_newest_legacy_one(offered: str):
    async with Talk(make_server()[0], handshake=False) as talk:
        answer = await talk.request("initialize", {"protocolVersion": offered, "capabilities": {}, "clientInfo": INFO})
        assert answer["protocolVersion"] == LATEST_LEGACY


async def test_a_server_of_few_revisions_answers_its_own_and_a_modern_one_names_them():
    async with Talk(make_server(versions=["2024-11-05", "2025-03-26"])[0], handshake=False) as talk:
        answer = await talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        assert answer["protocolVersion"] == "2025-03-26"
    async with Talk(make_server(versions=["2026-07-28"])[0], handshake=False) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        assert caught.value.code == -32022
        assert caught.value.data == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


async def test_a_client_may_send_everything_at_once_without_waiting():
    async with Talk(make_server()[0], handshake=False) as talk:
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}
        _, first = await talk.start("initialize", params)
        await talk.notify("notifications/initialized")
        _, second = await talk.start("tools/call", {"name": "add", "arguments": {"a": 1}})
        assert (await first)["result"]["protocolVersion"] == "2025-06-18"
        assert (await second)["result"]["structuredContent"] == {"result": 2}


async def test_before_initialize_only_ping_is_answered():
    async with Talk(make_server()[0], handshake=False) as talk:
        assert await talk.request("ping") == {}
        with pytest.raises(RpcFailure, match="initialize first"):
            await talk.request("tools/list")
        await talk.notify("notifications/whatever", {"x": 1})
        assert await talk.request("ping") == {}
        assert len(talk.received) == 3


async def test_a_modern_request_on_a_legacy_pipe_is_refused():
    server, _ = make_server()
    async with Talk(server) as talk:
        talk.era, talk.revision = "modern", "2026-07-28"
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/list")
        assert caught.value.code == -32600


# --- JSON-RPC


async def test_ids_keep_their_type_and_odd_messages_get_their_code():
    async with Talk(make_server()[0]) as talk:
        for id_ in ("init-1", 0, -5, "7", 7):
            _, future = await talk.start("ping", id=id_)
            answer = await future
            assert (answer["id"], type(answer["id"])) == (id_, type(id_))
        await talk.send({"jsonrpc": "2.0", "id": None, "method": "ping"})
        await talk.send({"jsonrpc": "2.0", "id": 1.5, "method": "ping"})
        await talk.send({"jsonrpc": "2.0"})
        await talk.send({"jsonrpc": "2.0", "id": 99, "result": {}})
        await talk.send({"jsonrpc": "2.0", "method": "notifications/vendor", "params": [1]})
        await talk.request("ping")
        codes = [one["error"]["code"] for one in talk.received if "error" in one]
        assert codes == [-32600, -32600, -32600]
        assert all(one["id"] is None for one in talk.received if "error" in one)


@pytest.mark.parametrize(
    "params", [{"name": 3}, {}, {"name": "add", "arguments": [1]}, {"name": "add", "arguments": "x"}]
)
async def test_params_of_the_wrong_shape_are_invalid(params: dict[str, Any]):
    async with Talk(make_server()[0]) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/call", params)
        assert caught.value.code == -32602


async def test_an_id_in_flight_cannot_be_used_again():
    server, gates = make_server()
    async with Talk(server) as talk:
        id_, first = await talk.start("tools/call", {"name": "wait"})
        _, second = await talk.start("ping", id=id_)
        assert (await second)["error"]["code"] == -32600
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await talk.request("ping")
        assert gates.seen == ["cancelled"]
        assert not first.done()


async def test_a_batch_of_2025_03_26_is_answered_by_one_array():
    async with Talk(make_server()[0], "2025-03-26") as talk:
        before = len(talk.received)
        await talk.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/whatever"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}},
                {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
            ]
        )
        await talk.until(lambda: len(talk.received) > before)
        (answers,) = talk.received[before:]
        assert sorted(one["id"] for one in answers) == [1, 2, 3]
        by_id = {one["id"]: one for one in answers}
        assert by_id[2]["result"]["content"][0]["text"] == "2"
        assert by_id[3]["error"]["code"] == -32601
        await talk.send([{"jsonrpc": "2.0", "method": "notifications/whatever"}])
        await talk.request("ping")
        assert len(talk.received) == before + 2, "a batch of notifications has no answer"


async def test_a_cancelled_call_does_not_hold_its_batch_back():
    server, gates = make_server()
    async with Talk(server, "2025-03-26") as talk:
        before = len(talk.received)
        await talk.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}},
                {"jsonrpc": "2.0", "id": 2, "method": "ping"},
            ]
        )
        await asyncio.to_thread(gates.entered.wait, 10)
        await talk.notify("notifications/cancelled", {"requestId": 1})
        await talk.until(lambda: len(talk.received) > before)
        assert [one["id"] for one in talk.received[before]] == [2]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
async def test_batches_are_refused_elsewhere(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        await talk.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
        await talk.request("ping")
        refusal = next(one for one in talk.received if "error" in one)
        assert (refusal["id"], refusal["error"]["code"]) == (None, -32600)


# --- many things at once


async def test_ping_and_quick_calls_are_answered_while_slow_ones_run():
    server, gates = make_server()
    async with Talk(server) as talk:
        _, blocked = await talk.start("tools/call", {"name": "block"})
        _, waiting = await talk.start("tools/call", {"name": "wait"})
        await asyncio.to_thread(gates.entered.wait, 10)
        assert await talk.request("ping") == {}
        assert (await talk.call("add", {"a": 1}))["structuredContent"] == {"result": 2}
        assert not blocked.done()
        assert not waiting.done()
        gates.thread.set()
        assert (await blocked)["result"]["content"][0]["text"] == "done"


async def test_a_cancelled_call_stops_on_the_loop_and_is_never_answered():
    server, gates = make_server()
    async with Talk(server) as talk:
        id_, future = await talk.start("tools/call", {"name": "wait"})
        await asyncio.to_thread(gates.entered.wait, 10)
        await talk.notify("notifications/cancelled", {"requestId": id_, "reason": "enough"})
        await talk.until(lambda: True)
        await talk.request("ping")
        assert gates.seen == ["cancelled"]
        assert not future.done()
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await talk.notify("notifications/cancelled", {"requestId": [1]})
        await talk.notify("notifications/cancelled")
        await talk.request("ping")


async def test_a_cancelled_call_stops_at_its_next_word_to_the_context_on_a_thread():
    server, gates = make_server()
    async with Talk(server) as talk:
        id_, future = await talk.start("tools/call", {"name": "block"})
        await asyncio.to_thread(gates.entered.wait, 10)
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await talk.request("ping")
        gates.thread.set()
        await asyncio.to_thread(gates.left.wait, 10)
        assert gates.seen == ["Cancelled"]
        await talk.request("ping")
        assert not future.done()


async def test_calls_in_flight_end_when_the_client_goes():
    server, gates = make_server()
    async with Talk(server) as talk:
        await talk.start("tools/call", {"name": "wait"})
        await asyncio.to_thread(gates.entered.wait, 10)
    assert gates.seen == ["cancelled"]


# --- progress and log


@every_revision
async def test_progress_goes_forward_only_and_only_to_who_asked(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        await talk.call("tell")
        assert talk.of("notifications/progress") == []
        await talk.call("tell", progressToken="p")
        notes = talk.of("notifications/progress")
        assert [one["progress"] for one in notes] == [1, 2, 3]
        assert {one["progressToken"] for one in notes} == {"p"}
        assert ("message" in notes[0]) == (revision >= "2025-03-26")


async def test_progress_from_a_thread_arrives_in_order_before_the_answer():
    async with Talk(make_server()[0]) as talk:
        await talk.call("tell_blocking", progressToken=0)
        assert [one["progress"] for one in talk.of("notifications/progress")] == list(range(1, 201))
        assert "result" in talk.received[-1]


@every_revision
async def test_log_messages_respect_the_level(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        await talk.call("tell")
        assert talk.of("notifications/message") == [{"level": "info", "logger": "l", "data": {"x": None}}]
        assert await talk.request("logging/setLevel", {"level": "error"}) == {}
        await talk.call("tell", {"level": "warning"})
        assert len(talk.of("notifications/message")) == 1
        await talk.call("tell", {"level": "critical"})
        await talk.request("logging/setLevel", {"level": "debug"})
        await talk.call("tell")
        assert [one["level"] for one in talk.of("notifications/message")] == ["info", "critical", "info", "debug"]
        with pytest.raises(RpcFailure) as caught:
            await talk.request("logging/setLevel", {"level": "loud"})
        assert caught.value.code == -32602


async def test_a_level_that_does_not_exist_is_the_authors_mistake():
    async with Talk(make_server()[0]) as talk:
        result = await talk.call("tell", {"level": "loud"})
        assert result["isError"] is True
        assert "no log level 'loud'" in result["content"][0]["text"]


# --- questions


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_handler_asks_by_requests_and_runs_once(revision: str):
    server, gates = make_server()

    def choose(params: dict[str, Any]) -> dict[str, Any]:
        return SEAT_A if "Which" in params["message"] else accept(value=True)

    answers = {"elicitation/create": choose}
    async with Talk(server, revision, answers=answers) as talk:
        result = await talk.call("book", {"city": "Rome"})
        assert result["structuredContent"] == {"booked": True, "seat": "a"}
        assert gates.seen == ["run"]
        asked = [one["params"] for one in talk.asked]
        assert [one["message"] for one in asked] == ["Which seat?", "Seat a in Rome, sure?"]
        assert ("mode" in asked[0]) == (revision >= "2025-11-25")
        assert len({one["id"] for one in talk.asked}) == 2


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_reaches_the_handler(action: str):
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: {"action": action}}) as talk:
        result = await talk.call("book", {"city": "Rome"})
        assert result["structuredContent"] == {"booked": False, "why": action}


async def test_a_blocking_handler_asks_too():
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: accept(value=3.0)}) as talk:
        assert (await talk.call("book_blocking"))["content"][0]["text"] == "accept 3"


async def test_several_questions_go_out_at_once():
    answers = {"roots/list": always({"roots": [{"uri": "file:///w"}, {"bad": 1}]})}
    async with Talk(make_server()[0], answers=answers) as talk:
        _, future = await talk.start("tools/call", {"name": "several"})
        await talk.until(lambda: len(talk.asked) == 3)
        by_method = {one["method"]: one["id"] for one in talk.asked}
        word = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
        await talk.send({"jsonrpc": "2.0", "id": by_method["sampling/createMessage"], "result": word})
        await talk.send({"jsonrpc": "2.0", "id": by_method["elicitation/create"], "result": SEAT_A})
        result = (await future)["result"]
        assert result["structuredContent"] == {"seat": "a", "word": "hi", "where": ["file:///w"]}


async def test_an_answer_that_does_not_fit_is_asked_again_with_the_reason_and_not_for_ever():
    replies = iter([accept(seat="z"), accept(), SEAT_A, accept(value=True)])
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: next(replies)}) as talk:
        assert (await talk.call("book", {"city": "Rome"}))["structuredContent"]["booked"] is True
        assert "The last answer did not fit: seat" in talk.asked[1]["params"]["message"]
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: {"action": "maybe"}}) as talk:
        result = await talk.call("book", {"city": "Rome"})
        assert result["isError"] is True
        assert "3 times" in result["content"][0]["text"]
        assert len(talk.asked) == 3


async def test_a_client_that_refuses_ends_the_call_with_its_reason():
    refusal = {"code": -1, "message": "User rejected sampling request"}
    async with Talk(make_server()[0], answers=dict.fromkeys(EVERYTHING_ASKED, lambda _: refusal)) as talk:
        result = await talk.call("several")
        assert result["isError"] is True
        assert "User rejected" in result["content"][0]["text"]


EVERYTHING_ASKED = ("elicitation/create", "sampling/createMessage", "roots/list")


@pytest.mark.parametrize(
    ("capabilities", "tool"),
    [
        ({}, "book"),
        ({"sampling": {}}, "book_blocking"),
        ({"elicitation": {}, "sampling": {}}, "several"),
        ({"elicitation": {}}, "page"),
    ],
)
async def test_nothing_is_asked_beyond_what_the_client_declared(capabilities: dict[str, Any], tool: str):
    async with Talk(make_server()[0], capabilities=capabilities) as talk:
        result = await talk.call(tool, {"city": "x"} if tool == "book" else {})
        assert result["isError"] is True
        assert "did not declare" in result["content"][0]["text"]
        assert talk.asked == []


@pytest.mark.parametrize(
    ("revision", "tool"), [("2024-11-05", "book_blocking"), ("2025-03-26", "book_blocking"), ("2025-06-18", "page")]
)
async def test_nothing_is_asked_that_the_revision_does_not_know(revision: str, tool: str):
    async with Talk(make_server()[0], revision) as talk:
        result = await talk.call(tool)
        assert result["isError"] is True
        assert "did not declare" in result["content"][0]["text"]
        assert talk.asked == []


async def test_a_message_the_server_cannot_digest_costs_only_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    real = inbound.route

    def route(message: Any, **options: Any) -> Any:
        if message["method"] == "boom":
            raise RecursionError
        return real(message, **options)

    monkeypatch.setattr(inbound, "route", route)
    async with Talk(make_server()[0]) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.request("boom")
        assert caught.value.code == -32603
        await talk.notify("boom")
        assert await talk.request("ping") == {}
    assert "RecursionError" in capsys.readouterr().err


async def test_a_loop_that_runs_already_is_not_taken_over():
    with pytest.raises(UsageError, match=r"await server\.serve"):
        Server("x").run_stdio()


async def test_a_handler_can_look_before_it_asks():
    async with Talk(make_server()[0], capabilities={"elicitation": {}, "sampling": {}}) as talk:
        assert (await talk.call("careful"))["content"][0]["text"] == "can"
    async with Talk(make_server()[0], capabilities={"elicitation": {"url": {}}, "sampling": {}}) as talk:
        assert (await talk.call("careful"))["content"][0]["text"] == "cannot"


async def test_a_form_for_a_password_is_never_sent():
    async with Talk(make_server()[0]) as talk:
        result = await talk.call("login")
        assert result["isError"] is True
        assert "elicit_url" in result["content"][0]["text"]
        assert talk.asked == []


async def test_a_page_is_asked_with_an_id():
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: {"action": "accept"}}) as talk:
        assert (await talk.call("page"))["content"][0]["text"] == "accept"
        params = talk.asked[0]["params"]
        assert (params["mode"], params["url"]) == ("url", "https://example.org/login")
        assert params["elicitationId"]


async def test_resources_and_prompts_may_ask_too():
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: accept(value="x")}) as talk:
        read = await talk.request("resources/read", {"uri": "data://secret"})
        assert read["contents"][0]["text"] == "accept"
        got = await talk.request("prompts/get", {"name": "ask"})
        assert got["messages"][0]["content"]["text"] == "x"
    async with Talk(make_server()[0], capabilities={}) as talk:
        with pytest.raises(RpcFailure, match="did not declare"):
            await talk.request("resources/read", {"uri": "data://secret"})


async def test_cancelling_a_call_withdraws_its_question():
    server, _ = make_server()
    for name in ("book", "book_blocking"):
        async with Talk(server) as talk:
            id_, future = await talk.start(
                "tools/call", {"name": name, "arguments": {"city": "x"} if name == "book" else {}}
            )
            await talk.until(lambda: len(talk.asked) == 1)
            await talk.notify("notifications/cancelled", {"requestId": id_})
            await talk.until(lambda: bool(talk.of("notifications/cancelled")))
            assert talk.of("notifications/cancelled")[0]["requestId"] == talk.asked[0]["id"]
            await talk.send({"jsonrpc": "2.0", "id": talk.asked[0]["id"], "result": SEAT_A})
            assert await talk.request("ping") == {}
            assert not future.done()


async def test_a_handler_that_waits_for_an_answer_ends_when_the_client_goes():
    server, gates = make_server()
    async with Talk(server) as talk:
        await talk.start("tools/call", {"name": "book", "arguments": {"city": "x"}})
        await talk.until(lambda: len(talk.asked) == 1)
    assert gates.seen == ["run"]


async def test_asking_by_hand_works_in_this_era_as_well():
    async with Talk(make_server()[0], answers={"elicitation/create": lambda _: accept(value=7)}) as talk:
        assert (await talk.call("by_hand"))["structuredContent"] == {"last": {"value": 7}}
        assert [one["params"]["message"] for one in talk.asked] == ["Step 0?", "Step 1?"]


# --- what changes


async def test_list_changes_are_told_once_a_burst_after_the_handshake_only():
    server, _ = make_server()
    async with Talk(server, handshake=False) as talk:
        server.tools_changed()
        params = {"protocolVersion": "2025-06-18", "capabilities": EVERYTHING, "clientInfo": INFO}
        await talk.request("initialize", params)
        server.tools_changed()
        await talk.request("ping")
        assert talk.of("notifications/tools/list_changed") == []
        await talk.notify("notifications/initialized")
        await talk.request("ping")
        for n in range(20):
            server.add_tool(lambda: None, name=f"more{n}")
        server.prompts_changed()
        await talk.request("ping")
        methods = [one["method"] for one in talk.received if "method" in one]
        assert methods == ["notifications/tools/list_changed", "notifications/prompts/list_changed"]
        assert len((await talk.request("tools/list"))["tools"]) > 20


async def test_changes_may_be_told_from_any_thread():
    server, _ = make_server()
    async with Talk(server) as talk:
        await talk.request("ping")
        await asyncio.to_thread(server.resources_changed)
        await talk.until(lambda: bool(talk.of("notifications/resources/list_changed")) or len(talk.received) > 2)
        assert talk.received[-1] == {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}


@every_revision
async def test_a_watched_resource_is_told_of_to_who_watches_it(revision: str):
    server, _ = make_server()
    async with Talk(server, revision) as talk, Talk(server, revision) as other:
        assert await talk.request("resources/subscribe", {"uri": "notes://today"}) == {}
        await talk.request("resources/subscribe", {"uri": "notes://monday"})
        server.resource_updated("notes://today")
        server.resource_updated("notes://tuesday")
        await talk.request("ping")
        await other.request("ping")
        assert talk.of("notifications/resources/updated") == [{"uri": "notes://today"}]
        assert other.of("notifications/resources/updated") == []
        await talk.request("resources/unsubscribe", {"uri": "notes://today"})
        server.resource_updated("notes://today")
        await talk.request("ping")
        assert len(talk.of("notifications/resources/updated")) == 1
        with pytest.raises(RpcFailure) as caught:
            await talk.request("resources/subscribe", {"uri": "nothing://here"})
        assert caught.value.code == -32002


async def test_a_result_that_is_not_json_is_answered_with_an_error(capsys: pytest.CaptureFixture[str]):
    server = Server("odd", icons=[{"src": "x", "sizes": {1, 2}}])
    server.add_tool(lambda: None, name="t")
    async with Talk(server, handshake=False) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        assert caught.value.code == -32603
        assert await talk.request("ping") == {}
    assert "not JSON" in capsys.readouterr().err
