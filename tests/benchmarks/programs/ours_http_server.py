"""The same server on this project, over HTTP. `python ours_http_server.py [sse]` prints its URL.

"sse": every answer goes by an event stream at once.
"""

from __future__ import annotations

import asyncio
import sys

from ours_server import server


@server.tool(structured=False)
async def grow() -> str:
    """Everybody who listens is told that the tools have changed."""
    server.tools_changed()
    return "grown"


async def main() -> None:
    options = {"json": False} if "sse" in sys.argv[1:] else {}
    async with server.serve_http(port=0, token=False, **options) as running:
        print(running.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
