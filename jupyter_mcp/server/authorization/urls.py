"""URLs of resources and issuers: which may be one, and which are the same."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from jupyter_mcp.server.http.guard import is_loopback

_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+")  # what a URL and a quoted string can hold


def wrong_url(url: str) -> str:
    """Why this cannot be the URL of a resource or an issuer, as the rest of a sentence; "" when it can.

    Both are https, or http on this machine, and have no fragment, query or user (RFC 8414 2, RFC 9728 1.2).
    """
    parts = _split(url)
    if parts is None or parts.scheme.lower() not in _PORTS or not parts.hostname or not _PLAIN.fullmatch(url):
        return f"{url[:80]!r} is no http(s) URL"
    if parts.scheme.lower() == "http" and not is_loopback(parts.hostname):
        return f"{url[:80]!r} is not https, and not on this machine"
    if parts.query or parts.fragment or "@" in parts.netloc or "?" in url or "#" in url:
        return f"{url[:80]!r} has a query, a fragment or a user in it"
    return ""


def canonical(url: str) -> str:
    """The URL as it is compared and shown: scheme and host in small letters, no default port, no bare slash."""
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _PORTS.get(scheme)) else f":{parts.port}"
    return f"{scheme}://{shown}{port}{parts.path if parts.path != '/' else ''}"


def same_resource(one: str, other: str) -> bool:
    """Whether two names of a resource are the same one; URLs may differ in what `canonical` takes away and a slash at
    the end, other names (of providers that number their resources) in nothing.
    """
    if one == other:
        return True
    if wrong_url(one) or wrong_url(other):
        return False
    return canonical(one).rstrip("/") == canonical(other).rstrip("/")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts
