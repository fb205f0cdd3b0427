"""Handlers that wait for an answer between two requests: they go on once, or end, or run again elsewhere."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from jupyter_mcp.errors import Cancelled
from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.modern import LOG_LEVEL_KEY
from jupyter_mcp.server import AsyncContext, Context, Elicit, InputRequired, Server
from jupyter_mcp.server.rounds import StateKeeper
from jupyter_mcp.server.session import Session
from tests.server.talk import RpcFailure, Talk

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.anyio
NEW = "2026-07-28"
both_kinds = pytest.mark.parametrize("kind", ["async", "def"])
mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="nothing")


class Seen:
    """What handlers did."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.happened = threading.Condition()

    def add(self, event: Any) -> None:
        with self.happened:
            self.events.append(event)
            self.happened.notify_all()

    def _wait(self, event: Any) -> bool:
        with self.happened:
            return self.happened.wait_for(lambda: event in self.events, 10)

    async def until(self, event: Any) -> None:
        """Wait until a handler did that."""
        assert await asyncio.to_thread(self._wait, event), self.events


def make(**options: Any) -> tuple[Server, Seen]:
    server, seen = Server("parked", **options), Seen()

    @server.tool("async")
    async def awaiting(ctx: AsyncContext) -> str:
        seen.add("began")
        mark.set("mine")
        try:
            first = await ctx.elicit("First?", int)
            await ctx.progress(1)
            await ctx.log("info", "between")
            second = await ctx.elicit("Second?", int)
        except asyncio.CancelledError:
            seen.add("ended")
            raise
        seen.add((ctx.request_id, dict(ctx.meta).get("mark"), mark.get()))
        return f"{first.data} {second.data}"

    @server.tool("def")
    def blocking(ctx: Context) -> str:
        seen.add("began")
        mark.set("mine")
        thread = threading.get_ident()
        try:
            first = ctx.elicit("First?", int)
            ctx.progress(1)
            ctx.log("info", "between")
            second = ctx.elicit("Second?", int)
        except Cancelled:
            seen.add("ended")
            raise
        seen.add((ctx.request_id, dict(ctx.meta).get("mark"), mark.get()))
        return f"{first.data} {second.data}" + ("" if thread == threading.get_ident() else " on another thread")

    return server, seen


class Kept:
    """A way that keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def post(self, message: Any) -> None:
        self.sent.append(message)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    note = post
    tell = send

    def drop(self) -> None: ...

    def close_stream(self, retry_ms: int) -> None: ...


def answered(result: Mapping[str, Any], *values: Any) -> dict[str, Any]:
    """What a retry adds: these values, for the questions in their order."""
    given = dict(zip(result["inputRequests"], values, strict=False))
    responses = {key: {"action": "accept", "content": {"value": value}} for key, value in given.items()}
    return {"inputResponses": responses, "requestState": result["requestState"]}


def messages(result: Mapping[str, Any]) -> list[str]:
    return [one["params"]["message"] for one in result["inputRequests"].values()]


# --- going on


@both_kinds
async def test_a_handler_goes_on_where_it_stopped_with_its_own_context_and_thread(kind: str):
    server, seen = make()
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": kind}, mark="one")
        second = await talk.request("tools/call", {"name": kind, **answered(first, 1)}, mark="two")
        assert messages(second) == ["Second?"]
        id_, future = await talk.start("tools/call", {"name": kind, **answered(second, 2)}, mark="three")
        assert (await future)["result"]["content"][0]["text"] == "1 2"
        assert seen.events == ["began", (id_, "three", "mine")]


@both_kinds
async def test_after_an_answer_progress_and_log_belong_to_the_request_that_brought_it(kind: str):
    async with Talk(make()[0], NEW) as talk:
        level = {LOG_LEVEL_KEY: "info"}
        first = await talk.request("tools/call", {"name": kind}, progressToken="old", **level)
        second = await talk.request("tools/call", {"name": kind, **answered(first, 1)}, progressToken="new", **level)
        assert [one["progressToken"] for one in talk.of("notifications/progress")] == ["new"]
        assert len(talk.of("notifications/message")) == 1
        await talk.request("tools/call", {"name": kind, **answered(second, 2)})
    async with Talk(make()[0], NEW) as talk:
        first = await talk.request("tools/call", {"name": kind}, progressToken="old", **level)
        await talk.request("tools/call", {"name": kind, **answered(first, 1)})
        assert not talk.of("notifications/progress")
        assert not talk.of("notifications/message"), "the retry asked for none"


async def test_nothing_is_reported_of_a_request_that_was_answered_with_a_question():
    server, told, go = Server("x"), asyncio.Event(), asyncio.Event()

    @server.tool
    async def busy(ctx: AsyncContext) -> str:
        async def work() -> None:
            await go.wait()
            await ctx.progress(1)
            await ctx.log("error", "x")
            told.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(work())
            answer = await ctx.elicit("Go on?")
        return answer.action

    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "busy"}, progressToken="p", **{LOG_LEVEL_KEY: "debug"})
        go.set()
        await told.wait()
        await talk.request("tools/call", {"name": "busy", **answered(first, 1)})
        assert not [one for one in talk.received if "method" in one]


async def test_an_answer_that_is_missing_is_asked_for_again_while_the_rest_goes_on():
    server, seen = Server("x"), Seen()

    @server.tool
    async def group(ctx: AsyncContext) -> list[Any]:
        seen.add("began")

        async def one(key: str) -> Any:
            answer = await ctx.elicit(f"{key}?", int, key=key)
            seen.add(key)
            return answer.data

        async with asyncio.TaskGroup() as tasks:
            found = [tasks.create_task(one(key)) for key in "abc"]
        late = await ctx.elicit("Late?", int)
        return [*(task.result() for task in found), late.data]

    async with Talk(server, NEW) as talk:
        result = await talk.request("tools/call", {"name": "group"})
        assert list(result["inputRequests"]) == ["a", "b", "c"]
        only_b = {"inputResponses": {"b": answered(result, 1)["inputResponses"]["a"], "zz": {"action": "accept"}}}
        result = await talk.request("tools/call", {"name": "group", **only_b, "requestState": result["requestState"]})
        assert seen.events == ["began", "b"]
        assert list(result["inputRequests"]) == ["a", "c"]
        none = {"name": "group", "requestState": result["requestState"]}
        result = await talk.request("tools/call", none)
        assert list(result["inputRequests"]) == ["a", "c"]
        result = await talk.request("tools/call", {"name": "group", **answered(result, 2, 3)})
        assert messages(result) == ["Late?"]
        result = await talk.request("tools/call", {"name": "group", **answered(result, 4)})
        assert result["structuredContent"] == [2, 1, 3, 4]
        assert seen.events.count("began") == 1


async def test_a_question_that_comes_while_another_is_out_is_asked_with_the_next_round():
    server, go, asking = Server("x"), asyncio.Event(), asyncio.Event()

    @server.tool
    async def group(ctx: AsyncContext) -> list[Any]:
        async def later() -> Any:
            await go.wait()
            asking.set()
            return (await ctx.elicit("Later?", int)).data

        async with asyncio.TaskGroup() as tasks:
            late = tasks.create_task(later())
            first = await ctx.elicit("First?", int)
        return [first.data, late.result()]

    async with Talk(server, NEW) as talk:
        result = await talk.request("tools/call", {"name": "group"})
        assert messages(result) == ["First?"]
        go.set()
        await asking.wait()
        result = await talk.request("tools/call", {"name": "group", **answered(result, 1)})
        assert messages(result) == ["Later?"]
        result = await talk.request("tools/call", {"name": "group", **answered(result, 2)})
        assert result["structuredContent"] == [1, 2]


async def test_a_handler_that_stops_waiting_by_itself_answers_the_next_request():
    server, gave_up = Server("x"), asyncio.Event()

    @server.tool
    async def hasty(ctx: AsyncContext) -> str:
        try:
            async with asyncio.timeout(0.01):
                return (await ctx.elicit("Quick?")).action
        except TimeoutError:
            gave_up.set()
            return "too late"

    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "hasty"})
        await gave_up.wait()
        done = await talk.request("tools/call", {"name": "hasty", **answered(first, 1)})
        assert done["content"][0]["text"] == "too late"


async def test_a_handler_may_go_on_to_ask_by_its_own_hand():
    server, seen = Server("x"), Seen()

    @server.tool
    async def mixed(ctx: AsyncContext) -> Any:
        seen.add("began")
        first = await ctx.elicit("First?", int)
        if "own" not in ctx.responses:
            return InputRequired({"own": Elicit("Own?", int)}, state={"n": first.data})
        return [first.data, ctx.state, ctx.responses["own"]["content"]]

    async with Talk(server, NEW) as talk:
        result = await talk.request("tools/call", {"name": "mixed"})
        result = await talk.request("tools/call", {"name": "mixed", **answered(result, 1)})
        assert list(result["inputRequests"]) == ["own"]
        result = await talk.request("tools/call", {"name": "mixed", **answered(result, 2)})
        assert result["structuredContent"] == [1, {"n": 1}, {"value": 2}]
        assert seen.events == ["began", "began"]


@pytest.mark.parametrize(
    ("method", "params"), [("resources/read", {"uri": "ask://me"}), ("prompts/get", {"name": "asking"})]
)
async def test_resources_and_prompts_wait_too(method: str, params: dict[str, Any]):
    server, seen = Server("x", ttl_ms=1000), Seen()

    @server.resource("ask://me")
    @server.prompt("asking")
    def asking(ctx: Context) -> str:
        seen.add("began")
        return f"{ctx.elicit('May I?').action}"

    async with Talk(server, NEW) as talk:
        first = await talk.request(method, params)
        done = await talk.request(method, {**params, **answered(first, 1)})
        assert "accept" in str(done)
        assert seen.events == ["began"]
        assert done.get("ttlMs", 0) == 0, "what an answer brought is not kept"


# --- once


@both_kinds
async def test_a_retry_that_arrives_twice_at_once_goes_on_once(kind: str):
    server, seen = make()
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": kind})
        retry = {"name": kind, **answered(first, 1)}
        _, one = await talk.start("tools/call", retry)
        _, two = await talk.start("tools/call", retry)
        outcomes = [await one, await two]
        assert sum("result" in outcome for outcome in outcomes) == 1
        (refused,) = [outcome["error"] for outcome in outcomes if "error" in outcome]
        assert refused["code"] == -32602
        assert "used before" in refused["message"]
        with pytest.raises(RpcFailure, match="used before"):
            await talk.request("tools/call", retry)
        assert seen.events == ["began"]


async def test_the_state_of_an_earlier_round_is_used_up():
    server, seen = make()
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "async"})
        second = await talk.request("tools/call", {"name": "async", **answered(first, 1)})
        await talk.request("tools/call", {"name": "async", **answered(second, 2)})
        for old in (first, second):
            with pytest.raises(RpcFailure, match="used before"):
                await talk.request("tools/call", {"name": "async", **answered(old, 5)})
        assert seen.events.count("began") == 1


@both_kinds
async def test_only_who_was_asked_can_go_on_with_a_handler(kind: str):
    server, seen = make()
    way = Kept()
    mine, other = (Session(server, way, era="modern", principal=name) for name in ("me", "somebody"))

    async def call(session: Session, **more: Any) -> dict[str, Any]:
        params = modern.envelope({"name": kind, **more}, revision=NEW, client_info={}, capabilities={"elicitation": {}})
        session.take({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, way)
        await session.work.finish(10)
        return way.sent.pop()

    first = (await call(mine))["result"]
    stolen = await call(other, **answered(first, 1))
    assert stolen["error"]["code"] == -32602
    assert "another call" in stolen["error"]["message"]
    assert messages((await call(mine, **answered(first, 1)))["result"]) == ["Second?"]
    assert seen.events == ["began"]
    await server.release()


# --- ending


@both_kinds
async def test_a_handler_is_ended_when_its_state_expires(kind: str):
    server, seen = make(state_seconds=0.01)
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": kind})
        await seen.until("ended")
        with pytest.raises(RpcFailure, match="expired") as caught:
            await talk.request("tools/call", {"name": kind, **answered(first, 1)})
        assert caught.value.code == -32602


@both_kinds
async def test_cancelling_the_request_that_brought_the_answer_ends_the_handler(kind: str):
    server, seen = Server("x"), Seen()

    @server.tool("async")
    async def awaiting(ctx: AsyncContext) -> str:
        await ctx.elicit("First?")
        seen.add("on")
        try:
            await ctx.sleep(60)
        finally:
            seen.add("ended")
        return "never"

    @server.tool("def")
    def blocking(ctx: Context) -> str:
        ctx.elicit("First?")
        seen.add("on")
        try:
            ctx.sleep(60)
        finally:
            seen.add("ended")
        return "never"

    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": kind})
        id_, future = await talk.start("tools/call", {"name": kind, **answered(first, 1)})
        await seen.until("on")
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await seen.until("ended")
        await talk.settle()
        assert not future.done()


@both_kinds
async def test_cancelling_the_request_that_was_answered_leaves_the_handler_alone(kind: str):
    server, seen = make()
    async with Talk(server, NEW) as talk:
        id_, future = await talk.start("tools/call", {"name": kind})
        first = (await future)["result"]
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await talk.settle()
        await talk.request("tools/call", {"name": kind, **answered(first, 1)})
        assert seen.events == ["began"]


@both_kinds
async def test_waiting_handlers_end_when_the_last_client_is_gone(kind: str):
    server, seen = make()
    async with Talk(server, NEW) as other:
        async with Talk(server, NEW) as talk:
            first = await talk.request("tools/call", {"name": kind})
        second = await other.request("tools/call", {"name": kind, **answered(first, 1)})
        assert messages(second) == ["Second?"], "no request depends on its connection"
        assert seen.events == ["began"]
    await seen.until("ended")


@both_kinds
async def test_waiting_handlers_end_with_the_http_server(kind: str):
    server, seen = make()
    params = modern.envelope({"name": kind}, revision=NEW, client_info={}, capabilities={"elicitation": {}})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": NEW,
        "Mcp-Method": "tools/call",
        "Mcp-Name": kind,
    }
    async with server.serve_http(port=0, token=False) as running, aiohttp.ClientSession() as client:
        async with client.post(running.url, json=body, headers=headers) as response:
            assert "input_required" in await response.text()
        assert seen.events == ["began"]
    await seen.until("ended")


async def test_a_tool_that_was_defined_anew_runs_again_and_its_old_handler_ends():
    server, seen = make()
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "async"})
        server.remove_tool("async")

        @server.tool("async")
        async def renewed(ctx: AsyncContext) -> str:
            return f"new {(await ctx.elicit('First?', int)).data}"

        done = await talk.request("tools/call", {"name": "async", **answered(first, 1)})
        assert done["content"][0]["text"] == "new 1"
        await seen.until("ended")


async def test_a_capability_that_is_gone_with_the_retry_is_not_asked_for():
    server, seen = make()
    async with Talk(server, NEW) as talk:
        first = await talk.request("tools/call", {"name": "async"})
        talk.capabilities = {}
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/call", {"name": "async", **answered(first, 1)})
        assert caught.value.code == -32021
        assert caught.value.data == {"requiredCapabilities": {"elicitation": {}}}
        assert seen.events == ["began"]


async def test_a_task_that_a_handler_left_behind_is_not_left_waiting():
    server, seen, left, go = Server("x"), Seen(), set[asyncio.Task[Any]](), asyncio.Event()

    async def behind(ctx: AsyncContext) -> None:
        try:
            await ctx.elicit("Behind?")
        except Cancelled:
            seen.add("cancelled")
        await go.wait()
        with pytest.raises(Cancelled):
            await ctx.elicit("Too late?")
        seen.add("refused")

    @server.tool
    async def leaves(ctx: AsyncContext) -> str:
        left.add(asyncio.create_task(behind(ctx)))
        await asyncio.sleep(0)
        return "done"

    async with Talk(server, NEW) as talk:
        assert (await talk.call("leaves"))["content"][0]["text"] == "done"
        await seen.until("cancelled")
        go.set()
        await seen.until("refused")


async def test_a_state_that_cannot_be_made_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch):
    def broken(*given: Any, **more: Any) -> str:
        raise RecursionError("too deep")

    server, seen = make()
    monkeypatch.setattr(StateKeeper, "seal", broken)
    async with Talk(server, NEW) as talk:
        with pytest.raises(RpcFailure, match="Internal error") as caught:
            await talk.request("tools/call", {"name": "async"})
        assert caught.value.code == -32603
        await seen.until("ended")


# --- elsewhere, and beyond the cap


@pytest.mark.parametrize("moves", [(1,), (2,), (1, 2)])
@both_kinds
async def test_another_process_goes_on_with_the_answers_so_far(kind: str, moves: tuple[int, ...]):
    """The process dies before the answers of these rounds reach it; another with the same key has them."""
    key = b"k" * 32
    runs: list[Seen] = []
    server, seen = make(state_key=key)
    runs.append(seen)
    talk = await Talk(server, NEW).__aenter__()
    result = await talk.request("tools/call", {"name": kind})
    for number in (1, 2):
        if number in moves:
            await talk.__aexit__()
            server, seen = make(state_key=key)
            runs.append(seen)
            talk = await Talk(server, NEW).__aenter__()
        result = await talk.request("tools/call", {"name": kind, **answered(result, number)})
    assert result["content"][0]["text"] == "1 2"
    assert [seen.events.count("began") for seen in runs] == [1] * (1 + len(moves))
    await talk.__aexit__()


async def test_beyond_the_cap_handlers_run_again():
    server, seen = make(max_parked=1)
    async with Talk(server, NEW) as talk:
        one = await talk.request("tools/call", {"name": "async"})
        two = await talk.request("tools/call", {"name": "async"})
        await talk.request("tools/call", {"name": "async", **answered(two, 1)})
        assert seen.events == ["began"] * 3
        one = await talk.request("tools/call", {"name": "async", **answered(one, 1)})
        assert seen.events == ["began"] * 3
        await talk.request("tools/call", {"name": "async", **answered(one, 2)})
        again = await talk.request("tools/call", {"name": "async"})
        await talk.request("tools/call", {"name": "async", **answered(again, 1)})
        assert seen.events.count("began") == 4, "there is room again"


async def test_fewer_threads_wait_than_tasks():
    server, seen = make(max_parked=4)
    async with Talk(server, NEW) as talk:
        waiting = [await talk.request("tools/call", {"name": kind}) for kind in ("def", "def", "async", "async")]
        for kind, one in zip(("def", "def", "async", "async"), waiting, strict=True):
            await talk.request("tools/call", {"name": kind, **answered(one, 1)})
        assert seen.events.count("began") == 5, "one thread had to run again"
