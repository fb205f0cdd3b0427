"""The helper for people who test a server of their own."""

from __future__ import annotations

import sys

import pytest

from jupyter_mcp.errors import ToolError, UsageError
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.testing import connected

pytestmark = pytest.mark.anyio
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def greeter() -> Server:
    server = Server("greeter")

    @server.tool
    async def greet(times: int = 1, ctx: AsyncContext | None = None) -> str:
        assert ctx is not None
        names: list[str] = []
        for number in range(times):
            answer = await ctx.elicit(f"Who is number {number}?", NAME)
            names.append(answer.data["name"] if answer.action == "accept" else answer.action)
        return "Hello " + " and ".join(names)

    @server.resource("notes://{day}")
    async def note(day: str) -> str:
        return f"the note of {day}"

    @server.prompt
    async def review(language: str) -> str:
        return f"Review this {language}."

    return server


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_is_called_read_and_prompted_in_memory(era: str) -> None:
    async with connected(greeter(), answers={"name": "Ada"}, era=era) as client:  # pyright: ignore[reportArgumentType]
        assert client.entry.era == era
        assert (await client.call("greet", times=2)).text == "Hello Ada and Ada"
        assert (await client.read("notes://{day}", day="monday")).text == "the note of monday"
        assert "Review this python." in (await client.prompt("review", language="python")).text


async def test_a_list_of_answers_is_given_in_order_and_then_nobody_is_there() -> None:
    async with connected(greeter(), answers=[{"name": "Ada"}, "decline"]) as client:
        assert (await client.call("greet", times=3)).text == "Hello Ada and decline and cancel"


async def test_mistakes_of_the_test_and_failures_of_the_tool_are_raised() -> None:
    async with connected([sys.executable, "-m", "jupyter_mcp.demo"]) as client:
        with pytest.raises(UsageError, match="no tool 'greet'"):
            await client.call("greet")
        with pytest.raises(ToolError, match="cold"):
            await client.call("fail", message="The oven is cold.")
        assert (await client.call("fail", check=False)).is_error
