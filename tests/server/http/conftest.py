"""A sample server over HTTP, and a raw client of it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.server.http.raw import Raw
from tests.server.sample import Gates, make_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from jupyter_mcp.server import Server


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what nobody tells: the server's side of a connection that was cut."""
    async with asyncio.timeout(20):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(server: Server | None = None, **options: Any) -> AsyncGenerator[tuple[Raw, Server, Gates]]:
    """The sample server (or another), a client of it, and the sample's gates."""
    sample, gates = make_server()
    given: dict[str, Any] = {"grace": 0.5, **options}
    async with (server or sample).serve_http(**given) as running, Raw(running) as raw:
        yield raw, server or sample, gates
