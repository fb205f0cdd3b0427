"""Threads for blocking (`def`) handlers.

Daemon threads, unlike those of `concurrent.futures`: a handler that is stuck must not keep a server alive whose client
has gone. Idle threads are reused; above the limit work waits, in order.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

MAX_THREADS = 64
_IDLE_SECONDS = 30.0

_Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop, contextvars.Context]


class Workers:
    """A pool of daemon threads, grown on demand.

    The queue is the C one (half the cost of a Condition); the counters beside it only decide when to start a thread.
    """

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._waiting = 0  # threads that wait for a job, or are about to take one
        self._untaken = 0  # jobs that no thread has taken

    def run(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> asyncio.Future[Any]:
        """Run `function` on a thread; the future ends with what it returns or raises.

        Cancelling the future does not stop the function; its outcome is dropped.
        """
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._untaken += 1
            start = self._waiting < self._untaken and self._threads < self._limit
            if start:
                self._threads += 1
                self._waiting += 1
        self._jobs.put((function, future, loop, contextvars.copy_context()))
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
            with self._lock:  # before the outcome is known: whoever hears of it may send the next job
                self._waiting += 1
            try:
                loop.call_soon_threadsafe(_finish, future, outcome, failure)
            except RuntimeError:
                pass  # the loop is closed: nobody waits any more
            del job, function, future, loop, context, outcome, failure

    def _next(self) -> _Job | None:
        while True:
            try:
                job = self._jobs.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._untaken >= self._waiting:
                        continue  # a job was just counted on this thread
                    self._waiting -= 1
                    self._threads -= 1
                return None
            with self._lock:
                self._waiting -= 1
                self._untaken -= 1
            return job


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
