"""What a client's code prints goes to that client, and nobody else's output with it.

A context variable says whose output it is. While anything is captured, `sys.stdout` and `sys.stderr` are thin routers:
text written in a capturing context goes to its sink, everything else to the stream that was there. So a cell, a thread
or another client's code that prints at the same time is not disturbed. Threads that the code starts have a context of
their own, and print where threads print.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = ["Kept", "Sink", "capturing", "current"]

_STREAMS = ("stdout", "stderr")


class Sink(Protocol):
    """Takes what is printed, on whatever thread it is printed."""

    def write(self, stream: str, text: str) -> object:
        """`stream` is "stdout" or "stderr"."""
        ...


class Kept:
    """Text up to a limit: its beginning and its end, the middle left out.

    Args:
        limit: characters that are kept.
    """

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = ""
        self._tail = ""
        self._lost = 0
        self._lock = threading.Lock()

    def add(self, text: str) -> None:
        """Add at the end. Any thread."""
        with self._lock:
            room = self._half - len(self._head)
            if room > 0 and not self._tail and not self._lost:
                self._head, text = self._head + text[:room], text[room:]
            if text:
                tail = self._tail + text
                self._tail = tail[-self._half :]
                self._lost += len(tail) - len(self._tail)

    def write(self, stream: str, text: str) -> None:
        """As a sink: both streams in one text."""
        self.add(text)

    @property
    def cut(self) -> bool:
        """Whether something is missing."""
        return bool(self._lost)

    @property
    def text(self) -> str:
        """What was kept, with a line for what was not."""
        with self._lock:
            if not self._lost:
                return self._head + self._tail
            return f"{self._head}\n… {self._lost:,} characters left out …\n{self._tail}"


current: ContextVar[Sink | None] = ContextVar("jupyter_mcp_sink", default=None)
"""Where what is printed in this context goes; None is where it always went."""


class _Router:
    """In the place of a stream: what has a sink goes there."""

    def __init__(self, name: str, real: Any) -> None:
        self._name = name
        self.real = real

    def write(self, text: str) -> int:
        sink = current.get()
        if sink is None:
            return self.real.write(text)
        sink.write(self._name, str(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if self.real is not None:
            self.real.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class _Routers:
    """Both of them, in place as long as somebody captures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            for name in _STREAMS:  # again each time: somebody may have set a stream of his own meanwhile
                real = getattr(sys, name)
                if not isinstance(real, _Router):
                    setattr(sys, name, _Router(name, real))

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            for name in _STREAMS:
                router = getattr(sys, name)
                if isinstance(router, _Router):
                    setattr(sys, name, router.real)


_routers = _Routers()


@contextmanager
def capturing(sink: Sink | None) -> Generator[None]:
    """What this context prints inside goes to `sink` (None: where it always went)."""
    _routers.enter()
    token = current.set(sink)
    try:
        yield
    finally:
        current.reset(token)
        _routers.leave()
