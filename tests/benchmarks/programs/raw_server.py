"""The floor: a server written by hand, which knows the four methods it needs and nothing else. One JSON message a line.

`python raw_server.py [TOOLS]` lists that many tools more than its own three.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from typing import Any

KIB = 1 if sys.platform == "darwin" else 1024
ITEM = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "what to say"},
        "count": {"type": "integer", "default": 1, "minimum": 1},
        "loud": {"type": "boolean", "default": False},
    },
    "required": ["text"],
}
OWN = ("echo", "big", "usage")


def listed(extra: int) -> list[dict[str, Any]]:
    own = [{"name": name, "inputSchema": {"type": "object"}} for name in OWN]
    return own + [
        {"name": f"tool_{number}", "description": f"Tool number {number}, one of many.", "inputSchema": ITEM}
        for number in range(extra)
    ]


def called(name: str, arguments: dict[str, Any]) -> str:
    if name == "echo":
        return arguments["text"]
    if name == "big":
        return "x" * arguments["size"]
    used = resource.getrusage(resource.RUSAGE_SELF)
    return json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * KIB / 1e6})


class Server(asyncio.Protocol):
    """Answers each line as soon as it is complete."""

    def __init__(self, tools: list[dict[str, Any]]) -> None:
        self.tools = tools
        self.rest = bytearray()
        self.out: asyncio.WriteTransport | None = None
        self.ended = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.rest += data
        while (end := self.rest.find(b"\n")) >= 0:
            line = bytes(self.rest[:end])
            del self.rest[: end + 1]
            self.answer(json.loads(line))

    def answer(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            return
        reply = {"jsonrpc": "2.0", "id": message["id"], **self.outcome(message["method"], message.get("params", {}))}
        assert self.out is not None
        self.out.write(json.dumps(reply).encode() + b"\n")

    def outcome(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/call":
            text = called(params["name"], params.get("arguments", {}))
            return {"result": {"content": [{"type": "text", "text": text}]}}
        if method == "tools/list":
            return {"result": {"tools": self.tools}}
        if method == "initialize":
            info = {"name": "raw", "version": "0"}
            answer = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
            return {"result": answer}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set_result(None)


async def main() -> None:
    loop = asyncio.get_running_loop()
    server = Server(listed(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
    server.out, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    await loop.connect_read_pipe(lambda: server, sys.stdin)
    await server.ended


if __name__ == "__main__":
    asyncio.run(main())
