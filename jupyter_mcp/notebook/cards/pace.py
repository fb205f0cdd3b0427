"""Drawing that keeps up: however often something changes, it is drawn eight times a second, and the last always.

What changes says so by `touch`, from any thread; nothing is queued, so a page that is slow never lags behind.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SECONDS", "Pace"]

log = logging.getLogger("jupyter_mcp.cards")
SECONDS = 0.125
"""Between two drawings."""


class Pace:
    """
    Args:
        draw: draws what is so now; on the thread that touched, or on a timer's.
        seconds: between two drawings; `SECONDS` by default.
        now: a clock that never goes back. later: calls a function after some seconds. Both for tests.
    """

    def __init__(
        self,
        draw: Callable[[], object],
        seconds: float | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], object]], object] | None = None,
    ) -> None:
        self._draw = draw
        self._seconds = SECONDS if seconds is None else seconds
        self._now = now
        self._later = later or _after
        self._guard = threading.Lock()
        self._last = float("-inf")
        self._due = False
        self._stopped = False

    def touch(self) -> None:
        """Something changed: it is drawn at once when the last time is long enough ago, else when it will be."""
        with self._guard:
            if self._due or self._stopped:
                return
            wait = self._last + self._seconds - self._now()
            if wait <= 0:
                self._last = self._now()
            else:
                self._due = True
        if wait > 0:
            self._later(wait, self._fire)
        else:
            self._safely()

    def stop(self) -> None:
        """Draw no more. A drawing that has begun on another thread may still end."""
        with self._guard:
            self._stopped = True

    def _fire(self) -> None:
        with self._guard:
            self._due = False
            if self._stopped:
                return
            self._last = self._now()
        self._safely()

    def _safely(self) -> None:
        try:
            self._draw()
        except Exception:  # it must neither end the server's messages nor print into a cell
            log.exception("progress could not be drawn")


def _after(seconds: float, function: Callable[[], object]) -> None:
    timer = threading.Timer(seconds, function)
    timer.name, timer.daemon = "jupyter-mcp-pace", True
    timer.start()
