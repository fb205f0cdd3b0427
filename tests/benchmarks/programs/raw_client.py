"""The floor: a client written by hand, one future for each request, `json` for every line."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Session(asyncio.SubprocessProtocol):
    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.pieces: list[bytes] = []
        self.next = 0
        self.ended = asyncio.get_running_loop().create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = b"".join((*self.pieces, lines[0]))
            self.pieces = []
        if rest:
            self.pieces.append(rest)
        for line in lines:
            message = json.loads(line)
            if (number := message.get("id")) in self.waiting:  # else a server's own news
                self.waiting.pop(number).set_result(message)

    def process_exited(self) -> None:
        self.ended.set_result(None)
        for answer in self.waiting.values():
            answer.set_exception(ConnectionError("the server ended"))
        self.waiting.clear()

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self.ended.done():
            raise ConnectionError("the server ended")
        self.next += 1
        answer = self.waiting[self.next] = asyncio.get_running_loop().create_future()
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        return (await answer)["result"]

    def send(self, message: dict[str, Any]) -> None:
        self.stdin.write(json.dumps(message).encode() + b"\n")

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        result = await self.request("tools/call", {"name": name, "arguments": arguments})
        return result["content"][0]["text"]

    async def tools(self) -> int:
        return len((await self.request("tools/list", {}))["tools"])


@asynccontextmanager
async def connect(command: list[str], *, patience: float = 10.0, **how: Any) -> AsyncGenerator[Session]:
    """Start a server; it has `patience` seconds to end with its input. `how` is for the process (env, cwd, stderr)."""
    options = {"stderr": None, **how}
    process, session = await asyncio.get_running_loop().subprocess_exec(Session, *command, **options)
    session.stdin = process.get_pipe_transport(0)
    client = {"name": "raw", "version": "0"}
    await session.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    session.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    try:
        yield session
    finally:
        session.stdin.close()
        try:
            await asyncio.wait_for(asyncio.shield(session.ended), patience)
        except TimeoutError:
            process.kill()
            await session.ended
        process.close()
