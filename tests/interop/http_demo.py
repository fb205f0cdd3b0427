"""The demo server over HTTP and HTTP+SSE with two tools more: `python http_demo.py` prints {"http", "sse", "headers"}.

`away` closes the stream on which its answer is awaited: the client has to come back for it. `comebacks` says how many
requests have asked for what they had missed.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import TYPE_CHECKING

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

from jupyter_mcp.demo.server import server
from jupyter_mcp.server import AsyncContext  # noqa: TC001 - the tool is inspected
from jupyter_mcp.server.http.endpoint import Endpoint

if TYPE_CHECKING:
    from tornado.web import RequestHandler

seen: list[str] = []


@server.tool
async def away(ctx: AsyncContext) -> str:
    """Answer after the stream was closed."""
    await ctx.progress(1, 2)
    await ctx.close_stream(retry_ms=50)
    await asyncio.sleep(0.3)
    return "back"


@server.tool
async def comebacks() -> int:
    """How often somebody came back."""
    return len(seen)


def log(handler: RequestHandler) -> None:
    if "Last-Event-ID" in handler.request.headers:
        seen.append(handler.request.headers["Last-Event-ID"])


async def main() -> None:
    token = secrets.token_urlsafe()
    endpoint = Endpoint(server, token=token, sse=True)
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(Application(endpoint.rules(), log_function=log)).add_sockets(sockets)
    base = f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    headers = {"Authorization": f"Bearer {token}"}
    print(json.dumps({"http": f"{base}/mcp", "sse": f"{base}/sse", "headers": headers}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
