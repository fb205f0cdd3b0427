"""SIGINT while the main thread waits: recorded, never raised in the middle of something.

An exception out of a signal handler can land inside zmq, a widget callback or a lock. So the handler only counts and
wakes the wait, which acts between two steps. A job that blocks on its own (`input()`) gets Python's own handler back.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

__all__ = ["Recorder", "raising", "recording"]


class Recorder:
    """How often the person has pressed interrupt."""

    def __init__(self, wake: Callable[[], object]) -> None:
        self.hits = 0
        self._wake = wake

    def hit(self, _signal: int = 0, _frame: FrameType | None = None) -> None:
        """The handler. `wake` must be safe in a signal handler (`SimpleQueue.put` is)."""
        self.hits += 1
        self._wake()


@contextmanager
def recording(wake: Callable[[], object]) -> Generator[Recorder]:
    """Record SIGINT until the end, then put back the handler that was there. Main thread only."""
    recorder = Recorder(wake)
    with _handler(recorder.hit):
        yield recorder


@contextmanager
def raising() -> Generator[None]:
    """SIGINT raises KeyboardInterrupt inside (for `input()`), then is what it was before."""
    with _handler(signal.default_int_handler):
        yield


@contextmanager
def _handler(handler: Callable[[int, FrameType | None], Any]) -> Generator[None]:
    try:
        before = signal.signal(signal.SIGINT, handler)
    except ValueError:  # not the main thread of the main interpreter: no signals here
        yield
        return
    try:
        yield
    finally:
        # None stands for a handler that was not set from Python and cannot be put back
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
