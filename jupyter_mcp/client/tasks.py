"""The tasks of one connection: asked about, cancelled, followed while somebody waits, and what comes of them unasked.

One task is followed once, however many wait for it (`following`). What was learnt of it (answered questions, answers
that could not be sent) outlives the link, so that it can be followed again after the server was started anew. What the
states mean is `protocol.tasks`'; who keeps a list of tasks is the host. Above: `calls`, `connection`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.client.following import Driver, Known, OnTask
from jupyter_mcp.errors import MCPError, RemoteProtocolError, RequestError
from jupyter_mcp.protocol import jsonrpc, tasks
from jupyter_mcp.protocol.capabilities import declared
from jupyter_mcp.protocol.shapes import as_list, is_object
from jupyter_mcp.protocol.tasks import TaskState, read_created, read_state

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.peer import Call, ServerPeer
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.client.session import Session

log = logging.getLogger("jupyter_mcp.client")

__all__ = ["OnTask", "Tasks"]

_MOST_KEPT = 200  # tasks of which answers are remembered


class Tasks:
    """The tasks of one connection."""

    def __init__(self, connection: Connection, peer: ServerPeer) -> None:
        self._connection = connection
        self._peer = peer
        self._known: dict[str, Known] = {}
        self._followed: dict[str, Driver] = {}

    # -- requests -------------------------------------------------------------------------------------------------

    async def get(self, id: str, *, timeout: float | None = None) -> TaskState:
        """How a task is doing.

        Raises:
            RequestError: the server does not know it (any more).
            RemoteProtocolError: its answer is no task, or another one.
        """
        state = read_state(await self._connection.request(tasks.GET, {"taskId": id}, timeout=timeout))
        if state.id != id:
            raise RemoteProtocolError("The server's answer is about another task.", server=self._connection.name)
        return state

    async def cancel(self, id: str) -> TaskState:
        """Tell the server to end a task; how it is doing after that (it may take its time, or have ended before).

        Raises:
            RequestError: the server does not know it.
            UsageError: the server does not let tasks be cancelled.
        """
        try:
            await self._connection.request(tasks.CANCEL, {"taskId": id})
        except RequestError:
            if self._connection.era == "modern":
                raise
            state = await self.get(id)
            if state.ended:  # 2025-11-25 refuses to cancel what has ended
                return state
            raise
        if (driver := self._followed.get(id)) is not None:
            driver.wake()
        return await self.get(id)

    async def list(self) -> list[TaskState]:
        """2025-11-25: the server's own list of our tasks; [] where there is none."""
        session = self._connection.session
        if session is None or session.era != "legacy" or not declared(session.capabilities, ("tasks", "list")):
            return []
        found: list[TaskState] = []
        cursor: str | None = None
        for _ in range(self._connection.options.max_pages):
            result = await self._connection.request(tasks.LIST, None if cursor is None else {"cursor": cursor})
            for raw in as_list(result.get("tasks")):
                with suppress(RemoteProtocolError):  # one odd entry must not cost the others
                    found.append(read_state(raw))
            following = result.get("nextCursor")
            if not isinstance(following, str) or following == cursor:
                break
            cursor = following
        return found

    # -- a call that became one -----------------------------------------------------------------------------------

    def asks_for(self, session: Session, tool: Mapping[str, Any] | None, *, background: bool) -> bool:
        """2025-11-25: whether a call of this (listed) tool is to ask for a task."""
        if session.era != "legacy" or not tasks.may_become_task({}, session.capabilities, session.revision):
            return False
        word = tasks.support(tool or {})
        return word == "required" or (background and word == "optional")

    def result_types(self, session: Session, method: str) -> frozenset[str]:
        """The final results that a request may have in the modern era."""
        can = method == "tools/call" and tasks.may_become_task(session.client_capabilities, {}, session.revision)
        return frozenset(("complete", "task")) if can else frozenset(("complete",))

    async def settle(self, call: Call, result: dict[str, Any], on_task: OnTask) -> dict[str, Any]:
        """The result of a tools/call, awaited over its task when it became one. Raises as `follow`."""
        session = self._connection.session
        state = read_created(result, session.era) if session is not None else None
        if session is None or state is None:
            return result
        if not session.allows(tasks.GET):
            raise RemoteProtocolError("The server made a task of the call without declaring that it has tasks.")
        return await self.follow(call, state, on_task)

    async def follow(self, call: Call, state: TaskState, on_task: OnTask) -> dict[str, Any]:
        """Wait for a task's result; being cancelled meanwhile leaves the task as it is.

        Args:
            call: whose questions these are; its `cancel()` cancels the task.
            state: how it was last.
            on_task: told of every change of the state, and of the first.

        Raises:
            RequestError: it failed, or the server does not know it any more.
            Cancelled: it was cancelled, by whomever.
            InputRefused: it asked for what cannot be had; it was cancelled then.
            ConnectionLost: the connection is gone; the task may go on.
            RemoteProtocolError, RequestTimeout: the server's answers about it are odd, or do not come.
        """
        driver = self._followed.get(state.id)
        if driver is None:
            known = self._known.setdefault(state.id, Known(self._capabilities()))
            while len(self._known) > _MOST_KEPT:
                del self._known[next(iter(self._known))]
            driver = self._followed[state.id] = Driver(self, self._connection, self._peer, known, state)
        try:
            return await driver.wait(call, on_task)
        finally:
            if driver.idle and self._followed.get(state.id) is driver:
                del self._followed[state.id]

    def _capabilities(self) -> Mapping[str, Any] | None:
        session = self._connection.session
        return session.client_capabilities if session is not None else None

    # -- what comes by itself -------------------------------------------------------------------------------------

    def cause(self, params: object) -> Call | None:
        """2025-11-25: the call whose task a question of the server belongs to."""
        driver = self._followed.get(tasks.related(params) or "")
        return driver.call if driver is not None else None

    def progressing(self, token: object) -> Call | None:
        """2025-11-25: the call whose progress this is, although its request has its answer."""
        calls = {driver.call.id: driver.call for driver in self._followed.values() if driver.call is not None}
        key = jsonrpc.match_id(calls, token)
        return calls.get(key) if key is not None else None

    def told(self, params: object) -> None:
        """A notification about a task: looked at, and believed only as a reason to ask."""
        id_ = cast("Mapping[str, Any]", params).get("taskId") if isinstance(params, Mapping) else None
        driver = self._followed.get(id_) if isinstance(id_, str) else None
        if driver is not None:
            driver.wake()

    def unwanted(self, message: Mapping[str, Any]) -> None:
        """An answer nobody waits for: when it made a task of a call that was given up, the task is cancelled."""
        session, result = self._connection.session, message.get("result")
        if session is None or not is_object(result):
            return
        with suppress(RemoteProtocolError):
            state = read_created(result, session.era)
            if state is not None and session.allows(tasks.CANCEL) and state.id not in self._known:
                self._connection.spawn(self._cancel_quietly(state.id))

    def given_up(self, pending: Pending) -> None:
        """A call was cancelled in the moment in which its answer came."""
        future = pending.future
        if pending.method == "tools/call" and future.done() and not future.cancelled() and future.exception() is None:
            self.unwanted(future.result())

    async def _cancel_quietly(self, id: str) -> None:
        try:
            await self._connection.request(tasks.CANCEL, {"taskId": id})
        except MCPError as error:
            log.debug("a task that nobody wants was not cancelled: %s", error)
