"""Calls that outlive their request, on the server: the extension io.modelcontextprotocol/tasks (2026-07-28).

A tool registered with `task=True` is answered at once by a handle, and goes on in a task of its own. Its questions wait
for a tasks/update, its progress becomes the task's status message, its outcome waits for a tasks/get. RULES:

- A handle has 192 random bits and is good for the principal who made the call; to all others there is no such task.
- A task is there before its handle is sent, and is kept for `ttl` seconds after it ended; never less than it said.
- A handler cannot be made to wait for ever: a question that nobody answers for `ttl` seconds ends its task.
- At most so many tasks are kept; a call beyond that is refused, because an older one may not be dropped early.
- A tool's own failure is a result (`completed`); errors of the protocol and of this server are `failed`.

Above: `dispatch`, `server`. Below: `run` (a handler that goes on by itself). Source: ext-tasks "Tasks" (2026-08).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import RequestError, UsageError
from jupyter_mcp.protocol import tasks
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from jupyter_mcp.protocol.shapes import as_list
from jupyter_mcp.server.detached import DetachedRun
from jupyter_mcp.server.questions import MissingCapability
from jupyter_mcp.server.run import Run
from jupyter_mcp.server.signature import Handler, inspect_handler

if TYPE_CHECKING:
    from jupyter_mcp.server.exchange import Exchange

TaskWish = Literal[True, "required"]
Work = Callable[[Run], Awaitable[Any]]
Conclude = Callable[["Exchange", Awaitable[Any]], Awaitable["dict[str, Any]"]]
Tell = Callable[[str, "dict[str, Any]"], None]

NOTIFICATION = "notifications/tasks"
TTL = 3600.0
POLL_MS = 250
MOST_TASKS = 1_000
_REQUIRED: Mapping[str, Any] = {"extensions": {tasks.EXTENSION: {}}}


class TaskWork:
    """What a tool with `task=` returns to ask first, in the call itself, and then work as a task.

    Args:
        function: the work, `def` or `async def`; its only parameter, if any, is a context. Its value is the result.

    The tool is annotated `-> TaskWork`. Clients without the extension get the work done within the call.

    Raises:
        UsageError: the function takes arguments.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.handler: Handler = inspect_handler(function, what="task")
        if left := [one.name for one in self.handler.parameters if one.required]:
            raise UsageError(f"The work of a task takes a context at most, not {', '.join(left)}.")


class Started:
    """A call that became a task; `result` answers it."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result


class ServerTasks:
    """The tasks of one server.

    Args:
        ttl: seconds for which a task is kept after its end, and a question of it may stay open.
        poll_ms: how often clients should look, in milliseconds.
        most: so many are kept at once.
        clock: seconds since the epoch.
        tell: takes a notification for those who listen to it.
    """

    def __init__(
        self,
        *,
        ttl: float = TTL,
        poll_ms: int = POLL_MS,
        most: int = MOST_TASKS,
        clock: Callable[[], float] = time.time,
        tell: Tell = lambda method, params: None,
    ) -> None:
        self.ttl = ttl
        self.poll_ms = poll_ms
        self.clock = clock
        self.tell = tell
        self._most = most
        self._tasks: dict[str, ServerTask] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    # --- calls

    def accepts(self, exchange: Exchange) -> bool:
        """Whether this call may be answered by a task."""
        return exchange.peer.era == "modern" and tasks.declares(exchange.peer.capabilities)

    def require(self, exchange: Exchange) -> None:
        """Raises `MissingCapability` (-32021) when the client did not declare the extension."""
        if not self.accepts(exchange):
            text = f"This needs a client that supports the extension {tasks.EXTENSION}, which it did not declare."
            raise MissingCapability(text, _REQUIRED)

    def start(self, exchange: Exchange, work: Work, conclude: Conclude) -> dict[str, Any]:
        """Begin a task for a call; the result that answers the call.

        Args:
            work: runs the handler with a run.
            conclude: turns the handler's outcome into the tool's result; raises what answers with an error.

        Raises:
            RequestError: there are too many tasks.
        """
        self._forget_old()
        if len(self._tasks) >= self._most:
            raise RequestError(f"This server keeps {self._most} tasks already; try again later.", code=INTERNAL_ERROR)
        task = ServerTask(self, exchange, work, conclude)
        self._tasks[task.id] = task
        return {"resultType": "task", **task.base()}

    # --- requests about tasks

    def answer(self, exchange: Exchange) -> dict[str, Any]:
        """tasks/get, tasks/update and tasks/cancel.

        Raises:
            MissingCapability: the client did not declare the extension.
            RequestError: there is no such task for this principal.
        """
        self.require(exchange)
        task = self._find(exchange.params["taskId"], exchange.peer.principal)
        if task is None:
            raise RequestError("Invalid params: there is no such task (any more)", code=INVALID_PARAMS)
        if exchange.method == tasks.GET:
            return task.state()
        if exchange.method == tasks.UPDATE:
            task.on_its_loop(task.receive, tasks.answers(exchange.params))
        else:
            task.on_its_loop(task.cancel)
        return {}

    def visible(self, ids: object, principal: str) -> list[str]:
        """Those of the ids whose changes this principal may be told."""
        self._forget_old()
        strings = (one for one in as_list(ids) if isinstance(one, str))
        return [one for one in dict.fromkeys(strings) if self._owned(one, principal) is not None]

    def end_all(self) -> None:
        """The server stops: whatever works is cancelled (on the loop)."""
        for task in list(self._tasks.values()):
            task.cancel()

    def _find(self, id: str, principal: str) -> ServerTask | None:
        self._forget_old()
        return self._owned(id, principal)

    def _owned(self, id: str, principal: str) -> ServerTask | None:
        task = self._tasks.get(id)
        return task if task is not None and secrets.compare_digest(task.owner, _bytes(principal)) else None

    def _forget_old(self) -> None:
        now = self.clock()
        for task in [one for one in self._tasks.values() if one.expired(now)]:
            del self._tasks[task.id]


class ServerTask:
    """One call that goes on after it was answered. Loop only."""

    def __init__(self, owner: ServerTasks, exchange: Exchange, work: Work, conclude: Conclude) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = _bytes(exchange.peer.principal)
        self._tasks = owner
        self._exchange = exchange.detached(self._hear, progress_token=0)
        self._created = self._updated = self._asked = owner.clock()
        self._status = tasks.WORKING
        self._message: str | None = None
        self._result: dict[str, Any] | None = None
        self._error: RpcError | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._run = DetachedRun(self._exchange, work, lasting=True, on_turn=self._turned)
        self._run.start()
        self._end = asyncio.ensure_future(self._await_end(conclude))

    # --- what it is

    def base(self) -> dict[str, Any]:
        """What every description of it has."""
        return tasks.task_object(
            self.id,
            self.status,
            created=_iso(self._created),
            updated=_iso(self._updated),
            ttl_ms=self._ttl_ms(),
            poll_ms=self._tasks.poll_ms,
            message=self._message,
        )

    def state(self) -> dict[str, Any]:
        """Everything about it: its questions, result or error too."""
        task = self.base()
        if self.status == tasks.INPUT_REQUIRED:
            task["inputRequests"] = {key: one.asked.request() for key, one in self._run.pending.items()}
        if self._result is not None:
            task["result"] = self._result
        if self._error is not None:
            error = {"code": self._error.code, "message": self._error.message}
            task["error"] = error if self._error.data is None else {**error, "data": self._error.data}
        return task

    @property
    def status(self) -> str:
        """One of the five words of the protocol."""
        if self._status == tasks.WORKING and self._run.pending:
            return tasks.INPUT_REQUIRED
        return self._status

    @property
    def ended(self) -> bool:
        return self._status in tasks.ENDED

    def expired(self, now: float) -> bool:
        """Whether it may be forgotten."""
        return self.ended and now > self._updated + self._tasks.ttl

    def _ttl_ms(self) -> int:
        """How long it is kept, from its creation: grows while it works, and is fixed at its end."""
        until = self._updated if self.ended else self._tasks.clock()
        return int((max(until - self._created, 0.0) + self._tasks.ttl) * 1000)

    # --- what happens to it

    def on_its_loop(self, act: Callable[..., None], *given: Any) -> None:
        """Do it where the handler runs: at once, or soon when that is not the loop of whoever asks."""
        loop = self._exchange.loop
        if loop is asyncio.get_running_loop():
            act(*given)
        elif not self.ended:
            loop.call_soon_threadsafe(act, *given)

    async def _hear(self, message: dict[str, Any]) -> None:
        """A notification of the handler: progress becomes the words of the status; a task has no log."""
        if message["method"] != "notifications/progress" or self.ended:
            return
        said = message["params"]
        done, total = said["progress"], said.get("total")
        words = said.get("message") or (f"{done:g}" if total is None else f"{done:g} of {total:g}")
        if words != self._message:
            self._message = words
            self._changed()

    def receive(self, answers: Mapping[str, Any]) -> None:
        """Answers to its questions; others are ignored."""
        if not self.ended and any(key in self._run.pending for key in answers):
            self._run.receive(answers)
            self._changed()

    def cancel(self) -> None:
        """End it; one that has ended stays what it is."""
        if not self.ended:
            self._close(tasks.CANCELLED)
            self._run.cancel()

    def _turned(self) -> None:
        """The handler asks something, or has ended (which `_await_end` sees)."""
        if not self.ended and self._run.pending:
            if self._patience is None:
                self._patience = self._exchange.loop.call_later(self._tasks.ttl, self._unanswered)
            self._changed()

    def _unanswered(self) -> None:
        if not self.ended and self._run.pending:
            self._message = "Nobody answered its question."
            self.cancel()

    async def _await_end(self, conclude: Conclude) -> None:
        try:
            result = await conclude(self._exchange, self._run.outcome())
        except asyncio.CancelledError:
            if not self.ended:  # not ours: the handler let somebody else's cancellation through, or the loop ends
                self._fail(RpcError(INTERNAL_ERROR, "The handler was cancelled by its own doing"))
        except BaseException as error:
            self._fail(_error_of(error))
        else:
            if not self.ended:
                self._result = {"resultType": "complete", **result}
                self._message = None  # it was about the work
                self._close(tasks.COMPLETED)

    def _fail(self, error: RpcError) -> None:
        if not self.ended:
            self._error = error
            self._close(tasks.FAILED)

    def _close(self, status: str) -> None:
        self._status = status
        self._stop_waiting()
        self._changed()

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _changed(self) -> None:
        self._updated = self._tasks.clock()
        if not self._run.pending:
            self._stop_waiting()
        self._tasks.tell(NOTIFICATION, self.state())


def _error_of(error: BaseException) -> RpcError:
    """What a call would have been answered with."""
    code = getattr(error, "code", None)
    if type(code) is int:
        return RpcError(code, str(getattr(error, "message", error)), getattr(error, "data", None))
    from jupyter_mcp.server.failures import complain

    complain("a task failed:", error)
    return RpcError(INTERNAL_ERROR, f"Internal error: {type(error).__name__}")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
