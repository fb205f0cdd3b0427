"""One act that a button started: its progress and Cancel while it runs, then what came of it, with a line above it.

The act goes on whatever becomes of the widgets; what came of it is drawn on a thread of its own, because it may be
large and the thread that it ended on has all connections to look after.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Cancelled
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import free
from jupyter_mcp.notebook.cards.meter import Meter
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.acts import error_piece
from jupyter_mcp.notebook.render.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Run"]

log = logging.getLogger("jupyter_mcp.cards")


class Run:
    """
    Args:
        label: what it is ("demo.add").
        draw: what to show of its value: safe HTML, or a widget.
        ended: called once with it when it is over, drawn or not.
        number: shown in its line, when there are several; 0 for none.

    Attributes:
        root: the widget.
        value: what came of it, an exception when it failed; None while it runs.
    """

    def __init__(
        self, label: str, draw: Callable[[Any], Any], ended: Callable[[Run], object], *, number: int = 0
    ) -> None:
        self.label = label
        self.number = number
        self.value: Any = None
        self._draw, self._ended = draw, ended
        self._future: Future[Any] | None = None
        self._running = True
        self._asked = False
        self._guard = threading.Lock()
        self._meter = Meter(f"{label} (call {number})" if number else label)
        self._cancel = kit.button("Cancel call", self._press, look="warning", tip=f"Cancel {label}")
        self._line = kit.markup("")
        self._fold = kit.button("Hide", self._toggle)
        self._head = kit.row([self._fold, self._line])
        self._body = kit.column([])
        kit.hide(self._head, True)
        self._meter.root.layout.flex = "0 1 440px"  # what is told changes, Cancel stays where it is
        self._progress = kit.row([self._meter.root, self._cancel])
        self.root = kit.column([self._progress, self._head, self._body])

    @property
    def running(self) -> bool:
        return self._running

    def begin(self, act: Callable[[Callable[[object], None]], Future[Any]]) -> None:
        """Start the act, given who listens to its events; returns at once."""
        self._meter.start()
        try:
            future = act(self._meter.event)
        except Exception as error:
            self._over(error)
            return
        with self._guard:
            self._future = future
            asked = self._asked
        if asked:
            future.cancel()
        future.add_done_callback(self._done)

    def cancel(self) -> None:
        """End it, at the server too. Once."""
        with self._guard:
            if self._asked or not self._running:
                return
            self._asked = True
            future = self._future
        self._cancel.disabled, self._cancel.description = True, "Cancelling…"
        if future is not None:
            future.cancel()

    def show(self, shown: bool) -> None:
        """Fold what came of it, or unfold it."""
        kit.hide(self._body, not shown)
        self._fold.description = "Hide" if shown else "Show"
        self._fold.tooltip = f"{self._fold.description} what call {self.number} of {self.label} returned"

    def _press(self) -> None:
        self.cancel()

    def _toggle(self) -> None:
        self.show(self._body.layout.display == "none")

    def _done(self, future: Future[Any]) -> None:
        """On whatever thread the act ended."""
        outcome = _outcome(future)
        if _on_runtime():
            _artist().submit(self._over, outcome)
        else:
            self._over(outcome)

    def _over(self, outcome: object) -> None:
        with self._guard:
            if not self._running:
                return
            self._running = False
        self._meter.stop()
        self.value = outcome
        try:
            made = self._drawn(outcome)
        except Exception as error:
            log.exception("what %s returned could not be drawn", self.label)
            made = kit.markup(error_piece(error).html)
        self._wire(made)
        self._body.children = [made]
        kit.hide(self._progress, True)
        if self.number:
            kit.paint(self._line, self._told(outcome))
            kit.hide(self._head, False)
            kit.hide(self._fold, was_cancelled(outcome))
            self.show(True)
        self._ended(self)

    def _drawn(self, outcome: object) -> Any:
        if was_cancelled(outcome):
            return kit.markup("" if self.number else "<p>Cancelled.</p>")
        if isinstance(outcome, BaseException):
            return kit.markup(error_piece(outcome).html)
        drawn = self._draw(outcome)
        return kit.markup(drawn) if isinstance(drawn, str) else drawn

    def _told(self, outcome: object) -> str:
        word, tone = word_of(outcome)
        said = f"<b>call {self.number}</b> {html.code(flat(self.label, 120))} {html.escape(word)}"
        return html.note(f"{said} {html.muted(f'after {self._meter.gauge.seconds:.1f} s')}", tone)

    def _wire(self, made: Any) -> None:
        from jupyter_mcp.runtime.pump import unroute

        unroute(made)

    def free(self) -> None:
        """Close its widgets; the act itself is left alone."""
        self._meter.stop()
        free(self.root)


def was_cancelled(outcome: object) -> bool:
    """Whether an act ended because somebody ended it."""
    return isinstance(outcome, (CancelledError, Cancelled))


def word_of(outcome: object) -> tuple[str, str]:
    """How an act ended, in a word and a tone."""
    if was_cancelled(outcome):
        return "was cancelled", "plain"
    if isinstance(outcome, BaseException) or getattr(outcome, "is_error", False):
        return "failed", "error"
    return "is done", "plain"


def _outcome(done: Future[Any]) -> object:
    if done.cancelled():
        return CancelledError()
    error = done.exception()
    return error if error is not None else done.result()


def _on_runtime() -> bool:
    from jupyter_mcp.runtime.thread import current_runtime

    runtime = current_runtime()
    return runtime is not None and runtime.is_current_thread()


@cache
def _artist() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="jupyter-mcp-cards")
