"""Tasks on the host: kept by a short key, found again after whatever happened, left or cancelled."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Cancelled, MCPError, RequestError, ToolError, UsageError
from jupyter_mcp.host import tasks as book
from jupyter_mcp.host.events import TaskChanged
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.testing import connected
from tests.conformance import tasks as conformance

if TYPE_CHECKING:
    from jupyter_mcp.host.tasks import HostTask
    from jupyter_mcp.testing.connected import Connected

pytestmark = pytest.mark.anyio


class Bench:
    """A server whose job waits until the test lets it go on, and who watches the call."""

    def __init__(self) -> None:
        self.server = Server("bench")
        self.go = asyncio.Event()
        self.stopped = asyncio.Event()
        self.server.add_tool(self.job, task=True)
        self.began: asyncio.Future[HostTask] = asyncio.get_running_loop().create_future()
        self.seen: list[tuple[str, str]] = []
        conformance.add_to(self.server)

    async def job(self, ctx: AsyncContext, word: str = "done") -> str:
        await ctx.progress(1, 2, "halfway")
        try:
            await self.go.wait()
        finally:
            self.stopped.set()
        return word

    def on_event(self, event: Any) -> None:
        if isinstance(event, TaskChanged):
            self.seen.append((event.task.status, event.task.message))
            if not self.began.done():
                self.began.set_result(event.task)

    async def begin(self, here: Connected, tool: str = "job") -> tuple[asyncio.Task[Any], HostTask]:
        call = asyncio.ensure_future(here.call(tool, on_event=self.on_event))
        return call, await asyncio.wait_for(asyncio.shield(self.began), 10)


async def leave(call: asyncio.Task[Any]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_call_that_becomes_a_task_is_in_the_book_and_returns_its_result() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        assert task.key == "t1" and task.name == "server.job" and task.waiting == 1
        bench.go.set()
        assert (await call).text == "done"
        assert task.ended and task.status == "completed" and task.waiting == 0
        assert here.host.tasks.of() == [task]
        assert task.id not in repr(task), "a task's id opens it to whoever has it"
    assert bench.seen[-1][0] == "completed"


async def test_a_call_that_is_given_up_leaves_its_task_and_says_so_in_the_journal() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await leave(call)
        assert not bench.stopped.is_set() and not task.ended and task.waiting == 0
        (act,) = [one for one in here.host.journal.acts() if one.method == "tools/call"]
        assert act.outcome == "cancelled" and "%mcp cancel t1" in str(act.remark)
        bench.go.set()
        assert (await here.host.task_result(task)).text == "done"


async def test_the_result_of_a_task_that_is_known_to_have_ended_is_still_there() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await leave(call)
        bench.go.set()
        await bench.stopped.wait()
        while (await here.host.tasks.list())[0].status != "completed":
            pass
        for _ in range(2):
            assert (await here.host.task_result(task)).text == "done"


@pytest.mark.parametrize("text", ["t1", "id", "beginning"])
async def test_a_task_is_found_by_its_key_its_id_or_its_beginning(text: str) -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await leave(call)
        given = {"id": task.id, "beginning": task.id[:8]}.get(text, text)
        assert await here.host.tasks.look_up(given, "server") is task
        bench.go.set()


async def test_after_disconnecting_the_task_is_found_again_as_long_as_the_server_keeps_it() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await leave(call)
        spec = here.entry.spec
        await here.host.disconnect("server")
        assert await here.host.tasks.list() == [task], "known, though nobody can be asked"
        bench.go.set()
        await here.host.connect(spec)
        assert (await here.host.task_result(task)).text == "done"


async def test_another_host_finds_a_task_by_its_id() -> None:
    bench = Bench()
    async with connected(bench.server) as here, connected(bench.server) as there:
        call, task = await bench.begin(here)
        await leave(call)
        found = await there.host.tasks.look_up(task.id, "server")
        assert found.key == "t1" and found.tool == "" and found.status == "working"
        bench.go.set()
        assert (await there.host.task_result(found)).text == "done"


async def test_cancelling_ends_the_handler_and_whoever_waits() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await here.host.tasks.cancel(task)
        assert task.status == "cancelled"
        await asyncio.wait_for(bench.stopped.wait(), 10)
        with pytest.raises(Cancelled):
            await call


async def test_a_task_that_the_server_does_not_know_any_more_is_lost() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await leave(call)
        bench.server.dispatcher._offer.tasks._tasks.clear()  # pyright: ignore[reportPrivateUsage]
        (listed,) = await here.host.tasks.list()
        assert listed is task and task.status == "lost" and task.ended and task.left() is None
        with pytest.raises(RequestError, match="does not keep the task"):
            await here.host.task_result(task)
        assert await here.host.tasks.cancel(task) is task
        bench.go.set()


async def test_no_such_task_is_said_with_those_there_are() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, _ = await bench.begin(here)
        await leave(call)
        for server in (None, "server"):
            with pytest.raises(UsageError, match="t1"):
                await here.host.tasks.look_up("t9", server)
        bench.go.set()


async def test_a_question_of_a_task_is_answered_like_any_other() -> None:
    bench = Bench()
    async with connected(bench.server, answers=[{"name": "Ada"}, {"name": "Bob"}]) as here:
        assert (await here.call("multi_input")).text in ("Ada and Bob", "Bob and Ada")
        assert (await here.call("confirm_delete", filename="f", check=False)).text == "Kept f."


async def test_errors_come_as_from_any_call() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        with pytest.raises(ToolError, match="always fails"):
            await here.call("failing_job")
        with pytest.raises(RequestError, match="breaks down"):
            await here.call("protocol_error_job")


async def test_a_lost_connection_is_opened_again_for_whoever_waits() -> None:
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        connection = here.entry.connection
        assert connection is not None and connection.link is not None
        await connection.link.transport.close()
        bench.go.set()
        assert (await asyncio.wait_for(call, 20)).text == "done"
        assert task.status == "completed"


async def test_the_book_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "_MOST_TASKS", 3)
    bench = Bench()
    async with connected(bench.server) as here:
        call, task = await bench.begin(here)
        await leave(call)
        for _ in range(5):
            await here.call("slow_compute", seconds=0)
        assert len(here.host.tasks.of()) == 3 and task in here.host.tasks.of(), "what has ended goes first"
        bench.go.set()


async def test_a_server_without_tasks_costs_the_list_nothing() -> None:
    host = Host()
    try:
        await host.connect(ServerSpec.parse("plain", Server("plain", offers=["tools"])))
        assert await host.tasks.list() == []
        with pytest.raises(MCPError):
            await host.tasks.look_up("whatever-it-is", "plain")
    finally:
        await host.aclose()


async def test_over_http_a_task_outlives_the_client_that_began_it() -> None:
    bench = Bench()
    async with bench.server.serve_http(port=0) as running:
        spec = ServerSpec.parse("server", running.url, bearer=running.token)
        first, second = Host(), Host()
        try:
            await first.connect(spec)
            call = asyncio.ensure_future(first.call_tool("server", "job", on_event=bench.on_event))
            task = await asyncio.wait_for(asyncio.shield(bench.began), 10)
            await leave(call)
            await first.aclose()
            await second.connect(spec)
            found = await second.tasks.look_up(task.id, "server")
            bench.go.set()
            assert (await second.task_result(found)).text == "done"
        finally:
            await first.aclose()
            await second.aclose()
