"""The modern envelope, its results, and the rounds, played without a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import InputRefused, LocalProtocolError, RemoteProtocolError, RequestError
from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.jsonrpc import RpcError
from jupyter_mcp.protocol.modern import Ask, Send, Wait, rounds

if TYPE_CHECKING:
    from collections.abc import Mapping

INFO = {"name": "test", "version": "1"}
CAPS: dict[str, Any] = {"elicitation": {"form": {}}, "roots": {}}
FORM = {"method": "elicitation/create", "params": {"message": "Seat?", "requestedSchema": {"type": "object"}}}


def ask(requests: Mapping[str, Any] | None = None, state: Any = None) -> dict[str, Any]:
    result: dict[str, Any] = {"resultType": "input_required"}
    if requests is not None:
        result["inputRequests"] = requests
    if state is not None:
        result["requestState"] = state
    return result


# --- the envelope ----------------------------------------------------------------------------------------------------


def test_an_envelope_is_read_back_as_it_was_written() -> None:
    params = modern.envelope(
        {"name": "x"}, revision="2026-07-28", client_info=INFO, capabilities=CAPS, log_level="info", progress_token=7
    )
    assert params["name"] == "x"
    assert modern.read_envelope({"params": params}) == modern.Envelope("2026-07-28", CAPS, INFO, "info", 7)


def test_an_envelope_changes_neither_the_params_nor_other_meta() -> None:
    given = {"a": 1, "_meta": {"traceparent": "t"}}
    params = modern.envelope(given, revision="2026-07-28", client_info=INFO, capabilities={})
    assert params["_meta"]["traceparent"] == "t"
    assert given == {"a": 1, "_meta": {"traceparent": "t"}}


def test_without_level_and_token_the_envelope_has_neither() -> None:
    meta = modern.envelope(None, revision="2026-07-28", client_info=INFO, capabilities={})["_meta"]
    assert set(meta) == {modern.REVISION_KEY, modern.CAPABILITIES_KEY, modern.CLIENT_INFO_KEY}


@pytest.mark.parametrize(
    "meta",
    [
        {modern.REVISION_KEY: "2026-07-28"},
        {modern.CAPABILITIES_KEY: {}},
        {modern.REVISION_KEY: 5, modern.CAPABILITIES_KEY: {}},
        {modern.REVISION_KEY: "2026-07-28", modern.CAPABILITIES_KEY: []},
        {modern.REVISION_KEY: "2026-07-28", modern.CAPABILITIES_KEY: {}, modern.LOG_LEVEL_KEY: "loud"},
        {modern.REVISION_KEY: "2026-07-28", modern.CAPABILITIES_KEY: {}, modern.LOG_LEVEL_KEY: []},
    ],
)
def test_a_malformed_envelope_is_an_invalid_params_error(meta: dict[str, Any]) -> None:
    error = modern.read_envelope({"params": {"_meta": meta}})
    assert isinstance(error, RpcError) and error.code == -32602


def test_client_info_is_optional_and_odd_optional_parts_are_ignored() -> None:
    meta: dict[str, Any] = {
        modern.REVISION_KEY: "2026-07-28",
        modern.CAPABILITIES_KEY: {},
        modern.CLIENT_INFO_KEY: "me",
        "progressToken": [1],
    }
    assert modern.read_envelope({"params": {"_meta": meta}}) == modern.Envelope("2026-07-28", {}, {}, None, None)


@pytest.mark.parametrize("message", [{}, {"params": None}, {"params": []}, {"params": {"_meta": None}}])
def test_a_message_without_meta_is_not_enveloped(message: dict[str, Any]) -> None:
    assert not modern.is_enveloped(message)


# --- results ---------------------------------------------------------------------------------------------------------


def test_a_cacheable_result_carries_hints_and_others_do_not() -> None:
    listed = modern.complete("tools/list", {"tools": []}, server_info=INFO, ttl_ms=5)
    assert (listed["resultType"], listed["ttlMs"], listed["cacheScope"]) == ("complete", 5, "private")
    assert listed["_meta"] == {modern.SERVER_INFO_KEY: INFO}
    assert modern.complete("tools/call", {"content": []}) == {"resultType": "complete", "content": []}


def test_a_result_keeps_what_it_already_says() -> None:
    given: dict[str, Any] = {
        "contents": [],
        "ttlMs": 9,
        "cacheScope": "public",
        "_meta": {"x": 1, modern.SERVER_INFO_KEY: {"name": "o"}},
    }
    done = modern.complete("resources/read", given, server_info=INFO)
    assert (done["ttlMs"], done["cacheScope"]) == (9, "public")
    assert done["_meta"] == given["_meta"]


def test_a_result_that_asks_carries_no_hints() -> None:
    asking = modern.complete("resources/read", modern.input_required({"k": FORM}, "s"))
    assert asking == {"resultType": "input_required", "inputRequests": {"k": FORM}, "requestState": "s"}
    with pytest.raises(LocalProtocolError):
        modern.input_required({}, None)


@pytest.mark.parametrize(
    ("ttl", "fresh"), [(None, 0), (-1, 0), (0, 0), (5, 5), (5.5, 5), (True, 0), ("5", 0), (float("inf"), 0)]
)
def test_an_absent_or_odd_ttl_means_stale_at_once(ttl: Any, fresh: int) -> None:
    assert modern.cache_hints({"ttlMs": ttl, "cacheScope": "public"}) == (fresh, "public")
    assert modern.cache_hints({"ttlMs": ttl, "cacheScope": 5}) == (fresh, "private")


# --- rounds ----------------------------------------------------------------------------------------------------------


def play(flow: Any, *replies: Any) -> tuple[list[Any], Any]:
    """All steps of a flow that is sent these replies, and its result."""
    steps: list[Any] = []
    value: Any = None
    pending = iter(replies)
    while True:
        try:
            steps.append(flow.send(value))
        except StopIteration as end:
            return steps, end.value
        value = None if isinstance(steps[-1], Wait) else next(pending)


def test_a_complete_result_ends_it_at_once() -> None:
    results: list[dict[str, Any]] = [{"resultType": "complete", "content": []}, {"content": []}, {"resultType": None}]
    for result in results:
        steps, final = play(rounds("tools/call", {"name": "x"}), result)
        assert steps == [Send({"name": "x"})] and final is result


def test_the_answers_and_the_exact_state_go_with_the_original_params() -> None:
    state = 'o p\u00e4 q"\\ \ud83d\ude00=='
    answer = {"action": "accept", "content": {"seat": "a"}}
    steps, final = play(
        rounds("tools/call", {"name": "book"}, capabilities=CAPS),
        ask({"seat": FORM, "dirs": {"method": "roots/list"}}, state),
        {"seat": answer, "dirs": {"roots": []}, "extra": 1},
        {"resultType": "complete", "content": []},
    )
    assert steps[1] == Ask({"seat": FORM, "dirs": {"method": "roots/list", "params": {}}})
    assert steps[2] == Send(
        {"name": "book", "inputResponses": {"seat": answer, "dirs": {"roots": []}}, "requestState": state}
    )
    assert final["content"] == []


def test_only_the_latest_round_is_answered_and_no_state_is_sent_when_none_came() -> None:
    steps, _ = play(
        rounds("tools/call", {"name": "x"}),
        ask({"a": FORM}, "s1"),
        {"a": {"action": "cancel"}},
        ask({"b": FORM}),
        {"b": {"action": "decline"}},
        {"resultType": "complete"},
    )
    assert steps[-1] == Send({"name": "x", "inputResponses": {"b": {"action": "decline"}}})


def test_an_empty_state_is_a_state() -> None:
    steps, _ = play(rounds("tools/call", {}), ask({"a": FORM}, ""), {"a": {}}, {"resultType": "complete"})
    assert steps[-1].params["requestState"] == ""


def test_state_only_rounds_wait_longer_and_longer_up_to_a_quarter_second() -> None:
    steps, _ = play(rounds("tools/call", {}), *[ask(None, str(i)) for i in range(6)], {"resultType": "complete"})
    assert [s.seconds for s in steps if isinstance(s, Wait)] == [0.05, 0.1, 0.2, 0.25, 0.25, 0.25]
    assert steps[-1] == Send({"requestState": "5"})


def test_a_question_in_between_starts_the_waiting_afresh() -> None:
    steps, _ = play(
        rounds("tools/call", {}), ask(None, "1"), ask(None, "2"), ask({"a": FORM}, "3"), {"a": {}}, ask(None, "4"), {}
    )
    assert [s.seconds for s in steps if isinstance(s, Wait)] == [0.05, 0.1, 0.05]


def test_ten_rounds_are_followed_and_the_eleventh_is_not_put_to_anybody() -> None:
    replies: list[Any] = []
    for _ in range(10):
        replies += [ask({"a": FORM}), {"a": {"action": "cancel"}}]
    steps, final = play(rounds("tools/call", {}), *replies, {"resultType": "complete", "done": True})
    assert final["done"] and sum(isinstance(s, Ask) for s in steps) == 10
    flow = rounds("tools/call", {})
    next(flow)
    for _ in range(10):
        assert isinstance(flow.send(ask({"a": FORM})), Ask)
        assert isinstance(flow.send({"a": {}}), Send)
    with pytest.raises(RemoteProtocolError, match="11 times"):
        flow.send(ask({"a": FORM}))


@pytest.mark.parametrize(
    "result",
    [
        "text",
        None,
        [],
        {"resultType": "surprise"},
        {"resultType": 5},
        {"resultType": "task"},
        ask(),
        ask({}),
        ask([]),  # pyright: ignore[reportArgumentType]
        ask({"a": FORM}, 5),
        ask({"a": "x"}),
        ask({"a": {"params": {}}}),
    ],
)
def test_a_result_that_breaks_the_protocol_ends_the_call_in_words(result: Any) -> None:
    flow = rounds("tools/call", {})
    next(flow)
    with pytest.raises(RemoteProtocolError):
        flow.send(result)


def test_a_result_type_that_the_caller_knows_is_returned() -> None:
    task = {"resultType": "task", "taskId": "t"}
    assert play(rounds("tools/call", {}, result_types=frozenset(("task",))), task)[1] is task


def test_only_three_methods_may_ask() -> None:
    for method, allowed in (
        ("tools/call", True),
        ("resources/read", True),
        ("prompts/get", True),
        ("tools/list", False),
    ):
        flow = rounds(method, {})
        next(flow)
        if allowed:
            assert isinstance(flow.send(ask({"a": FORM})), Ask)
        else:
            with pytest.raises(RemoteProtocolError, match="does not allow"):
                flow.send(ask({"a": FORM}))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"method": "sampling/createMessage", "params": {}}, "sampling"),
        ({"method": "elicitation/create", "params": {"mode": "url", "url": "https://x"}}, "url"),
        ({"method": "tools/call", "params": {}}, "tools/call"),
        ({"method": "vendor/ask"}, "vendor/ask"),
    ],
)
def test_what_the_client_did_not_declare_ends_the_call_with_the_reason(request_: dict[str, Any], said: str) -> None:
    flow = rounds("tools/call", {}, capabilities=CAPS)
    next(flow)
    with pytest.raises(InputRefused, match=said):
        flow.send(ask({"ok": FORM, "bad": request_}))


def test_a_forgotten_answer_is_our_own_mistake() -> None:
    flow = rounds("tools/call", {})
    next(flow)
    flow.send(ask({"a": FORM, "b": FORM}))
    with pytest.raises(LocalProtocolError, match="'b'"):
        flow.send({"a": {}})


def test_what_the_driver_throws_in_comes_out() -> None:
    flow = rounds("tools/call", {})
    next(flow)
    with pytest.raises(RequestError):
        flow.throw(RequestError("no", code=-32602))
