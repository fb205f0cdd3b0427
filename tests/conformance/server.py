"""The server that the conformance suites test: everything they look for, on one URL, for both eras.

    python -m tests.conformance.server [--streams]

It prints its URL and serves until its standard input ends. It has no token and is bound to loopback: the suites send
none, and they test that a foreign Host or Origin is refused. With `--streams` each answer is a stream of events, else
only those that take their time.
"""

from __future__ import annotations

import asyncio
import sys

from jupyter_mcp.server import Server
from tests.conformance import contents, questions, rounds, stateless, tasks


def make() -> Server:
    """The server with all its parts."""
    server = Server("conformance", instructions="A server for conformance tests.", ttl_ms=1000)
    for part in (contents, questions, rounds, stateless, tasks):
        part.add_to(server)
    contents.complete_on(server)
    return server


async def serve(streams: bool) -> None:
    """Until standard input ends."""
    async with make().serve_http(port=0, token=False, json=not streams) as running:
        print(running.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve("--streams" in sys.argv))
