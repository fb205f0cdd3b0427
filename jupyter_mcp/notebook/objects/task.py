"""`Task` and `Tasks`: tool calls that outlive their request, as objects of the notebook. Thin over `host.tasks`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, overload

from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.notebook.objects.table import Table
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from jupyter_mcp.host.events import OnEvent
    from jupyter_mcp.host.result import Result
    from jupyter_mcp.host.tasks import HostTask
    from jupyter_mcp.notebook.render.views import NoteView


class Task:
    """One task of a server.

    It is as it was last heard of: `refresh()` asks, `result()` waits (questions of the task come to the cell that
    waits), `cancel()` ends it. Leaving the wait, by an interrupt or the card's button, leaves the task as it is.
    """

    def __init__(self, record: HostTask) -> None:
        self.record = record

    @property
    def key(self) -> str:
        """Its name in this kernel ("t1"), for `%mcp tasks KEY` and `%mcp cancel KEY`."""
        return self.record.key

    @property
    def id(self) -> str:
        """The server's own handle: whoever has it may be able to read and cancel the task."""
        return self.record.id

    @property
    def server(self) -> str:
        return self.record.server

    @property
    def tool(self) -> str:
        """The tool that was called; "" for a task that this kernel did not begin."""
        return self.record.tool

    @property
    def status(self) -> str:
        """ "working", "input_required", "completed", "failed", "cancelled", "lost", or the server's own word."""
        return self.record.status

    @property
    def message(self) -> str:
        """What the server says about it."""
        return self.record.message

    @property
    def done(self) -> bool:
        """Whether it will not change any more."""
        return self.record.ended

    def refresh(self) -> Task:
        """Ask the server how it is doing."""
        return self._act("asking about", get_host().tasks.refresh).now()

    async def aio_refresh(self) -> Task:
        """The awaitable twin of `refresh`."""
        return await self._act("asking about", get_host().tasks.refresh).later()

    def cancel(self) -> Task:
        """Tell the server to end it. Raises `UsageError` when it does not let tasks be cancelled."""
        return self._act("cancelling", get_host().tasks.cancel).now()

    async def aio_cancel(self) -> Task:
        """The awaitable twin of `cancel`."""
        return await self._act("cancelling", get_host().tasks.cancel).later()

    def result(self, timeout: float | None = None, *, check: bool = True) -> Result:
        """Wait for the result.

        Args:
            timeout: seconds; the task goes on when they are over.
            check: raise `ToolError` when the tool reports a failure.

        Raises:
            TimeoutError: it is not there yet.
            Cancelled: the task was cancelled.
            MCPError: what the call ended with, or that the server does not keep the task any more.
        """
        from jupyter_mcp.notebook.waiting import watched

        return watched(self.record.name, lambda told: self.waiting(timeout, check=check, on_event=told))

    def waiting(self, timeout: float | None, *, check: bool = True, on_event: OnEvent | None = None) -> Act[Result]:
        """The act of waiting for the result."""

        async def start() -> Result:
            try:
                async with asyncio.timeout(timeout):
                    return await get_host().task_result(self.record, on_event=on_event, check=check)
            except TimeoutError:
                raise TimeoutError(f"{self.record.name} has not ended after {timeout:g} s; it goes on.") from None

        return Act(self.record.name, start, left=self.record.left)

    def __await__(self) -> Generator[Any, None, Result]:
        return self.waiting(None).later().__await__()

    def on_change(self, listener: Callable[[Task], Any]) -> None:
        """For cards: call `listener(self)` at each change, on the runtime's thread."""
        self.record.listeners.append(lambda _: listener(self))

    def _act(self, doing: str, what: Callable[[HostTask], Any]) -> Act[Task]:
        async def start() -> Task:
            await what(self.record)
            return self

        return Act(f"{doing} task {self.key}", start)

    def __mcp_view__(self) -> NoteView:
        from jupyter_mcp.notebook.render.views import NoteView

        said = f" ({self.message})" if self.message else ""
        text = f"Task {self.key}, {self.record.name}: {self.status}{said}."
        if not self.done:
            text += f" .result() waits for it; %mcp cancel {self.key} ends it."
        return NoteView(text, "good" if self.status == "completed" else "plain")

    def __repr__(self) -> str:
        return f"<Task {self.key} {printable(self.record.name)}: {self.status}>"


class Tasks(Table[Task]):
    """The tasks of one server, or of all; asked about once, when something is looked at.

    `tasks["t1"]` (or the server's own id) is one of them, also one that another kernel began.
    """

    kind = "tasks"
    columns = ("task", "tool", "status", "what the server says")
    empty = "no tasks"
    hint = "%mcp tasks KEY shows one and waits for its questions; %mcp cancel KEY ends it."

    def __init__(self, server: str | None = None) -> None:
        super().__init__([])
        self.title = f"Tasks of {server}" if server else "Tasks"
        self._server = server
        self._asked = False

    def row(self, record: Task) -> Sequence[str]:
        return (record.key, record.record.name, record.status, record.message)

    @overload
    def __getitem__(self, index: int | str) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | str | slice) -> Task | Sequence[Task]:
        if not isinstance(index, str):
            return super().__getitem__(index)
        return find(index, self._server)

    def _all(self) -> list[Task]:
        if not self._asked:
            self._records = Act("the tasks", self._ask).now()
            self._asked = True
        return self._records

    async def _ask(self) -> list[Task]:
        return [Task(record) for record in await get_host().tasks.list(self._server)]

    def __repr__(self) -> str:
        return f"<{self.title}: {len(self._records)}>" if self._asked else f"<{self.title}>"


def find(text: str, server: str | None = None) -> Task:
    """The task of a key or an id. Raises `UsageError` when there is none."""

    async def start() -> Task:
        book, servers = get_host().tasks, list(get_host().servers)
        # An id opens its task to whoever has it, so it is shown to no server but its own.
        where = server or (servers[0] if len(servers) == 1 and book.find(text) is None else None)
        return Task(await book.look_up(text, where))

    return Act(f"looking up task {text}", start).now()


def known(text: str) -> Task | None:
    """The task of this kernel with that key, without asking anybody."""
    record = get_host().tasks.find(text)
    return Task(record) if record is not None else None


def kept() -> list[Task]:
    """The tasks this kernel knows, oldest first, without asking anybody."""
    return [Task(record) for record in get_host().tasks.of()]
