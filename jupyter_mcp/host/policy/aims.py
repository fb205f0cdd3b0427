"""What a pattern for acts fits among what is there: a word for the person who may have mistyped. Nothing is decided.

A rule may well be about what comes later, so a pattern that fits nothing is said, and holds all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host.policy.deed import ASKED_BY_SERVERS
from jupyter_mcp.host.policy.rules import matches
from jupyter_mcp.host.wording import nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["aims_at_nothing"]

_ALWAYS = (*ASKED_BY_SERVERS, "connect")


def aims_at_nothing(pattern: str, offered: Mapping[str, Iterable[str] | None]) -> str:
    """A sentence when a pattern fits nothing that is there; "" when it does, or that cannot be told.

    Args:
        pattern: `server.name` with wildcards, or a whole server.
        offered: the names of tools and prompts, URIs and URI templates of each server; None where they are not known.
    """
    server, dot, name = pattern.strip().partition(".")
    servers = [one for one in offered if matches(one, server)]
    if not servers:
        near = nearest(server, list(offered))
        return f"There is no server {server} now; did you mean {near}?" if near else ""
    if not dot or "://" in name or any(matches(one, name) for one in _ALWAYS):
        return ""  # a URI may be read that no list has
    names: list[str] = []
    for one in servers:
        known = offered[one]
        if known is None:
            return ""
        names += known
    if any(matches(one, name) for one in names):
        return ""
    near = nearest(name, names)
    meant = f"; did you mean {servers[0] if len(servers) == 1 else server}.{near}?" if near else "."
    whose = servers[0] if len(servers) == 1 else f"{len(servers)} servers that {server} fits"
    return f"Nothing of {whose} is called {shorten(name, limit=60)} now{meant}"
