"""Threads for blocking (`def`) handlers.

Daemon threads, unlike those of `concurrent.futures`: a handler that is stuck must not keep a server alive whose client
has gone. Idle threads are reused; above the limit work waits, in order.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

MAX_THREADS = 64
_IDLE_SECONDS = 30.0

_Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop, contextvars.Context]


class Workers:
    """A pool of daemon threads, grown on demand."""

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._limit = limit
        self._jobs: deque[_Job] = deque()
        self._ready = threading.Condition()
        self._threads = 0
        self._waiting = 0

    def run(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> asyncio.Future[Any]:
        """Run `function` on a thread; the future ends with what it returns or raises.

        Cancelling the future does not stop the function; its outcome is dropped.
        """
        future: asyncio.Future[Any] = loop.create_future()
        with self._ready:
            self._jobs.append((function, future, loop, contextvars.copy_context()))
            start = self._waiting < len(self._jobs) and self._threads < self._limit
            if start:
                self._threads += 1
            else:
                self._ready.notify()
        if start:
            threading.Thread(target=self._work, name="mcp-handler", daemon=True).start()
        return future

    def _work(self) -> None:
        while (job := self._next()) is not None:
            function, future, loop, context = job
            outcome: Any = None
            failure: BaseException | None = None
            try:
                outcome = context.run(function)
            except BaseException as error:  # it belongs to whoever waits for the future
                failure = error
            try:
                loop.call_soon_threadsafe(_finish, future, outcome, failure)
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more
            del job, function, future, loop, context, outcome, failure

    def _next(self) -> _Job | None:
        with self._ready:
            while not self._jobs:
                self._waiting += 1
                notified = self._ready.wait(_IDLE_SECONDS)
                self._waiting -= 1
                if not notified and not self._jobs:
                    self._threads -= 1
                    return None
            return self._jobs.popleft()


def _finish(future: asyncio.Future[Any], outcome: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(outcome)
    elif isinstance(failure, (StopIteration, SystemExit, KeyboardInterrupt)):
        # A future cannot carry the first, and the others would end the server instead of the call.
        future.set_exception(RuntimeError(f"the handler ended with {type(failure).__name__}"))
    else:
        future.set_exception(failure)
