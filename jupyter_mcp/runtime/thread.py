"""One asyncio loop on one background thread ("jupyter-mcp"), started at first use.

All connections, timers and subprocesses live there, so they work while the kernel is idle, while a cell runs and
whatever the notebook did to the loop of the main thread. `submit` is the only way in; how to wait for what it returns
is `wait`'s business. Of cells it only notes which one it works for (`place`); it knows nothing of servers or widgets.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import logging
import os
import sys
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from jupyter_mcp.runtime import place

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

__all__ = ["THREAD_NAME", "Pending", "Runtime", "current_runtime", "get_runtime", "on_loop"]

THREAD_NAME = "jupyter-mcp"
STOP_SECONDS = 5.0
"""How long stopping may take in all: a restarting kernel is killed after about that time anyway."""

T = TypeVar("T")
P = ParamSpec("P")

log = logging.getLogger("jupyter_mcp.runtime")


class Pending(Future[T]):
    """Work on the runtime's loop, as a `concurrent.futures.Future`.

    It is done only when the work has really ended: `cancel()` asks the task to stop, and the state follows after the
    task has cleaned up (sent its `notifications/cancelled`, withdrawn its question).
    """

    def __init__(self, ask_to_stop: Callable[[Pending[T]], None]) -> None:
        super().__init__()
        self._ask_to_stop = ask_to_stop

    def cancel(self) -> bool:
        """Ask the work to stop. Returns False when it has already ended."""
        if self.done():
            return False
        self._ask_to_stop(self)
        return True

    def add_done_callback(self, fn: Callable[[Future[T]], object]) -> None:
        """As for any future; what a callback raises goes to our log, not by the library's to the cell."""

        def guarded(done: Future[T]) -> None:
            try:
                fn(done)
            except Exception:
                log.exception("what follows the end of some work failed")

        super().add_done_callback(guarded)

    def end_cancelled(self) -> None:
        """The work has ended by cancellation (called by the runtime)."""
        super().cancel()
        self.set_running_or_notify_cancel()


class Runtime:
    """The loop and its thread. Cheap to make; the thread starts with the first `submit`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._ending = threading.Event()
        self._closers: list[Callable[[], Awaitable[object]]] = []
        self._tasks: dict[Pending[Any], asyncio.Task[None]] = {}

    @property
    def running(self) -> bool:
        """Whether the thread has been started and not been stopped."""
        return self._thread is not None and not self._stopped

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop; starts the thread."""
        return self.start()

    def is_current_thread(self) -> bool:
        """Whether the caller runs on the runtime's own thread."""
        return threading.current_thread() is self._thread

    def start(self) -> asyncio.AbstractEventLoop:
        """Start the thread if it does not run. Raises `RuntimeError` when it has been stopped."""
        with self._lock:
            if self._stopped:
                raise RuntimeError("the jupyter_mcp thread has been stopped")
            if self._loop is None:
                ready: Future[asyncio.AbstractEventLoop] = Future()
                thread = threading.Thread(target=_run_loop, args=(ready, self._ending), name=THREAD_NAME, daemon=True)
                thread.start()
                self._loop, self._thread = ready.result(), thread
            return self._loop

    def submit(
        self, function: Callable[P, Coroutine[Any, Any, T] | Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Pending[T]:
        """Run `function(*args, **kwargs)` on the loop, in a copy of the caller's context, in the name of his cell."""
        return self.submit_at(place.here(), function, *args, **kwargs)

    def submit_at(
        self,
        where: place.Place,
        function: Callable[P, Coroutine[Any, Any, T] | Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Pending[T]:
        """The same in the name of another cell."""
        loop = self.start()
        pending: Pending[T] = Pending(self._request_stop)
        context = contextvars.copy_context()
        context.run(place.current.set, where)

        def begin() -> None:
            task = loop.create_task(_carry(pending, function, args, kwargs))
            self._tasks[pending] = task

            def ended(_: object) -> None:
                self._tasks.pop(pending, None)
                if not pending.done():  # cancelled before its first step: `_carry` never ran
                    pending.end_cancelled()

            task.add_done_callback(ended)

        loop.call_soon_threadsafe(begin, context=context)
        return pending

    def call_soon(self, function: Callable[..., object], *args: Any) -> None:
        """Run a plain function on the loop, soon; does nothing when the runtime is not running."""
        if self._loop is not None and not self._stopped:
            on_loop(self._loop, function, *args)

    def on_stop(self, closer: Callable[[], Awaitable[object]]) -> None:
        """Await `closer()` when the runtime stops; the last one added is called first."""
        self._closers.append(closer)

    def stop(self, timeout: float = STOP_SECONDS) -> bool:
        """Run the closers, cancel what is left and end the thread, within `timeout` seconds.

        Returns whether the thread has ended. A thread that did not is left alone: it is a daemon.
        """
        with self._lock:
            loop, thread, self._stopped = self._loop, self._thread, True
        if loop is None or thread is None or not thread.is_alive() or thread is threading.current_thread():
            return True
        end = time.monotonic() + timeout
        finished: Future[None] = Future()
        on_loop(loop, lambda: loop.create_task(self._shut_down(finished, timeout * 0.7)))
        try:
            finished.result(timeout * 0.9)
        except TimeoutError:
            log.warning("stopping took more than %.1f s; the rest is left to the end of the process", timeout)
        self._ending.set()
        on_loop(loop, loop.stop)
        thread.join(max(0.1, end - time.monotonic()))
        return not thread.is_alive()

    def _request_stop(self, pending: Pending[Any]) -> None:
        def cancel() -> None:
            task = self._tasks.get(pending)
            if task is not None:
                task.cancel()

        if self._loop is not None:
            on_loop(self._loop, cancel)

    async def _shut_down(self, finished: Future[None], seconds: float) -> None:
        try:
            for closer in reversed(self._closers):
                try:
                    await asyncio.wait_for(closer(), seconds)
                except Exception:
                    log.exception("closing failed")
            rest = asyncio.all_tasks() - {asyncio.current_task()}
            for task in rest:
                task.cancel()
            if rest:
                await asyncio.wait(rest, timeout=0.5)
            await asyncio.get_running_loop().shutdown_asyncgens()
        finally:
            finished.set_result(None)


async def _carry(
    pending: Pending[T], function: Callable[..., Awaitable[T]], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Run the work and move its outcome, whatever it is, into the future."""
    try:
        result = await function(*args, **kwargs)
    except asyncio.CancelledError:
        pending.end_cancelled()
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: they must not end the loop of everybody
        pending.set_exception(error)
    else:
        pending.set_result(result)


def _run_loop(ready: Future[asyncio.AbstractEventLoop], ending: threading.Event) -> None:
    """Body of the thread."""
    try:
        loop = _new_loop()
    except BaseException as error:
        ready.set_exception(error)
        return
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(_log_problem)
    ready.set_result(loop)
    while not ending.is_set():
        try:
            loop.run_forever()
        except BaseException:  # a callback raised SystemExit or KeyboardInterrupt; the connections go on
            log.exception("a callback tried to end the loop")
    loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that can start processes.

    On Windows ipykernel 6 sets a selector policy, and a selector loop cannot; elsewhere the policy decides (uvloop's
    loop is needed under uvloop's policy: it has no child watcher for asyncio's own).
    """
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.new_event_loop()


def _log_problem(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What asyncio would print goes to the log: a cell must not show it."""
    log.error("%s", context.get("message", "a problem on the loop"), exc_info=context.get("exception"))


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., object], *args: Any) -> None:
    """`call_soon_threadsafe`, and nothing at all when the loop is closed."""
    try:
        loop.call_soon_threadsafe(function, *args)
    except RuntimeError:
        log.debug("the loop is closed")


_runtime: Runtime | None = None
_guard = threading.Lock()
_abandoned: list[Runtime | None] = []


def get_runtime() -> Runtime:
    """The runtime of this process; a new one after `stop`."""
    global _runtime
    with _guard:
        if _runtime is None or _runtime._stopped:  # pyright: ignore[reportPrivateUsage]
            _runtime = Runtime()
        return _runtime


def current_runtime() -> Runtime | None:
    """The runtime if there is one; makes none."""
    return _runtime


def _stop_at_exit() -> None:
    if _runtime is not None:
        _runtime.stop()
    stdio = sys.modules.get("jupyter_mcp.transport.stdio")
    if stdio is not None:  # processes that outlived even that
        stdio.kill_all()


def _forget_in_child() -> None:
    """A forked child has no such thread: it starts its own at first use.

    The parent's objects are kept alive, or their finalizers would close the parent's pipes and kill its servers.
    """
    global _runtime, _guard
    _abandoned.append(_runtime)
    _runtime, _guard = None, threading.Lock()


atexit.register(_stop_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
