"""The state machine between a page and us."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.host.apps.events import (
    Asked,
    Ended,
    Flooded,
    Logged,
    Opened,
    Reported,
    Resized,
    Send,
    WantsToGo,
    Withdrawn,
)
from jupyter_mcp.host.apps.limits import Bucket, Limits
from jupyter_mcp.host.apps.messages import REQUESTS, Refusal
from tests.host.apps.talking import INIT, INITIALIZED, READY, STYLES, Talk, error, methods, sent

INPUT = "ui/notifications/tool-input"
RESULT = "ui/notifications/tool-result"
PARTIAL = "ui/notifications/tool-input-partial"


# --- the beginning ---------------------------------------------------------------------------------------------------


def test_the_outer_document_gets_the_page_when_it_says_that_it_stands() -> None:
    talk = Talk()
    (message,) = sent(talk.note(READY))
    assert message["method"] == "ui/notifications/sandbox-resource-ready"
    assert message["params"] == {"html": "<!doctype html>", "sandbox": "allow-scripts"}


def test_nothing_but_answers_is_sent_before_the_page_is_initialized() -> None:
    talk = Talk()
    quiet = [
        *talk.bridge.input({"a": 1}),
        *talk.bridge.result({"content": []}),
        *talk.bridge.stands({"theme": "dark"}),
        *talk.bridge.partial({"a": 2}),
    ]
    assert quiet == []
    talk.note(READY)
    assert talk.bridge.stands({"theme": "light"}) == []
    assert methods(talk.ask("ui/initialize", **INIT)) == ["result"]
    assert talk.bridge.stands({"theme": "dark"}) == []
    assert methods(talk.note(INITIALIZED)) == [INPUT, RESULT]


def test_initialize_tells_who_we_are_what_we_do_and_where_the_page_stands() -> None:
    talk = Talk(tool={"tool": {"name": "t", "inputSchema": {"type": "object"}}})
    talk.note(READY)
    talk.bridge.stands({"theme": "dark", "styles": STYLES, "containerDimensions": {"width": 640}})
    (answer,) = sent(talk.ask("ui/initialize", **INIT))
    result = answer["result"]
    assert result["protocolVersion"] == "2026-01-26"
    assert result["hostInfo"] == {"name": "jupyter-mcp", "version": "1"}
    context = result["hostContext"]
    assert context["theme"] == "dark" and context["styles"] == {"variables": STYLES}
    assert context["displayMode"] == "inline" and context["availableDisplayModes"] == ["inline", "fullscreen"]
    assert context["toolInfo"]["tool"]["name"] == "t" and context["containerDimensions"] == {"width": 640}


@pytest.mark.parametrize("method", sorted(set(REQUESTS) - {"ui/initialize", "ping"}))
def test_no_request_is_taken_before_initialize(method: str) -> None:
    good: dict[str, Any] = {
        "name": "t",
        "uri": "ui://a",
        "url": "https://a.example",
        "mode": "inline",
        "role": "user",
        "content": [{"type": "text", "text": "x"}],
        "contents": [{"type": "resource_link", "uri": "a://b", "name": "b"}],
    }
    talk = Talk()
    talk.note(READY)
    assert error(talk.ask(method, **good)) == (-32600, "ui/initialize comes first.")


def test_ping_is_answered_at_any_time() -> None:
    talk = Talk()
    assert sent(talk.ask("ping")) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    talk.open()
    assert methods(talk.ask("ping")) == ["result"]


def test_initialized_without_initialize_opens_nothing() -> None:
    talk = Talk()
    talk.note(READY)
    assert talk.note(INITIALIZED) == [] and talk.bridge.phase == "loading"


def test_who_the_page_says_it_is_comes_with_its_opening() -> None:
    assert Opened("a page", "2") in Talk().open()


# --- the call --------------------------------------------------------------------------------------------------------


def test_the_arguments_come_once_and_before_the_result() -> None:
    talk = Talk()
    talk.open()
    assert methods(talk.bridge.partial({"ci": 1})) == ["ui/notifications/tool-input-partial"]
    assert sent(talk.bridge.input({"city": "Paris"}))[0]["params"] == {"arguments": {"city": "Paris"}}
    assert talk.bridge.input({"city": "Rome"}) == []
    assert talk.bridge.partial({"city": "R"}) == [], "no part of them after the whole"
    assert methods(talk.bridge.result({"content": [], "resultType": "complete"})) == [RESULT]
    assert talk.bridge.result({"content": []}) == [] and talk.bridge.cancelled("late") == []


def test_what_is_being_written_is_told_when_the_page_is_there_and_as_it_changes() -> None:
    talk = Talk()
    assert talk.bridge.partial({"ci": 1}) == []
    assert talk.bridge.partial({"city": "P"}) == []
    opening = talk.open()
    told = [event.message for event in opening if isinstance(event, Send)][-1]
    assert (told["method"], told["params"]) == (PARTIAL, {"arguments": {"city": "P"}}), "as far as it was then"
    assert talk.bridge.partial({"city": "P"}) == [], "the same is not told twice"
    assert methods(talk.bridge.partial({"city": "Paris"})) == [PARTIAL]
    assert methods(talk.bridge.input({"city": "Paris"})) == [INPUT]


def test_a_page_that_begins_again_hears_the_whole_arguments_and_no_part_of_them() -> None:
    talk = Talk()
    talk.open()
    talk.bridge.partial({"city": "P"})
    talk.bridge.input({"city": "Paris"})
    talk.note(READY)
    talk.ask("ui/initialize", **INIT)
    assert methods(talk.note(INITIALIZED)) == [INPUT]


def test_nothing_is_written_any_more_when_the_call_was_cancelled() -> None:
    talk = Talk()
    talk.open()
    talk.bridge.partial({"city": "P"})
    assert methods(talk.bridge.cancelled("the answer ended"))[-1] == "ui/notifications/tool-cancelled"
    assert talk.bridge.partial({"city": "Par"}) == []


def test_a_result_without_arguments_is_preceded_by_empty_ones() -> None:
    talk = Talk()
    talk.open()
    assert methods(talk.bridge.result({"structuredContent": {"a": 1}})) == [INPUT, RESULT]


def test_a_result_goes_on_as_the_server_sent_it_without_what_only_the_wire_needs() -> None:
    talk = Talk()
    talk.open()
    raw = {"content": [{"type": "text", "text": "x"}], "_meta": {"a": 1}, "isError": True, "resultType": "complete"}
    message = sent(talk.bridge.result(raw))[-1]
    assert message["params"] == {"content": raw["content"], "_meta": {"a": 1}, "isError": True}


def test_a_call_that_was_cancelled_is_told_with_the_reason() -> None:
    talk = Talk()
    talk.open()
    talk.bridge.input({})
    (message,) = sent(talk.bridge.cancelled("the person pressed Cancel"))
    assert message["method"] == "ui/notifications/tool-cancelled"
    assert message["params"] == {"reason": "the person pressed Cancel"}


def test_a_page_that_begins_again_is_told_again_and_its_old_requests_are_gone() -> None:
    talk = Talk()
    talk.open()
    talk.bridge.input({"a": 1})
    talk.bridge.result({"content": []})
    (asked,) = talk.ask("tools/call", name="t")
    assert isinstance(asked, Asked)
    events = talk.note(READY)
    assert Withdrawn(asked.id) in events and methods(events) == ["ui/notifications/sandbox-resource-ready"]
    assert talk.bridge.answer(asked.id, {}) == []
    talk.ask("ui/initialize", **INIT)
    assert methods(talk.note(INITIALIZED)) == [INPUT, RESULT]


# --- what it asks ----------------------------------------------------------------------------------------------------


def test_a_request_is_handed_out_and_its_answer_goes_back_under_its_id() -> None:
    talk = Talk()
    talk.open()
    message = {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "t", "arguments": {"a": 1}}}
    assert talk.raw(message) == [Asked("x", "tools/call", {"name": "t", "arguments": {"a": 1}})]
    assert sent(talk.bridge.answer("x", {"content": []})) == [{"jsonrpc": "2.0", "id": "x", "result": {"content": []}}]
    assert talk.bridge.answer("x", {"content": []}) == [], "once"


def test_what_cannot_be_done_is_answered_by_its_error() -> None:
    talk = Talk()
    talk.open()
    (asked,) = talk.ask("resources/read", uri="a://b")
    assert isinstance(asked, Asked)
    assert error(talk.bridge.refuse(asked.id, Refusal("no", -32000))) == (-32000, "no")


def test_a_request_that_the_page_takes_back_is_withdrawn() -> None:
    talk = Talk()
    talk.open()
    talk.raw({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "t"}})
    assert talk.note("notifications/cancelled", requestId=77) == [Withdrawn(77)]
    assert talk.note("notifications/cancelled", requestId=77) == []
    assert talk.note("notifications/cancelled", requestId=[77]) == []
    assert talk.bridge.answer(77, {}) == []


@pytest.mark.parametrize(
    "method", ["tools/list", "resources/list", "sampling/createMessage", "ui/make-coffee", "initialize", "roots/list"]
)
def test_an_unknown_method_is_answered_by_an_error(method: str) -> None:
    talk = Talk()
    talk.open()
    code, said = error(talk.ask(method))
    assert code == -32601 and method in said


def test_an_unknown_notification_is_ignored() -> None:
    talk = Talk()
    talk.open()
    assert talk.note("ui/notifications/something-new", a=1) == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": ""}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": "x" * 600}),
        ("tools/call", {"name": "t", "arguments": [1]}),
        ("resources/read", {}),
        ("resources/read", {"uri": ["a"]}),
        ("ui/open-link", {"url": 5}),
        ("ui/message", {"role": "assistant", "content": [{"type": "text", "text": "x"}]}),
        ("ui/message", {"role": "user", "content": []}),
        ("ui/message", {"role": "user", "content": "x"}),
        ("ui/message", {"role": "user", "content": [{"type": "text"}]}),
        ("ui/message", {"role": "user", "content": [{"type": "image", "data": "x"}]}),
        ("ui/message", {"role": "user", "content": [{"type": "script", "text": "x"}]}),
        ("ui/update-model-context", {"content": "x"}),
        ("ui/update-model-context", {"structuredContent": [1]}),
        ("ui/update-model-context", {"content": [{"type": "text", "text": "x"}] * 65}),
        ("ui/request-display-mode", {"mode": "hologram"}),
        ("ui/download-file", {"contents": []}),
        ("ui/download-file", {"contents": [{"type": "text", "text": "x"}]}),
        ("ui/download-file", {"contents": [{"type": "resource", "resource": {"uri": "a://b"}}]}),
        ("ui/initialize", {"appInfo": {}}),
    ],
)
def test_params_of_another_shape_are_refused(method: str, params: dict[str, Any]) -> None:
    talk = Talk()
    talk.open()
    code, _ = error(talk.ask(method, **params))
    assert code == -32602


def test_params_that_are_no_object_are_refused() -> None:
    talk = Talk()
    talk.open()
    assert error(talk.raw({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": ["t"]}))[0] == -32602


def test_a_single_block_is_a_message_as_the_specification_s_example_has_it() -> None:
    talk = Talk()
    talk.open()
    block = {"type": "text", "text": "hello"}
    (asked,) = talk.ask("ui/message", role="user", content=block)
    assert isinstance(asked, Asked) and asked.params == {"content": [block]}


def test_of_files_the_name_has_no_path_and_nothing_that_an_eye_could_miss() -> None:
    talk = Talk()
    talk.open()
    resource = {"uri": "file:///../../etc/pass\u202ewd:x.csv?q=1", "mimeType": "text/csv", "text": "a,b"}
    (asked,) = talk.ask("ui/download-file", contents=[{"type": "resource", "resource": resource}])
    assert isinstance(asked, Asked)
    assert asked.params["files"] == [{"name": "passwdx.csv", "type": "text/csv", "data": b"a,b"}]


# --- what it tells ---------------------------------------------------------------------------------------------------


def test_the_last_word_for_models_is_reported_and_answered() -> None:
    talk = Talk()
    talk.open()
    block = {"type": "text", "text": "page 3"}
    events = talk.ask("ui/update-model-context", content=[block], structuredContent={"page": 3})
    assert events[0] == Reported([block], {"page": 3}) and methods(events) == ["result"]


def test_sizes_log_lines_and_the_wish_to_go_are_events() -> None:
    talk = Talk()
    talk.open()
    assert talk.note("ui/notifications/size-changed", width=300.4, height=200) == [Resized(300, 200)]
    assert talk.note("ui/notifications/size-changed", width="wide") == []
    assert talk.note("ui/notifications/size-changed", height=float("inf")) == []
    log = talk.note("notifications/message", level="warning", logger="ui", data={"a": 1})
    assert log == [Logged("warning", "ui", {"a": 1})]
    assert talk.note("notifications/message", level="loud", data="x") == [Logged("info", None, "x")]
    assert talk.note("ui/notifications/request-teardown") == [WantsToGo()]


def test_only_what_changed_of_where_it_stands_is_told() -> None:
    talk = Talk()
    talk.bridge.stands({"theme": "light", "locale": "de"})
    talk.open()
    (message,) = sent(talk.bridge.stands({"theme": "dark", "locale": "de"}))
    assert message["method"] == "ui/notifications/host-context-changed" and message["params"] == {"theme": "dark"}
    assert talk.bridge.stands({"theme": "dark"}) == []


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        {"theme": "sepia"},
        {"styles": {**STYLES, "--color-text-primary": "red;background:url(x)"}},
        {"styles": {**STYLES, "--font-sans": 5}},
        {"styles": {**STYLES, "--font-mono": "x" * 400}},
        {"styles": {"--jp-secret": "red", "--font-sans": "serif"}},
        {"containerDimensions": {"width": -1, "height": True, "depth": 3}},
        {"locale": "<b>", "timeZone": 5},
        {"toolInfo": {"tool": {"name": "another"}}, "displayMode": "fullscreen"},
    ],
)
def test_a_report_of_another_shape_changes_nothing(odd: object) -> None:
    talk = Talk()
    talk.open()
    assert talk.bridge.stands(odd) == []


# --- how it is shown -------------------------------------------------------------------------------------------------


def test_a_page_may_be_shown_whole_when_it_can_be_and_hears_of_it() -> None:
    talk = Talk()
    talk.open(availableDisplayModes=["inline", "fullscreen"])
    (asked,) = talk.ask("ui/request-display-mode", mode="fullscreen")
    assert isinstance(asked, Asked) and asked.params == {"mode": "fullscreen"}
    (changed,) = sent(talk.bridge.shown_as("fullscreen"))
    assert changed["params"] == {"displayMode": "fullscreen"}
    assert talk.bridge.shown_as("fullscreen") == [] and talk.bridge.shown_as("pip") == []


@pytest.mark.parametrize(
    ("can", "wanted"),
    [({}, "pip"), ({"availableDisplayModes": ["inline"]}, "fullscreen"), ({}, "inline")],
)
def test_a_mode_that_is_not_to_be_had_is_answered_by_the_one_that_is(can: dict[str, Any], wanted: str) -> None:
    talk = Talk()
    talk.open(**can)
    assert sent(talk.ask("ui/request-display-mode", mode=wanted))[0]["result"] == {"mode": "inline"}


# --- the end ---------------------------------------------------------------------------------------------------------


def test_a_page_is_told_before_it_goes_and_may_still_save_what_it_has() -> None:
    talk = Talk()
    talk.open()
    (message,) = sent(talk.bridge.teardown())
    assert message["method"] == "ui/resource-teardown" and message["params"] == {}
    assert any(isinstance(event, Asked) for event in talk.ask("tools/call", name="save"))
    assert talk.raw({"jsonrpc": "2.0", "id": "other", "result": {}}) == [], "not the answer that is waited for"
    assert Ended() in talk.raw({"jsonrpc": "2.0", "id": message["id"], "result": {}})
    assert talk.bridge.phase == "closed" and talk.ask("ping") == []


def test_a_page_that_cannot_say_goodbye_goes_as_well() -> None:
    talk = Talk()
    talk.open()
    (message,) = sent(talk.bridge.teardown())
    failed = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32000, "message": "no"}}
    assert Ended() in talk.raw(failed)


def test_a_page_that_never_was_there_goes_at_once() -> None:
    talk = Talk()
    assert talk.bridge.teardown() == [Ended()] and talk.bridge.teardown() == []


# --- too much --------------------------------------------------------------------------------------------------------


def test_a_message_that_is_too_long_is_refused() -> None:
    talk = Talk(Limits(message=2_000))
    talk.open()
    assert "2,000 characters" in error(talk.ask("tools/call", name="t", arguments={"a": "x" * 3_000}))[1]
    assert talk.note("notifications/message", data="x" * 3_000) == []


def test_more_messages_than_the_rate_are_refused_until_some_time_has_passed() -> None:
    talk = Talk(Limits(rate=1, burst=5))
    talk.open()
    assert [methods(talk.ask("ping")) for _ in range(4)] == [["result"], ["result"], ["error"], ["error"]]
    talk.now += 1.5
    assert methods(talk.ask("ping")) == ["result"]


def test_more_data_than_the_rate_is_refused() -> None:
    talk = Talk(Limits(data_rate=100, data_burst=2_000))
    talk.open()
    assert methods(talk.ask("ping", x="y" * 1_900)) == ["error"]
    talk.now += 20
    assert methods(talk.ask("ping", x="y" * 1_900)) == ["result"]


def test_a_flood_is_noticed_once() -> None:
    talk = Talk(Limits(rate=1, burst=3, dropped=10))
    talk.open()
    floods = [event for _ in range(50) for event in talk.note("ui/notifications/size-changed", height=1)]
    assert floods.count(Flooded()) == 1


def test_only_so_many_requests_are_worked_on_at_once() -> None:
    talk = Talk(Limits(pending=2))
    talk.open()
    first, _ = (talk.ask("tools/call", name="t")[0] for _ in range(2))
    assert "2 requests" in error(talk.ask("tools/call", name="t"))[1]
    assert isinstance(first, Asked)
    talk.bridge.answer(first.id, {})
    assert isinstance(talk.ask("tools/call", name="t")[0], Asked)


def test_an_id_that_is_in_use_is_refused() -> None:
    talk = Talk()
    talk.open()
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "t"}}
    talk.raw(message)
    assert error(talk.raw(message))[0] == -32600


def test_an_answer_that_is_too_long_for_a_page_becomes_an_error() -> None:
    talk = Talk(Limits(result=1_000))
    talk.open()
    (asked,) = talk.ask("resources/read", uri="a://b")
    assert isinstance(asked, Asked)
    assert "too many for a page" in error(talk.bridge.answer(asked.id, {"contents": ["x" * 2_000]}))[1]


def test_models_are_told_only_so_much() -> None:
    talk = Talk(Limits(context=100))
    talk.open()
    events = talk.ask("ui/update-model-context", content=[{"type": "text", "text": "x" * 200}])
    assert methods(events) == ["error"] and len(events) == 1


@pytest.mark.parametrize(
    "message",
    [
        None,
        "x",
        [],
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"},
        {"jsonrpc": "2.0", "id": "x" * 300, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_what_is_no_message_is_dropped(message: object) -> None:
    talk = Talk()
    talk.open()
    assert talk.raw(message) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from([*sorted(REQUESTS), INITIALIZED, READY, "notifications/message", "x"]), json_values, json_values)
def test_no_message_whatever_breaks_the_bridge(method: str, params: Any, id: Any) -> None:
    talk = Talk()
    talk.open()
    for message in ({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, {"jsonrpc": "2.0", "id": id}):
        assert all(isinstance(one, Send) or type(one).__name__[0].isupper() for one in talk.raw(message))


def test_a_bucket_fills_at_its_rate_and_not_above_its_brim() -> None:
    bucket = Bucket(rate=2, burst=4)
    assert [bucket.take(0.0) for _ in range(5)] == [True, True, True, True, False]
    assert bucket.take(0.6) and not bucket.take(0.6)
    assert bucket.take(100.0, 4) and not bucket.take(100.0)
    assert not bucket.take(50.0), "a clock that goes back fills nothing"
