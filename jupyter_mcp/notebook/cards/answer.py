"""A question that is being answered: the model's words as they come, its calls as folds, a button that stops it.

Text and calls are parts of their own, in order, so that a fold that somebody opened stays open while the text below it
grows. Events come on the runtime's thread; widgets are made on the main thread.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.conversation.events import (
    Attached,
    CallEnded,
    CallSent,
    CallStarted,
    CallTold,
    CallWritten,
    CatalogueChanged,
    Noted,
    TextDelta,
)
from jupyter_mcp.host.events import Progress, QuestionClosed, QuestionOpened
from jupyter_mcp.notebook.appbelow import listed_with_page
from jupyter_mcp.notebook.cards import clock, kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.objects.conversation import call_view, masked
from jupyter_mcp.notebook.render import conversation, html
from jupyter_mcp.notebook.render.acts import progress_text
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.piece import plain_line
from jupyter_mcp.notebook.render.views import CallView, ConversationView, ToolCallView
from jupyter_mcp.runtime import jobs, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.host.conversation import ModelCall
    from jupyter_mcp.host.conversation.toolbox import Changes
    from jupyter_mcp.notebook.cards.apps.answering import AnswerApps

__all__ = ["LiveAnswer"]

log = logging.getLogger("jupyter_mcp.cards")
PAINT_SECONDS = 0.15
"""Text is painted no more often; what is left over comes with the clock's next tick."""
_SHARE = 5  # a long text takes longer to draw: no more than one part in so many of the thread's time goes there


class LiveAnswer:
    """The live card of one question.

    Args:
        label: what is waited for ("the answer of local").
        cancel: stops it; called once, by the button.
    """

    def __init__(self, label: str, cancel: Callable[[], object] | None = None) -> None:
        self._label = label
        self._cancel = cancel
        self._place = place.here()
        self._guard = threading.RLock()
        self._parts: list[str | ToolCallView] = []
        self._at: dict[int, int] = {}  # number of a call -> its part
        self._attached: list[str] = []
        self._status = ""
        self._dirty: set[int] = set()
        self._due = 0.0  # when text may be painted again
        self._pictures: list[Any] = []
        self._apps: AnswerApps | None = None
        self._head = kit.markup()
        self._body = kit.column([])
        self._foot = kit.markup(kit.status(f"{label} is coming …"))
        self._button = kit.button("Stop", self._press, look="warning", tip=f"Stop {label}")
        parts = [self._head, self._body, self._foot, *([kit.row([self._button])] if cancel is not None else [])]
        self.card = Card(
            kit.root(parts), lambda: bundle(self.view()), lambda: bundle(self.view("ended with its kernel"))
        )

    def view(self, end: str = "") -> ConversationView:
        """What there is by now."""
        with self._guard:
            notes = [end] if end else []
            parts = [masked(part) if isinstance(part, str) else part for part in self._parts]
            return ConversationView("", parts, list(self._attached), notes, running=not end)

    def show(self) -> LiveAnswer:
        """Display it in the current cell. Main thread; twice is once."""
        if not self.card.shown:
            self.card.show()
            clock.start(self._tick)
        return self

    def event(self, event: object) -> None:
        """A `ConversationEvent`, from any thread. What comes after the end changes nothing."""
        self._follow_apps(event)
        with self._guard:
            at_once = self._take(event)
            grown = len(self._parts) > len(self._pictures)
        if self.card.over:
            return
        if grown:
            jobs.post(self._grow, self._place)
        elif at_once or time.monotonic() >= self._due:
            self._paint()

    def offer_to_leave(self, leave: Callable[[], object]) -> None:
        """An answer is no task: there is nothing to leave."""

    def finish(self, outcome: object = None) -> None:
        """Replace the card by the answer's own picture; an error leaves what was said, the cell shows the error."""
        clock.stop(self._tick)
        if self._apps is not None:
            self._apps.over()
            if outcome is None:
                self._apps.take_away()
        if isinstance(outcome, BaseException):
            said = self.view("not finished")
            self.card.finish(bundle(said) if said.parts else {"text/plain": "", "text/html": ""})
        else:
            self.card.finish(bundle(outcome if outcome is not None else self.view("ended")))

    def _follow_apps(self, event: object) -> None:
        """Pages of servers stand below the answer; what shows them is loaded when a call is made."""
        if self._apps is None and _has_page(event):
            from jupyter_mcp.notebook.cards.apps.answering import AnswerApps

            self._apps = AnswerApps(self._place)
        if self._apps is not None and not self.card.over:
            self._apps.take(event)

    # --- events ------------------------------------------------------------------------------------------------------

    def _take(self, event: object) -> bool:
        """Keep what it says; True when it is to be seen at once."""
        match event:
            case TextDelta(text):
                self._say(text)
                return False
            case CallStarted(call) | CallEnded(call):
                self._show_call(call_view(call), call)
            case CallTold(call, told):
                self._tell(call, told)
            case Attached(label):
                self._attached.append(label)
            case CatalogueChanged(changes):
                self._status = _changed(changes)
            case Noted(text):
                self._status = text
            case _:
                return False
        return True

    def _say(self, text: str) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, str):
            self._parts[-1] = last + text
        else:
            self._parts.append(text)
        self._dirty.add(len(self._parts) - 1)
        self._status = ""

    def _show_call(self, view: ToolCallView, call: ModelCall) -> None:
        place = self._at.setdefault(call.number, len(self._parts))
        if place == len(self._parts):
            self._parts.append(view)
        else:
            self._parts[place] = view
        self._dirty.add(place)

    def _tell(self, call: ModelCall, told: object) -> None:
        shown = call_view(call)
        if isinstance(told, QuestionOpened):
            shown = replace(shown, status="asking")
        elif isinstance(told, Progress):
            seen = CallView("", "running", told.progress, told.total, told.message)
            shown = replace(shown, said=progress_text(seen))
        elif not isinstance(told, QuestionClosed):
            return
        self._show_call(shown, call)

    # --- painting ----------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """On the main thread: a widget for each part that has none yet."""
        if self.card.over:
            return
        with self._guard:
            missing = len(self._parts) - len(self._pictures)
        new = [kit.markup() for _ in range(missing)]
        self.card.wire(*new)
        with self._guard:
            self._pictures += new
            self._body.children = tuple(self._pictures)
        self._paint()

    def _paint(self) -> None:
        began = time.monotonic()
        with self._guard:
            due = [at for at in self._dirty if at < len(self._pictures)]
            self._dirty.difference_update(due)
            for at in due:
                kit.paint(self._pictures[at], _html(self._parts[at]))
            opening = conversation.opening_piece(ConversationView("", attached=self._attached))
            kit.paint(self._head, opening.html if opening is not None else "")
            kit.paint(self._foot, kit.status(self._status or f"{self._label} is coming …"))
            now = time.monotonic()
            self._due = now + max(PAINT_SECONDS, _SHARE * (now - began))

    def _tick(self) -> None:
        if self._dirty and not self.card.over:
            self._paint()

    def _press(self) -> None:
        if self._cancel is None or self._button.disabled:
            return
        self._button.disabled = True
        self._button.description = "Stopping…"
        try:
            self._cancel()
        except Exception:
            log.exception("%s could not be stopped", self._label)


def _has_page(event: object) -> bool:
    """Whether it is about a call whose tool has a page."""
    if isinstance(event, CallWritten):
        return listed_with_page(event.server, event.tool) is not None
    return isinstance(event, CallSent) and listed_with_page(event.call.server, event.call.tool) is not None


def _html(part: str | ToolCallView) -> str:
    piece = conversation.answer_piece(masked(part)) if isinstance(part, str) else conversation.call_piece(part)
    return piece.html or html.note("")


def _changed(changes: Changes) -> str:
    said = [
        f"{what} {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
        for what, names in (("new:", changes.added), ("gone:", changes.removed), ("changed:", changes.changed))
        if names
    ]
    return plain_line(f"The tools have changed: {'; '.join(said)}").text
