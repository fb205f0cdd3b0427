"""Reading what servers offer, for a page: only lists that were never read.

A page asks again whenever a list is another. Were a list read anew for that, a server that lets nothing be kept would
be asked without end.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import MCPError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.host import Host

    Kind = Literal["tools", "resources", "templates", "prompts"]

__all__ = ["KINDS", "LISTING_SECONDS", "read_lists"]

KINDS: Sequence[Kind] = ("tools", "resources", "templates", "prompts")
LISTING_SECONDS = 5.0
"""A slow server is waited for so long, and no longer; its list goes on being read."""

_reading: set[asyncio.Task[None]] = set()


async def read_lists(host: Host, kinds: Sequence[Kind] = KINDS) -> None:
    """Read those lists of connected servers that were never read. A list that cannot be read stays unread."""
    wanted: list[tuple[Any, Kind]] = [
        (entry, kind)
        for entry in list(host.servers.values())
        for kind in kinds
        if entry.ready and entry.connection is not None and entry.connection.listing(kind) is None
    ]
    tasks = [asyncio.ensure_future(_read(entry, kind)) for entry, kind in wanted]
    if tasks:
        _reading.update(tasks)
        for task in tasks:
            task.add_done_callback(_reading.discard)
        await asyncio.wait(tasks, timeout=LISTING_SECONDS)


async def _read(entry: Any, kind: Kind) -> None:
    with suppress(MCPError):
        await entry.connection.list(kind)
