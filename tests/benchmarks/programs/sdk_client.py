"""The official SDK 2.x as a client; run in the SDK's own environment."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Session:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        result = await self.client.call_tool(name, arguments)
        return result.content[0].text

    async def tools(self) -> int:
        count, cursor = 0, None
        while True:
            page = await self.client.list_tools(cursor=cursor)
            count += len(page.tools)
            cursor = page.next_cursor
            if not cursor:
                return count


@asynccontextmanager
async def connect(command: list[str]) -> AsyncGenerator[Session]:
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        yield Session(client)
