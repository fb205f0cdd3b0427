"""Tasks of both eras as values: reading any JSON, what a client does about each state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.errors import InputRefused, RemoteProtocolError
from jupyter_mcp.protocol import tasks
from jupyter_mcp.protocol.tasks import Follower, TaskState, read_created, read_state

ASKING: dict[str, Any] = {"elicitation": {"form": {}}, "sampling": {}}
WORKING = {"taskId": "t", "status": "working", "createdAt": "c", "lastUpdatedAt": "u", "ttlMs": None}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def form(message: str = "Go on?") -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": {"type": "object"}}}


def state(status: str = "working", **members: Any) -> TaskState:
    return read_state({**WORKING, "status": status, **members})


def test_both_eras_spell_their_times_in_milliseconds() -> None:
    modern = read_state({**WORKING, "ttlMs": 60_000, "pollIntervalMs": 500})
    legacy = read_state({"taskId": "t", "status": "working", "ttl": 60_000, "pollInterval": 500})
    assert (modern.ttl, modern.poll) == (legacy.ttl, legacy.poll) == (60.0, 0.5)


@pytest.mark.parametrize("odd", [True, "500", -1, float("nan"), float("inf"), [], None, 1e18])
def test_a_time_that_is_none_is_as_if_it_were_not_said(odd: Any) -> None:
    found = read_state({**WORKING, "ttlMs": odd, "pollIntervalMs": odd})
    assert found.ttl is None and found.poll is None


@pytest.mark.parametrize("odd", [None, [], {}, {"taskId": ""}, {"taskId": 1, "status": "working"}, {"taskId": "t"}])
def test_a_task_without_an_id_or_a_status_is_none(odd: Any) -> None:
    with pytest.raises(RemoteProtocolError):
        read_state(odd)


def test_an_unknown_status_is_shown_and_has_not_ended() -> None:
    found = state("resting\x1b[31m")
    assert found.status == "resting" and not found.ended


def test_a_failed_task_always_has_an_error() -> None:
    assert state("failed", error={"code": -32603, "message": "boom"}).error == tasks.RpcError(-32603, "boom")
    assert state("failed").error is not None
    assert state("completed", error={"code": 1}).error is None


def test_a_result_is_a_task_only_where_its_era_says_so() -> None:
    plain: dict[str, Any] = {"content": [], "task": {"taskId": "t", "status": "working"}}
    assert read_created(plain, "modern") is None and read_created(plain, "legacy") is None
    assert read_created({"resultType": "task", **WORKING}, "modern") == state()
    assert read_created({"task": WORKING}, "legacy") == state()
    with pytest.raises(RemoteProtocolError):
        read_created({"resultType": "task"}, "modern")


def test_a_question_is_asked_once_while_it_is_open_and_after_its_answer() -> None:
    follower = Follower(ASKING)
    asking = state("input_required", inputRequests={"seat": form()})
    assert list(follower.take(asking).ask) == ["seat"]
    assert follower.take(asking).ask == {}
    assert follower.answer("seat")
    assert follower.take(asking).ask == {}, "the server shows it a little longer"


def test_a_question_that_the_server_takes_back_is_withdrawn() -> None:
    follower = Follower(ASKING)
    follower.take(state("input_required", inputRequests={"a": form(), "b": form()}))
    assert follower.take(state("input_required", inputRequests={"b": form()})).withdraw == {"a"}
    assert follower.take(state("cancelled")).withdraw == {"b"}
    assert not follower.answer("b")


def test_what_was_open_when_it_was_left_is_asked_again() -> None:
    follower = Follower(ASKING)
    asking = state("input_required", inputRequests={"a": form(), "b": form()})
    follower.take(asking)
    follower.answer("a")
    follower.stop()
    assert list(follower.take(asking).ask) == ["b"]


def test_a_question_beyond_what_was_declared_is_refused() -> None:
    with pytest.raises(InputRefused):
        Follower({}).take(state("input_required", inputRequests={"a": form()}))
    with pytest.raises(RemoteProtocolError):
        Follower(ASKING).take(state("input_required", inputRequests={"a": "what?"}))


def test_questions_without_end_end_it() -> None:
    many = {str(number): form() for number in range(tasks.MOST_QUESTIONS + 1)}
    with pytest.raises(RemoteProtocolError):
        Follower(ASKING).take(state("input_required", inputRequests=many))


@pytest.mark.parametrize(("proposed", "pause"), [(0, 0.1), (1, 0.1), (500, 0.5), (10**9, 60.0)])
def test_the_servers_pace_is_kept_within_bounds(proposed: int, pause: float) -> None:
    assert Follower().take(state(pollIntervalMs=proposed)).pause == pause


def test_without_a_pace_the_looks_become_rarer_until_something_happens() -> None:
    follower = Follower()
    pauses = [follower.take(state()).pause for _ in range(12)]
    assert pauses == sorted(pauses) and pauses[0] == 0.25 and pauses[-1] == 5.0
    assert follower.take(state(lastUpdatedAt="later")).pause == 0.25
    assert follower.take(state("completed")).pause == 0.0


def test_who_may_answer_a_call_by_a_task() -> None:
    mine: dict[str, Any] = {"extensions": {tasks.EXTENSION: {}}}
    theirs: dict[str, Any] = {"tasks": {"requests": {"tools": {"call": {}}}}}
    assert tasks.may_become_task(mine, {}, "2026-07-28") and not tasks.may_become_task({}, mine, "2026-07-28")
    assert tasks.may_become_task({}, theirs, "2025-11-25")
    assert not tasks.may_become_task({}, theirs, "2025-06-18") and not tasks.may_become_task({}, {}, "2025-11-25")


@pytest.mark.parametrize("odd", [{}, {"execution": None}, {"execution": {"taskSupport": "often"}}, {"execution": []}])
def test_a_tool_that_does_not_say_so_is_not_run_as_a_task(odd: dict[str, Any]) -> None:
    assert tasks.support(odd) == "forbidden"
    assert tasks.support({"execution": {"taskSupport": "required"}}) == "required"


@given(json_values, json_values, json_values)
def test_any_json_is_a_state_or_a_protocol_error(status: Any, requests: Any, rest: Any) -> None:
    raw = {"taskId": "t", "status": status, "inputRequests": requests, "ttlMs": rest, "error": rest, "result": rest}
    for candidate in (raw, status, {**raw, "status": "input_required"}, {**raw, "status": "failed"}):
        try:
            found = read_state(candidate)
            look = Follower(ASKING).take(found)
        except (RemoteProtocolError, InputRefused):
            continue
        assert 0 <= look.pause <= tasks.LONGEST_PAUSE
