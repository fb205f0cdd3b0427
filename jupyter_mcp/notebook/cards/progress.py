"""Progress of one act as HTML: a bar never over its end and never not a number, a message, the seconds so far."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import Any, NamedTuple

from jupyter_mcp.host.events import Log, Progress, QuestionClosed, QuestionOpened, Status, TaskChanged
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.acts import progress_text
from jupyter_mcp.notebook.render.text import flat, pretty
from jupyter_mcp.notebook.render.views import CallView

__all__ = ["Drawn", "Gauge"]


_SAID = ("working", "input_required")  # the card has better words for them


class Drawn(NamedTuple):
    """Safe HTML: what runs and for how long, the bar, how far it is, what was logged."""

    head: str
    bar: str
    said: str
    lines: str


class Gauge:
    """What has been told about a running act. Thread-safe; `drawn` is how it stands now."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._began = time.monotonic()
        self._progress: Progress | None = None
        self._lines: deque[str] = deque(maxlen=6)
        self._asking = 0
        self._task = ""
        self._guard = threading.Lock()

    def event(self, event: object) -> None:
        """Take a `CallEvent`."""
        with self._guard:
            if isinstance(event, Progress):
                if math.isfinite(event.progress):
                    self._progress = event
            elif isinstance(event, Log):
                said = event.data if isinstance(event.data, str) else pretty(event.data)
                self._lines.append(f"{event.level}: {flat(said, 300)}")
            elif isinstance(event, Status):
                self._lines.append(flat(event.text, 300))
            elif isinstance(event, TaskChanged):
                task = event.task
                status = "" if task.status in _SAID else f", {flat(task.status, 40)}"
                self._task = f"task {task.key}{status}"
                if task.message and (self._progress is None or self._progress.message != task.message):
                    said = flat(task.message, 300)
                    if not self._lines or self._lines[-1] != said:  # told again with every change of the status
                        self._lines.append(said)
            elif isinstance(event, QuestionOpened):
                self._asking += 1
            elif isinstance(event, QuestionClosed):
                self._asking = max(0, self._asking - 1)

    @property
    def view(self) -> CallView:
        """Progress as a value, without the seconds."""
        seen = self._progress
        if seen is None:
            return CallView(self.label)
        return CallView(self.label, "running", seen.progress, seen.total, seen.message)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def drawn(self) -> Drawn:
        """How it stands now."""
        with self._guard:
            view, lines, asking, task = self.view, list(self._lines), self._asking, self._task
        told = progress_text(view)
        state = "waits for your answer" if asking else "is running"
        state += f" ({html.escape(task)})" if task else ""
        return Drawn(
            html.note(f"{html.code(self.label)} {state} {html.muted(self._elapsed())}"),
            "" if asking and view.progress is None else _bar(view, self.label, told),
            html.note(html.escape(told)) if told else "",
            html.pre("\n".join(lines)) if lines else "",
        )

    def _elapsed(self) -> str:
        seconds = int(self.seconds)
        return f"{seconds // 60}:{seconds % 60:02d}"


def _bar(view: CallView, label: str, told: str) -> str:
    """A native progress element: it moves by itself when the end is unknown, and screen readers know it."""
    done, total = view.progress, view.total
    known: dict[str, Any] = {}
    if done is not None and total is not None and math.isfinite(total) and total > 0:
        share = f"{min(max(done / total, 0.0), 1.0) * 100:.1f}"
        known = {"value": share, "max": "100", "aria_valuenow": share, "aria_valuetext": told}
    return html.tag("progress", "", **known, aria_label=f"progress of {flat(label, 120)}")
