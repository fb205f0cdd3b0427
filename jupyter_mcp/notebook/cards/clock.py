"""A tick each second while something runs, for live cards only: one daemon thread for all, none when none runs."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["start", "stop"]

log = logging.getLogger("jupyter_mcp.cards")
_listeners: list[Callable[[], object]] = []
_lock = threading.Lock()
_stop: threading.Event | None = None  # of the thread that runs; each thread has its own


def start(tick: Callable[[], object]) -> None:
    """Call `tick` once a second from now on, on the clock's thread."""
    global _stop
    with _lock:
        _listeners.append(tick)
        if _stop is None:
            _stop = threading.Event()
            threading.Thread(target=_run, args=(_stop,), name="jupyter-mcp-clock", daemon=True).start()


def stop(tick: Callable[[], object]) -> None:
    """No longer; unknown ones are no error."""
    global _stop
    with _lock:
        if tick in _listeners:
            _listeners.remove(tick)
        if not _listeners and _stop is not None:
            _stop.set()
            _stop = None


def _run(stopped: threading.Event) -> None:
    while not stopped.wait(1.0):
        with _lock:
            listeners = list(_listeners)
        for tick in listeners:
            try:
                tick()
            except Exception:  # a thread that dies prints into the cell, and the other cards would stand still
                log.exception("a card could not follow the time")
