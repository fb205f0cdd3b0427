"""The tasks of this kernel: tool calls that outlive their request, found again by a short key or by their id.

A call becomes a task when its server decides so (2026-07-28), or when it was asked to (2025-11-25). While somebody
waits it is followed; nobody is asked about a task for which nobody waits, but when the tasks are listed. A lost
connection is opened again for whoever waits; a disconnected server's tasks stay here and are found again after the
next connect, as long as the server keeps them.

Task ids are handles that open a task to whoever has them, so they are shown to nobody who did not ask. Above: `doing`,
`Host`. Below: `client.tasks`.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError, RequestError, UsageError
from jupyter_mcp.host.events import Status, TaskChanged
from jupyter_mcp.host.listeners import tell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.peer import OnLog, OnProgress
    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.protocol.tasks import TaskState

__all__ = ["HostTask", "TaskBook"]

_log = logging.getLogger("jupyter_mcp.host")

LOST = "lost"
"""The status of a task that its server does not know (any more)."""
_MOST_TASKS = 500
_SHORTEST_PREFIX = 6  # characters of an id that may stand for it
_PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0)  # seconds before a lost connection is tried again for whoever waits
_AT_ONCE = 8  # tasks asked about at a time
_LIST_SECONDS = 5.0  # for a server to say how one task of a list is doing; then it is shown as it was


@dataclass(eq=False)
class HostTask:
    """One task of a server, as this kernel knows it.

    Attributes:
        key: its name in this kernel ("t1").
        server, tool: whose it is; the tool is "" for one that this kernel did not begin.
        arguments: what was sent.
        state: how it was last (see `protocol.tasks.TaskState`).
        lost: the server does not know it any more.
        waiting: how many wait for it now.
    """

    key: str
    server: str
    tool: str
    arguments: Mapping[str, Any]
    state: TaskState = field(repr=False)
    lost: bool = False
    waiting: int = 0
    listeners: list[Callable[[HostTask], object]] = field(default_factory=list[Any], repr=False)

    @property
    def id(self) -> str:
        """The server's handle."""
        return self.state.id

    @property
    def name(self) -> str:
        """What it is about, for people."""
        return f"{self.server}.{self.tool}" if self.tool else f"{self.server} (a task begun elsewhere)"

    @property
    def status(self) -> str:
        """The protocol's word, the server's own, or "lost"."""
        return LOST if self.lost and not self.state.ended else self.state.status

    @property
    def ended(self) -> bool:
        """Whether it will not change any more."""
        return self.lost or self.state.ended

    @property
    def message(self) -> str:
        """The server's words about it, untrusted."""
        return self.state.message or ""

    def left(self) -> str | None:
        """The line for whoever stops waiting; None when it has ended."""
        if self.ended:
            return None
        return f"{self.name} goes on as task {self.key}; %mcp tasks {self.key} finds it, %mcp cancel {self.key} ends it"


class TaskBook:
    """The tasks of all servers; on the runtime loop, but for reading.

    Args:
        ready: gives a connected server, opening a lost one; raises.
        servers: those that there are, by name.
    """

    def __init__(self, ready: Callable[..., Awaitable[ServerEntry]], servers: Mapping[str, ServerEntry]) -> None:
        self._ready = ready
        self._servers = servers
        self._tasks: dict[str, HostTask] = {}
        self._numbers = itertools.count(1)

    def of(self, server: str | None = None) -> list[HostTask]:
        """Those known, oldest first; of one server or of all."""
        return [task for task in list(self._tasks.values()) if server in (None, task.server)]

    def find(self, text: str, server: str | None = None) -> HostTask | None:
        """The task of a key ("t1"), an id or the unique beginning of an id; None when there is none here."""
        known = self.of(server)
        named = [task for task in known if text in (task.key, task.id)]
        if not named and len(text) >= _SHORTEST_PREFIX:
            named = [task for task in known if task.id.startswith(text)]
        return named[0] if len(named) == 1 else None

    # --- asking servers ----------------------------------------------------------------------------------------------

    async def look_up(self, text: str, server: str | None = None) -> HostTask:
        """The task, as it is now; one that this kernel does not know is asked for by its id.

        Raises:
            UsageError: there is no such task, or no server to ask for it.
            MCPError: the server could not be asked.
        """
        task = self.find(text, server)
        if task is not None:
            return await self.refresh(task)
        if server is None:
            raise UsageError(f"There is no task {text!r}.", hint=self._known())
        connection = await self._connected(server)
        try:
            state = await connection.tasks.get(text)
        except RequestError as error:
            raise UsageError(
                f"{server} has no task {text!r} ({error.message}).", hint=self._known(server), server=server
            ) from None
        return self._note(server, "", {}, state)

    async def refresh(self, task: HostTask, timeout: float | None = None) -> HostTask:
        """Ask how a task is doing. A server that does not know it makes it "lost"; raises what asking raises.

        Args:
            timeout: seconds for the answer; None is as patient as with any request.
        """
        if task.ended:
            return task
        connection = await self._connected(task.server)
        try:
            state = await connection.tasks.get(task.id, timeout=timeout)
        except RequestError as error:
            if not is_unknown(error):
                raise
            task.lost = True
            self._tell(task)
        else:
            self._take(task, state)
        return task

    async def list(self, server: str | None = None) -> list[HostTask]:
        """All tasks, asked about now where their server is connected; a server that cannot say leaves them as known."""
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(task: HostTask) -> None:
            entry = self._servers.get(task.server)
            if entry is None or not entry.ready:
                return
            async with gate:
                try:
                    await self.refresh(task, _LIST_SECONDS)
                except MCPError as error:
                    _log.debug("%s could not be asked about: %s", task.key, error)

        await asyncio.gather(*(one(task) for task in self.of(server)))
        for name in [server] if server is not None else list(self._servers):
            await self._list_theirs(name)
        return self.of(server)

    async def _list_theirs(self, name: str) -> None:
        """2025-11-25: a server may have a list of its own."""
        entry = self._servers.get(name)
        if entry is None or entry.connection is None or not entry.ready:
            return
        try:
            for state in await entry.connection.tasks.list():
                self._note(name, "", {}, state)
        except MCPError as error:
            entry.say("note", f"Cannot list its tasks: {error}", level="warning")

    async def cancel(self, task: HostTask) -> HostTask:
        """Tell the server to end it.

        Raises:
            UsageError: the server is not connected, or does not let tasks be cancelled.
            MCPError: it could not be told.
        """
        if task.ended:
            return task
        connection = await self._connected(task.server)
        try:
            self._take(task, await connection.tasks.cancel(task.id))
        except RequestError as error:
            if not is_unknown(error):
                raise
            task.lost = True
            self._tell(task)
        return task

    # --- acts --------------------------------------------------------------------------------------------------------

    async def call(
        self,
        act: Running,
        connection: Connection,
        *,
        timeout: float | None,
        background: bool,
        on_progress: OnProgress,
        on_log: OnLog,
    ) -> dict[str, Any]:
        """tools/call, waited for over its task when it becomes one. Being cancelled meanwhile leaves the task.

        Args:
            act: gets `act.task`; told of every change by `TaskChanged`.
            background: 2025-11-25: ask for a task where the tool may be one.
        """
        try:
            return await connection.call_tool(
                act.name,
                dict(act.arguments),
                timeout=timeout,
                on_progress=on_progress,
                on_log=on_log,
                background=background,
                on_task=lambda state: self._told(act, state),
                on_id=act.sent,
                meta=act.meta,
            )
        except ConnectionLost as lost:
            if act.task is None or act.task.ended:
                raise
            return await self._go_on(act, lost, on_progress)
        except RequestError as error:
            self._maybe_lost(act, error)
            raise
        finally:
            self._unwatch(act)

    async def follow(self, act: Running, on_progress: OnProgress) -> dict[str, Any]:
        """Wait for the result of `act.task`. Raises as `client.tasks.Tasks.follow`."""
        assert act.task is not None
        self._watch(act, act.task)
        try:
            return await self._go_on(act, None, on_progress)
        finally:
            self._unwatch(act)

    async def _go_on(self, act: Running, lost: ConnectionLost | None, on_progress: OnProgress) -> dict[str, Any]:
        """Follow a task over connections that go away, a few times."""
        task = act.task
        assert task is not None
        for pause in _PAUSES:
            if lost is not None:
                act.emit(Status(f"the connection is gone; task {task.key} is asked for again …"))
                await asyncio.sleep(pause)
            try:
                connection = (await self._ready(task.server)).connection
                assert connection is not None
                return await connection.follow_task(
                    task.state,
                    name=task.tool,
                    arguments=task.arguments,
                    on_progress=on_progress,
                    on_task=lambda state: self._told(act, state),
                )
            except ConnectionLost as error:
                lost = error
            except ConnectionFailed as error:
                lost = ConnectionLost(error.message, server=task.server, stderr=error.stderr)
            except RequestError as error:
                self._maybe_lost(act, error)
                raise
        assert lost is not None
        lost.hint = f"The task may go on; %mcp tasks {task.key} looks for it."
        raise lost

    # --- what is known -----------------------------------------------------------------------------------------------

    def _told(self, act: Running, state: TaskState) -> None:
        """The client heard of the act's task."""
        if act.task is None:
            self._watch(act, self._note(act.server, act.name, act.arguments, state))
        assert act.task is not None
        self._take(act.task, state)
        act.emit(TaskChanged(act.task))

    def _note(self, server: str, tool: str, arguments: Mapping[str, Any], state: TaskState) -> HostTask:
        known = next((one for one in self._tasks.values() if one.server == server and one.id == state.id), None)
        if known is None:
            known = HostTask(f"t{next(self._numbers)}", server, tool, dict(arguments), state)
            self._tasks[known.key] = known
            self._forget_some()
        self._take(known, state)
        return known

    def _take(self, task: HostTask, state: TaskState) -> None:
        if task.state.ended:
            return  # the end is the end, whatever is said later
        # A result may be large; who waits gets it, and the server keeps it for who comes later.
        kept = replace(state, result=None) if state.result is not None else state
        changed = (kept.status, kept.message) != (task.state.status, task.state.message)
        task.state, task.lost = kept, False
        if changed:
            self._tell(task)

    def _tell(self, task: HostTask) -> None:
        tell(task.listeners, task, log=_log, what="a task")

    def _maybe_lost(self, act: Running, error: RequestError) -> None:
        if act.task is not None and not act.task.state.ended and is_unknown(error):
            act.task.lost = True
            self._tell(act.task)

    def _watch(self, act: Running, task: HostTask) -> None:
        act.task = task
        task.waiting += 1

    def _unwatch(self, act: Running) -> None:
        if act.task is not None:
            act.task.waiting -= 1
            self._tell(act.task)

    def _forget_some(self) -> None:
        """Those that have ended go first, the oldest of them."""
        while len(self._tasks) > _MOST_TASKS:
            oldest = next((key for key, task in self._tasks.items() if task.ended), next(iter(self._tasks)))
            del self._tasks[oldest]

    async def _connected(self, server: str) -> Connection:
        connection = (await self._ready(server)).connection
        assert connection is not None
        return connection

    def _known(self, server: str | None = None) -> str:
        keys = [task.key for task in self.of(server)]
        return f"There are {', '.join(keys[-10:])}." if keys else "%mcp tasks SERVER lists what there is."


def is_unknown(error: RequestError) -> bool:
    """Whether a server's error means that it does not know the task."""
    return error.code in (-32602, -32002, -32001)
