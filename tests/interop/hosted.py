"""A host connected to one of other people's servers, for the length of a test."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.host.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from pathlib import Path

    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.events import CallEvent
    from jupyter_mcp.host.questions import Question

PATIENCE = 30.0  # seconds for something that is to happen


@dataclass
class Hosted:
    """A host, its one server, and the events of the calls made through it.

    Attributes:
        host, entry: the host and the server, whose name is "it".
        events: what happened during calls that were given `seen`.
    """

    host: Host
    entry: ServerEntry
    events: list[CallEvent] = field(default_factory=list["CallEvent"])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def seen(self, event: CallEvent) -> None:
        """An `on_event` that keeps what it is told."""
        self.events.append(event)
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, looked at whenever the host or a call tells of a change. Raises `TimeoutError`."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await self.changed.wait()
                self.changed.clear()

    def tools(self) -> list[str]:
        return [offer.name for offer in self.host.catalogue.tools("it")]

    async def has_tool(self, name: str) -> None:
        """Wait until a tool is there: some servers add tools in the seconds after the start."""
        await self.listed("tools")
        await self.until(lambda: name in self.tools())

    async def listed(self, kind: str) -> list[str]:
        """Names or URIs of everything the server offers of a kind, asked for now."""
        assert self.entry.connection is not None
        listing = await self.entry.connection.list(kind)  # pyright: ignore[reportArgumentType]
        assert not listing.problems
        key = {"resources": "uri", "templates": "uriTemplate"}.get(kind, "name")
        return [item[key] for item in listing.items]


class Absent:
    """A person who could be asked, so that sampling is offered, and answers nothing."""

    async def ask(self, question: Question) -> Answer:
        return Answer("cancel", by="headless")


@asynccontextmanager
async def hosted(
    target: str | Sequence[str], *, era: str = "auto", roots: Sequence[str | Path] | None = None
) -> AsyncGenerator[Hosted]:
    """Connect to a server by its command, which starts it, or its URL; close it in the end."""
    host = Host(Absent(), roots=roots)
    entry = await host.connect(ServerSpec.parse("it", target, era=era))
    found = Hosted(host, entry)
    host.listeners.append(lambda name: found.changed.set())
    try:
        yield found
    finally:
        await host.aclose()
