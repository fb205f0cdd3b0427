"""Tools that become tasks: what the suite's tasks-* scenarios call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypedDict

from jupyter_mcp.errors import RequestError
from jupyter_mcp.server import AsyncContext, Elicit, TaskWork, ToolError

if TYPE_CHECKING:
    from tests.conformance.declaring import Declaring

INTERNAL_ERROR = -32603


class Confirm(TypedDict):
    """A yes or no."""

    confirm: bool


class Name(TypedDict):
    """Who somebody is."""

    name: str


async def greet(name: str) -> str:
    """Greet somebody, at once."""
    return f"Hello, {name}!"


async def slow_compute(ctx: AsyncContext, seconds: float = 1, label: str = "") -> str:
    """Take some seconds."""
    await asyncio.sleep(seconds)
    return f"{label}: done after {seconds:g} seconds"


async def failing_job() -> str:
    """Fail as a tool does."""
    await asyncio.sleep(1)
    raise ToolError("This job always fails.")


async def protocol_error_job() -> str:
    """Fail as a server does."""
    await asyncio.sleep(0.2)
    raise RequestError("This job breaks down.", code=INTERNAL_ERROR)


async def confirm_delete(filename: str, ctx: AsyncContext) -> str:
    """Ask before something is deleted; nothing is."""
    answer = await ctx.elicit(f"Delete {filename}?", Confirm)
    if answer.accepted and answer.data["confirm"]:
        return f"Deleted {filename}."
    return f"Kept {filename}."


async def multi_input(ctx: AsyncContext) -> str:
    """Ask two questions at once."""
    answers = await ctx.ask({"first": Elicit("The first name?", Name), "second": Elicit("The second name?", Name)})
    return " and ".join(str(answer.data["name"]) for answer in answers.values() if answer.accepted)


async def asks_first(ctx: AsyncContext) -> TaskWork:
    """Ask in the call itself, then work as a task."""
    answer = await ctx.elicit("What is your name?", Name, key="user_name")

    async def work() -> str:
        await asyncio.sleep(0.2)
        return f"Hello, {answer.data['name'] if answer.accepted else 'nobody'}!"

    return TaskWork(work)


def add_to(declare: Declaring) -> None:
    """Register them."""
    declare.tool(greet)
    for one in (slow_compute, confirm_delete, multi_input):
        declare.tool(one, task=True)
    for one in (failing_job, protocol_error_job):
        declare.tool(one, task="required")
    declare.tool("test_tool_with_task", task="required")(asks_first)
