"""The floor over HTTP: a bare POST through httpx on aiohttp, `json` on both sides, and the headers servers ask for."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from httpx_aiohttp import HttpxAiohttpClient
from serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx

MODERN, LEGACY = "2026-07-28", "2025-11-25"
BOTH = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"


class Session:
    def __init__(self, client: httpx.AsyncClient, url: str, era: str) -> None:
        self.client, self.url = client, url
        self.headers = {"Content-Type": "application/json", "Accept": BOTH}
        self.meta: dict[str, Any] = {}
        self.next = 0
        if era == "modern":
            self.headers["MCP-Protocol-Version"] = MODERN
            self.meta = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}}
            self.meta[f"{META}clientInfo"] = {"name": "raw", "version": "0"}

    async def initialize(self) -> None:
        client = {"name": "raw", "version": "0"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        response = await self.post({"id": 0, "method": "initialize", "params": params})
        self.headers["MCP-Protocol-Version"] = LEGACY
        if session := response.headers.get("Mcp-Session-Id"):
            self.headers["Mcp-Session-Id"] = session
        await self.post({"method": "notifications/initialized"})

    async def post(self, message: dict[str, Any], **extra: str) -> httpx.Response:
        body = json.dumps({"jsonrpc": "2.0", **message})
        response = await self.client.post(self.url, content=body, headers={**self.headers, **extra})
        assert response.status_code in (200, 202), response.text
        return response

    async def request(self, method: str, params: dict[str, Any], **extra: str) -> dict[str, Any]:
        self.next += 1
        if self.meta:
            params["_meta"] = self.meta
            extra["Mcp-Method"] = method
        response = await self.post({"id": self.next, "method": method, "params": params}, **extra)
        data = response.content
        if response.headers["Content-Type"].startswith("text/event-stream"):
            data = next(line[6:] for line in reversed(data.split(b"\n")) if line.startswith(b"data: "))
        return json.loads(data)["result"]

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        extra = {"Mcp-Name": name} if self.meta else {}
        result = await self.request("tools/call", {"name": name, "arguments": arguments}, **extra)
        return result["content"][0]["text"]

    async def tools(self) -> int:
        return len((await self.request("tools/list", {}))["tools"])


@asynccontextmanager
async def connect(command: list[str], era: str = "modern") -> AsyncGenerator[Session]:
    async with serving(command) as server, HttpxAiohttpClient(timeout=60) as client:
        session = Session(client, server.url, era)
        if era == "legacy":
            await session.initialize()
        yield session
