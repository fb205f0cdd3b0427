"""`Call`: a tool call that runs in the background, begun by `tool.start(…)` or `%mcp call --background`."""

from __future__ import annotations

import itertools
import logging
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Cancelled
from jupyter_mcp.host.events import CallEvent, Progress, QuestionClosed, QuestionOpened, TaskChanged
from jupyter_mcp.host.listeners import tell
from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from jupyter_mcp.host.result import Result
    from jupyter_mcp.host.tasks import HostTask
    from jupyter_mcp.notebook.objects.server import Server
    from jupyter_mcp.notebook.objects.task import Task
    from jupyter_mcp.runtime.thread import Pending

_log = logging.getLogger(__name__)
_numbers = itertools.count(1)
_running: dict[int, Call] = {}
_lock = threading.Lock()


class Call:
    """One call under way.

    Attributes:
        number: counts the background calls of this kernel from 1 (`%mcp cancel NUMBER`).
        server, tool, arguments: what is called.
        progress: the last `Progress`, or None.
        events: everything that was told about it so far.
        task: the `Task` of the server that it became, or None.
    """

    def __init__(self, server: Server, tool: str, arguments: Mapping[str, Any]) -> None:
        self.number = next(_numbers)
        self.server = server
        self.tool = tool
        self.arguments = arguments
        self.progress: Progress | None = None
        self.events: list[CallEvent] = []
        self.task: Task | None = None
        self._questions = 0
        self._listeners: list[Callable[[Call], Any]] = []
        self._pending: Pending[Result] | None = None

    @classmethod
    def begin(
        cls,
        server: Server,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        check: bool = True,
        yes: bool = False,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        origin: str = "code",
    ) -> Call:
        """Send the call and return at once."""
        from jupyter_mcp.runtime.thread import get_runtime

        call = cls(server, tool, arguments)
        act = server.by(origin).call(
            tool,
            arguments,
            check=check,
            yes=yes,
            timeout=timeout,
            meta=meta,
            background=True,
            on_event=call._event,
        )
        with _lock:
            _running[call.number] = call
        call._pending = get_runtime().submit(act.start)
        call._pending.add_done_callback(call._done)
        return call

    @property
    def name(self) -> str:
        return f"{self.server.name}.{self.tool}"

    @property
    def status(self) -> str:
        """ "running", "asking", "done", "failed", "cancelled", or "left" (it goes on as a task)."""
        pending = self._pending
        if pending is None or not pending.done():
            return "asking" if self._questions else "running"
        if pending.cancelled():
            return "left" if self._left() else "cancelled"
        error = pending.exception()
        return "done" if error is None else "cancelled" if isinstance(error, Cancelled) else "failed"

    def _left(self) -> bool:
        return self.task is not None and not self.task.done

    @property
    def done(self) -> bool:
        return self._pending is not None and self._pending.done()

    @property
    def error(self) -> BaseException | None:
        """What went wrong, when it failed."""
        if not self.done or self._pending is None or self._pending.cancelled():
            return None
        return self._pending.exception()

    def cancel(self) -> bool:
        """Ask the server to stop. Returns False when the call has ended already."""
        if self.task is None or self.task.done or self.done:
            return self.leave()
        from jupyter_mcp.runtime.thread import get_runtime

        get_runtime().submit(get_host().tasks.cancel, self.task.record)
        return True

    def leave(self) -> bool:
        """Stop waiting: a call that became a task goes on (`.task` waits for it again), any other is cancelled."""
        return self._pending is not None and self._pending.cancel()

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the result.

        Args:
            timeout: seconds; the call goes on when they are over.

        Raises:
            TimeoutError: it is not there yet.
            Cancelled: the call was cancelled.
            MCPError: what the call ended with.
        """
        return self._join(timeout).now()

    def __await__(self) -> Generator[Any, None, Result]:
        return self._join(None).later().__await__()

    def on_change(self, listener: Callable[[Call], Any]) -> None:
        """For cards: call `listener(self)` at each event and at the end, on the runtime's thread."""
        self._listeners.append(listener)
        if self.done:
            listener(self)

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import CallView

        if self.task is not None and self.status == "left":
            return self.task.__mcp_view__()
        status = "running" if self.status == "asking" else self.status
        seen = self.progress or Progress(0)
        return CallView(
            self.name,
            status,
            seen.progress if self.progress else None,
            seen.total,
            seen.message,
            outcome=self._outcome(),
        )

    def __repr__(self) -> str:
        return f"<Call {self.number} {printable(self.name)}: {self.status}>"

    def _join(self, timeout: float | None) -> Act[Result]:
        async def start() -> Result:
            import asyncio

            pending = self._pending
            if pending is None:
                raise Cancelled(f"{self.name} was not begun.", server=self.server.name)
            ended = asyncio.Event()
            loop = asyncio.get_running_loop()
            pending.add_done_callback(lambda _: loop.call_soon_threadsafe(ended.set))
            try:
                await asyncio.wait_for(ended.wait(), timeout)
            except TimeoutError:
                raise TimeoutError(f"{self.name} has not ended after {timeout:g} s; it goes on.") from None
            try:
                return pending.result()
            except CancelledError:
                raise Cancelled(f"{self.name} was cancelled.", server=self.server.name) from None

        return Act(f"waiting for {self.name}", start, "the call itself goes on (.cancel() ends it)")

    def _outcome(self) -> object:
        if self._pending is None or not self._pending.done() or self._pending.cancelled():
            return None
        return self._pending.exception() or self._pending.result()

    def _event(self, event: CallEvent) -> None:
        self.events.append(event)
        if isinstance(event, Progress):
            self.progress = event
        elif isinstance(event, TaskChanged):
            self._became(event.task)
        elif isinstance(event, QuestionOpened):
            self._questions += 1
        elif isinstance(event, QuestionClosed):
            self._questions -= 1
        self._tell()

    def _became(self, record: HostTask) -> None:
        if self.task is None:
            from jupyter_mcp.notebook.objects.task import Task

            self.task = Task(record)

    def _done(self, _: Any) -> None:
        with _lock:
            _running.pop(self.number, None)
        self._tell()

    def _tell(self) -> None:
        tell(self._listeners, self, log=_log, what=self.name)


def running() -> list[Call]:
    """The background calls under way, oldest first."""
    with _lock:
        return list(_running.values())
