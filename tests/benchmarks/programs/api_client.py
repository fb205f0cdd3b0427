"""The notebook's own API, as a cell uses it: host, approvals, journal, a hop to the runtime thread for each call."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import jupyter_mcp as mcp

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class Session:
    def __init__(self, server: Any) -> None:
        self.server = server

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        return self.server.tools[name](**arguments).text

    async def tools(self) -> int:
        return len(self.server.tools)


@asynccontextmanager
async def connect(command: list[str]) -> AsyncGenerator[Session]:
    server = mcp.connect("bench", *command)
    try:
        yield Session(server)
    finally:
        mcp.disconnect("bench")
