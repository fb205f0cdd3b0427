"""The page of a tool: its HTML out of `resources/read`, and what it says about itself. Pure.

What a page needs may stand on the content that was read or on the entry of `resources/list`; the content's word goes
first, key by key, because it is the newer one and the one that belongs to these bytes.

Source: SEP-1865 "UI Resource Format", "Content Requirements".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import RemoteProtocolError
from jupyter_mcp.host.apps import csp
from jupyter_mcp.host.apps.meta import MIME_TYPE
from jupyter_mcp.host.media import decode_base64
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["IN_WORDS", "MAX_HTML", "PERMISSIONS", "Page", "listed_entry", "page_of"]

MAX_HTML = 16 << 20
"""Bytes of a page's HTML; the largest of the official examples has 4.3 million."""

PERMISSIONS: Mapping[str, str] = {
    "camera": "camera",
    "microphone": "microphone",
    "geolocation": "geolocation",
    "clipboardWrite": "clipboard-write",
}
"""What a page may ask the browser for, and what the browser calls it."""

IN_WORDS: Mapping[str, str] = {
    "camera": "the camera",
    "microphone": "the microphone",
    "geolocation": "where you are",
    "clipboardWrite": "the clipboard (to write to it)",
}
"""The same for a person."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was read.

    Attributes:
        uri: its `ui://` address.
        html: the document, untrusted.
        policy: what it may reach.
        wants: what it asks the browser for, keys of `PERMISSIONS`; nothing of it is granted by that.
        border: whether it wants a border around it; None when it does not say.
    """

    uri: str
    html: str
    policy: csp.Policy
    wants: tuple[str, ...] = ()
    border: bool | None = None


def page_of(
    uri: str,
    contents: Sequence[Mapping[str, Any]],
    listed: Mapping[str, Any] | None = None,
    *,
    server: str = "",
    local: bool = False,
) -> Page:
    """The page in the contents of its resource.

    Args:
        uri: that was read.
        contents: as read.
        listed: the resource's entry in `resources/list`, if it has one.
        server: whose it is, for errors.
        local: the person trusts the server (see `csp.read`).

    Raises:
        RemoteProtocolError: it is no page that can be shown.
    """
    content = next((one for one in contents if one.get("uri") == uri), contents[0] if contents else None)
    if content is None:
        raise _odd(uri, "has no contents", server)
    told = {**_settings(listed), **_settings(content)}
    permissions = mapping_of(told.get("permissions"))
    border = told.get("prefersBorder")
    return Page(
        uri,
        _html(uri, content, server),
        csp.read(told.get("csp"), local=local),
        tuple(name for name in PERMISSIONS if is_mapping(permissions.get(name)) or permissions.get(name) is True),
        border if isinstance(border, bool) else None,
    )


def listed_entry(resources: object, uri: str) -> Mapping[str, Any] | None:
    """The entry of a resource in a list of them."""
    return next((one for one in map(mapping_of, as_list(resources)) if one.get("uri") == uri), None)


def _settings(item: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return mapping_of(mapping_of((item or {}).get("_meta")).get("ui"))


def _html(uri: str, content: Mapping[str, Any], server: str) -> str:
    kind = content.get("mimeType")
    if not isinstance(kind, str) or kind.replace(" ", "").lower() != MIME_TYPE:
        named = printable(kind, 60) if isinstance(kind, str) else "no type"
        raise _odd(uri, f"is {named}, not {MIME_TYPE}", server)
    text, blob = content.get("text"), content.get("blob")
    if isinstance(blob, str):
        if len(blob) > MAX_HTML * 4 // 3 + 4:
            raise _odd(uri, _too_large(len(blob) * 3 // 4), server)
        text = decode_base64(blob).decode("utf-8", "replace")
    if not isinstance(text, str) or not text.strip():
        raise _odd(uri, "is empty", server)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_HTML:
        raise _odd(uri, _too_large(size), server)
    return text


def _too_large(size: int) -> str:
    return f"has {size:,} bytes; {MAX_HTML:,} are the most that is shown"


def _odd(uri: str, what: str, server: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"The page {printable(uri, 200)} {what}.", server=server)
