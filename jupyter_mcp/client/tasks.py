"""Tool calls that became tasks: asked after until they end, their questions put to the host, left or cancelled.

One task is followed once, however many wait for it: they share its driver, so that a question is put once and the
server is asked no more often than it wants. Cancelling a waiting asyncio task only leaves the MCP task; `call.cancel()`
cancels it. What was learnt of a task (answered questions, answers that could not be sent) outlives the link, so that
it can be followed again after the server was started anew.

What the states mean is `protocol.tasks`'; who keeps a list of tasks is the host. Above: `calls`, `connection`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import Cancelled, InputRefused, MCPError, RemoteProtocolError, RequestError, RequestTimeout
from jupyter_mcp.protocol import jsonrpc, tasks
from jupyter_mcp.protocol.capabilities import declared
from jupyter_mcp.protocol.shapes import as_list, is_object
from jupyter_mcp.protocol.tasks import Follower, TaskState, read_created, read_state

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.peer import Call, QuestionMethod, ServerPeer
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.client.session import Session

log = logging.getLogger("jupyter_mcp.client")

OnTask = Callable[[TaskState], None]

CANCEL_SECONDS = 10.0
"""How long a server may take to end a task that it was told to cancel."""
_MOST_FAILURES = 4  # looks in a row that fail otherwise than by "no such task"
_MOST_KEPT = 200  # tasks of which answers are remembered
_FIRST_RETRY = 0.1  # seconds, twice as long each time
_GONE = frozenset((jsonrpc.INVALID_PARAMS, jsonrpc.METHOD_NOT_FOUND, jsonrpc.MISSING_CLIENT_CAPABILITY, -32002))


class Tasks:
    """The tasks of one connection."""

    def __init__(self, connection: Connection, peer: ServerPeer) -> None:
        self._connection = connection
        self._peer = peer
        self._known: dict[str, _Known] = {}
        self._followed: dict[str, _Driver] = {}

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
            known = self._known.setdefault(state.id, _Known(self._capabilities()))
            while len(self._known) > _MOST_KEPT:
                del self._known[next(iter(self._known))]
            driver = self._followed[state.id] = _Driver(self, self._connection, self._peer, known, state)
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


class _Known:
    """What is known of a task beyond one link."""

    def __init__(self, capabilities: Mapping[str, Any] | None) -> None:
        self.follower = Follower(capabilities)
        self.unsent: dict[str, dict[str, Any]] = {}


class _Driver:
    """Follows one task for all who wait for it."""

    def __init__(self, owner: Tasks, connection: Connection, peer: ServerPeer, known: _Known, state: TaskState) -> None:
        self._owner = owner
        self._connection = connection
        self._peer = peer
        self._known = known
        self._state = state
        self._waiters: dict[Call, OnTask] = {}
        self._questions: dict[str, asyncio.Task[None]] = {}
        self._awake = asyncio.Event()
        self._failed: MCPError | None = None
        self._result: asyncio.Task[dict[str, Any]] | None = None
        self._cancelling: float | None = None
        self._task: asyncio.Task[dict[str, Any]] | None = None

    @property
    def call(self) -> Call | None:
        """The call that waits for it, the latest of several."""
        return next(reversed(self._waiters), None)

    @property
    def idle(self) -> bool:
        """Whether nobody waits."""
        return not self._waiters

    def wake(self) -> None:
        """Look now."""
        self._awake.set()

    async def wait(self, call: Call, on_task: OnTask) -> dict[str, Any]:
        """See `Tasks.follow`."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        self._waiters[call] = on_task
        call.stop = self._cancel
        _tell(on_task, self._state)
        if call.cancelled:
            self._cancel()
        try:
            return await asyncio.shield(self._task)
        finally:
            call.stop = None
            del self._waiters[call]
            if not self._waiters and not self._task.done():
                self._task.cancel()
                await _ended(self._task)

    def _cancel(self) -> None:
        if self._cancelling is None:
            self._cancelling = asyncio.get_running_loop().time() + CANCEL_SECONDS
            self.wake()

    # -- the loop -------------------------------------------------------------------------------------------------

    async def _run(self) -> dict[str, Any]:
        told = False
        try:
            if self._state.ended and self._state.result is None and self._connection.era == "modern":
                self._state = await self._look()  # only an answer to tasks/get holds the outcome
            while True:
                look = self._known.follower.take(self._state)
                for key in look.withdraw & self._questions.keys():
                    self._questions.pop(key).cancel()
                if self._state.ended:
                    return await self._outcome()
                for key, request in look.ask.items():
                    self._questions[key] = asyncio.ensure_future(self._ask(key, request))
                self._listen_for_questions()
                if self._cancelling is None or told:
                    await self._pause(min(look.pause, 0.5) if told else look.pause)
                if self._failed is not None:
                    raise self._failed
                if self._cancelling is not None and not told:
                    told = True
                    self._take(await self._owner.cancel(self._state.id))
                else:
                    await self._send_answers()
                    self._take(await self._look())
                self._still_patient()
        except (InputRefused, RemoteProtocolError):
            await self._give_up()
            raise
        finally:
            self._known.follower.stop()
            beside = [*self._questions.values(), *([self._result] if self._result else [])]
            for task in beside:
                task.cancel()
            await _ended(*beside)

    async def _pause(self, seconds: float) -> None:
        self._awake.clear()
        if (self._cancelling is not None and seconds > 0.5) or self._failed is not None:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._awake.wait()
        except TimeoutError:
            pass

    def _take(self, state: TaskState) -> None:
        changed = (state.status, state.message) != (self._state.status, self._state.message)
        self._state = state
        if changed:
            for on_task in tuple(self._waiters.values()):
                _tell(on_task, state)

    def _still_patient(self) -> None:
        limit = self._cancelling
        if limit is not None and not self._state.ended and asyncio.get_running_loop().time() > limit:
            raise Cancelled(f"{self._what()} was cancelled; the server has not stopped it yet.")

    async def _look(self) -> TaskState:
        """How it is now. A few failures in a row are forgiven; "no such task" and a lost connection are not."""
        for failures in range(1, _MOST_FAILURES + 1):
            try:
                return await self._owner.get(self._state.id)
            except RequestError as error:
                if error.code in _GONE:
                    error.hint = "The server does not keep the task any more."
                    raise
                if failures == _MOST_FAILURES:
                    raise
            except (RemoteProtocolError, RequestTimeout):
                if failures == _MOST_FAILURES:
                    raise
            await asyncio.sleep(_FIRST_RETRY * 2**failures)
        raise AssertionError("the last failure was raised")

    # -- questions ------------------------------------------------------------------------------------------------

    async def _ask(self, key: str, request: Mapping[str, Any]) -> None:
        """Modern: one question, from the person's answer to the box of what is to be sent."""
        try:
            method = cast("QuestionMethod", request["method"])
            answer = await self._peer.question(self._connection, method, request["params"], self.call)
        except MCPError as error:
            self._failed = error if isinstance(error, InputRefused) else InputRefused(str(error))
        except Exception:
            log.exception("a question of a task could not be answered")
            self._failed = InputRefused("What the task asked for could not be had.")
        else:
            if self._known.follower.answer(key):
                self._known.unsent[key] = answer
        self._questions.pop(key, None)
        self.wake()

    async def _send_answers(self) -> None:
        """What cannot be sent because the connection is gone is sent when the task is followed again."""
        unsent = self._known.unsent
        while unsent:
            answers = dict(unsent)
            try:
                await self._connection.request(tasks.UPDATE, {"taskId": self._state.id, "inputResponses": answers})
            except RequestError as error:
                log.debug("the server did not take an answer: %s", error)  # the next look tells how it goes on
            for key in answers:
                unsent.pop(key, None)

    def _listen_for_questions(self) -> None:
        """2025-11-25: the questions of a task come while tasks/result waits."""
        if self._connection.era != "legacy" or self._state.status != tasks.INPUT_REQUIRED:
            return
        if self._result is None or self._result.done():
            self._result = asyncio.ensure_future(self._fetch(self._connection.options.max_timeout))
            self._result.add_done_callback(self._came)

    def _came(self, result: asyncio.Task[dict[str, Any]]) -> None:
        if not result.cancelled():
            result.exception()  # the next look tells how it goes on
            self.wake()

    async def _give_up(self) -> None:
        """It wants what it cannot have, or makes no sense: end it."""
        if self._state.ended:
            return
        with suppress(MCPError):
            await self._connection.request(tasks.CANCEL, {"taskId": self._state.id})

    # -- the end --------------------------------------------------------------------------------------------------

    async def _fetch(self, timeout: float | None) -> dict[str, Any]:
        return await self._connection.request(tasks.RESULT, {"taskId": self._state.id}, timeout=timeout)

    async def _outcome(self) -> dict[str, Any]:
        state = self._state
        if state.status == tasks.CANCELLED:
            said = f" ({state.message})" if state.message else ""
            raise Cancelled(f"{self._what()} was cancelled{said}.")
        if self._connection.era == "legacy":
            beside = self._result
            came = beside is not None and beside.done() and not beside.cancelled()
            return _of_legacy(state, beside.result() if beside is not None and came else await self._fetch(None))
        if state.error is not None:
            raise RequestError(state.error.message, code=state.error.code, data=state.error.data)
        if state.result is None:
            raise RemoteProtocolError("The server's task has completed without a result.")
        return state.result

    def _what(self) -> str:
        call = self.call
        return f"The task of {call.name}" if call is not None else "The task"


def _of_legacy(state: TaskState, result: dict[str, Any]) -> dict[str, Any]:
    """2025-11-25: a failed task may have a result that does not say so (the SDK 1.x sends an empty one)."""
    if state.status != tasks.FAILED or result.get("isError") is True:
        return result
    if "content" not in result:
        why = state.message or "the task failed, and the server did not say why"
        raise RequestError(why, code=jsonrpc.INTERNAL_ERROR)
    return {**result, "isError": True}


def _tell(on_task: OnTask, state: TaskState) -> None:
    try:
        on_task(state)
    except Exception:
        log.exception("an on_task callback failed")


async def _ended(*futures: asyncio.Future[Any]) -> None:
    """Let them clean up, briefly; even while being cancelled."""
    pending = [future for future in futures if not future.done()]
    if pending:
        await asyncio.wait(pending, timeout=1.0)
