"""What leaves the notebook with an act, in words for whoever approves it. Pure.

Where the arguments go, and how much of them there is. What else goes along (another server's result, a file) is said by
whoever begins the act.
"""

from __future__ import annotations

import ipaddress
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["leaving"]

_LARGE = 2_000  # characters; below, a person sees all of it at a glance


def leaving(spec: ServerSpec, arguments: Mapping[str, Any]) -> list[str]:
    """A line for each thing that leaves; nothing does for a server in this kernel.

    Args:
        spec: of the server, as written.
        arguments: what is sent.
    """
    if spec.kind == "memory":
        return []
    what = "these arguments" if arguments else "the call, without arguments"
    size = len(json.dumps(arguments, ensure_ascii=False, default=str))
    much = f" ({size:,} characters)" if size >= _LARGE else ""
    if spec.kind == "stdio":
        return [f"{what}{much}: to the program {spec.name} on this machine, which may send them on"]
    host, shown = _host(spec.url)
    if spec.way.socket is not None or _is_here(host):
        return [f"{what}{much}: to {spec.name} on this machine, which may send them on"]
    return [f"{what}{much}: over the network to {shown or spec.name}"]


def _host(url: str) -> tuple[str, str]:
    """The host's name, and as the URL has it, with its port and without who one is there."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.netloc.rpartition("@")[2]
    except ValueError:
        return "", ""


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
