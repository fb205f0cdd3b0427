"""Tools over HTTP in the modern era: some of their arguments are repeated in headers, as their schemas annotate.

A tool whose annotations are invalid is not offered (the specification has a client drop it, and say why); the transport
is told of the others, because it writes the headers. Other transports have no headers and never come here.

Source: spec 2026-07-28 "Transports / Custom headers".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.headers import read_param_headers
from jupyter_mcp.protocol.salvage import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.client.listings import Listing
    from jupyter_mcp.transport.base import Transport


def learn(transport: Transport, listing: Listing) -> Listing:
    """The list without the tools that may not be offered; the transport knows the others afterwards."""
    read = {tool["name"]: read_param_headers(tool["inputSchema"]) for tool in listing.items}
    bad = [Problem(name, f"{found}; it is not offered") for name, found in read.items() if isinstance(found, str)]
    if bad:
        usable = [tool for tool in listing.items if not isinstance(read[tool["name"]], str)]
        listing = replace(listing, items=usable, problems=[*listing.problems, *bad])
    take: Callable[[Sequence[Mapping[str, Any]]], None] | None = getattr(transport, "learn_tools", None)
    if take is not None:
        take(listing.items)
    return listing
