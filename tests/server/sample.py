"""A server with one of everything, for the tests."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_mcp.errors import ToolError
from jupyter_mcp.server import (
    AsyncContext,
    Audio,
    Context,
    Elicit,
    InputRequired,
    Link,
    NotFound,
    Roots,
    Sample,
    Server,
    assistant,
    user,
)

PNG = b"\x89PNG\r\n\x1a\n...."
SEAT = {"type": "object", "properties": {"seat": {"type": "string", "enum": ["a", "b"]}}, "required": ["seat"]}
ICON = {"src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png"}


@dataclass
class Report:
    """What `report` returns."""

    city: str
    degrees: float


class Gates:
    """What the slow handlers wait for, and what they did."""

    def __init__(self) -> None:
        self.thread = threading.Event()
        self.entered = threading.Event()
        self.seen: list[str] = []
        self.left = threading.Event()


def make_server(**options: Any) -> tuple[Server, Gates]:
    """A fresh server, and its gates."""
    server = Server("sample", version="2", title="Sample", instructions="Use it.", icons=[ICON], **options)
    gates = Gates()

    @server.tool(title="Add", annotations={"readOnlyHint": True}, icons=[ICON], meta={"k": 1})
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    @server.tool
    async def report(city: str) -> Report:
        return Report(city, 1.5)

    @server.tool
    async def media() -> list[Any]:
        return ["see", PNG, Audio(b"RIFF....WAVE"), Link("notes://today", "today")]

    @server.tool
    async def fail(kind: Literal["tool", "value", "key", "exit", "cancelled", "odd"]) -> dict[str, Any]:
        errors: dict[str, BaseException] = {
            "tool": ToolError("No such row."),
            "value": ValueError("bad value"),
            "key": KeyError("k"),
            "exit": SystemExit(3),
            "cancelled": asyncio.CancelledError(),
        }
        if kind == "odd":
            loop: list[Any] = []
            loop.append(loop)
            return {"loop": loop}
        raise errors[kind]

    @server.tool
    def block(ctx: Context) -> str:
        """Stand on a thread until the gate opens, then look at the context."""
        gates.entered.set()
        gates.thread.wait(10)
        try:
            ctx.progress(1)
        except BaseException as error:
            gates.seen.append(type(error).__name__)
            gates.left.set()
            raise
        gates.seen.append("finished")
        return "done"

    @server.tool
    async def wait(ctx: AsyncContext) -> str:
        gates.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            gates.seen.append("cancelled")
            raise
        return "never"

    @server.tool
    async def tell(ctx: AsyncContext, level: str = "info") -> str:
        for done in (1, 1, 0.5, 2, float("nan"), 3):
            await ctx.progress(done, 3, f"step {done}")
        await ctx.log(level, {"x": float("nan")}, logger="l")
        await ctx.log("debug", "quiet")
        return "told"

    @server.tool
    def tell_blocking(ctx: Context) -> str:
        for done in range(1, 201):
            ctx.progress(done, 200)
        return "told"

    @server.tool
    async def book(city: str, ctx: AsyncContext) -> dict[str, Any]:
        gates.seen.append("run")
        seat = await ctx.elicit("Which seat?", SEAT)
        if not seat.accepted:
            return {"booked": False, "why": seat.action}
        sure = await ctx.elicit(f"Seat {seat.data['seat']} in {city}, sure?", bool)
        return {"booked": sure.data, "seat": seat.data["seat"]}

    @server.tool
    def book_blocking(ctx: Context) -> str:
        number = ctx.elicit("How many?", int)
        return f"{number.action} {number.data}"

    @server.tool
    async def several(ctx: AsyncContext) -> dict[str, Any]:
        answers = await ctx.ask({"seat": Elicit("Seat?", SEAT), "word": Sample("A word?"), "where": Roots()})
        return {
            "seat": answers["seat"].data["seat"],
            "word": answers["word"].text,
            "where": [root.uri for root in answers["where"]],
        }

    @server.tool
    async def at_once(ctx: AsyncContext) -> list[Any]:
        """Two questions from a task group."""
        async with asyncio.TaskGroup() as group:
            one = group.create_task(ctx.elicit("One?", int, key="one"))
            two = group.create_task(ctx.elicit("Two?", int, key="two"))
        return [one.result().data, two.result().data]

    @server.tool
    async def by_hand(ctx: AsyncContext) -> Any:
        """Ask without ctx.elicit, with a state of its own."""
        step = ctx.state or 0
        if step < 2:
            return InputRequired({f"s{step}": Elicit(f"Step {step}?", int)}, state=step + 1)
        return {"last": ctx.responses["s1"]["content"]}

    @server.tool
    async def moody(ctx: AsyncContext) -> str:
        """Words its question anew each time."""
        gates.seen.append("run")
        answer = await ctx.elicit(f"Question number {len(gates.seen)}?", int)
        return f"{answer.data}"

    @server.tool
    async def page(ctx: AsyncContext) -> str:
        return (await ctx.elicit_url("Log in.", "https://example.org/login")).action

    @server.tool
    async def careful(ctx: AsyncContext) -> str:
        return "can" if ctx.can("elicitation", "form") and ctx.can("sampling") else "cannot"

    @server.tool
    async def login(ctx: AsyncContext) -> str:
        await ctx.elicit("Log in", {"properties": {"password": {"type": "string"}}})
        return "never"

    @server.resource("notes://today", title="Today", mime_type="text/markdown", size=5, annotations={"priority": 1})
    async def today() -> str:
        return "milk\n"

    @server.resource("notes://{day}{?lines}")
    def note(day: str, lines: int = 1) -> str:
        if day == "never":
            raise NotFound("no such day")
        if day == "broken":
            raise RuntimeError("the disk is full")
        return f"{day} {lines}"

    @server.resource("data://table")
    async def table() -> dict[str, Any]:
        return {"x": [1, float("nan")]}

    @server.resource("data://secret")
    async def secret(ctx: AsyncContext) -> str:
        return f"{(await ctx.elicit('May I?')).action}"

    @server.prompt(title="Review")
    async def review(language: Literal["python", "perl"], lines: int = 3) -> list[Any]:
        """Review code.

        Args:
            language: Which one.
        """
        return [user(f"{language} {lines}"), assistant("yes")]

    @server.prompt
    async def ask(ctx: AsyncContext) -> str:
        return f"{(await ctx.elicit('Context?', str)).data}"

    @server.completion(note, "day")
    async def days(prefix: str, chosen: dict[str, str]) -> list[str]:
        return [f"{prefix}{n}{chosen.get('lines', '')}" for n in range(150)]

    return server, gates
