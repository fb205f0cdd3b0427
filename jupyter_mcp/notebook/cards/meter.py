"""The live progress of one act: what runs and since when, a bar, the server's words. Its parts change one by one.

The bar of an unknown end moves by itself and would begin anew each time it is drawn, so the seconds stand beside it
and not in it. How often it is drawn does not depend on how often the server reports (`pace`).
"""

from __future__ import annotations

from jupyter_mcp.notebook.cards import clock, kit
from jupyter_mcp.notebook.cards.pace import Pace
from jupyter_mcp.notebook.cards.progress import Gauge

__all__ = ["Meter"]


class Meter:
    """
    Args:
        label: what runs ("demo.slow").

    Attributes:
        gauge: what is known about it.
        root: the widget.
    """

    def __init__(self, label: str) -> None:
        self.gauge = Gauge(label)
        self._head, self._bar = kit.markup(""), kit.markup("")
        self._said, self._lines = kit.markup(""), kit.markup("")
        self.root = kit.column([self._head, self._bar, self._said, self._lines])
        self._pace = Pace(self._paint)
        self._paint()

    def start(self) -> None:
        """Count the seconds from now on."""
        clock.start(self._pace.touch)

    def stop(self) -> None:
        """Change no more."""
        clock.stop(self._pace.touch)
        self._pace.stop()

    def event(self, event: object) -> None:
        """A `CallEvent`, from any thread."""
        self.gauge.event(event)
        self._pace.touch()

    def _paint(self) -> None:
        drawn = self.gauge.drawn()
        for target, body in (
            (self._head, drawn.head),
            (self._bar, drawn.bar),
            (self._said, drawn.said),
            (self._lines, drawn.lines),
        ):
            kit.paint(target, body)
