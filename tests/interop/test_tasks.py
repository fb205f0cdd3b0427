"""Tasks of other people's servers: the experiment of 2025-11-25, in TypeScript and in the official Python SDK 1.x."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Cancelled, RequestError
from jupyter_mcp.host.events import TaskChanged
from tests.interop import programs
from tests.interop.hosted import Hosted, hosted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.tasks import HostTask

pytestmark = [pytest.mark.interop, pytest.mark.anyio]

RESEARCH = "simulate-research-query"


@asynccontextmanager
async def everything() -> AsyncGenerator[Hosted]:
    async with hosted([programs.npm_server("mcp-server-everything"), "stdio"]) as it:
        await it.has_tool(RESEARCH)
        yield it


def begin(it: Hosted, **arguments: Any) -> asyncio.Task[Any]:
    return asyncio.ensure_future(it.host.call_tool("it", RESEARCH, arguments, on_event=it.seen))


def states(it: Hosted) -> list[HostTask]:
    return [event.task for event in it.events if isinstance(event, TaskChanged)]


async def test_a_tool_that_must_be_a_task_is_called_like_any_other() -> None:
    async with everything() as it:
        result = await begin(it, topic="bees")
        assert "Research Report: bees" in result.text
        (task,) = it.host.tasks.of()
        assert task.status == "completed" and task.name == f"it.{RESEARCH}"


async def test_its_question_comes_to_the_call_and_the_answer_goes_back() -> None:
    async with everything() as it:
        it.host.answers.add({"interpretation": "Monty Python comedy group"})
        result = await begin(it, topic="python", ambiguous=True)
        assert "Research Report" in result.text


async def test_it_is_left_listed_and_cancelled() -> None:
    async with everything() as it:
        call = begin(it, topic="ants")
        await it.until(lambda: bool(states(it)))
        call.cancel()
        await asyncio.wait([call])
        (task,) = await it.host.tasks.list("it")
        assert task.key == "t1" and task.status == "working"
        await it.host.tasks.cancel(task)
        assert task.status == "cancelled"
        with pytest.raises(Cancelled):
            await it.host.task_result(task)


# --- the official Python SDK -----------------------------------------------------------------------------------------

SERVER = Path(__file__).parent / "drivers" / "mcp1_tasks_server.py"


@asynccontextmanager
async def peer() -> AsyncGenerator[Hosted]:
    async with hosted([programs.peer_python("mcp1"), str(SERVER)]) as it:
        await it.has_tool("asks")
        yield it


async def test_a_tool_that_may_be_a_task_is_one_in_the_background_only() -> None:
    async with peer() as it:
        assert (await it.host.call_tool("it", "optional")).text == "in the call"
        assert (await it.host.call_tool("it", "optional", background=True)).text == "as a task"


async def test_a_question_of_the_sdks_task_is_answered() -> None:
    async with peer() as it:
        it.host.answers.add({"word": "bee"})
        assert (await it.host.call_tool("it", "asks")).text == "accept: bee"


async def test_a_task_that_fails_without_a_result_is_a_failure() -> None:
    async with peer() as it:
        with pytest.raises(RequestError, match="it broke"):
            await it.host.call_tool("it", "fails")


async def test_a_task_of_the_sdk_is_cancelled() -> None:
    async with peer() as it:
        call = asyncio.ensure_future(it.host.call_tool("it", "sleeps", on_event=it.seen))
        await it.until(lambda: bool(states(it)))
        await it.host.tasks.cancel(states(it)[0])
        with pytest.raises(Cancelled):
            await call
