"""Calls that become tasks, on the client: followed, asked about, left, cancelled; whatever the server says."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.errors import Cancelled, ConnectionLost, InputRefused, MCPError, RemoteProtocolError, RequestError
from jupyter_mcp.protocol import tasks
from jupyter_mcp.protocol.capabilities import client_capabilities
from jupyter_mcp.protocol.shapes import is_object
from jupyter_mcp.transport.base import Closed
from tests.client.peer import FakePeer, Told, scripted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.protocol.tasks import TaskState

pytestmark = pytest.mark.anyio

MINE: dict[str, Any] = client_capabilities("2026-07-28", extensions={tasks.EXTENSION: {}})
MODERN: dict[str, Any] = {"tools": {}, "extensions": {tasks.EXTENSION: {}}}
LEGACY: dict[str, Any] = {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}]}
FORM: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"message": "Go on?", "requestedSchema": {"type": "object"}},
}
YES: dict[str, Any] = {"action": "accept", "content": {}}


class Play:
    """A server with one task, whose next state the test decides.

    Attributes:
        state: what tasks/get answers; an exception's code and message as (code, message).
        asked: the methods that came, with their params.
        came: set at every request.
    """

    def __init__(self, era: str = "modern", **state: Any) -> None:
        self.era = era
        self.state: Any = {"status": "working", **state}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.came = asyncio.Event()
        self.results: Any = DONE
        self.closes: Callable[[str], bool] = lambda method: False

    def __call__(self, message: dict[str, Any]) -> Iterable[Any]:
        method: str | None = message.get("method")
        params: dict[str, Any] = message.get("params") or {}
        if method is None or "id" not in message:
            self.asked.append((method or "answer", params))
            self.came.set()
            return
        self.asked.append((method, params))
        self.came.set()
        if self.closes(method):
            yield Closed("went away")
            return
        result = self.answer(method, params)
        if type(result) is tuple:
            code, words = cast("tuple[int, str]", result)
            yield {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": words}}
        elif result is not None:
            yield {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "tools/call":
            created = {**BASE, "status": "working"}
            return {"resultType": "task", **created} if self.era == "modern" else {"task": created}
        if method == "tasks/result":
            return self.results
        if method == "tasks/cancel" and is_object(self.state):
            self.state = {"status": "cancelled"}
            return {"resultType": "complete"} if self.era == "modern" else {**BASE, **self.state}
        if method == "tasks/update":
            self.state = {"status": "completed", "result": DONE}
            return {"resultType": "complete"}
        if method == "tools/list":
            return {"tools": [TOOL | {"execution": {"taskSupport": "optional"}}], "ttlMs": 0, "cacheScope": "private"}
        if method == "tasks/list":
            return {"tasks": [{**BASE, "status": "working"}, "odd", {}]}
        return {**BASE, "resultType": "complete", **self.state} if is_object(self.state) else self.state

    def count(self, method: str) -> int:
        return sum(1 for name, _ in self.asked if name == method)

    async def until(self, method: str, times: int = 1) -> None:
        async with asyncio.timeout(10):
            while self.count(method) < times:
                self.came.clear()
                await self.came.wait()


BASE: dict[str, Any] = {"taskId": "t-1", "createdAt": "c", "lastUpdatedAt": "u", "ttlMs": None, "pollIntervalMs": 1}
TOOL: dict[str, Any] = {"name": "slow", "inputSchema": {"type": "object"}}


@asynccontextmanager
async def playing(play: Play, peer: FakePeer | None = None) -> AsyncGenerator[Connection]:
    told = peer or FakePeer(declared=MINE)
    modern = play.era == "modern"
    async with scripted(
        era="modern" if modern else "legacy", capabilities=MODERN if modern else LEGACY, peer=told, answer=play
    ) as (connection, _, _):
        yield connection


def answering(*answers: Any) -> FakePeer:
    left = list(answers)

    async def answer(method: str, params: dict[str, Any], cause: Any) -> dict[str, Any]:
        one = left.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one

    return FakePeer(answer=answer, declared=MINE)


class States:
    """What was told of a task; `until` waits for a status."""

    def __init__(self) -> None:
        self.all: list[TaskState] = []
        self._news = asyncio.Event()

    def __call__(self, state: TaskState) -> None:
        self.all.append(state)
        self._news.set()

    async def until(self, status: str) -> None:
        async with asyncio.timeout(10):
            while not any(state.status == status for state in self.all):
                self._news.clear()
                await self._news.wait()


async def begun(connection: Connection, states: States) -> asyncio.Task[dict[str, Any]]:
    call = asyncio.ensure_future(connection.call_tool("slow", {}, on_task=states))
    await states.until("working")
    return call


async def test_a_call_that_becomes_a_task_ends_with_the_tasks_result() -> None:
    play, states = Play(), States()
    async with playing(play) as connection:
        call = await begun(connection, states)
        play.state = {"status": "working", "statusMessage": "halfway"}
        await play.until("tasks/get", 2)
        play.state = {"status": "completed", "result": DONE}
        assert await call == DONE
    assert [(one.status, one.message) for one in states.all][-2:] == [("working", "halfway"), ("completed", None)]
    assert connection.calls == ()


async def test_a_call_of_a_client_without_the_extension_cannot_become_one() -> None:
    async with playing(Play(), FakePeer(declared={})) as connection:
        with pytest.raises(RemoteProtocolError, match="unknown type 'task'"):
            await connection.call_tool("slow", {})


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        ({"status": "failed", "error": {"code": -32603, "message": "boom"}}, RequestError, "boom"),
        ({"status": "cancelled", "statusMessage": "no power"}, Cancelled, "cancelled \\(no power\\)"),
        ({"status": "completed"}, RemoteProtocolError, "without a result"),
        ({"status": "completed", "result": "text"}, RemoteProtocolError, "without a result"),
        ((-32602, "no such task"), RequestError, "does not keep the task"),
    ],
)
async def test_however_a_task_ends_whoever_waits_is_told(state: Any, error: type[MCPError], words: str) -> None:
    play = Play()
    play.state = state
    async with playing(play) as connection:
        with pytest.raises(error, match=words):
            await connection.call_tool("slow", {})


async def test_a_look_that_fails_now_and_then_is_forgiven() -> None:
    play, states = Play(), States()
    play.state = (-32603, "busy")
    async with playing(play) as connection:
        call = await begun(connection, states)
        await play.until("tasks/get", 1)
        play.state = {"status": "odd"}
        await play.until("tasks/get", 2)
        play.state = {"status": "completed", "result": DONE, "taskId": "another"}
        await play.until("tasks/get", 3)
        play.state = {"status": "completed", "result": DONE}
        assert await call == DONE


async def test_a_server_that_only_answers_nonsense_ends_the_wait() -> None:
    play = Play()
    play.state = {"status": 1}
    async with playing(play) as connection:
        with pytest.raises(RemoteProtocolError):
            await connection.call_tool("slow", {})
    assert play.count("tasks/cancel") == 1


async def test_cancelling_whoever_waits_leaves_the_task_as_it_is() -> None:
    play, states = Play(), States()
    async with playing(play) as connection:
        call = await begun(connection, states)
        await play.until("tasks/get")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        seen = play.count("tasks/get")
        assert (await connection.tasks.get("t-1")).status == "working"
        assert play.count("tasks/get") == seen + 1, "nobody looks any more"
        assert play.count("tasks/cancel") == play.count("notifications/cancelled") == 0


async def test_a_task_that_was_left_is_followed_again() -> None:
    play, states = Play(), States()
    async with playing(play) as connection:
        call = await begun(connection, states)
        call.cancel()
        await asyncio.wait([call])
        play.state = {"status": "completed", "result": DONE}
        assert await connection.follow_task(states.all[-1], name="slow") == DONE


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_a_task_that_has_ended_when_it_is_followed_is_looked_at_once(status: str) -> None:
    play = Play()
    play.state = {"status": "completed", "result": DONE}
    async with playing(play) as connection:
        assert await connection.follow_task(tasks.TaskState("t-1", status), name="slow") == DONE
    assert play.count("tasks/get") == 1


async def test_cancelling_the_call_cancels_the_task() -> None:
    play, states = Play(), States()
    async with playing(play) as connection:
        waits = await begun(connection, states)
        (call,) = connection.calls
        call.cancel()
        with pytest.raises(Cancelled):
            await waits
    assert play.count("tasks/cancel") == 1 and states.all[-1].status == "cancelled"


async def test_a_task_that_ends_while_it_is_cancelled_brings_its_result() -> None:
    class Late(Play):
        def answer(self, method: str, params: dict[str, Any]) -> Any:
            if method == "tasks/cancel":
                self.state = {"status": "completed", "result": DONE}
                return {"resultType": "complete"}
            return super().answer(method, params)

    play, states = Late(), States()
    async with playing(play) as connection:
        waits = await begun(connection, states)
        connection.calls[0].cancel()
        assert await waits == DONE


async def test_a_server_that_does_not_stop_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(Play):
        def answer(self, method: str, params: dict[str, Any]) -> Any:
            return {"resultType": "complete"} if method == "tasks/cancel" else super().answer(method, params)

    monkeypatch.setattr("jupyter_mcp.client.following.CANCEL_SECONDS", 0.05)
    play, states = Deaf(), States()
    async with playing(play) as connection:
        waits = await begun(connection, states)
        connection.calls[0].cancel()
        with pytest.raises(Cancelled, match="has not stopped it yet"):
            await waits


async def test_a_question_is_put_once_and_its_answer_sent_by_its_key() -> None:
    play, peer = Play(), answering(YES)
    play.state = {"status": "input_required", "inputRequests": {"seat": FORM}}
    async with playing(play, peer) as connection:
        assert await connection.call_tool("slow", {}) == DONE
    (update,) = [params for method, params in play.asked if method == "tasks/update"]
    assert update["taskId"] == "t-1" and update["inputResponses"] == {"seat": YES}
    assert len(peer.questions) == 1
    cause = peer.questions[0][2]
    assert cause is not None and cause.name == "slow"


async def test_two_who_wait_share_the_looks_and_the_question() -> None:
    answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def wait_for_it(method: str, params: dict[str, Any], cause: Any) -> dict[str, Any]:
        return await answer

    peer = FakePeer(answer=wait_for_it, declared=MINE)
    play, states = Play(), States()
    play.state = {"status": "input_required", "inputRequests": {"seat": FORM}}
    async with playing(play, peer) as connection:
        first = await begun(connection, states)
        second = asyncio.ensure_future(connection.follow_task(states.all[0], name="slow"))
        await peer.until(lambda: peer.questions)
        await play.until("tasks/get", 4)
        answer.set_result(YES)
        assert await first == await second == DONE
    assert len(peer.questions) == 1 and play.count("tasks/update") == 1


async def test_a_question_is_open_no_longer_than_the_server_asks_it() -> None:
    gone = asyncio.Event()

    async def never(method: str, params: dict[str, Any], cause: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        raise AssertionError

    peer = FakePeer(answer=never, declared=MINE)
    play = Play()
    play.state = {"status": "input_required", "inputRequests": {"seat": FORM}}
    async with playing(play, peer) as connection:
        call = asyncio.ensure_future(connection.call_tool("slow", {}))
        await peer.until(lambda: peer.questions)
        play.state = {"status": "working"}
        await asyncio.wait_for(gone.wait(), 10)
        play.state = {"status": "completed", "result": DONE}
        assert await call == DONE


async def test_what_was_asked_when_it_was_left_is_asked_again() -> None:
    forever: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    waits: list[Any] = [forever]

    async def answer(method: str, params: dict[str, Any], cause: Any) -> dict[str, Any]:
        return await waits.pop() if waits else YES

    peer = FakePeer(answer=answer, declared=MINE)
    play, states = Play(), States()
    play.state = {"status": "input_required", "inputRequests": {"seat": FORM}}
    async with playing(play, peer) as connection:
        call = await begun(connection, states)
        await peer.until(lambda: peer.questions)
        call.cancel()
        await asyncio.wait([call])
        assert forever.cancelled(), "the open question is withdrawn"
        assert await connection.follow_task(states.all[0], name="slow") == DONE
    assert len(peer.questions) == 2


@pytest.mark.parametrize("refusal", [InputRefused("no"), RequestError("no", code=-1), ValueError("a bug")])
async def test_a_question_that_cannot_be_answered_ends_the_task(refusal: Exception) -> None:
    play = Play()
    play.state = {"status": "input_required", "inputRequests": {"seat": FORM}}
    async with playing(play, answering(refusal)) as connection:
        with pytest.raises(InputRefused):
            await connection.call_tool("slow", {})
    assert play.count("tasks/cancel") == 1


async def test_a_question_beyond_what_was_declared_ends_the_task_unasked() -> None:
    play, peer = Play(), FakePeer(declared={"extensions": {tasks.EXTENSION: {}}})
    play.state = {"status": "input_required", "inputRequests": {"seat": FORM}}
    async with playing(play, peer) as connection:
        with pytest.raises(InputRefused):
            await connection.call_tool("slow", {})
    assert peer.questions == [] and play.count("tasks/cancel") == 1


async def test_a_lost_connection_is_told_to_whoever_waits() -> None:
    play = Play()
    play.closes = lambda method: method == "tasks/get"
    async with playing(play) as connection:
        with pytest.raises(ConnectionLost):
            await connection.call_tool("slow", {})


async def test_a_call_given_up_before_its_answer_leaves_no_task_behind() -> None:
    held: list[Any] = []

    class Slow(Play):
        def answer(self, method: str, params: dict[str, Any]) -> Any:
            found = super().answer(method, params)
            if method == "tools/call":
                held.append(found)
                return None
            return found

    play = Slow()
    async with playing(play) as connection:
        call = asyncio.ensure_future(connection.call_tool("slow", {}))
        await play.until("tools/call")
        (id_,) = [one.id for one in connection.calls]
        call.cancel()
        await asyncio.wait([call])
        assert connection.link is not None
        connection.link.on_message({"jsonrpc": "2.0", "id": id_, "result": held[0]}, 1)
        await play.until("tasks/cancel")


# --- the experiment of 2025-11-25 ------------------------------------------------------------------------------------


async def test_legacy_a_tool_is_a_task_when_begun_in_the_background() -> None:
    play = Play("legacy")
    play.state = {"status": "completed"}
    async with playing(play) as connection:
        await connection.list("tools")
        assert await connection.call_tool("slow", {}, background=True) == DONE
        assert [params.get("task") for method, params in play.asked if method == "tools/call"] == [{}]
        await connection.call_tool("slow", {})
    assert [params.get("task") for method, params in play.asked if method == "tools/call"] == [{}, None]


@pytest.mark.parametrize("said", [{"isError": True}, {}])
async def test_legacy_a_failed_task_still_has_its_result(said: dict[str, Any]) -> None:
    play = Play("legacy")
    play.state, play.results = {"status": "failed"}, {**DONE, **said}
    async with playing(play) as connection:
        assert await connection.call_tool("slow", {}) == {**DONE, "isError": True}


async def test_legacy_a_failed_task_without_a_result_is_not_taken_for_a_success() -> None:
    play = Play("legacy")
    play.state, play.results = {"status": "failed", "statusMessage": "it broke"}, {"_meta": {}}
    async with playing(play) as connection:
        with pytest.raises(RequestError, match="it broke"):
            await connection.call_tool("slow", {})


async def test_legacy_a_question_names_its_task_and_so_its_call() -> None:
    play = Play("legacy")
    play.state, play.results = {"status": "input_required"}, None
    peer = answering(YES)
    async with scripted(era="legacy", capabilities=LEGACY, peer=peer, answer=play) as (connection, _, _):
        call = asyncio.ensure_future(connection.call_tool("slow", {}))
        other = asyncio.ensure_future(connection.call_tool("slow", {}))
        other.cancel()
        await play.until("tasks/result")
        meta = {tasks.RELATED_KEY: {"taskId": "t-1"}}
        params = {"message": "Go on?", "requestedSchema": {"type": "object"}, "_meta": meta}
        assert connection.link is not None
        connection.link.on_message({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params}, 1)
        await play.until("answer")
        play.state, play.results = {"status": "completed"}, DONE
        assert await call == DONE
        cause = peer.questions[0][2]
        assert cause is not None and cause.name == "slow"


async def test_legacy_progress_goes_on_after_the_call_was_answered_by_its_task() -> None:
    play, states, told = Play("legacy"), States(), Told()
    async with playing(play) as connection:
        call = asyncio.ensure_future(connection.call_tool("slow", {}, on_task=states, on_progress=told))
        await states.until("working")
        params = {"progressToken": connection.calls[0].id, "progress": 1, "total": 2}
        assert connection.link is not None
        connection.link.on_message({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}, 1)
        play.state = {"status": "completed"}
        assert await call == DONE
    assert told.all == [(1, 2, None)]


async def test_a_notification_is_a_reason_to_look_and_nothing_more() -> None:
    play, states = Play(pollIntervalMs=60_000), States()
    async with playing(play) as connection:
        call = await begun(connection, states)
        await play.until("tasks/get")
        play.state = {"status": "completed", "result": DONE}
        assert connection.link is not None
        for params in ({}, {"taskId": 1}, {"taskId": "another"}, {"taskId": "t-1", "status": "failed"}):
            connection.link.on_message({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params}, 1)
        assert await asyncio.wait_for(call, 10) == DONE


async def test_legacy_the_servers_list_of_tasks_is_read_item_by_item() -> None:
    async with playing(Play("legacy")) as connection:
        assert [one.id for one in await connection.tasks.list()] == ["t-1"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "taskId", "status"]), inner),
    max_leaves=5,
)
statuses = st.sampled_from(["working", "input_required", "completed", "failed", "cancelled", "?"])


@given(st.dictionaries(st.sampled_from(sorted(BASE)), json_values), statuses | json_values, json_values, json_values)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_about_a_task_ends_in_an_error_or_a_result(
    members: Any, status: Any, requests: Any, rest: Any
) -> None:
    async def once() -> None:
        play = Play()
        odd = {**members, "status": status, "inputRequests": requests, "result": rest, "error": rest}
        play.state = odd
        async with playing(play, answering(*[YES] * 50)) as connection:
            call = asyncio.ensure_future(connection.call_tool("slow", {}))
            await play.until("tasks/get")
            play.state = {"status": "completed", "result": DONE}
            try:
                await asyncio.wait_for(call, 20)
            except MCPError:
                pass
            assert connection.state == "ready"

    asyncio.run(once())
