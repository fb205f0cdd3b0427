"""What the OAuth drivers of both SDKs share: a store in memory, and a person who sits at the other end of the pipes.

An address to open goes out as a line `{"open": URL}`, the redirect comes back as a line; `{"paused": true}` waits for
any line; `{"outcomes": …}` is the end.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

REDIRECT = "http://127.0.0.1:9/callback"


def metadata() -> OAuthClientMetadata:
    """What the client registers."""
    return OAuthClientMetadata(
        client_name="An SDK's own client",
        redirect_uris=[AnyUrl(REDIRECT)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )


class Store:
    """The SDK's `TokenStorage`, in memory."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Person:
    """Whoever opens what the client wants opened."""

    def __init__(self) -> None:
        self._back = ""

    async def open(self, address: str) -> None:
        self._back = await self._say({"open": address})

    def back(self) -> dict[str, str]:
        """What the redirect said."""
        return dict(parse_qsl(urlsplit(self._back).query))

    async def pause(self) -> None:
        await self._say({"paused": True})

    async def _say(self, message: dict[str, Any]) -> str:
        say(message)
        return (await asyncio.to_thread(sys.stdin.readline)).strip()


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


async def play(call: Any, person: Person) -> list[Any]:
    """Read, read again when the token has ended, then write, which needs more."""
    first = await call("read_notes", {})
    await person.pause()
    second = await call("read_notes", {})
    third = await call("add_note", {"text": "Call Grace"})
    return [first, second, third]
