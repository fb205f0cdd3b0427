"""A sample server over HTTP, and a raw client of it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.server.http.raw import Raw
from tests.server.sample import Gates, make_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.server import Server


@asynccontextmanager
async def serving(server: Server | None = None, **options: Any) -> AsyncGenerator[tuple[Raw, Server, Gates]]:
    """The sample server (or another), a client of it, and the sample's gates."""
    sample, gates = make_server()
    async with (server or sample).serve_http(**{"grace": 0.5, **options}) as running, Raw(running) as raw:
        yield raw, server or sample, gates
