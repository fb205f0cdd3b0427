"""Time limits for views: a few threads, a deadline, and a memory of what got stuck.

A view that does not come back in time is abandoned: its thread goes on alone, and the same object under the same name
is not tried again. At most so many threads are given up; beyond that nothing is read until one comes back.

For asyncio, on the runtime's loop. Above: the notebook's server.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from jupyter_mcp.kernel.views import ViewError
from jupyter_mcp.server.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ViewPool"]

T = TypeVar("T")

_MOST_STUCK = 16  # threads that may be given up at a time


class ViewPool:
    """Runs functions on worker threads for a limited time.

    Args:
        workers: how many run at a time, the stuck ones not counted.
    """

    def __init__(self, workers: int = 4) -> None:
        self._workers = Workers(workers + _MOST_STUCK)
        self._room = asyncio.Semaphore(workers)
        self._stuck: dict[str, Callable[[], object]] = {}  # name -> what got stuck under it
        self._given_up = 0

    @property
    def stuck(self) -> tuple[str, ...]:
        """Names whose object is not tried again for now."""
        return tuple(self._stuck)

    async def run(self, function: Callable[[], T], seconds: float, *, name: str = "", value: object = None) -> T:
        """What the function returns.

        Args:
            function: runs on a worker thread.
            seconds: for waiting and running together.
            name, value: what is looked at; the pair is remembered when it gets stuck.

        Raises:
            ViewError: "slow": it took too long, now or before; "busy": no thread was free.
            Exception: whatever the function raises.
        """
        self._check(name, value)
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._room.acquire()
        except TimeoutError:
            raise ViewError("busy", "other objects are being read; try again") from None
        if self._given_up >= _MOST_STUCK:
            self._room.release()
            raise ViewError("busy", f"{self._given_up} reads are stuck; nothing is read until one of them comes back")
        future = self._workers.run(function, asyncio.get_running_loop())
        free = _Once(self._room.release)
        future.add_done_callback(lambda _: free())
        try:
            done, _ = await asyncio.wait([future], timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        except asyncio.CancelledError:
            self._give_up(future, free, name, value)
            raise
        if done:
            return future.result()
        self._give_up(future, free, name, value)
        raise ViewError("slow", f"it took longer than {seconds:g} s and was given up")

    def _check(self, name: str, value: object) -> None:
        held = self._stuck.get(name)
        if held is None:
            return
        if held() is not value:  # the name holds something else now
            del self._stuck[name]
            return
        raise ViewError("slow", "it took too long before and is not tried again until it is another object")

    def _give_up(self, future: asyncio.Future[Any], free: _Once, name: str, value: object) -> None:
        """Let the thread go on alone; another one may take its place."""
        if future.done():
            return
        self._given_up += 1
        free()
        if name:
            self._stuck[name] = _held(value)
            if not isinstance(self._stuck[name], ref):
                future.add_done_callback(lambda _: self._stuck.pop(name, None))
        future.add_done_callback(self._came_back)

    def _came_back(self, future: asyncio.Future[Any]) -> None:
        self._given_up -= 1
        if not future.cancelled():
            future.exception()  # looked at, so that nobody is told of it


class _Once:
    """Calls a function the first time it is called."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function: Callable[[], object] | None = function

    def __call__(self) -> None:
        function, self._function = self._function, None
        if function is not None:
            function()


def _held(value: object) -> Callable[[], object]:
    """A way to compare with a value later that does not keep it alive, where it allows that."""
    try:
        return ref(value)
    except TypeError:
        return lambda: value
