"""A server over HTTP for a shell under test: it listens on a thread of its own until the end of the block."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

    from jupyter_mcp.server import Server
    from jupyter_mcp.server.http.running import Running


@contextmanager
def listening(server: Server, **options: Any) -> Generator[Running]:
    """Serve on a free loopback port; the options are `serve_http`'s."""
    ready: list[Running] = []
    up, over = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server.serve_http(grace=0.5, **options) as running:
            ready.append(running)
            up.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="server under test", daemon=True)
    thread.start()
    try:
        assert up.wait(10)
        yield ready[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        assert not thread.is_alive()
        loop.close()
