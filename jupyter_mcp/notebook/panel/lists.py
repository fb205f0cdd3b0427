"""Reading what servers offer, for a page: only lists that were never read.

A page asks again whenever a list is another. Were a list read anew for that, a server that lets nothing be kept would
be asked without end.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.objects.act import wait_a_little

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.host import Host

    Kind = Literal["tools", "resources", "templates", "prompts"]

__all__ = ["KINDS", "read_lists"]

KINDS: Sequence[Kind] = ("tools", "resources", "templates", "prompts")


async def read_lists(host: Host, kinds: Sequence[Kind] = KINDS) -> None:
    """Read those lists of connected servers that were never read. A list that cannot be read stays unread."""
    wanted: list[tuple[Any, Kind]] = [
        (entry, kind)
        for entry in list(host.servers.values())
        for kind in kinds
        if entry.ready and entry.connection is not None and entry.connection.listing(kind) is None
    ]
    await wait_a_little(_read(entry, kind) for entry, kind in wanted)


async def _read(entry: Any, kind: Kind) -> None:
    with suppress(MCPError):
        await entry.connection.list(kind)
