"""The signed state of a call in rounds, and the replay of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_mcp.server.rounds import InvalidState, Ledger, StateKeeper, bind

PARAMS = {"name": "book", "arguments": {"city": "Rome", "n": 1}}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def sealed(keeper: StateKeeper, binding: str, **fields: Any) -> str:
    return keeper.seal(Ledger(**fields), {"q1": "digest"}, binding)


def test_a_state_comes_back_as_it_went():
    keeper, binding = StateKeeper(), bind("tools/call", PARAMS, "me")
    state = sealed(keeper, binding, answers={"k": ["d", {"action": "accept"}]}, attempts={"k": 1}, state={"x": [1]})
    ledger = keeper.open(state, binding)
    assert (ledger.answers, ledger.attempts, ledger.state) == ({"k": ["d", {"action": "accept"}]}, {"k": 1}, {"x": [1]})
    assert ledger.asked == {"q1": "digest"}
    assert state.isascii()
    assert "\n" not in state


@pytest.mark.parametrize(
    ("method", "params", "principal"),
    [
        ("prompts/get", PARAMS, "me"),
        ("tools/call", {**PARAMS, "name": "other"}, "me"),
        ("tools/call", {**PARAMS, "arguments": {"city": "Rome", "n": 2}}, "me"),
        ("tools/call", {"name": "book"}, "me"),
        ("tools/call", PARAMS, "you"),
    ],
)
def test_a_state_serves_only_the_call_it_was_made_for(method: str, params: dict[str, Any], principal: str):
    keeper = StateKeeper()
    state = sealed(keeper, bind("tools/call", PARAMS, "me"))
    with pytest.raises(InvalidState, match="another call"):
        keeper.open(state, bind(method, params, principal))


def test_the_order_of_arguments_is_no_difference_and_absent_ones_are_empty_ones():
    assert bind("m", {"arguments": {"a": 1, "b": 2}}, "") == bind("m", {"arguments": {"b": 2, "a": 1}}, "")
    assert bind("m", {"name": "x"}, "") == bind("m", {"name": "x", "arguments": {}, "_meta": {"y": 1}}, "")


def test_a_changed_state_is_refused_whatever_was_changed():
    keeper, binding = StateKeeper(), bind("tools/call", PARAMS, "")
    state = sealed(keeper, binding)
    for at in range(len(state)):
        changed = state[:at] + ("A" if state[at] != "A" else "B") + state[at + 1 :]
        if changed[at] in "AB" and at == len(state) - 1:
            continue  # the last character of unpadded base64 holds bits that mean nothing
        with pytest.raises(InvalidState):
            keeper.open(changed, binding)
    for odd in ("", "v1", "v1..", state + "x", state.replace("v1", "v2"), "é.é.é", 3, None, ["x"], "a.b.c"):
        with pytest.raises(InvalidState):
            keeper.open(odd, binding)


def test_a_state_of_another_server_with_the_same_key_is_refused():
    binding, key = bind("tools/call", PARAMS, ""), b"k" * 32
    state = sealed(StateKeeper(key, server="one"), binding)
    assert StateKeeper(key, server="one").open(state, binding)
    with pytest.raises(InvalidState, match="not made by this server process"):
        StateKeeper(key, server="two").open(state, binding)


def test_a_state_of_another_process_is_refused_and_of_one_with_the_same_key_is_not():
    binding = bind("tools/call", PARAMS, "")
    with pytest.raises(InvalidState, match="not made by this server process"):
        StateKeeper().open(sealed(StateKeeper(), binding), binding)
    key = b"k" * 32
    assert StateKeeper(key).open(sealed(StateKeeper(key), binding), binding).asked


def test_a_state_expires():
    clock = Clock()
    keeper, binding = StateKeeper(seconds=60, clock=clock), bind("tools/call", PARAMS, "")
    state = sealed(keeper, binding)
    clock.now += 59
    keeper.open(state, binding)
    clock.now += 2
    with pytest.raises(InvalidState, match="expired"):
        keeper.open(state, binding)


def test_answers_nobody_asked_for_are_ignored():
    ledger = Ledger(asked={"a": "d"})
    ledger.receive({"a": {"x": 1}, "b": {"x": 2}, "c": "no object"})
    assert set(ledger.answers) == {"a"}
    assert ledger.responses == {"a": {"x": 1}}


def test_an_answer_by_order_is_only_good_for_the_very_same_question():
    ledger = Ledger(asked={"q1": "digest"})
    ledger.receive({"q1": {"action": "accept"}})
    assert ledger.answer("q1", "digest", named=False) == {"action": "accept"}
    assert ledger.answer("q1", "another", named=False) is None
    assert ledger.answer("q1", "another", named=True) == {"action": "accept"}
    assert ledger.answer("q2", "digest", named=False) is None


def test_a_refused_answer_is_forgotten_and_counted():
    ledger = Ledger(answers={"q1": ["d", {}]})
    assert ledger.refuse("q1") == 1
    assert ledger.answer("q1", "d", named=False) is None
    assert ledger.refuse("q1") == 2


def test_a_state_holds_odd_values_of_the_author_as_json():
    keeper, binding = StateKeeper(), "b"
    ledger = keeper.open(sealed(keeper, binding, state={"nan": float("nan"), "s": "\ud800"}), binding)
    assert ledger.state == {"nan": None, "s": "\ud800"}
    json.dumps(ledger.state)
