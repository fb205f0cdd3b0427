"""Running something on the main thread of a kernel for a client, when it is free; never by surprise.

    def          on the main thread, as soon as no cell runs, or while the main thread waits in one of our calls
                 (the notebook that calls its own tool waits there)
    async def    on the kernel's own loop; while that is held by one of our calls, on a private loop in a thread
    busy         the caller is told again and again, and after its limit gets `Busy`
    given up     what was given up before it began never runs; what has begun is interrupted, and nothing else is

RULES: each piece of work is taken once or given up, never both. Lives on the runtime's loop; decides nothing.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jupyter_mcp.errors import Cancelled, MCPError
from jupyter_mcp.host.listeners import tell
from jupyter_mcp.kernel.foreign import Entry, Stack
from jupyter_mcp.runtime import frontend
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.jobs import board, main_loop
from jupyter_mcp.runtime.thread import on_loop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

__all__ = ["Busy", "MainThread", "OnWait"]

T = TypeVar("T")
OnWait = "Callable[[float, str], Awaitable[object]]"
log = logging.getLogger("jupyter_mcp.kernel")

LIMIT_SECONDS = 30.0
"""How long a call waits for the main thread when it does not say."""
_FIRST_WORD, _NEXT_WORD = 0.3, 1.0
_STEP = 0.1
_HELD = 0.1
"""After so long without a turn, a loop on a thread that waits in our call is held by that call."""
_INSISTS, _PAUSE = 5, 1.0
_LAST_STEPS = 2.0
_BY_PERSON = "It was interrupted by the person at the notebook."


class Busy(MCPError):
    """The main thread was not free within the limit; the work was given up and will not run."""


class _Work(Generic[T]):
    """One thing to run and its outcome. Made on the runtime's loop; `take` and `finish` are for any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._state = "waiting"
        self._stop: Callable[[], object] | None = None
        self._stopping = False
        self.context = contextvars.copy_context()
        self.outcome: asyncio.Future[T] = self._loop.create_future()
        self.outcome.add_done_callback(_seen)

    @property
    def taken(self) -> bool:
        """Whether it runs, or has run."""
        return self._state == "taken"

    def take(self) -> bool:
        """Begin; True once, and never after it was given up."""
        with self._lock:
            mine = self._state == "waiting"
            if mine:
                self._state = "taken"
            return mine

    def give_up(self) -> bool:
        """Do not begin; False when it has begun."""
        with self._lock:
            if self._state == "waiting":
                self._state = "given up"
            return self._state == "given up"

    def stoppable(self, stop: Callable[[], object]) -> None:
        """How to end it, now that it runs."""
        with self._lock:
            self._stop = stop
            late = self._stopping
        if late:
            stop()

    def stop(self) -> None:
        """End it."""
        with self._lock:
            self._stopping, stop = True, self._stop
        if stop is not None:
            stop()

    def finish(self, value: Any, error: BaseException | None = None) -> None:
        """It has ended."""
        on_loop(self._loop, self._finish, value, error)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(value)
        else:
            self.outcome.set_exception(_carried(error))


class MainThread:
    """The main thread of this kernel, for whoever serves clients on the runtime's loop.

    Attributes:
        after: called on the main thread after each piece of work, which may have changed variables.
    """

    def __init__(self) -> None:
        self._stack = Stack()
        self.after: list[Callable[[], object]] = []
        cells.watch()

    def busy(self) -> str:
        """What holds the main thread now, in words for a client."""
        if cells.running:
            return f"kernel busy: cell {cells.number}, {time.monotonic() - cells.began:.0f} s"
        if not frontend.has_kernel():
            return "waiting for the next input at the prompt"
        return "kernel busy: another call" if len(self._stack) else "kernel busy"

    async def run(
        self,
        function: Callable[[], T],
        *,
        seconds: float = LIMIT_SECONDS,
        on_wait: Callable[[float, str], Awaitable[object]] | None = None,
    ) -> T:
        """Call `function()` on the main thread, in a copy of the caller's context.

        Args:
            function: what to call. While it runs, giving up (cancelling the awaiting task) raises KeyboardInterrupt
                in it.
            seconds: how long to wait for the main thread; the run itself has no limit.
            on_wait: awaited about every second meanwhile, with the seconds so far and what holds it.

        Raises:
            Busy: it was not free in time; `function` was not called and will not be.
            Cancelled: the person interrupted it.
            whatever `function` raises; what cannot cross threads (SystemExit …) as RuntimeError.
        """
        work: _Work[T] = _Work()
        entry = Entry()
        job = board.post(lambda: self._on_main(work, entry, function))
        work.stoppable(lambda: self._insist(work, entry))
        try:
            return await self._wait(work, seconds, on_wait)
        finally:
            job.withdraw()

    async def run_async(
        self,
        function: Callable[[], Coroutine[Any, Any, T]],
        *,
        seconds: float = LIMIT_SECONDS,
        on_wait: Callable[[float, str], Awaitable[object]] | None = None,
    ) -> T:
        """Await `function()` on the kernel's own loop, between and during its cells as any of its tasks.

        While that loop is held by one of our own calls, or where there is none, on a private loop in a thread. Giving
        up cancels the task. Arguments and errors as `run`.
        """
        work: _Work[T] = _Work()
        loop = main_loop()
        if loop is None:
            self._beside(work, function)
        else:
            on_loop(loop, self._on_kernel_loop, work, loop, function)

        def held(waited: float) -> None:
            if waited >= _HELD and board.waited_on:
                self._beside(work, function)

        return await self._wait(work, seconds, on_wait, held)

    # --- where it runs -----------------------------------------------------------------------------------------------

    def _on_main(self, work: _Work[T], entry: Entry, function: Callable[[], T]) -> None:
        if not work.take():
            return
        value, error = None, None
        try:
            with self._stack.on_top(entry):
                value = entry.call(lambda: work.context.run(function))
        except BaseException as raised:
            error = raised
        work.finish(value, Cancelled(_BY_PERSON) if entry.by_person and _is_interrupt(error) else error)
        self._changed()
        if entry.by_person:  # whoever waits below hears of it too
            raise KeyboardInterrupt

    def _insist(self, work: _Work[Any], entry: Entry) -> None:
        """Interrupt it; again, when that did not arrive, or did not end it."""
        loop = asyncio.get_running_loop()

        def again(times: int, due: float) -> None:
            if work.outcome.done() or not times:
                return
            if not self._stack.nudge(entry) and loop.time() >= due:
                self._stack.interrupt(entry)
                times, due = times - 1, loop.time() + _PAUSE
            loop.call_later(_STEP / 2, again, times, due)

        again(_INSISTS, loop.time())

    def _on_kernel_loop(
        self, work: _Work[T], loop: asyncio.AbstractEventLoop, function: Callable[[], Coroutine[Any, Any, T]]
    ) -> None:
        if not work.take():
            return
        task = loop.create_task(_awaited(function), context=work.context)
        task.add_done_callback(lambda task: self._ended(work, task))
        work.stoppable(lambda: on_loop(loop, task.cancel))

    def _beside(self, work: _Work[T], function: Callable[[], Coroutine[Any, Any, T]]) -> None:
        if not work.take():
            return

        async def main() -> T:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            work.stoppable(lambda: on_loop(loop, task.cancel))
            return await function()

        def thread() -> None:
            try:
                work.finish(work.context.run(asyncio.run, main()))
            except BaseException as error:
                work.finish(None, error)
            board.post(self._changed)

        threading.Thread(target=thread, name="mcp-private-loop", daemon=True).start()

    def _ended(self, work: _Work[T], task: asyncio.Task[T]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        work.finish(None if error is not None else task.result(), error)
        self._changed()

    def _changed(self) -> None:
        tell(self.after, log=log, what="the main thread")

    # --- waiting for it ----------------------------------------------------------------------------------------------

    async def _wait(
        self,
        work: _Work[T],
        seconds: float,
        on_wait: Callable[[float, str], Awaitable[object]] | None,
        look: Callable[[float], None] = lambda waited: None,
    ) -> T:
        begun, word = time.monotonic(), _FIRST_WORD
        try:
            while True:
                await asyncio.wait({work.outcome}, timeout=None if work.taken else _STEP)
                if work.outcome.done():
                    return work.outcome.result()
                waited = time.monotonic() - begun
                look(waited)
                if work.taken:
                    continue
                if waited >= seconds and work.give_up():
                    raise Busy(f"{self.busy()}; it was not free within {seconds:g} s, and nothing was run.")
                if on_wait is not None and waited >= word:
                    word = waited + _NEXT_WORD
                    await on_wait(waited, self.busy())
        except BaseException:
            if not work.give_up() and not work.outcome.done():
                work.stop()
                await asyncio.wait({work.outcome}, timeout=_LAST_STEPS)
            raise


async def _awaited(function: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return await function()


def _is_interrupt(error: BaseException | None) -> bool:
    return isinstance(error, (KeyboardInterrupt, asyncio.CancelledError))


def _carried(error: BaseException) -> BaseException:
    """The error as a future can carry it, and as one that ends nothing but this call."""
    if isinstance(error, (KeyboardInterrupt, asyncio.CancelledError)):
        return Cancelled("It was interrupted.")
    if isinstance(error, (SystemExit, StopIteration)):
        return RuntimeError(f"it ended with {type(error).__name__}")
    return error


def _seen(outcome: asyncio.Future[Any]) -> None:
    """Nobody may be waiting any more; asyncio would complain."""
    if not outcome.cancelled():
        outcome.exception()
