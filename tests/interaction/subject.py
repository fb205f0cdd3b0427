"""The server that the matrix talks to: one tool for each thing that happens between a client and a server.

`python -m tests.interaction.subject REVISION REPLAY` serves it over stdio, at that revision only; tests in memory use
`make`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any, Literal

from jupyter_mcp.errors import InputRefused
from jupyter_mcp.server import (
    AsyncContext,
    Context,
    Elicit,
    Image,
    InputRequired,
    NotFound,
    Roots,
    Sample,
    Server,
    ToolError,
    UrlRequired,
)

MANY = 120  # more than one page of tools
PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(16)
SEAT = {
    "type": "object",
    "properties": {
        "row": {"type": "integer", "minimum": 1, "maximum": 30},
        "side": {"type": "string", "enum": ["window", "aisle"], "default": "aisle"},
    },
    "required": ["row"],
}


def make(revision: str, replay: Literal["auto", "always"] = "auto") -> Server:
    """A fresh server that speaks one revision; its handlers wait for answers, or always run again with them."""
    server = Server("subject", version="1", instructions="For tests.", versions=[revision], replay=replay)
    _plain(server)
    _asking(server)
    _offering(server)
    return server


def _plain(server: Server) -> None:
    @server.tool
    async def add(a: int, b: int = 1) -> int:
        """Add.

        Args:
            a: The first.
            b: The second.
        """
        return a + b

    @server.tool(structured=False)
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool
    async def fail(why: str) -> str:
        """Fail."""
        raise ToolError(why)

    @server.tool
    async def break_down() -> str:
        """Raise what nobody expects."""
        raise ZeroDivisionError("division by zero")

    @server.tool
    async def picture() -> Image:
        """Show a picture."""
        return Image(PIXEL)

    @server.tool
    async def work(ctx: AsyncContext, steps: int = 3) -> str:
        """Report progress and log."""
        for step in range(1, steps + 1):
            await ctx.progress(step, steps, f"step {step}")
        await ctx.log("warning", {"steps": steps}, logger="worker")
        return "done"

    @server.tool
    def work_in_a_thread(ctx: Context, steps: int = 3) -> str:
        """Report progress from a plain function."""
        for step in range(1, steps + 1):
            ctx.progress(step, steps)
        return "done"

    cancelled: list[str] = []

    @server.tool
    async def hang(ctx: AsyncContext, name: str) -> str:
        """Never end by itself."""
        await ctx.progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(name)
        return "never"

    @server.tool
    async def ended() -> list[str]:
        """The names of the `hang` calls that were cancelled."""
        return cancelled

    gate = asyncio.Event()
    arrived: list[int] = []

    @server.tool
    async def meet(number: int, of: int) -> int:
        """Return when as many calls as `of` are there at once."""
        arrived.append(number)
        if len(arrived) == of:
            gate.set()
        await gate.wait()
        return number

    @server.tool
    async def die() -> str:
        """End the process in the middle of the call."""
        sys.stderr.write("last words\n")
        sys.stderr.flush()
        os._exit(3)


def _asking(server: Server) -> None:
    @server.tool
    async def seat(ctx: AsyncContext) -> str:
        """Ask with a form."""
        answer = await ctx.elicit("Which seat?", SEAT)
        return f"{answer.action}: {answer.data}" if answer.accepted else answer.action

    @server.tool
    def seat_in_a_thread(ctx: Context) -> str:
        """Ask with a form, from a plain function."""
        return ctx.elicit("Which seat?", SEAT).action

    runs: list[str] = []

    @server.tool
    async def begun() -> int:
        """How often two_seats has begun since this was asked last."""
        count = len(runs)
        runs.clear()
        return count

    @server.tool
    def two_seats_in_a_thread(ctx: Context) -> str:
        """Ask one question after the other, from a plain function."""
        runs.append("thread")
        first = ctx.elicit("First seat?", SEAT)
        second = ctx.elicit("Second seat?", SEAT)
        return f"{first.data['row']} and {second.data['row']}"

    @server.tool
    async def seats_at_once(ctx: AsyncContext) -> str:
        """Ask from two tasks at once."""
        async with asyncio.TaskGroup() as group:
            first = group.create_task(ctx.elicit("First seat?", SEAT, key="first"))
            second = group.create_task(ctx.elicit("Second seat?", SEAT, key="second"))
        return f"{first.result().data['row']} and {second.result().data['row']}"

    @server.tool
    async def seats_by_hand(ctx: AsyncContext) -> Any:
        """Ask by its own hand, twice."""
        if not ctx.state:
            return InputRequired({"first": Elicit("First seat?", SEAT)}, state={"asked": 1})
        if ctx.state["asked"] == 1:
            row = ctx.responses["first"]["content"]["row"]
            return InputRequired({"second": Elicit("Second seat?", SEAT)}, state={"asked": 2, "row": row})
        return f"{ctx.state['row']} and {ctx.responses['second']['content']['row']}"

    @server.tool
    async def page(ctx: AsyncContext) -> str:
        """Send the person to a page."""
        return (await ctx.elicit_url("Please sign in.", "https://example.org/sign-in")).action

    @server.tool
    def page_first() -> str:
        """Work only for those who have been at a page."""
        if not runs:
            runs.append("page")
            raise UrlRequired(Elicit("Sign in first.", url="https://example.org/first"))
        runs.clear()
        return "welcome"

    @server.resource("notes://secret")
    async def secret(ctx: AsyncContext) -> str:
        """A note that asks first."""
        return (await ctx.elicit("Which seat?", SEAT)).action

    @server.prompt
    def ask_first(ctx: Context) -> str:
        """A prompt that asks first."""
        return ctx.elicit("Which seat?", SEAT).action

    @server.tool
    async def two_seats(ctx: AsyncContext) -> str:
        """Ask one question after the other."""
        runs.append("task")
        first = await ctx.elicit("First seat?", SEAT)
        second = await ctx.elicit("Second seat?", SEAT)
        return f"{first.data['row']} and {second.data['row']}"

    @server.tool
    async def everything(ctx: AsyncContext) -> str:
        """Ask three things in one round."""
        answers: dict[str, Any] = await ctx.ask(
            {"seat": Elicit("Which seat?", SEAT), "words": Sample("Say hello.", 10), "where": Roots()}
        )
        return f"{answers['seat'].data['row']}, {answers['words'].text}, {len(answers['where'])} root"

    @server.tool
    async def think(ctx: AsyncContext) -> str:
        """Ask the model."""
        try:
            return (await ctx.sample("Say hello.", 10)).text
        except InputRefused:
            return "refused"

    @server.tool
    async def folders(ctx: AsyncContext) -> list[str]:
        """Ask for the roots."""
        return [root.uri for root in await ctx.roots()]


def _offering(server: Server) -> None:
    notes = {"today": "water the plants"}

    @server.resource("notes://today", mime_type="text/plain")
    async def today() -> str:
        """Today's note."""
        return notes["today"]

    @server.resource("notes://{day}")
    async def note(day: str) -> str:
        """A day's note."""
        if day not in notes:
            raise NotFound(f"no note for {day}")
        return notes[day]

    @server.resource("demo://pixel")
    async def pixel() -> bytes:
        """Bytes."""
        return PIXEL

    @server.tool
    async def write(text: str) -> str:
        """Change today's note."""
        notes["today"] = text
        server.resource_updated("notes://today")
        return "written"

    @server.prompt
    async def greet(name: str, tone: str = "warm") -> str:
        """Greet."""
        return f"Greet {name} in a {tone} tone."

    @server.completion(greet, "name")
    async def names(prefix: str) -> list[str]:
        """Names."""
        return [name for name in ("Ada", "Alan", "Grace") if name.startswith(prefix)]

    @server.tool
    async def grow(name: str) -> str:
        """Add a tool."""

        async def grown() -> str:
            return name

        server.add_tool(grown, name=name)
        return "grown"

    for number in range(MANY):

        async def numbered(of: int = number) -> int:
            """One of many."""
            return of

        server.add_tool(numbered, name=f"many_{number:03}")


if __name__ == "__main__":
    make(sys.argv[1], "always" if "always" in sys.argv[2:] else "auto").run_stdio()
