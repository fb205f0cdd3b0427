"""Servers and tools that are switched off: what a model, a server or an app does not get to see or use. Pure.

A switch is no rule: whoever types a line or presses a button still may. `deny` is for what nobody may do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.host.policy.rules import HERE, SCOPES, Scope, matches, narrowness

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Switch", "covers", "off"]


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch.

    Attributes:
        pattern: as of a `Rule`.
        on: what it says.
        scope, source, accepted: as of a `Rule`; one that nobody accepted only switches off.
    """

    pattern: str
    on: bool
    scope: Scope = "session"
    source: str = HERE
    accepted: bool = True

    def speaks_of(self, server: str, name: str | None) -> bool:
        """Whether it is about this tool; with no name, about the server as a whole."""
        wanted, dot, rest = self.pattern.partition(".")
        if not matches(server, wanted):
            return False
        if name is None:
            return not dot or rest.strip("*") == ""
        return not dot or matches(name, rest)

    def speaks_of_some(self, server: str) -> bool:
        """Whether it is about something of the server."""
        return matches(server, self.pattern.partition(".")[0])

    def __str__(self) -> str:
        return f"{'enable' if self.on else 'disable'} {self.pattern}"


def off(switches: Sequence[Switch], server: str, name: str | None) -> Switch | None:
    """The switch by which something is off, or None. The nearest scope decides, in it the most specific, then the last.

    Args:
        switches: in the order in which they were said.
        server: the server.
        name: of a tool, prompt or resource; None is the server as a whole.
    """
    found = [
        (place, one)
        for place, one in enumerate(switches)
        if one.speaks_of(server, name) and (one.accepted or not one.on)
    ]
    if not found:
        return None
    _, nearest = max(found, key=lambda pair: (-SCOPES.index(pair[1].scope), narrowness(pair[1].pattern), pair[0]))
    return None if nearest.on else nearest


def covers(switch: Switch, other: Switch) -> bool:
    """Whether everything that the other one speaks of is spoken of by this one as well."""
    server, dot, name = switch.pattern.partition(".")
    their_server, their_dot, their_name = other.pattern.partition(".")
    if not matches(their_server, server):
        return False
    return not dot or name.strip("*") == "" or (bool(their_dot) and matches(their_name, name))
