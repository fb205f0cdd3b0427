"""The official SDK 2.x as a client over HTTP; run in the SDK's own environment."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from mcp import Client
from sdk_client import Session
from serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

MODES = {"modern": "auto", "legacy": "legacy"}


@asynccontextmanager
async def connect(command: list[str], era: str = "modern") -> AsyncGenerator[Session]:
    async with serving(command) as server, Client(server.url, mode=MODES[era]) as client:
        yield Session(client)
