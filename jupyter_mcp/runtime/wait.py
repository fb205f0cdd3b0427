"""Waiting for work on the runtime's thread.

    run    blocks: a magic, a function call. On the main thread it runs UI jobs, handles widget messages and turns an
           interrupt into the cancellation of this one piece of work; on another thread it only waits.
    arun   awaits, on any loop; on the kernel's own loop it keeps forms alive in the same way.

RULES
    1. The page stays alive: while anybody waits on the main thread, its jobs and its widget messages are served.
    2. An interrupt acts between two steps. The first asks the work to stop and waits up to two seconds for it to say
       so to the server; the second does not wait. Both end in `Interrupted` (in a task of a loop: in its cancellation),
       also when the work had just ended: the person wants the loop around it to stop.
    3. Waits nest (a form's callback, a scripted answer may call a tool): the innermost serves everybody.
    4. Whatever handler for SIGINT was there before is there afterwards.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.errors import Cancelled, UsageError
from jupyter_mcp.runtime import interrupts, place, pump
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.jobs import board, main_loop, on_main_thread
from jupyter_mcp.runtime.thread import Pending, Runtime, get_runtime, on_loop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

__all__ = ["arun", "run"]

T = TypeVar("T")

STEP_SECONDS = 0.02
"""How often widget messages and interrupts are looked for; the end of the work and jobs wake the wait at once."""
CANCEL_SECONDS = 2.0
AFTER = "the connection stays usable"


def run(
    function: Callable[..., Awaitable[T]],
    /,
    *args: Any,
    label: str,
    after: str = AFTER,
    left: Callable[[], str | None] = lambda: None,
    holds: float | None = None,
    **kwargs: Any,
) -> T:
    """Run `function(*args, **kwargs)` on the runtime's thread and wait for its result.

    Args:
        label: what it is, for the person ("demo.add").
        after: what an interrupt leaves behind, for the person.
        holds: seconds for which it may hold up a wait below it on the main thread whose own work is over, as of a cell
            that gave its call up; None for as long as it takes.
        left: asked after an interrupt: the sentence for what goes on all the same, None when it was cancelled.

    Raises:
        Interrupted: the person pressed interrupt (main thread only).
        Cancelled: something else cancelled the work, or it held up another for too long.
        UsageError: called on the runtime's own thread, where waiting would wait for itself.
        whatever `function` raises.
    """
    runtime = get_runtime()
    if runtime.is_current_thread():
        raise UsageError(
            f"{label} was called on the thread that talks to the servers and would wait for itself;",
            hint="await the awaitable twin (jupyter_mcp.aio) there, or call it from a cell.",
        )
    if on_main_thread():
        return _Wait(runtime, label, after, left, holds).run(function, args, kwargs)
    pending = runtime.submit(function, *args, **kwargs)
    try:
        pending.exception()
    except CancelledError:
        pass
    except BaseException:
        pending.cancel()
        raise
    return _outcome(pending, label)


async def arun(function: Callable[..., Awaitable[T]], /, *args: Any, label: str, **kwargs: Any) -> T:
    """The awaitable twin of `run`. Cancelling the awaiting task cancels the work.

    Raises:
        Cancelled: something else cancelled the work.
        whatever `function` raises.
    """
    runtime = get_runtime()
    if runtime.is_current_thread():
        return await function(*args, **kwargs)
    where = place.here()
    with ExitStack() as stack:
        wakes = _Wakes(asyncio.get_running_loop())
        serve = on_main_thread() and asyncio.get_running_loop() is main_loop()
        messages = pump.find() if serve else None
        if serve:
            cells.watch()
            if messages is not None:
                stack.enter_context(messages.listening())
            stack.enter_context(board.waiting(wakes.wake, where))
        pending = runtime.submit_at(where, function, *args, **kwargs)
        pending.add_done_callback(lambda _: wakes.wake())
        if serve:
            stack.enter_context(_below(pending))
        try:
            while True:
                done = pending.done()
                if serve:
                    board.drain()
                if messages is not None:
                    messages.show_busy()
                if done:
                    break
                await wakes.next(STEP_SECONDS if serve else None)
        except KeyboardInterrupt:  # in a question by `input()`; as such it would end the kernel's loop
            pending.cancel()
            raise asyncio.CancelledError(f"{label} cancelled; {AFTER}") from None
        except BaseException:
            pending.cancel()
            raise
        return _outcome(pending, label)


class _Wait:
    """One blocking wait on the main thread."""

    def __init__(
        self, runtime: Runtime, label: str, after: str, left: Callable[[], str | None], holds: float | None
    ) -> None:
        self._runtime = runtime
        self._label = label
        self._after = after
        self._left = left
        self._holds = holds
        self._gave_way = False
        self._inbox: SimpleQueue[None] = SimpleQueue()  # reentrant: a signal handler may put into it
        self._deadline: float | None = None
        self._hits = 0

    def run(self, function: Callable[..., Awaitable[T]], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        cells.watch()
        self._pump = pump.find()
        with ExitStack() as stack:
            self._recorder = stack.enter_context(interrupts.recording(self._wake))
            if self._pump is not None:
                stack.enter_context(self._pump.blocking())
            where = place.here()
            stack.enter_context(board.waiting(self._wake, where))
            pending = self._runtime.submit_at(where, function, *args, **kwargs)
            pending.add_done_callback(lambda _: self._wake())
            stack.enter_context(_below(pending))
            self._loop(pending)
        if self._gave_way:
            raise Cancelled(f"{self._label} was given up: it held up a cell whose own call was over.")
        if self._recorder.hits:  # it came after the last look, while our handler was still there to take it
            raise self._too_late()
        return _outcome(pending, self._label)

    def _wake(self) -> None:
        self._inbox.put(None)

    def _give_way(self, pending: Pending[Any]) -> None:
        """End the work when it holds up others for too long."""
        if self._holds is None or self._gave_way or pending.done():
            return
        now = time.monotonic()
        if any(one.over is not None and now - one.over > self._holds for one in _waits[:-1]):
            self._gave_way = True
            pending.cancel()

    def _loop(self, pending: Pending[Any]) -> None:
        while True:
            done = pending.done()  # looked at first: what was posted before the end is served before the end
            try:
                self._serve()
            except KeyboardInterrupt:  # a nested wait was interrupted, or a question by `input()`
                self._hits += 1
            if self._recorder.hits + self._hits:
                self._interrupted(pending)
            elif done:
                return
            self._give_way(pending)
            try:
                self._inbox.get(timeout=STEP_SECONDS)
            except Empty:
                continue

    def _serve(self) -> None:
        board.drain()
        if self._pump is not None:
            self._pump.once()

    def _interrupted(self, pending: Pending[Any]) -> None:
        """Ask the work to stop; raise when it has, when the time is up or when the person insists."""
        if pending.done() and self._deadline is None:
            raise self._too_late()
        if self._deadline is None:
            self._deadline = time.monotonic() + CANCEL_SECONDS
            pending.cancel()
        insists = self._recorder.hits + self._hits > 1
        if pending.done() or insists or time.monotonic() > self._deadline:
            board.drain()
            raise interrupts.error(self._left() or f"{self._label} cancelled; {self._after}")

    def _too_late(self) -> BaseException:
        return interrupts.error(f"{self._label} had just ended when the interrupt came; {self._after}")


class _Below:
    """A wait on the main thread, as those above it see it.

    Attributes:
        over: when its work ended, as `time.monotonic()` says; None before.
    """

    def __init__(self, pending: Pending[Any]) -> None:
        self.over: float | None = None
        pending.add_done_callback(self._ended)

    def _ended(self, _: object) -> None:
        self.over = time.monotonic()


_waits: list[_Below] = []  # on the main thread, the innermost last


@contextmanager
def _below(pending: Pending[Any]) -> Generator[None]:
    one = _Below(pending)
    _waits.append(one)
    try:
        yield
    finally:
        _waits.remove(one)


class _Wakes:
    """A wake-up for a coroutine, callable from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._event = asyncio.Event()

    def wake(self) -> None:
        on_loop(self._loop, self._event.set)

    async def next(self, step: float | None) -> None:
        """Until the next wake-up, but no longer than `step` seconds: a signal may not wake the loop by itself."""
        timer = self._loop.call_later(step, self._event.set) if step is not None else None
        try:
            await self._event.wait()
        finally:
            if timer is not None:
                timer.cancel()
        self._event.clear()


def _outcome(pending: Pending[T], label: str) -> T:
    try:
        return pending.result()
    except CancelledError:
        raise Cancelled(f"{label} was cancelled before it ended.") from None
