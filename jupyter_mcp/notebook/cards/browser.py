"""What the browsers of tools, resources and prompts share: one search box, ONE list widget, and a pane for the choice.

However many items there are, the list is a single widget that shows the first 200 matches and says how many there are;
the pane is built when an item is chosen.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jupyter_mcp.notebook.cards import clock, kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.progress import Gauge
from jupyter_mcp.notebook.render.acts import error_piece
from jupyter_mcp.notebook.render.bundles import Bundle, bundle
from jupyter_mcp.notebook.render.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["MAX_SHOWN", "Browser", "Choice", "Outcome"]

log = logging.getLogger("jupyter_mcp.cards")
T = TypeVar("T")
MAX_SHOWN = 200


@dataclass(frozen=True)
class Choice(Generic[T]):
    """One line of the list: its label, the lower-case text that a search looks through, and the item."""

    label: str
    haystack: str
    item: T


class Browser(Generic[T]):
    """A list and a pane.

    Args:
        word: what an item is called ("tool").
        choices: all items.
        build: makes the pane of one item: its widget.
        static: draws everything for the plain side of the output.
        search: the words that the list starts with.
    """

    def __init__(
        self,
        word: str,
        choices: Sequence[Choice[T]],
        build: Callable[[T], Any],
        static: Callable[[], Bundle],
        search: str = "",
    ) -> None:
        self._word = word
        self._choices = list(choices)
        self._build = build
        self._shown: list[Choice[T]] = []
        self._guard = threading.RLock()
        self._search = kit.widgets.Text(
            search,
            description="Search",
            placeholder=f"search {word}s",
            continuous_update=True,
            layout={"width": "100%"},
        )
        self._list = kit.widgets.Select(
            options=[], rows=max(4, min(14, len(self._choices))), description=f"{word}s", layout={"width": "100%"}
        )
        self._count = kit.markup("")
        self._pane = kit.column([kit.markup(f"Choose a {word} from the list.", "jmcp-help")])
        self._fill()
        self._search.observe(self._on_search, names="value")
        self._list.observe(self._on_choice, names="index")
        left = kit.column([self._search, self._count, self._list], "jmcp-control", "jmcp-list")
        left.layout.width, left.layout.min_width, left.layout.flex = "300px", "220px", "0 1 300px"
        self._pane.layout.flex, self._pane.layout.min_width = "1 1 400px", "0"
        body = kit.widgets.HBox(
            [left, self._pane], layout=kit.widgets.Layout(flex_flow="row wrap", overflow="visible", grid_gap="16px")
        )
        made = kit.root([body])
        made.layout.max_width = "1100px"
        self.card = Card(made, static)
        if len(self._choices) == 1:
            self._list.index = 0

    def _on_search(self, change: object) -> None:
        with self._guard:
            self._fill()

    def _fill(self) -> None:
        words = self._search.value.lower().split()
        found = [one for one in self._choices if all(word in one.haystack for word in words)]
        self._shown = found[:MAX_SHOWN]
        self._filling = True  # a new list of options chooses its first line by itself; no person did
        try:
            self._list.options = [(one.label, at) for at, one in enumerate(self._shown)]
            self._list.index = None
        finally:
            self._filling = False
        more = f", the first {MAX_SHOWN} shown; search to narrow it" if len(found) > MAX_SHOWN else ""
        whole = f" of {len(self._choices):,}" if len(found) != len(self._choices) else ""
        kit.paint(self._count, kit.status(f"{count(len(found), self._word)}{whole}{more}"))

    def _pane_of(self, at: int) -> Any:
        chosen = self._shown[at]
        return self._build(chosen.item)

    def _on_choice(self, change: object) -> None:
        with self._guard:
            at: int | None = self._list.index
            if self._filling or at is None or not 0 <= at < len(self._shown):
                return
            pane = self._pane_of(at)
            self.card.wire(pane)
            old = self._pane.children
            self._pane.children = [pane]
        for widget in old:
            _close(widget)


def _close(widget: Any) -> None:
    from jupyter_mcp.notebook.cards.live import free

    free(widget)


class Outcome:
    """Runs one act at a time from a button: progress and Cancel while it runs, then what came of it, as static HTML.

    Args:
        changed: called when it begins and when it ends (to lock and unlock the form).
    """

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self._changed = changed
        self._future: Future[Any] | None = None
        self._gauge: Gauge | None = None
        self._guard = threading.Lock()
        self._picture = kit.markup("")
        self._cancel = kit.button("Cancel call", self._press, look="warning", tip="Cancel what is running")
        self._cancel_row = kit.row([self._cancel])
        kit.hide(self._cancel_row, True)
        self.root = kit.column([self._picture, self._cancel_row])
        self.value: Any = None

    @property
    def busy(self) -> bool:
        return self._gauge is not None

    def run(
        self,
        label: str,
        begin: Callable[[Callable[[object], None]], Future[Any]],
        draw: Callable[[Any], str] = lambda value: bundle(value)["text/html"],
    ) -> None:
        """Begin an act; does nothing while one runs.

        Args:
            label: what it is ("demo.add").
            begin: starts it, given who listens to its events, and returns at once.
            draw: safe HTML of what came of it, when it did not fail.
        """
        self._draw = draw
        with self._guard:
            if self._gauge is not None:
                return
            gauge = self._gauge = Gauge(label)
        self._tick()
        self._cancel.disabled, self._cancel.description = False, "Cancel call"
        kit.hide(self._cancel_row, False)
        self._changed()
        clock.start(self._tick)
        try:
            future = self._future = begin(lambda event: self._event(gauge, event))
        except Exception as error:
            self._end(gauge, error)
            return
        future.add_done_callback(lambda done: self._end(gauge, _outcome(done)))

    def _event(self, gauge: Gauge, event: object) -> None:
        gauge.event(event)
        self._tick()

    def _tick(self) -> None:
        gauge = self._gauge
        if gauge is not None:
            kit.paint(self._picture, gauge.html())

    def _end(self, gauge: Gauge, outcome: object) -> None:
        """On whatever thread the act ended."""
        clock.stop(self._tick)
        with self._guard:
            if self._gauge is not gauge:
                return
            self._gauge = None
        self.value = outcome
        if isinstance(outcome, CancelledError):
            shown = "<p>Cancelled.</p>"
        elif isinstance(outcome, BaseException):
            shown = error_piece(outcome).html
        else:
            shown = self._draw(outcome)
        kit.paint(self._picture, shown)
        kit.hide(self._cancel_row, True)
        self._changed()

    def _press(self) -> None:
        if self._future is not None and not self._cancel.disabled:
            self._cancel.disabled, self._cancel.description = True, "Cancelling…"
            self._future.cancel()


def _outcome(done: Future[Any]) -> object:
    if done.cancelled():
        return CancelledError()
    error = done.exception()
    return error if error is not None else done.result()
