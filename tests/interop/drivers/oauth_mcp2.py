"""Driver for the official SDK 2.x with its own OAuth client."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult
from oauth import Person, Store, metadata, play, say


async def drive(url: str, mode: Any) -> dict[str, Any]:
    person = Person()

    async def back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(person.back())

    auth = OAuthClientProvider(url, metadata(), Store(), redirect_handler=person.open, callback_handler=back)
    transport = streamable_http_client(url, http_client=create_mcp_http_client(auth=auth))
    async with Client(transport, mode=mode, read_timeout_seconds=60) as client:

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            return [block.text for block in (await client.call_tool(name, arguments)).content]

        return {"revision": client.protocol_version, "outcomes": await play(call, person)}


if __name__ == "__main__":
    say(asyncio.run(drive(*sys.argv[1:3])))
