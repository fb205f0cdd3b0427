"""SIGINT while the main thread waits: recorded, never raised in the middle of something.

An exception out of a signal handler can land inside zmq, a widget callback or a lock. So the handler only counts and
wakes the wait, which acts between two steps. A job that blocks on its own (`input()`) gets Python's own handler back.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

__all__ = ["Recorder", "error", "handling", "raising", "recording", "running_loop"]


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
    with handling(recorder.hit):
        yield recorder


# Frames that turn a KeyboardInterrupt into an error message or an end of their own, and keep the kernel alive.
_CATCHING = {
    ("IPython.core.interactiveshell", "run_code"),
    ("ipykernel.kernelbase", "dispatch_shell"),
    ("jupyter_mcp.runtime.wait", "_serve"),
}


def error(sentence: str) -> BaseException:
    """The exception that tells the caller of the interrupt.

    `Interrupted`, unless the caller is a task or a callback of a running loop: a KeyboardInterrupt there ends the loop,
    and the kernel with it. A cell that awaits such a task sees its cancellation.
    """
    if running_loop() is None or _caught_above():
        return Interrupted(sentence)
    return asyncio.CancelledError(sentence)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that is running on this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _caught_above() -> bool:
    frame = inspect.currentframe()
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) in _CATCHING:
            return True
        frame = frame.f_back
    return False


@contextmanager
def raising() -> Generator[None]:
    """SIGINT raises KeyboardInterrupt inside (for `input()`), then is what it was before."""
    with handling(signal.default_int_handler):
        yield


@contextmanager
def handling(handler: Callable[[int, FrameType | None], Any]) -> Generator[None]:
    """`handler` takes SIGINT inside; then the one that was there before does again. Main thread, else nothing."""
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
