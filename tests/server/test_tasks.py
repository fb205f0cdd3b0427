"""Calls that become tasks, as a client of the extension sees them on the wire."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import jsonschema
import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import tasks
from jupyter_mcp.server import AsyncContext, Context, Server, TaskWork
from jupyter_mcp.server.exchange import Exchange, Peer
from jupyter_mcp.server.tasks import ServerTasks
from tests.conformance import tasks as conformance
from tests.server.talk import EVERYTHING, RpcFailure, Talk
from tests.shared import shared_path

pytestmark = pytest.mark.anyio

MODERN = "2026-07-28"
WITH: dict[str, Any] = {**EVERYTHING, "extensions": {tasks.EXTENSION: {}}}
ACCEPT = {"action": "accept", "content": {"confirm": True}}


class Bench:
    """A server whose one task waits until the test lets it go on."""

    def __init__(self, **options: Any) -> None:
        self.server = Server("bench", **options)
        self.go = asyncio.Event()
        self.ended = asyncio.Event()
        conformance.add_to(self.server)
        self.server.add_tool(self.wait, task=True)

    async def wait(self, ctx: AsyncContext) -> str:
        await ctx.progress(1, 2, "halfway")
        try:
            await self.go.wait()
        finally:
            self.ended.set()
        return "done"

    def talk(self, capabilities: dict[str, Any] = WITH, revision: str = MODERN) -> Talk:
        return Talk(self.server, revision, capabilities=capabilities)


async def begin(talk: Talk, tool: str, **arguments: Any) -> str:
    created = await talk.request("tools/call", {"name": tool, "arguments": arguments})
    assert created["resultType"] == "task" and "result" not in created and "requestState" not in created
    return created["taskId"]


async def get(talk: Talk, task: str) -> dict[str, Any]:
    return await talk.request("tasks/get", {"taskId": task})


async def until(talk: Talk, task: str, *statuses: str) -> dict[str, Any]:
    """The state of a task once it has one of these statuses, looked at when the server says that it changed."""
    await talk.start("subscriptions/listen", {"notifications": {"taskIds": [task]}})
    while True:
        seen = len(talk.of("notifications/tasks"))
        state = await get(talk, task)
        if state["status"] in statuses:
            return state
        await news(talk, seen)


async def news(talk: Talk, seen: int) -> None:
    await talk.until(lambda: len(talk.of("notifications/tasks")) > seen)


async def update(talk: Talk, task: str, responses: Any) -> dict[str, Any]:
    return await talk.request("tasks/update", {"taskId": task, "inputResponses": responses})


async def refused(talk: Talk, method: str, task: str = "x", **params: Any) -> int:
    with pytest.raises(RpcFailure) as caught:
        await talk.request(method, {"taskId": task, **params})
    return caught.value.code


async def test_a_call_becomes_a_task_and_its_result_waits_there() -> None:
    bench = Bench()
    async with bench.talk() as talk:
        task = await begin(talk, "wait")
        assert len(task) >= 22, "128 bits at least"
        state = await until(talk, task, "working")
        assert state["resultType"] == "complete" and state["ttlMs"] > 0 and "result" not in state
        bench.go.set()
        done = await until(talk, task, "completed")
        assert done["result"]["content"] == [{"type": "text", "text": "done"}] and "statusMessage" not in done
        assert await get(talk, task) == done, "also a second time"


async def test_progress_is_what_the_status_says() -> None:
    bench = Bench()
    async with bench.talk() as talk:
        task = await begin(talk, "wait")
        await talk.start("subscriptions/listen", {"notifications": {"taskIds": [task]}})
        if (await get(talk, task)).get("statusMessage") is None:
            await news(talk, 0)
        assert (await get(talk, task))["statusMessage"] == "halfway"
        assert talk.of("notifications/progress") == []


async def test_a_tools_own_failure_is_a_result_and_a_protocol_error_is_not() -> None:
    async with Bench().talk() as talk:
        failing, breaking = await begin(talk, "failing_job"), await begin(talk, "protocol_error_job")
        assert (await until(talk, failing, *tasks.ENDED))["result"]["isError"] is True
        state = await until(talk, breaking, *tasks.ENDED)
        assert state["status"] == "failed" and state["error"]["code"] == -32603 and "result" not in state


async def test_cancelling_ends_the_handler_at_once_and_twice_is_once() -> None:
    bench = Bench()
    async with bench.talk() as talk:
        task = await begin(talk, "wait")
        for _ in range(2):
            ack = await talk.request("tasks/cancel", {"taskId": task})
            assert ack.keys() <= {"resultType", "_meta"}
            assert (await get(talk, task))["status"] == "cancelled"
        await asyncio.wait_for(bench.ended.wait(), 10)
        bench.go.set()
        assert (await get(talk, task))["status"] == "cancelled", "what it returns later changes nothing"


async def test_a_thread_that_waits_in_its_context_is_cancelled_too() -> None:
    server, ended = Server("s"), threading.Event()

    @server.tool(task=True)
    def block(ctx: Context) -> None:
        try:
            ctx.sleep(60)
        finally:
            ended.set()

    async with Talk(server, MODERN, capabilities=WITH) as talk:
        await talk.request("tasks/cancel", {"taskId": await begin(talk, "block")})
        assert await asyncio.to_thread(ended.wait, 10)


async def test_a_question_waits_for_an_update_and_the_handler_goes_on() -> None:
    async with Bench().talk() as talk:
        task = await begin(talk, "confirm_delete", filename="f")
        state = await until(talk, task, "input_required")
        (key,) = state["inputRequests"]
        assert state["inputRequests"][key]["method"] == "elicitation/create"
        await update(talk, task, {"unknown": ACCEPT, key: "odd"})
        assert (await get(talk, task))["status"] == "input_required"
        await update(talk, task, {key: ACCEPT})
        done = await until(talk, task, "completed")
        assert done["result"]["content"][0]["text"] == "Deleted f."


async def test_an_answer_that_does_not_fit_is_asked_again_under_another_key() -> None:
    async with Bench().talk() as talk:
        task = await begin(talk, "confirm_delete", filename="f")
        (key,) = (await until(talk, task, "input_required"))["inputRequests"]
        await update(talk, task, {key: {"action": "accept", "content": {"confirm": "perhaps"}}})
        (again,) = (await until(talk, task, "input_required"))["inputRequests"]
        assert again != key
        await update(talk, task, {again: ACCEPT})
        assert (await until(talk, task, "completed"))["result"]["content"][0]["text"] == "Deleted f."


async def test_two_questions_are_answered_one_at_a_time() -> None:
    async with Bench().talk() as talk:
        task = await begin(talk, "multi_input")
        first, second = (await until(talk, task, "input_required"))["inputRequests"]
        await update(talk, task, {first: {"action": "accept", "content": {"name": "a"}}})
        assert list((await get(talk, task))["inputRequests"]) == [second]
        await update(talk, task, {second: {"action": "accept", "content": {"name": "b"}}})
        assert (await until(talk, task, "completed"))["result"]["content"][0]["text"] == "a and b"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_a_client_without_the_extension_is_told_what_it_lacks(method: str) -> None:
    async with Bench().talk(EVERYTHING) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.request(method, {"taskId": "x", "inputResponses": {}})
    assert caught.value.code == -32021
    assert caught.value.data == {"requiredCapabilities": {"extensions": {tasks.EXTENSION: {}}}}


async def test_without_the_extension_a_tool_runs_in_its_call_and_one_that_must_not_is_refused() -> None:
    async with Bench().talk(EVERYTHING) as talk:
        result = await talk.request("tools/call", {"name": "slow_compute", "arguments": {"seconds": 0, "label": "x"}})
        assert result["resultType"] == "complete" and "taskId" not in result
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/call", {"name": "failing_job", "arguments": {}})
    assert caught.value.code == -32021


@pytest.mark.parametrize("method", ["tasks/result", "tasks/list"])
async def test_what_the_experiment_had_is_no_method(method: str) -> None:
    async with Bench().talk() as talk:
        assert await refused(talk, method) == -32601


async def test_the_legacy_era_has_no_tasks_and_runs_the_tool_in_its_call() -> None:
    async with Bench().talk(revision="2025-11-25") as talk:
        assert "tasks" not in talk.initialized["capabilities"]
        assert (await talk.call("slow_compute", {"seconds": 0}))["content"]
        assert (await talk.call("failing_job"))["isError"] is True
        assert await refused(talk, "tasks/get") == -32601


async def test_a_task_hint_of_a_legacy_client_makes_no_task_of_an_ordinary_tool() -> None:
    async with Bench().talk() as talk:
        params = {"name": "greet", "arguments": {"name": "World"}, "task": {"ttl": 1}}
        assert (await talk.request("tools/call", params))["content"][0]["text"] == "Hello, World!"


@pytest.mark.parametrize("elsewhere", [False, True], ids=["goes on", "runs again"])
async def test_a_tool_may_ask_first_and_become_a_task_after_that(elsewhere: bool) -> None:
    one, other = Bench(state_key=bytes(32)), Bench(state_key=bytes(32))
    async with one.talk() as first, other.talk() as second:
        asked = await first.request("tools/call", {"name": "test_tool_with_task", "arguments": {}})
        talk = second if elsewhere else first
        assert asked["resultType"] == "input_required" and "taskId" not in asked
        answers = {"user_name": {"action": "accept", "content": {"name": "Alice"}}}
        params = {"name": "test_tool_with_task", "arguments": {}, "inputResponses": answers}
        created = await talk.request("tools/call", {**params, "requestState": asked["requestState"]})
        assert created["resultType"] == "task" and "requestState" not in created
        done = await until(talk, created["taskId"], "completed")
        assert done["result"]["content"][0]["text"] == "Hello, Alice!"


async def test_work_that_asks_first_is_done_in_the_call_where_there_are_no_tasks() -> None:
    server = Server("s")

    @server.tool(task=True)
    async def first(ctx: AsyncContext) -> TaskWork:
        async def work(ctx: AsyncContext) -> str:
            return "worked"

        return TaskWork(work)

    for revision in ("2025-11-25", MODERN):
        async with Talk(server, revision) as talk:
            assert (await talk.call("first"))["content"][0]["text"] == "worked"


async def test_the_work_of_a_task_takes_a_context_at_most() -> None:
    async def work(ctx: AsyncContext, city: str) -> str:
        return city

    with pytest.raises(UsageError):
        TaskWork(work)


async def test_listeners_are_told_of_their_own_tasks_only() -> None:
    bench = Bench()
    async with bench.talk() as talk:
        task = await begin(talk, "wait")
        await talk.start("subscriptions/listen", {"notifications": {"taskIds": [task, "somebody else's"]}})
        await talk.until(lambda: bool(talk.of("notifications/subscriptions/acknowledged")))
        assert talk.of("notifications/subscriptions/acknowledged")[0]["notifications"] == {"taskIds": [task]}
        bench.go.set()
        await talk.until(lambda: any(one["status"] == "completed" for one in talk.of("notifications/tasks")))
        assert {one["taskId"] for one in talk.of("notifications/tasks")} == {task}


# --- the store -------------------------------------------------------------------------------------------------------


def exchange(principal: str = "me", method: str = "tools/call", **params: Any) -> Exchange:
    async def post(message: dict[str, Any]) -> None: ...

    return Exchange(method, params, 1, Peer(MODERN, WITH, principal=principal), post)


class Store(ServerTasks):
    """Tasks whose clock the test moves, and whose changes it can wait for."""

    def __init__(self, **options: Any) -> None:
        self.now = 1_000.0
        self.changed = asyncio.Event()
        super().__init__(clock=lambda: self.now, tell=lambda method, params: self.changed.set(), **options)

    async def settled(self, task: str) -> dict[str, Any]:
        while ask(self, task)["status"] == "working":
            await asyncio.wait_for(self.changed.wait(), 10)
            self.changed.clear()
        return ask(self, task)


async def done(run: Any) -> str:
    return "done"


async def conclude(of: Exchange, outcome: Any) -> dict[str, Any]:
    return {"content": [await outcome]}


def ask(store: Store, task: str, principal: str = "me", method: str = "tasks/get") -> dict[str, Any]:
    return store.answer(exchange(principal, method, taskId=task))


async def test_somebody_elses_task_is_as_unknown_as_one_that_never_was() -> None:
    store = Store()

    async def forever(run: Any) -> None:
        await asyncio.Event().wait()

    task = store.start(exchange("me"), forever, conclude)["taskId"]
    told: list[str] = []
    for principal, id_ in (("you", task), ("me", "never was"), ("", task)):
        for method in ("tasks/get", "tasks/cancel"):
            with pytest.raises(Exception) as caught:
                ask(store, id_, principal, method)
            told.append(str(caught.value))
    assert len(set(told)) == 1
    assert store.visible([task], "you") == [] and ask(store, task)["status"] == "working"
    store.end_all()
    assert ask(store, task)["status"] == "cancelled"


async def test_a_task_is_kept_as_long_as_it_said_and_no_longer() -> None:
    store = Store(ttl=10)
    created = store.start(exchange(), done, conclude)
    await store.settled(created["taskId"])
    store.now += 9
    state = ask(store, created["taskId"])
    assert state["ttlMs"] >= created["ttlMs"] == 10_000
    store.now += 2
    with pytest.raises(Exception, match="no such task"):
        ask(store, created["taskId"])
    assert len(store) == 0


async def test_a_task_is_answered_and_cancelled_from_another_loop_than_its_own() -> None:
    """One server may be served on several threads: in a notebook by memory and over HTTP, say."""
    store = Store()

    async def forever(run: Any) -> None:
        await asyncio.Event().wait()

    task = store.start(exchange(), forever, conclude)["taskId"]

    async def elsewhere() -> None:
        assert store.answer(exchange(method="tasks/cancel", taskId=task)) == {}

    await asyncio.to_thread(asyncio.run, elsewhere())
    assert (await store.settled(task))["status"] == "cancelled"


async def test_a_task_that_works_long_is_not_forgotten_meanwhile() -> None:
    store, go = Store(ttl=10), asyncio.Event()

    async def work(run: Any) -> str:
        await go.wait()
        return "done"

    task = store.start(exchange(), work, conclude)["taskId"]
    store.now += 3_600
    assert ask(store, task)["ttlMs"] == 3_610_000
    go.set()
    assert (await store.settled(task))["status"] == "completed"


async def test_a_call_beyond_the_limit_is_refused_and_no_task_is_lost() -> None:
    store = Store(most=1)
    first = store.start(exchange(), done, conclude)["taskId"]
    with pytest.raises(Exception, match="keeps 1 tasks already"):
        store.start(exchange(), done, conclude)
    assert (await store.settled(first))["status"] == "completed"


async def test_a_question_that_nobody_answers_ends_its_task() -> None:
    server = Server("s", task_ttl=0.05)
    server.add_tool(conformance.confirm_delete, task=True)
    async with Talk(server, MODERN, capabilities=WITH) as talk:
        task = await begin(talk, "confirm_delete", filename="f")
        state = await until(talk, task, *tasks.ENDED)
        assert (state["status"], state["statusMessage"]) == ("cancelled", "Nobody answered its question.")


# --- what is sent ----------------------------------------------------------------------------------------------------


def fits(name: str, value: Any) -> None:
    schema = json.loads(shared_path("spec/ext-tasks-schema-draft.json").read_text())
    validator: Any = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
    problems = [error.message for error in validator.iter_errors(value)]
    assert problems == [], (name, value)


async def test_everything_sent_fits_the_schema_of_the_extension() -> None:
    bench = Bench()
    async with bench.talk() as talk:
        created = await talk.request("tools/call", {"name": "wait", "arguments": {}})
        fits("CreateTaskResult", created)
        asking, failing = await begin(talk, "confirm_delete", filename="f"), await begin(talk, "protocol_error_job")
        fits("GetTaskResult", await get(talk, created["taskId"]))
        fits("GetTaskResult", await until(talk, asking, "input_required"))
        (key,) = (await get(talk, asking))["inputRequests"]
        fits("UpdateTaskResult", await update(talk, asking, {key: ACCEPT}))
        fits("GetTaskResult", await until(talk, asking, "completed"))
        fits("GetTaskResult", await until(talk, failing, "failed"))
        fits("CancelTaskResult", await talk.request("tasks/cancel", {"taskId": created["taskId"]}))
        fits("GetTaskResult", await get(talk, created["taskId"]))
        for params in talk.of("notifications/tasks"):
            fits("TaskStatusNotification", {"jsonrpc": "2.0", "method": "notifications/tasks", "params": params})
