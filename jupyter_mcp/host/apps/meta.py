"""What a tool says about its page (`_meta.ui`), and what we say about ours. Pure; all of it is a server's word.

Source: SEP-1865 "Resource Discovery", "Visibility", "Client<>Server Capability Negotiation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.protocol.shapes import is_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXTENSION", "MIME_TYPE", "PROTOCOL_VERSION", "SCHEME", "Caller", "may_call", "resource_uri", "settings"]

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
PROTOCOL_VERSION = "2026-01-26"
SCHEME = "ui://"
Caller = Literal["model", "app"]

_OLD_KEY = "ui/resourceUri"  # before the extension had an object of its own
_LONGEST = 2_000


def settings() -> dict[str, Any]:
    """What a client declares under `EXTENSION`: the types of pages that it can show."""
    return {"mimeTypes": [MIME_TYPE]}


def resource_uri(tool: Mapping[str, Any]) -> str | None:
    """The `ui://` resource that shows a tool's results; None when the tool has none.

    Args:
        tool: as the server listed it.
    """
    meta = mapping_of(tool.get("_meta"))
    uri = mapping_of(meta.get("ui")).get("resourceUri") or meta.get(_OLD_KEY)
    fits = isinstance(uri, str) and uri.startswith(SCHEME) and len(SCHEME) < len(uri) <= _LONGEST
    return uri if fits and isinstance(uri, str) else None


def may_call(caller: Caller, tool: Mapping[str, Any]) -> bool:
    """Whether a tool is there for models ("model"), or for its own server's pages ("app"). Both, unless it says less.

    An odd `visibility` (no list) says nothing; an empty list says nobody.
    """
    visibility = mapping_of(mapping_of(tool.get("_meta")).get("ui")).get("visibility")
    return not is_list(visibility) or caller in visibility
