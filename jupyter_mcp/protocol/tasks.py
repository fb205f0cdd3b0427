"""Tasks: tool calls that outlive their request. The shapes of both eras, and what a client does about a task's states.

    modern   the extension io.modelcontextprotocol/tasks: the server alone decides; a tools/call may answer
             `resultType: "task"`; tasks/get holds everything, also questions and the result; tasks/update, tasks/cancel
    legacy   the experiment of 2025-11-25: the client asks for a task; tasks/get, tasks/result (waits), tasks/list,
             tasks/cancel; questions come as requests that name their task

`TaskState` is one task as its server told it last, read from any JSON. `Follower` decides what to do about each state;
waiting, sending and asking are the connection's. Nothing here has a clock.

Above: client.tasks, server.tasks. Source: ext-tasks "Tasks" (draft of 2026-08); spec 2025-11-25 "Tasks".
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from jupyter_mcp.errors import RemoteProtocolError
from jupyter_mcp.protocol.capabilities import declared
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, RpcError, parse_error
from jupyter_mcp.protocol.methods import TASKS_EXTENSION
from jupyter_mcp.protocol.modern import input_request, meta_of
from jupyter_mcp.protocol.revisions import Era, era, features
from jupyter_mcp.protocol.shapes import is_number, is_object, mapping_of

EXTENSION = TASKS_EXTENSION
RELATED_KEY = "io.modelcontextprotocol/related-task"
GET, RESULT, LIST, UPDATE, CANCEL = "tasks/get", "tasks/result", "tasks/list", "tasks/update", "tasks/cancel"
CHANGED = frozenset(("notifications/tasks", "notifications/tasks/status"))

WORKING, INPUT_REQUIRED = "working", "input_required"
COMPLETED, FAILED, CANCELLED = "completed", "failed", "cancelled"
ENDED = frozenset((COMPLETED, FAILED, CANCELLED))
TaskSupport = Literal["forbidden", "optional", "required"]

SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 60.0
"""Seconds between two looks at a task, whatever the server proposes."""
_FIRST_PAUSE, _GROWTH, _OWN_LONGEST = 0.25, 1.5, 5.0  # when it proposes nothing
MOST_QUESTIONS = 100
"""So many questions of one task are put to the person."""
_LONGEST_ID = 1_000
_LONGEST_MESSAGE = 500


# --- what each side declares -----------------------------------------------------------------------------------------


def declares(capabilities: object) -> bool:
    """Whether these capabilities (of either side, modern) include the extension."""
    return declared(capabilities, ("extensions", EXTENSION))


def may_become_task(client: object, server: object, revision: str) -> bool:
    """Whether a tools/call at this revision may be answered by a task, by what both sides declared."""
    if era(revision) == "modern":
        return declares(client)
    return features(revision).tool_tasks and declared(server, ("tasks", "requests", "tools", "call"))


def support(tool: Mapping[str, Any]) -> TaskSupport:
    """2025-11-25: what a listed tool says about tasks (`execution.taskSupport`)."""
    word = mapping_of(tool.get("execution")).get("taskSupport")
    return word if word in ("optional", "required") else "forbidden"


def related(params: object) -> str | None:
    """2025-11-25: the id of the task that a message names in its `_meta`."""
    found = mapping_of(meta_of(params).get(RELATED_KEY)).get("taskId")
    return found if isinstance(found, str) else None


# --- a task as it was told -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskState:
    """One task at one moment.

    Attributes:
        id: the server's handle of it; whoever has it may be able to read and cancel the task.
        status: "working", "input_required", "completed", "failed", "cancelled", or the server's own word, shortened.
        message: the server's words about the status, untrusted.
        ttl: seconds from its creation for which the server keeps it at least; None: no limit, or it did not say.
        poll: seconds the server wants between two looks; None: it did not say.
        created, updated: as sent (ISO 8601), "" when it did not say.
        requests: modern: what it wants to know, by key, unchecked.
        result: of a completed task (modern); None in the legacy era, where tasks/result brings it.
        error: of a failed one (modern).
    """

    id: str
    status: str
    message: str | None = None
    ttl: float | None = None
    poll: float | None = None
    created: str = ""
    updated: str = ""
    requests: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: dict[str, Any] | None = None
    error: RpcError | None = None

    @property
    def ended(self) -> bool:
        """Whether it will not change any more."""
        return self.status in ENDED


def read_state(raw: object) -> TaskState:
    """A task object of either era. Raises `RemoteProtocolError` when it names no task or no status."""
    if not is_object(raw):
        raise RemoteProtocolError("The server's task is not an object.")
    id_, status, message = raw.get("taskId"), raw.get("status"), raw.get("statusMessage")
    if not isinstance(id_, str) or not id_ or len(id_) > _LONGEST_ID:
        raise RemoteProtocolError("The server's task has no usable taskId.")
    if not isinstance(status, str) or not status:
        raise RemoteProtocolError("The server's task has no status.")
    result = raw.get("result")
    return TaskState(
        id_,
        printable(status, 40) or "?",
        printable(message, _LONGEST_MESSAGE) if isinstance(message, str) and message.strip() else None,
        _seconds(raw.get("ttlMs", raw.get("ttl"))),
        _seconds(raw.get("pollIntervalMs", raw.get("pollInterval"))),
        _text(raw.get("createdAt")),
        _text(raw.get("lastUpdatedAt")),
        mapping_of(raw.get("inputRequests")) if status == INPUT_REQUIRED else {},
        result if is_object(result) else None,
        _error(raw.get("error")) if status == FAILED else None,
    )


def read_created(result: Mapping[str, Any], name: Era) -> TaskState | None:
    """The task that a tools/call became; None when the result is the tool's own.

    Raises:
        RemoteProtocolError: it says that it is a task, and is none.
    """
    if name == "modern":
        return read_state(result) if result.get("resultType") == "task" else None
    return read_state(result["task"]) if is_object(result.get("task")) and "content" not in result else None


def _text(value: object) -> str:
    return printable(value, 40) if isinstance(value, str) else ""


def _seconds(value: object) -> float | None:
    """Milliseconds on the wire; None for what is no duration."""
    return float(value) / 1000 if is_number(value) and 0 <= value < 1e15 else None


def _error(raw: object) -> RpcError:
    if not is_object(raw):
        return RpcError(INTERNAL_ERROR, "the server did not say why")
    return parse_error({"error": raw})


# --- client role: what to do about a state ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Look:
    """What follows from one state.

    Attributes:
        ask: questions to put to the person now, by key, checked: `{"method", "params"}`.
        withdraw: keys of questions that are open and that the server does not ask any more.
        pause: seconds until the next look; 0 when it has ended.
    """

    ask: dict[str, dict[str, Any]]
    withdraw: Set[str]
    pause: float


class Follower:
    """Follows one task over as many looks as it takes; puts each question once (modern).

    Args:
        capabilities: what this client declared; a question beyond it cannot be answered.

    Attributes:
        answered: the keys that were answered; a server may show them for a while after that.
    """

    def __init__(self, capabilities: Mapping[str, Any] | None = None) -> None:
        self.answered: set[str] = set()
        self._capabilities = capabilities
        self._open: set[str] = set()
        self._looks = 0
        self._last = ("", "")

    def take(self, state: TaskState) -> Look:
        """One state came.

        Raises:
            InputRefused: it asks for what this client did not declare or does not know.
            RemoteProtocolError: a question is none, or there are too many.
        """
        wanted = {key: item for key, item in state.requests.items() if key not in self.answered}
        ask = {
            key: input_request(key, item, self._capabilities) for key, item in wanted.items() if key not in self._open
        }
        if len(self.answered) + len(self._open) + len(ask) > MOST_QUESTIONS:
            raise RemoteProtocolError(f"The task asked more than {MOST_QUESTIONS} questions.")
        withdraw = self._open - wanted.keys()
        self._open = (self._open - withdraw) | ask.keys()
        return Look(ask, withdraw, self._pause(state))

    def answer(self, key: str) -> bool:
        """A question got its answer; False when it is not open any more, so that the answer is for nobody."""
        if key not in self._open:
            return False
        self._open.discard(key)
        self.answered.add(key)
        return True

    def stop(self) -> None:
        """Nobody follows it for now: what is open will be asked again."""
        self._open.clear()

    def _pause(self, state: TaskState) -> float:
        if state.ended:
            return 0.0
        if state.poll is not None:
            return min(max(state.poll, SHORTEST_PAUSE), LONGEST_PAUSE)
        seen = (state.status, state.updated)
        self._looks = 0 if seen != self._last else self._looks + 1
        self._last = seen
        return min(_FIRST_PAUSE * _GROWTH ** min(self._looks, 20), _OWN_LONGEST)


# --- server role -----------------------------------------------------------------------------------------------------


def task_object(
    id: str,
    status: str,
    *,
    created: str,
    updated: str,
    ttl_ms: int | None,
    poll_ms: int | None = None,
    message: str | None = None,
) -> dict[str, Any]:
    """The members that every modern task object has; questions, result and error are the caller's to add."""
    task: dict[str, Any] = {"taskId": id, "status": status, "createdAt": created, "lastUpdatedAt": updated}
    task["ttlMs"] = ttl_ms
    if poll_ms is not None:
        task["pollIntervalMs"] = poll_ms
    if message:
        task["statusMessage"] = message
    return task


def answers(params: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The answers of a tasks/update, by key; what is no object answers nothing."""
    given = mapping_of(params.get("inputResponses"))
    return {key: cast("Mapping[str, Any]", one) for key, one in given.items() if isinstance(one, Mapping)}
