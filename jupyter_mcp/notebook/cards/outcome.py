"""What a form's button started: one act or several at once, each with its progress, then its result; the newest first.

What has ended is kept for a while below, folded; a number that is bounded, since each holds its result.
"""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.run import Run, was_cancelled, word_of
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

__all__ = ["KEPT", "MOST", "Outcome"]

KEPT = 8
"""Ended acts of one form that stay on the page."""
MOST = 32
"""Acts of one form at a time."""


def _announced(text: str) -> str:
    """For those who hear the page; the others see the result."""
    hidden = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"
    return html.tag("div", html.escape(text), hidden, role="status", aria_live="polite")


def _as_html(value: Any) -> str:
    return bundle(value)["text/html"]


class Outcome:
    """
    Args:
        changed: called when an act begins and when it ends (to lock and unlock the form).
        several: an act can begin while another runs; without it, one that runs lets none begin, and only what came of
            the last one stays.

    Attributes:
        root: the widget.
        value: what came of the last act that ended; an exception when it failed.
    """

    def __init__(self, changed: Callable[[], object] = lambda: None, *, several: bool = False) -> None:
        self._changed = changed
        self._several = several
        self._runs: list[Run] = []
        self._numbers = itertools.count(1)
        self._guard = threading.RLock()
        self._said = kit.markup("")
        self._place = kit.column([])
        self.root = kit.column([self._said, self._place])
        self.value: Any = None

    @property
    def busy(self) -> bool:
        """Whether an act runs."""
        return any(run.running for run in self._runs)

    @property
    def full(self) -> bool:
        """Whether no other act can begin now."""
        running = sum(run.running for run in self._runs)
        return running >= MOST if self._several else running > 0

    def run(
        self,
        label: str,
        begin: Callable[[Callable[[object], None]], Future[Any]],
        draw: Callable[[Any], Any] = _as_html,
    ) -> None:
        """Begin an act; does nothing while no other can begin.

        Args:
            label: what it is ("demo.add").
            begin: starts it, given who listens to its events, and returns at once.
            draw: what to show of what came of it, when it did not fail: safe HTML, or a widget.
        """
        with self._guard:
            if self.full:
                return
            made = Run(label, draw, self._ended, number=next(self._numbers) if self._several else 0)
            for run in self._runs:
                if not run.running:
                    run.show(False)
            self._runs.insert(0, made)
            self._wire(made)
            self._tidy()
        self._changed()
        made.begin(begin)

    def _ended(self, run: Run) -> None:
        """On whatever thread the act was drawn."""
        with self._guard:
            self.value = run.value
            newer = self._runs[: self._runs.index(run)] if run in self._runs else []
            if any(not (one.running or was_cancelled(one.value)) for one in newer):
                run.show(False)  # what was begun later and has its result stays open
            self._tidy()
        if self._several:
            kit.paint(self._said, _announced(f"{flat(run.label, 120)} {word_of(run.value)[0]}"))
        self._changed()

    def _tidy(self) -> None:
        """Drop the oldest that ended, and put the others onto the page, the newest first."""
        room = KEPT if self._several else (0 if self.busy else 1)
        kept: list[Run] = []
        dropped: list[Run] = []
        for run in self._runs:
            if run.running or room > 0:
                kept.append(run)
                room -= not run.running
            else:
                dropped.append(run)
        self._runs = kept
        self._place.children = [run.root for run in kept]
        for run in dropped:
            run.free()

    def _wire(self, run: Run) -> None:
        from jupyter_mcp.runtime.pump import unroute

        unroute(run.root)
