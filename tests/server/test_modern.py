"""The modern era over the wire: envelopes, discovery, rounds, listening."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.modern import LOG_LEVEL_KEY, SUBSCRIPTION_KEY
from tests.server.sample import make_server
from tests.server.talk import INFO, RpcFailure, Talk, always

pytestmark = pytest.mark.anyio
NEW = "2026-07-28"
Replay = Literal["auto", "always"]
both_ways = pytest.mark.parametrize("replay", ["auto", "always"])
"""A handler that waits for the answer, and one that runs again with it."""
SEAT_A = {"action": "accept", "content": {"seat": "a"}}


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def book(**more: Any) -> dict[str, Any]:
    return {"name": "book", "arguments": {"city": "Rome"}, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


# --- life


async def test_discover_says_what_the_server_is():
    async with Talk(make_server()[0], NEW) as talk:
        found = await talk.request("server/discover")
        assert found["supportedVersions"] == [NEW]
        assert found["instructions"] == "Use it."
        assert found["capabilities"]["tools"] == {"listChanged": True}
        assert (found["resultType"], found["ttlMs"], found["cacheScope"]) == ("complete", 0, "private")
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["icons"]


async def test_every_request_stands_for_itself_and_needs_its_envelope():
    async with Talk(make_server()[0], NEW) as talk:
        await talk.request("tools/list")
        talk.era = "legacy"
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/list")
        assert caught.value.code == -32602
        talk.era, talk.revision = "modern", "2030-01-01"
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/list")
        assert caught.value.code == -32022
        assert caught.value.data == {"supported": [NEW], "requested": "2030-01-01"}


async def test_a_modern_pipe_stays_modern():
    async with Talk(make_server()[0], NEW) as talk:
        await talk.request("server/discover")
        talk.era = "legacy"
        with pytest.raises(RpcFailure) as caught:
            await talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": INFO})
        assert caught.value.code == -32022
        for gone in ("ping", "logging/setLevel", "resources/subscribe"):
            talk.era = "modern"
            with pytest.raises(RpcFailure) as caught:
                await talk.request(gone, {"level": "info", "uri": "notes://today"})
            assert caught.value.code == -32601


async def test_a_legacy_only_server_asks_a_modern_client_for_initialize():
    async with Talk(make_server(versions=["2025-11-25"])[0], NEW) as talk:
        with pytest.raises(RpcFailure, match="send initialize first") as caught:
            await talk.request("server/discover")
        assert caught.value.code == -32602


async def test_logs_come_only_to_requests_that_ask_for_them():
    async with Talk(make_server()[0], NEW) as talk:
        await talk.call("tell", progressToken="p")
        assert talk.of("notifications/message") == []
        assert [one["progress"] for one in talk.of("notifications/progress")] == [1, 2, 3]
        await talk.call("tell", {}, **{LOG_LEVEL_KEY: "warning"})
        assert talk.of("notifications/message") == []
        await talk.call("tell", {}, **{LOG_LEVEL_KEY: "debug"})
        assert [one["level"] for one in talk.of("notifications/message")] == ["info", "debug"]
        with pytest.raises(RpcFailure) as caught:
            await talk.call("tell", {}, **{LOG_LEVEL_KEY: "loud"})
        assert caught.value.code == -32602


async def test_a_cancelled_call_is_not_answered():
    server, gates = make_server()
    async with Talk(server, NEW) as talk:
        id_, future = await talk.start("tools/call", {"name": "wait"})
        await asyncio.to_thread(gates.entered.wait, 10)
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await talk.settle()
        assert gates.seen == ["cancelled"]
        assert not future.done()


# --- rounds


@both_ways
async def test_a_question_ends_the_round_and_the_answer_goes_on(replay: Replay):
    server, gates = make_server(replay=replay)
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", book())
        assert first["resultType"] == "input_required"
        assert "content" not in first
        assert not {"ttlMs", "cacheScope"} & first.keys()
        ((key, asked),) = first["inputRequests"].items()
        assert asked["method"] == "elicitation/create"
        assert asked["params"]["message"] == "Which seat?"
        assert "id" not in asked
        second = await talk.request(
            "tools/call", book(inputResponses={key: SEAT_A}, requestState=first["requestState"])
        )
        ((key2, asked2),) = second["inputRequests"].items()
        assert key2 != key
        assert asked2["params"]["message"] == "Seat a in Rome, sure?"
        answer = {key2: accept(value=True)}
        third = await talk.request("tools/call", book(inputResponses=answer, requestState=second["requestState"]))
        assert third["resultType"] == "complete"
        assert third["structuredContent"] == {"booked": True, "seat": "a"}
        assert gates.seen == ["run"] * (1 if replay == "auto" else 3)


async def test_a_server_that_always_runs_again_keeps_nothing():
    server, _ = make_server(replay="always")
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "book_blocking"})
        more = {"inputResponses": {"q1": accept(value=3)}, "requestState": first["requestState"]}
        for _ in range(2):
            done = await talk.request("tools/call", {"name": "book_blocking", **more})
            assert done["content"][0]["text"] == "accept 3"


@pytest.mark.parametrize("action", ["decline", "cancel"])
@both_ways
async def test_a_no_reaches_the_handler(action: str, replay: Replay):
    async with Talk(
        make_server(replay=replay)[0], NEW, answers={"elicitation/create": lambda _: {"action": action}}
    ) as talk:
        assert (await talk.call("book", {"city": "x"}))["structuredContent"] == {"booked": False, "why": action}


@both_ways
async def test_blocking_handlers_resources_and_prompts_have_rounds_too(replay: Replay):
    async with Talk(
        make_server(replay=replay)[0], NEW, answers={"elicitation/create": lambda _: accept(value=3)}
    ) as talk:
        assert (await talk.call("book_blocking"))["content"][0]["text"] == "accept 3"
        for method, params in (("resources/read", {"uri": "data://secret"}), ("prompts/get", {"name": "ask"})):
            first = await talk.request(method, params)
            assert first["resultType"] == "input_required"
            assert "ttlMs" not in first
            replies = {key: accept(value="x") for key in first["inputRequests"]}
            more = {"inputResponses": replies, "requestState": first["requestState"]}
            assert (await talk.request(method, {**params, **more}))["resultType"] == "complete"


@both_ways
async def test_several_questions_make_one_round(replay: Replay):
    answers = {
        "elicitation/create": always(SEAT_A),
        "sampling/createMessage": always({"role": "assistant", "content": [text("hi")], "model": "m"}),
        "roots/list": always({"roots": [{"uri": "file:///w", "name": "w"}]}),
    }
    async with Talk(make_server(replay=replay)[0], NEW, answers=answers) as talk:
        first = await talk.request("tools/call", {"name": "several"})
        assert list(first["inputRequests"]) == ["seat", "word", "where"]
        assert first["inputRequests"]["where"] == {"method": "roots/list"}
        result = await talk.call("several")
        assert result["structuredContent"] == {"seat": "a", "word": "hi", "where": ["file:///w"]}


@both_ways
async def test_questions_of_a_task_group_are_one_round(replay: Replay):
    async with Talk(make_server(replay=replay)[0], NEW) as talk:
        first = await talk.request("tools/call", {"name": "at_once"})
        assert set(first["inputRequests"]) == {"one", "two"}
        replies = {"one": accept(value=1), "two": accept(value=2)}
        more = {"inputResponses": replies, "requestState": first["requestState"]}
        assert (await talk.request("tools/call", {"name": "at_once", **more}))["structuredContent"] == [1, 2]


@both_ways
async def test_missing_answers_are_asked_again_and_extra_ones_ignored(replay: Replay):
    async with Talk(make_server(replay=replay)[0], NEW) as talk:
        first = await talk.request("tools/call", {"name": "several"})
        some = {"seat": SEAT_A, "nobody": accept(x=1), "word": "not an object"}
        more = {"inputResponses": some, "requestState": first["requestState"]}
        second = await talk.request("tools/call", {"name": "several", **more})
        assert set(second["inputRequests"]) == {"word", "where"}
        word = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
        rest: dict[str, Any] = {
            "inputResponses": {"word": word, "where": {"roots": []}},
            "requestState": second["requestState"],
        }
        done = await talk.request("tools/call", {"name": "several", **rest})
        assert done["structuredContent"] == {"seat": "a", "word": "hi", "where": []}


@both_ways
async def test_an_answer_that_does_not_fit_is_asked_again_and_not_for_ever(replay: Replay):
    async with Talk(make_server(replay=replay)[0], NEW) as talk:
        result = await talk.request("tools/call", book())
        wrong: dict[str, Any] = {}
        for _ in range(2):
            key = next(iter(result["inputRequests"]))
            wrong = {"inputResponses": {key: accept(seat="z")}, "requestState": result["requestState"]}
            result = await talk.request("tools/call", book(**wrong))
            assert "did not fit: seat" in result["inputRequests"][key]["params"]["message"]
        wrong["requestState"] = result["requestState"]
        final = await talk.request("tools/call", book(**wrong))
        assert final["isError"] is True
        assert "3 times" in final["content"][0]["text"]


@both_ways
async def test_a_state_that_was_changed_or_is_of_another_call_is_refused(replay: Replay):
    async with Talk(make_server(replay=replay)[0], NEW) as talk:
        first = await talk.request("tools/call", book())
        state, replies = first["requestState"], {next(iter(first["inputRequests"])): SEAT_A}
        for odd in (state[:-4] + "AAAA", "nonsense", ""):
            with pytest.raises(RpcFailure) as caught:
                await talk.request("tools/call", book(inputResponses=replies, requestState=odd))
            assert caught.value.code == -32602
        other = {"name": "book", "arguments": {"city": "Paris"}, "inputResponses": replies, "requestState": state}
        with pytest.raises(RpcFailure, match="another call"):
            await talk.request("tools/call", other)
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/call", book(inputResponses=[1]))
        assert caught.value.code == -32602


async def test_answers_without_a_state_are_taken_for_the_questions_of_that_name():
    async with Talk(make_server()[0], NEW) as talk:
        replies = {"one": accept(value=1), "two": accept(value=2)}
        result = await talk.request("tools/call", {"name": "at_once", "inputResponses": replies})
        assert result["structuredContent"] == [1, 2]


async def test_an_answer_is_never_taken_for_another_question_of_the_same_place():
    server, gates = make_server(replay="always")
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "moody"})
        more = {"inputResponses": {"q1": accept(value=1)}, "requestState": first["requestState"]}
        second = await talk.request("tools/call", {"name": "moody", **more})
        assert second["inputRequests"]["q1"]["params"]["message"] == "Question number 2?"
        assert gates.seen == ["run", "run"]


@both_ways
async def test_asking_by_hand_carries_a_state(replay: Replay):
    async with Talk(
        make_server(replay=replay)[0], NEW, answers={"elicitation/create": lambda _: accept(value=7)}
    ) as talk:
        assert (await talk.call("by_hand"))["structuredContent"] == {"last": {"value": 7}}
        assert [one["params"]["message"] for one in talk.asked] == ["Step 0?", "Step 1?"]


@pytest.mark.parametrize(
    ("capabilities", "tool", "required"),
    [
        ({}, "book_blocking", {"elicitation": {}}),
        ({"elicitation": {}}, "page", {"elicitation": {"url": {}}}),
        ({"elicitation": {"url": {}}}, "book_blocking", {"elicitation": {"form": {}}}),
        ({"elicitation": {}, "roots": {}}, "several", {"sampling": {}}),
        ({}, "by_hand", {"elicitation": {}}),
    ],
)
@both_ways
async def test_a_missing_capability_is_an_error_that_names_it(
    capabilities: Any, tool: str, required: Any, replay: Replay
):
    async with Talk(make_server(replay=replay)[0], NEW, capabilities=capabilities) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.call(tool)
        assert caught.value.code == -32021
        assert caught.value.data == {"requiredCapabilities": required}


@both_ways
async def test_a_page_has_no_id_in_this_era(replay: Replay):
    async with Talk(
        make_server(replay=replay)[0], NEW, answers={"elicitation/create": lambda _: {"action": "accept"}}
    ) as talk:
        assert (await talk.call("page"))["content"][0]["text"] == "accept"
        assert "elicitationId" not in talk.asked[0]["params"]


# --- listening


async def test_a_stream_acknowledges_first_what_it_honours_and_carries_its_id():
    server, _ = make_server()
    async with Talk(server, NEW) as talk:
        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["notes://today"], "taskIds": ["t"], "odd": True}
        id_, future = await talk.start("subscriptions/listen", {"notifications": wanted}, id="L1")
        await talk.until(lambda: bool(talk.received))
        ack = talk.received[0]
        assert ack["method"] == "notifications/subscriptions/acknowledged"
        assert ack["params"]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["notes://today"]}
        assert ack["params"]["_meta"] == {SUBSCRIPTION_KEY: "L1"}
        server.tools_changed()
        server.prompts_changed()
        server.resources_changed()
        server.resource_updated("notes://today")
        server.resource_updated("notes://other")
        await talk.settle()
        told = [one for one in talk.received[1:] if "method" in one]
        assert [one["method"] for one in told] == [
            "notifications/tools/list_changed",
            "notifications/resources/updated",
        ]
        assert all(one["params"]["_meta"] == {SUBSCRIPTION_KEY: "L1"} for one in told)
        assert told[1]["params"]["uri"] == "notes://today"
        assert not future.done()
        await talk.notify("notifications/cancelled", {"requestId": id_})
        server.tools_changed()
        await talk.settle()
        assert len([one for one in talk.received if "method" in one]) == 3
        assert not future.done()


async def test_several_streams_are_told_apart_and_nobody_else_is_told():
    server, _ = make_server()
    async with Talk(server, NEW) as talk, Talk(server, NEW) as silent:
        await silent.settle()
        await talk.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=1)
        await talk.start("subscriptions/listen", {"notifications": {"promptsListChanged": True}}, id=2)
        _, refused = await talk.start("subscriptions/listen", {"notifications": {}}, id=2)
        assert (await refused)["error"]["code"] == -32600
        server.tools_changed()
        server.prompts_changed()
        await talk.settle()
        await silent.settle()
        marks = [
            one["params"]["_meta"][SUBSCRIPTION_KEY] for one in talk.received if "list_changed" in one.get("method", "")
        ]
        assert marks == [1, 2]
        assert all("method" not in one for one in silent.received)


@pytest.mark.parametrize("filter_", [None, [], "x", {"resourceSubscriptions": "notes://today"}])
async def test_a_filter_of_the_wrong_shape_is_invalid(filter_: Any):
    async with Talk(make_server()[0], NEW) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.request("subscriptions/listen", {"notifications": filter_})
        assert caught.value.code == -32602


async def test_a_server_that_stops_ends_its_streams_in_good_order():
    server, _ = make_server()
    async with Talk(server, NEW) as talk:
        _, future = await talk.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="L1")
        await talk.settle()
        talk.serving.cancel()
        message = await asyncio.wait_for(future, 10)
        assert message["result"] == {
            "resultType": "complete",
            "_meta": {
                "io.modelcontextprotocol/serverInfo": modern.meta_of(message["result"])[
                    "io.modelcontextprotocol/serverInfo"
                ]
            }
            | {SUBSCRIPTION_KEY: "L1"},
        }
        await asyncio.wait({talk.serving})
        talk.serving = asyncio.create_task(asyncio.sleep(0))
