"""The apps of a model's calls: each below the answer, told what is written and sent, and how the call ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.conversation import ModelCall
from jupyter_mcp.host.conversation.events import CallEnded, CallSent, CallStarted, CallWritten
from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook import appbelow, cards
from jupyter_mcp.runtime import jobs, state
from tests.notebook.page import Page, capture
from tests.notebook.test_cards_apps import URI, Told, begun, frames, host, tool_of

if TYPE_CHECKING:
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.notebook.cards.answer import LiveAnswer

__all__ = ["frames", "host"]

PARTIAL = "ui/notifications/tool-input-partial"
INPUT = "ui/notifications/tool-input"
RESULT = "ui/notifications/tool-result"
CANCELLED = "ui/notifications/tool-cancelled"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, host: Host) -> Page:
    monkeypatch.setattr(state, "existing_host", lambda: host)
    tool_of(host, "show")  # the list is there, as it is in a conversation
    return capture(monkeypatch)


def live() -> LiveAnswer:
    return cards.live_answer("the answer").show()


def tell(card: LiveAnswer, *events: object) -> None:
    for event in events:
        card.event(event)
        jobs.board.drain()


def call(number: int = 1, tool: str = "show", **more: Any) -> ModelCall:
    return ModelCall(number, f"bench__{tool}", "bench", tool, {"a": 1}, **more)


def result(text: str = "shown") -> Result:
    return Result({"content": [{"type": "text", "text": text}]}, server="bench", tool="show")


def hears(frame: Told, method: str) -> Any:
    return frame.hears(lambda one: one.get("method") == method)["params"]


def heard(frame: Told) -> list[str]:
    """The notifications of the call that a page got, in order."""
    from tests.notebook.test_cards_apps import opened

    sent = [opened(one).get("method") for one in frame.told if one["type"] == "message"]
    return [one for one in sent if one in (PARTIAL, INPUT, RESULT, CANCELLED)]


def test_a_page_hears_what_is_written_then_what_is_sent_then_the_result(page: Page, frames: list[Told]) -> None:
    card = live()
    tell(card, CallWritten(1, "bench", "show", {"a": "P"}))
    [frame] = frames
    begun(frame)
    assert hears(frame, PARTIAL) == {"arguments": {"a": "P"}}
    tell(card, CallWritten(1, "bench", "show", {"a": "Paris"}))
    frame.hears(lambda one: one.get("params") == {"arguments": {"a": "Paris"}})
    made = call()
    tell(card, CallStarted(made), CallSent(made, {"a": "Paris!"}))
    assert hears(frame, INPUT) == {"arguments": {"a": "Paris!"}}
    made.result, made.outcome = result(), "ok"
    tell(card, CallEnded(made))
    assert hears(frame, RESULT)["content"][0]["text"] == "shown"
    assert heard(frame) == [PARTIAL, PARTIAL, INPUT, RESULT]
    assert len(frames) == 1, "one app for one call"
    card.finish("the answer")
    assert page.live, "the app stays when the answer is there"


def test_an_app_is_shown_when_its_call_is_sent_and_not_while_it_is_asked_about(page: Page, frames: list[Told]) -> None:
    card, made = live(), call()
    tell(card, CallStarted(made))
    assert frames == []
    tell(card, CallSent(made, {"a": 1}))
    begun(frames[0])
    assert hears(frames[0], INPUT) == {"arguments": {"a": 1}}


@pytest.mark.parametrize(
    ("outcome", "said", "reason"),
    [
        ("cancelled", "Not done: the person interrupted.", "Not done: the person interrupted."),
        ("error", "bench went away.", "bench went away."),
        ("error", "", "It was not called."),
    ],
)
def test_a_call_that_ends_without_a_result_is_told_to_its_page(
    page: Page, frames: list[Told], outcome: Any, said: str, reason: str
) -> None:
    card, made = live(), call()
    tell(card, CallSent(made, {"a": 1}))
    begun(frames[0])
    made.outcome, made.said = outcome, said
    tell(card, CallEnded(made))
    assert hears(frames[0], CANCELLED) == {"reason": reason}
    assert heard(frames[0]) == [INPUT, CANCELLED]


def test_an_error_of_the_tool_is_its_result(page: Page, frames: list[Told]) -> None:
    card, made = live(), call()
    tell(card, CallSent(made, {"a": 1}))
    begun(frames[0])
    made.outcome, made.result = "error", Result({"content": [], "isError": True}, server="bench", tool="show")
    tell(card, CallEnded(made))
    assert hears(frames[0], RESULT)["isError"] is True


def test_what_was_only_being_written_is_cancelled_when_the_answer_ends(page: Page, frames: list[Told]) -> None:
    card = live()
    tell(card, CallWritten(1, "bench", "show", {"a": "P"}))
    begun(frames[0])
    card.finish(RuntimeError("the model went away"))
    assert "the answer ended before" in hears(frames[0], CANCELLED)["reason"]


def test_a_model_that_is_asked_again_and_writes_something_else_begins_another_app(
    page: Page, frames: list[Told], host: Host
) -> None:
    card = live()
    tell(card, CallWritten(1, "bench", "show", {"a": "P"}))
    begun(frames[0])
    tell(card, CallWritten(1, "bench", "odd", {"b": 1}))
    assert "something else" in hears(frames[0], CANCELLED)["reason"]
    assert [frame.tool for frame in frames] == ["bench.show", "bench.odd"]


def test_a_tool_without_a_page_loads_nothing(page: Page, frames: list[Told]) -> None:
    card, made = live(), call(tool="plain")
    tell(card, CallWritten(1, "bench", "plain", {}), CallStarted(made), CallSent(made, {}))
    assert frames == []
    assert card._apps is None  # pyright: ignore[reportPrivateUsage]


def test_an_answer_shows_so_many_apps_and_no_more(page: Page, frames: list[Told]) -> None:
    card = live()
    tell(card, *(CallSent(call(number), {}) for number in range(1, appbelow.MOST + 4)))
    assert len(frames) == appbelow.MOST


def test_an_answer_that_is_not_shown_leaves_no_app(page: Page, frames: list[Told]) -> None:
    card = live()
    tell(card, CallSent(call(), {}))
    begun(frames[0])
    card.finish(None)
    goodbye = frames[0].hears(lambda one: one.get("method") == "ui/resource-teardown")
    frames[0].says({"id": goodbye["id"], "result": {}})
    frames[0].until("stop")
    assert URI not in str(page.outputs)


def test_an_app_that_was_shown_meanwhile_is_not_shown_again_with_the_answer(
    page: Page, frames: list[Told], host: Host
) -> None:
    """And that of a call which was over before a card could be shown is."""
    from jupyter_mcp.host.conversation import Conversation as Talk
    from jupyter_mcp.host.conversation import Turn
    from jupyter_mcp.models.scripted import ScriptedModel
    from jupyter_mcp.notebook.objects.conversation import Conversation

    early, late = call(1, result=result("one")), call(2, result=result("two"))
    tell(live(), CallSent(early, {}))
    turn = Turn("question", "scripted", parts=[early, late])
    value = Conversation(Talk(host, ScriptedModel([])), turn)
    before = len(frames)
    assert appbelow.with_app(value)
    assert len(frames) == before + 1
    begun(frames[-1])
    assert hears(frames[-1], RESULT)["content"][0]["text"] == "two"
