"""This project's client over HTTP: one `Connection`, without a host above it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ours_client import Alone, Session
from serving import serving

from jupyter_mcp.client.connection import Connection
from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.transport.http import HttpOptions, HttpTransport

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.client.options import EraChoice


@asynccontextmanager
async def connect(command: list[str], era: EraChoice = "modern") -> AsyncGenerator[Session]:
    async with serving(command) as server:
        options = ConnectOptions(era=era)
        connection = Connection("bench", lambda: HttpTransport(server.url, HttpOptions()), options, Alone())
        await connection.open()
        try:
            yield Session(connection)
        finally:
            await connection.close()
