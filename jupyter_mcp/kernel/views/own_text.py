"""The text that an object makes of itself, had within a limit of time, on the main thread only.

Its code is foreign: it may query, block, allocate or delete.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import TYPE_CHECKING

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.base import ViewError, clipped

if TYPE_CHECKING:
    import types
    from collections.abc import Callable

__all__ = ["own_repr"]

_REPR_SECONDS = 1.0


def own_repr(value: object, seconds: float = _REPR_SECONDS) -> str:
    """The object's own repr, clipped to 64 KiB of characters; on the main thread only, and for a limited time.

    Its code is foreign: it may query, block, allocate or delete. Where the platform has no timer signal, it is not
    called.

    Raises:
        ViewError: "busy": this is not the main thread; "slow"; "failed": it raised; "unsupported".
    """
    if threading.current_thread() is not threading.main_thread():
        raise ViewError("busy", "an object's own text is read on the kernel's main thread, which is busy")
    if not hasattr(signal, "setitimer"):
        raise ViewError("unsupported", "an object's own text cannot be read within a limit on this platform")
    try:
        text = _Alarm().call(lambda: repr(value), seconds)
    except _Late:
        raise ViewError("slow", f"its own text took longer than {seconds:g} s") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ViewError("failed", f"its own text cannot be had: {safe.name_of(type(error))}") from None
    return clipped(str.__str__(text), 65_536)


class _Late(BaseException):
    """Raised into a repr that takes too long; no `except Exception` of its own keeps it."""


class _Alarm:
    """A timer whose handler raises only while it is armed."""

    def __init__(self) -> None:
        self._armed = False

    def call(self, function: Callable[[], str], seconds: float) -> str:
        """What the function returns. A timer that runs already goes on afterwards.

        Raises:
            _Late: it took longer.
        """
        before = signal.signal(signal.SIGALRM, self._ring)
        began = time.monotonic()
        self._armed = True
        # again and again: foreign code may swallow the first
        left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
        try:
            return function()
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
            if left:
                signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)

    def _ring(self, number: int, frame: types.FrameType | None) -> None:
        if self._armed:
            raise _Late
