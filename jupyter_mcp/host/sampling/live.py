"""A model's answer while it is being written: whoever shows it can look, listen and wait. Any thread may read.

The values belong to the flow, which writes them on the runtime loop. It has no part in what is decided.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.models.base import ModelReply

__all__ = ["LiveReply"]


class LiveReply:
    """One answer.

    Args:
        model: the name of who writes it.

    Attributes:
        state: "writing", "written" or "failed".
        text: what is there so far.
        note: what delays it, in a sentence, or "".
        reply: the whole of it, once written.
        problem: why there is none, once failed.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        self.state: Literal["writing", "written", "failed"] = "writing"
        self.note = ""
        self.reply: ModelReply | None = None
        self.problem = ""
        self._pieces: list[str] = []
        self._over = threading.Event()
        self._listeners: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    @property
    def text(self) -> str:
        """What is there so far."""
        return "".join(self._pieces) if self.reply is None else self.reply.text

    def listen(self, listener: Callable[[], object]) -> None:
        """Call this, on the runtime loop, whenever something changes, and once right now (here)."""
        with self._lock:
            self._listeners.append(listener)
        listener()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it is written or failed; False when `timeout` seconds went by. Not for the runtime loop."""
        return self._over.wait(timeout)

    # --- for whoever writes it ---------------------------------------------------------------------------------------

    def add(self, piece: str) -> None:
        """More of its text."""
        self._pieces.append(piece)
        self._tell()

    def delay(self, note: str) -> None:
        """Something delays it."""
        self.note = note
        self._tell()

    def end(self, reply: ModelReply | None, problem: str = "") -> None:
        """It is there, or will not be."""
        self.reply, self.problem = reply, problem
        self.state = "failed" if reply is None else "written"
        self.note = ""
        self._over.set()
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()
