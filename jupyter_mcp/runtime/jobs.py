"""What has to happen on the main thread: whatever creates widgets or displays output.

`post` takes a job from any thread. Whoever may run it runs it: a wait on the main thread (a cell that waits for a
call), else the kernel's own loop as soon as no cell is running, else (a terminal has no loop to itself) the beginning
of the next cell. Each job runs with its place's cell as the parent of its output. Nothing is known of questions here.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from jupyter_mcp.runtime import frontend
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.place import Place
from jupyter_mcp.runtime.thread import on_loop

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator

__all__ = ["Board", "Job", "board", "on_main_thread", "post"]

log = logging.getLogger("jupyter_mcp.runtime")


class Job:
    """One thing to do on the main thread.

    Attributes:
        cell_only: it blocks (asks by `input()`), so it runs only while a cell waits or begins, never between cells, and
            in that cell: the page takes input for no other.
    """

    def __init__(self, function: Callable[[], object], place: Place, *, cell_only: bool = False) -> None:
        self._function: Callable[[], object] | None = function
        self._place = place
        self.cell_only = cell_only

    @property
    def open(self) -> bool:
        """Whether it has neither been run nor withdrawn."""
        return self._function is not None

    def withdraw(self) -> None:
        """Do not run it, if it has not begun."""
        self._function = None

    def run(self) -> None:
        """Run it once. What it raises is logged, except a KeyboardInterrupt."""
        function, self._function = self._function, None
        if function is None:
            return
        try:
            with nullcontext() if self.cell_only else self._place.entered():
                function()
        except Exception:
            log.exception("a job on the main thread failed")


class Board:
    """The queue of one process, and who serves it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: a forked child has none of the waits, and a lock may have been held."""
        self._jobs: deque[Job] = deque()
        self._lock = threading.Lock()
        self._waits: list[tuple[Callable[[], object], Place]] = []

    def post(self, function: Callable[[], object], place: Place | None = None, *, cell_only: bool = False) -> Job:
        """Queue `function` for the main thread, from any thread; returns at once."""
        job = Job(function, place or Place(), cell_only=cell_only)
        with self._lock:
            self._jobs.append(job)
        self._wake()
        return job

    @property
    def waited_on(self) -> bool:
        """Whether something on the main thread waits and runs jobs right now."""
        return bool(self._waits)

    @property
    def waiting_place(self) -> Place | None:
        """The cell that waits right now (the innermost wait), if any."""
        with self._lock:
            return self._waits[-1][1] if self._waits else None

    @property
    def held(self) -> bool:
        """Whether jobs have to wait for a cell that is none of ours."""
        return cells.running and not self._waits

    @contextmanager
    def waiting(self, wake: Callable[[], object], place: Place) -> Generator[None]:
        """On the main thread: until the end, jobs are announced to `wake` (called from any thread)."""
        entry = (wake, place)
        place.waiting = True
        with self._lock:
            self._waits.append(entry)
        try:
            yield
        finally:
            place.waiting = False
            with self._lock:
                self._waits = [one for one in self._waits if one is not entry]
            if self._jobs:  # posted after the last look: somebody else has to run them
                self._wake()

    def drain(self, *, between_cells: bool = False) -> None:
        """Run the jobs there are, on the main thread. Lets a KeyboardInterrupt of a job through."""
        kept: list[Job] = []
        try:
            while True:
                with self._lock:
                    if not self._jobs:
                        return
                    job = self._jobs.popleft()
                if between_cells and job.cell_only and job.open:
                    kept.append(job)
                else:
                    job.run()
        finally:
            with self._lock:
                self._jobs.extendleft(reversed(kept))

    def _wake(self) -> None:
        with self._lock:
            wake = self._waits[-1][0] if self._waits else None
        if wake is not None:
            wake()
            return
        loop = main_loop()
        if loop is not None:
            on_loop(loop, self._idle)

    def _idle(self) -> None:
        """On the kernel's loop: run jobs, unless a cell is running (its end looks again) or a wait takes them."""
        if self._waits:
            self._wake()
        elif not cells.running:
            try:
                self.drain(between_cells=True)
            except KeyboardInterrupt:
                log.info("interrupted between cells")

    def cell_begins(self) -> None:
        """Questions by `input()` that came while nothing ran, and everything in a terminal."""
        if self._jobs and not self._waits:
            with suppress(KeyboardInterrupt):  # a question was interrupted; the cell itself is only beginning
                self.drain()

    def cell_ended(self) -> None:
        """Jobs that were held by the cell can be run now."""
        if self._jobs:
            self._wake()


def main_loop() -> asyncio.AbstractEventLoop | None:
    """The loop of the kernel's main thread, or None outside a kernel."""
    io_loop = getattr(frontend.kernel(), "io_loop", None)
    return getattr(io_loop, "asyncio_loop", None)


def on_main_thread() -> bool:
    """Whether the caller runs on the main thread."""
    return threading.current_thread() is threading.main_thread()


board = Board()
cells.at_begin.append(board.cell_begins)
cells.at_end.append(board.cell_ended)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=board.forget)


def post(function: Callable[[], object], place: Place | None = None) -> Job:
    """Run `function()` on the main thread, soon, with its output in the place's cell."""
    return board.post(function, place)
