"""What a button started: its progress and Cancel while it runs, then what came of it, below the form it belongs to."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import clock, kit
from jupyter_mcp.notebook.cards.progress import Gauge
from jupyter_mcp.notebook.render.acts import error_piece
from jupyter_mcp.notebook.render.bundles import bundle

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Outcome"]


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
