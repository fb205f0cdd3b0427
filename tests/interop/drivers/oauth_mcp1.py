"""Driver for the official SDK 1.x with its own OAuth client."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from oauth import Person, Store, metadata, play, say


async def drive(url: str) -> dict[str, Any]:
    person = Person()

    async def back() -> tuple[str, str | None]:
        said = person.back()
        return said["code"], said.get("state")

    auth = OAuthClientProvider(url, metadata(), Store(), redirect_handler=person.open, callback_handler=back)
    async with (
        create_mcp_http_client(auth=auth) as http,
        streamable_http_client(url, http_client=http) as (read, write, _),
        ClientSession(read, write) as client,
    ):
        info = await client.initialize()

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            return [block.text for block in (await client.call_tool(name, arguments)).content]

        return {"revision": info.protocolVersion, "outcomes": await play(call, person)}


if __name__ == "__main__":
    say(asyncio.run(drive(sys.argv[1])))
