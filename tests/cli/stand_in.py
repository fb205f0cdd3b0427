"""A notebook's endpoint without a kernel: a server over HTTP, and what its runtime file would say."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal

from jupyter_mcp.cli.bridge.relay import Bridge
from jupyter_mcp.kernel.identity import Live
from jupyter_mcp.server import AsyncContext, Server
from tests.server.talk import Talk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_started = count(1)


def notebook(slug: str = "sales") -> Server:
    """What a notebook offers, as far as a bridge can tell."""
    server = Server(f"notebook {slug}", offers=("resources",))

    @server.tool
    def list_variables(notebook: str) -> dict[str, Any]:
        return {"notebook": notebook, "here": slug}

    @server.tool
    async def ask(ctx: AsyncContext, pet: str = "") -> str:
        answer = await ctx.elicit(f"Which colour has the {pet}?", Literal["red", "green"])
        return f"{slug}: {answer.action} {answer.data}"

    @server.tool
    async def steps(ctx: AsyncContext) -> str:
        for number in (1, 2, 3):
            await ctx.progress(number, 3, f"step {number}")
        await ctx.log("info", "halfway")
        return "done"

    @server.tool
    def rows() -> list[int]:
        return [1, 2]

    @server.resource(f"notebook://{slug}/variables/{{name}}")
    def variable(name: Annotated[str, "its name"]) -> str:
        return f"{slug}/{name}"

    @server.completion(variable, "name")
    def names(value: str) -> list[str]:
        return [name for name in ("df", "model") if name.startswith(value)]

    return server


@dataclass
class Machine:
    """The notebooks that are served on it."""

    alive: list[Live] = field(default_factory=list[Live])
    looked: int = 0

    def look(self) -> list[Live]:
        self.looked += 1
        return list(self.alive)

    @asynccontextmanager
    async def serving(self, server: Server, slug: str = "sales", folder: str = "/home/x") -> AsyncGenerator[Live]:
        """A notebook is served for the length of this."""
        async with server.serve_http(grace=0.2) as running:
            assert running.token is not None
            one = Live(
                notebook=f"{slug}.ipynb",
                slug=slug,
                folder=folder,
                url=running.url,
                token=running.token,
                pid=1,
                started=float(next(_started)),
            )
            self.alive.append(one)
            try:
                yield one
            finally:
                self.alive.remove(one)

    @asynccontextmanager
    async def two(self) -> AsyncGenerator[None]:
        """Two notebooks in one folder: sales and stock."""
        async with self.serving(notebook()), self.serving(notebook("stock"), "stock"):
            yield

    @asynccontextmanager
    async def agent(
        self, revision: str = "2025-11-25", *, place: str = "/home/x", wanted: str | None = None, **options: Any
    ) -> AsyncGenerator[Talk]:
        """An agent in a folder, connected to a bridge of its own."""
        bridge = Bridge(place, wanted, look=self.look)
        try:
            async with Talk(bridge, revision, **options) as talk:
                yield talk
        finally:
            await bridge.notebooks.close()
