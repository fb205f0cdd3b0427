"""Pictures of servers, tools, resources and prompts (`icons`, specification 2025-11-25): which one, and its bytes.

An icon is a server's word, so: `https:` and `data:` only; no more than `MAX_BYTES`; what it is, is read from its first
bytes and not from what it claims; PNG, JPEG, GIF, WebP and SVG. An SVG may hold script: whoever shows one does so in an
`<img>` from a `data:` or `blob:` address, where none runs, and never in the page itself.

Fetching tells the address it comes from who looks, and when. So the page fetches none; the host does, when one is asked
for, from the origin of the connected server alone (which knows us already), without credentials or cookies, following
redirects within that origin only.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.media import decode_base64, sniff_image
from jupyter_mcp.protocol.shapes import as_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["MAX_BYTES", "checked", "choose", "fetch", "from_data", "same_origin"]

MAX_BYTES = 128 * 1024
MAX_SOURCE = 200_000
"""Characters of an address; a `data:` address of `MAX_BYTES` has so many."""
SECONDS = 5.0
_TYPES = ("image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/svg+xml")
_SVG = re.compile(
    rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE\s+svg[^>]*>\s*)*<svg[\s>]", re.DOTALL
)


def choose(icons: object) -> str | None:
    """The address of the icon to show; None when none of them can be.

    Those that come along (`data:`) before those that would be fetched, light ones and those for any theme before dark
    ones: the page draws them on a ground of its own.

    Args:
        icons: the field as sent.
    """
    fitting = [one for one in as_list(icons) if is_mapping(one) and _fits(one)]
    if not fitting:
        return None
    return str(min(fitting, key=_order)["src"])


def _fits(icon: Mapping[str, Any]) -> bool:
    source, kind = icon.get("src"), icon.get("mimeType")
    if not isinstance(source, str) or len(source) > MAX_SOURCE or not (kind is None or kind in _TYPES):
        return False
    return source.startswith("data:image/") or (source.startswith("https://") and bool(urlsplit(source).hostname))


def _order(icon: Mapping[str, Any]) -> tuple[bool, bool]:
    return (not str(icon["src"]).startswith("data:"), icon.get("theme") == "dark")


def checked(data: bytes) -> tuple[str, bytes] | None:
    """The type that the first bytes say, and the bytes; None for what is no picture or too large."""
    if not data or len(data) > MAX_BYTES:
        return None
    kind = sniff_image(data) or ("image/svg+xml" if _SVG.match(data[:4_096]) else None)
    return None if kind is None else (kind, data)


def from_data(source: str) -> tuple[str, bytes] | None:
    """The picture of a `data:` address; None when there is none in it."""
    head, comma, body = source.partition(",")
    if not comma or not head.startswith("data:"):
        return None
    return checked(decode_base64(body) if head.endswith(";base64") else unquote_to_bytes(body))


def same_origin(source: str, url: str) -> bool:
    """Whether an `https:` address is of the origin of a server's URL."""
    try:
        there, here = urlsplit(source), urlsplit(url)
        same = (there.hostname, there.port or 443) == (here.hostname, here.port or 443)
    except ValueError:
        return False
    return there.scheme == here.scheme == "https" and same and bool(there.hostname) and there.username is None


async def fetch(source: str, spec: ServerSpec) -> tuple[str, bytes] | None:
    """The picture at an address, by the rules above; None when it may not or cannot be had.

    Args:
        source: a `data:` or `https:` address.
        spec: how the server whose icon it is is reached. None of its headers and certificates go along.
    """
    if source.startswith("data:"):
        return from_data(source)
    if spec.kind != "http" or not spec.url or not same_origin(source, spec.url):
        return None
    try:
        async with asyncio.timeout(SECONDS):
            return checked(await _fetched(source, spec))
    except (MCPError, TimeoutError, OSError):
        return None


async def _fetched(source: str, spec: ServerSpec) -> bytes:
    from jupyter_mcp.transport.base import Refused
    from jupyter_mcp.transport.http import HttpOptions
    from jupyter_mcp.transport.http.wire import TooBig, Wire

    way = spec.way
    wire = Wire(source, HttpOptions(proxy=way.proxy or None, ca=way.ca, insecure=way.insecure, socket=way.socket))
    wire.open()
    try:
        answer = await wire.send("GET", {"Accept": ", ".join(_TYPES)})
        if answer.status != 200:
            answer.close()
            return b""
        return await answer.all(MAX_BYTES)
    except (TooBig, Refused):  # refused: it redirects elsewhere
        return b""
    finally:
        await wire.close()
