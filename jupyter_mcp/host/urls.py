"""What may be said about a URL a server wants the person to open. Pure; nothing is fetched and nothing is opened."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

__all__ = ["url_warning", "web_host"]

_LOCAL = ("localhost", "127.0.0.1", "::1")


def web_host(url: Any) -> str | None:
    """The host (and port, if given) of an http or https URL; None for anything else, which must not be opened."""
    if not isinstance(url, str) or re.search(r"[\s\x00-\x1f\x7f\\]", url):
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" if port else shown


def url_warning(url: str) -> str | None:
    """One sentence when the address may deceive (another alphabet, user information, a bare number, no encryption)."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if any(label.startswith("xn--") for label in host.split(".")) or not host.isascii():
        code = _punycode(host)
        return f"The address {host} uses letters of another alphabet ({code}); it may imitate a known name."
    if "@" in parts.netloc:
        return f"What stands before the @ is not the site: this leads to {host}."
    if re.fullmatch(r"[\d.]+|0x[0-9a-fA-F.x]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*", host) and host not in _LOCAL:
        return f"The address is a bare number ({host}), not a name."
    if parts.scheme == "http" and host not in _LOCAL:
        return "The address is not encrypted (http)."
    return None


def _punycode(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host.encode("ascii", "backslashreplace").decode("ascii")
