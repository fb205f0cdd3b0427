"""This project's client: one `Connection`, without a host above it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.client.connection import Connection
from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.transport.stdio import StdioTransport

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Alone:
    """The host's part, when there is no host: answers no question and keeps nothing."""

    def capabilities(self, revision: str) -> dict[str, Any]:
        return {}

    async def question(self, connection: Any, method: str, params: dict[str, Any], cause: Any) -> dict[str, Any]:
        raise RuntimeError(f"the benchmark's servers ask nothing, but {method} came")

    def notify(self, connection: Any, method: str, params: dict[str, Any], call: Any) -> None: ...

    def stderr(self, connection: Any, line: str) -> None: ...

    def note(self, connection: Any, text: str) -> None: ...

    def wire(self, connection: Any, direction: str, message: dict[str, Any], size: int) -> None: ...

    def http(self, connection: Any, event: object) -> None: ...

    def changed(self, connection: Any) -> None: ...


class Session:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        result = await self.connection.call_tool(name, arguments)
        return result["content"][0]["text"]

    async def tools(self) -> int:
        listing = await self.connection.list("tools")
        assert not listing.problems
        return len(listing.items)


@asynccontextmanager
async def connect(command: list[str]) -> AsyncGenerator[Session]:
    connection = Connection("bench", lambda: StdioTransport(command[0], command[1:]), ConnectOptions(), Alone())
    await connection.open()
    try:
        yield Session(connection)
    finally:
        await connection.close()
