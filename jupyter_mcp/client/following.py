"""Following one task until it ends: looks at the server's pace, its questions put to the host, left or cancelled.

All who wait for a task share its driver, so that a question is put once and the server is asked no more often than it
wants. Cancelling a waiting asyncio task only leaves the MCP task; `call.cancel()` cancels it. What a state means is
`protocol.tasks`'. Above: `tasks`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, cast

from jupyter_mcp.errors import Cancelled, InputRefused, MCPError, RemoteProtocolError, RequestError, RequestTimeout
from jupyter_mcp.protocol import jsonrpc, tasks
from jupyter_mcp.protocol.tasks import Follower, TaskState

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.peer import Call, QuestionMethod, ServerPeer

log = logging.getLogger("jupyter_mcp.client")

OnTask = Callable[[TaskState], None]

CANCEL_SECONDS = 10.0
"""How long a server may take to end a task that it was told to cancel."""
_MOST_FAILURES = 4  # looks in a row that fail otherwise than by "no such task"
_FIRST_RETRY = 0.1  # seconds, twice as long each time
_GONE = frozenset((jsonrpc.INVALID_PARAMS, jsonrpc.METHOD_NOT_FOUND, jsonrpc.MISSING_CLIENT_CAPABILITY, -32002))


class Looks(Protocol):
    """What a driver needs of `Tasks`."""

    async def get(self, id: str, *, timeout: float | None = None) -> TaskState: ...
    async def cancel(self, id: str) -> TaskState: ...


class Known:
    """What is known of a task beyond one link."""

    def __init__(self, capabilities: Mapping[str, Any] | None) -> None:
        self.follower = Follower(capabilities)
        self.unsent: dict[str, dict[str, Any]] = {}


class Driver:
    """Follows one task for all who wait for it."""

    def __init__(self, owner: Looks, connection: Connection, peer: ServerPeer, known: Known, state: TaskState) -> None:
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
        """Until the next look: so long, or until something is to be done, but never one look on top of another."""
        shortest = min(seconds, tasks.SHORTEST_PAUSE)
        await asyncio.sleep(shortest)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds - shortest):
                await self._awake.wait()
        self._awake.clear()

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
