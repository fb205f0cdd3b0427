"""Code that clients started, on the main thread: one stack of it, and interrupts that reach its top and nothing else.

A client that gives up may stop what it started, and nothing else: not the person's cell, not what another client runs
on top of it (while the first waits for an answer), not whatever comes next. So SIGINT has a handler of ours for as long
as such code runs; the signal is sent only while that very code is on top, and is awaited before the handler goes.
"""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.errors import Interrupted
from jupyter_mcp.runtime import interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["Entry", "Stack"]

T = TypeVar("T")
_ON_ITS_WAY = 0.5
"""Seconds for a signal that was sent to arrive; it takes microseconds."""


class Entry:
    """One piece of code.

    Attributes:
        by_person: it was interrupted by the person (Ctrl-C, the stop button), not by the client who started it.
    """

    def __init__(self) -> None:
        self.by_person = False
        self._raises = False
        self._wanted = False
        self._sent = 0
        self._taken = 0
        self._last = 0.0

    @property
    def in_flight(self) -> bool:
        """Whether a signal was sent that has not arrived."""
        return self._taken < self._sent

    def call(self, function: Callable[[], T]) -> T:
        """Call it; SIGINT raises KeyboardInterrupt inside, and only there."""
        try:
            self._raises = True
            return function()
        except (KeyboardInterrupt, asyncio.CancelledError) as error:
            if self.in_flight:  # a wait inside had a handler of its own, which took it
                self._taken = self._sent
            elif isinstance(error, Interrupted) and not self._sent:
                self.by_person = True
            raise
        finally:
            self._raises = False

    def hit(self, _signal: int = 0, _frame: Any = None) -> None:
        """The handler."""
        if self.in_flight:
            self._taken = self._sent
        elif time.monotonic() - self._last < _ON_ITS_WAY:
            return  # sent again, and both have come
        else:
            self.by_person = True
        if self._raises:
            raise KeyboardInterrupt

    def send(self) -> None:
        """Interrupt the main thread.

        Python looks at signals between its steps: one that comes just before a call that sleeps is not seen until that
        call ends, unless another signal wakes it. So whoever waits for the end sends it again while it is in flight.
        """
        self._wanted = False
        if not self.in_flight:
            self._sent += 1
        self._last = time.monotonic()
        _interrupt_main()

    def want(self) -> None:
        """It is to be interrupted as soon as it is on top."""
        self._wanted = True

    @property
    def wanted(self) -> bool:
        """Whether it is to be interrupted and has not been."""
        return self._wanted


class Stack:
    """What clients run on the main thread now; the last one is on top."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @contextmanager
    def on_top(self, entry: Entry) -> Generator[None]:
        """Main thread: inside, this one is on top and may be interrupted."""
        with interrupts.handling(entry.hit):
            with self._lock:
                self._entries.append(entry)
                if entry.wanted:
                    entry.send()
            try:
                yield
            finally:
                with self._lock:
                    self._entries.remove(entry)
                late = time.monotonic() + _ON_ITS_WAY
                while entry.in_flight and time.monotonic() < late:
                    time.sleep(0.001)
        with self._lock:  # its handler is back; what came for it meanwhile can go to it
            if self._entries and self._entries[-1].wanted:
                self._entries[-1].send()

    def nudge(self, entry: Entry) -> bool:
        """Send the signal again when it has not arrived; whether it had not. Any thread."""
        with self._lock:
            if not entry.in_flight:
                return False
            if self._entries and self._entries[-1] is entry:
                entry.send()
            return True

    def interrupt(self, entry: Entry) -> None:
        """Interrupt this one, now or as soon as it is on top again; nothing when it is over. Any thread."""
        with self._lock:
            entry.want()
            if self._entries and self._entries[-1] is entry:
                entry.send()


def _interrupt_main() -> None:
    thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and thread is not None:
        signal.pthread_kill(thread, signal.SIGINT)  # also wakes a call that sleeps
    else:
        _thread.interrupt_main()
