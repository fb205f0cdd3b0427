"""The client of one model, for the loop it is used on and the key of today; made when needed, closed at the end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.models import gateway_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.models.gateway_clients import Access, Client
    from jupyter_mcp.models.gateway_library import Library

__all__ = ["Clients", "Ready"]


@dataclass(frozen=True)
class Ready:
    """A client with what it was made for; another loop or another key needs another one."""

    library: Library
    client: Client
    loop: asyncio.AbstractEventLoop
    key: str | None = field(repr=False)


class Clients:
    """The clients of one model.

    Args:
        access: how it is reached.
        make: a client from the library and the key.

    Attributes:
        made: all that were made and not closed, oldest first.
    """

    def __init__(self, access: Access, make: Callable[[Library, str | None], Client]) -> None:
        self._access = access
        self._make = make
        self.made: list[Ready] = []

    async def ready(self) -> Ready:
        """The one for this loop and the key of today; an older one may be in use, and is closed with the others."""
        loop, key = asyncio.get_running_loop(), self._access.key()
        library = await gateway_library.load(self._access.provider.wire)
        last = self.made[-1] if self.made else None
        if last is not None and last.loop is loop and last.key == key:
            return last
        ready = Ready(library, self._make(library, key), loop, key)
        self.made.append(ready)
        return ready

    async def aclose(self) -> None:
        """Close the connections of this loop's clients, and forget the others."""
        made, self.made = self.made, []
        for ready in made:
            if ready.loop is asyncio.get_running_loop():
                await ready.client.http.aclose()
