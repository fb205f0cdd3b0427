"""The floor over HTTP: tornado, a JSON body read, a JSON body written, both eras' bare minimum and nothing else.

`python raw_http_server.py [legacy | sse]`: "legacy" knows no server/discover; "sse" answers calls by an event stream.
It prints its URL.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from raw_server import called, listed
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

HOW = sys.argv[1:]
TOOLS = listed(0)
MODERN = "2026-07-28"
HINTS = {"ttlMs": 0, "cacheScope": "private"}


class Endpoint(RequestHandler):
    def post(self) -> None:
        message = json.loads(self.request.body)
        if "id" not in message:
            self.set_status(202)
            return
        outcome = self.outcome(message["method"], message.get("params", {}))
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome})
        if "sse" in HOW and message["method"] == "tools/call":
            self.set_header("Content-Type", "text/event-stream")
            body = f"event: message\ndata: {body}\n\n"
        else:
            self.set_header("Content-Type", "application/json")
        self.finish(body)

    def get(self) -> None:
        self.set_status(405)

    delete = get

    def outcome(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/call":
            text = called(params["name"], params.get("arguments", {}))
            return {"result": {"resultType": "complete", "content": [{"type": "text", "text": text}]}}
        if method == "tools/list":
            return {"result": {"resultType": "complete", "tools": TOOLS, **HINTS}}
        if method == "server/discover" and "legacy" not in HOW:
            about = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, **HINTS}
            return {"result": {"resultType": "complete", **about}}
        if method == "initialize":
            info = {"name": "raw", "version": "0"}
            answer = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
            return {"result": answer}
        return {"error": {"code": -32601, "message": "Method not found"}}


async def main() -> None:
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(Application([("/mcp", Endpoint)], log_function=lambda handler: None)).add_sockets(sockets)
    print(f"http://127.0.0.1:{sockets[0].getsockname()[1]}/mcp", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
