"""What the specification has deprecated: since when, until when at least, and what takes its place. A table; pure.

Everything in it keeps working here for as long as a revision that has it is spoken. Whoever notices that a server uses
one of these says so once (`host.deprecations`); nothing is refused because of it.

Source: spec 2026-07-28 "Deprecated features" (the registry of SEP-2596), SEP-2577.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TABLE", "Deprecated", "of_message", "of_transport", "sentence"]


@dataclass(frozen=True, slots=True)
class Deprecated:
    """One feature on its way out.

    Attributes:
        name: its key in `TABLE`.
        title: as a person reads it.
        since: the revision that deprecated it.
        removal: when it may be removed at the earliest, in words.
        migration: what a server's author should do instead, one clause.
    """

    name: str
    title: str
    since: str
    removal: str
    migration: str


_A_YEAR_LATER = "in the first revision from 2027-07-28 on"

TABLE: Mapping[str, Deprecated] = {
    row.name: row
    for row in (
        Deprecated(
            "roots",
            "Roots",
            "2026-07-28",
            _A_YEAR_LATER,
            "take folders and files as arguments of tools, as URIs of resources, or in the server's configuration",
        ),
        Deprecated("sampling", "Sampling", "2026-07-28", _A_YEAR_LATER, "call a model provider's own interface"),
        Deprecated("logging", "Logging", "2026-07-28", _A_YEAR_LATER, "write to stderr (stdio), or send OpenTelemetry"),
        Deprecated(
            "client-registration",
            "Dynamic client registration",
            "2026-07-28",
            _A_YEAR_LATER,
            "accept client ID metadata documents",
        ),
        Deprecated(
            "include-context",
            "includeContext “thisServer” and “allServers”",
            "2025-11-25",
            "together with sampling",
            "leave includeContext out, or say “none”",
        ),
        Deprecated(
            "http-sse",
            "The HTTP+SSE transport",
            "2025-03-26",
            "three months after SEP-2596 becomes final",
            "serve Streamable HTTP",
        ),
    )
}

_METHODS = {
    "roots/list": "roots",
    "notifications/roots/list_changed": "roots",
    "sampling/createMessage": "sampling",
    "logging/setLevel": "logging",
    "notifications/message": "logging",
}


def of_message(method: str, params: Mapping[str, Any] | None = None) -> Sequence[Deprecated]:
    """The deprecated features that a request or notification uses; its params may be anything."""
    names = [_METHODS[method]] if method in _METHODS else []
    context = params.get("includeContext") if isinstance(params, Mapping) else None
    if method == "sampling/createMessage" and context in ("thisServer", "allServers"):
        names.append("include-context")
    return [TABLE[name] for name in names]


def of_transport(kind: str) -> Sequence[Deprecated]:
    """What is deprecated about a transport ("stdio", "http", "sse", "memory")."""
    return [TABLE["http-sse"]] if kind == "sse" else []


def sentence(feature: Deprecated) -> str:
    """ "Sampling is deprecated since 2026-07-28 (it may be removed …). Instead, servers should …" """
    verb = "are" if feature.name in ("roots", "include-context") else "is"
    return (
        f"{feature.title} {verb} deprecated since {feature.since} and may be removed {feature.removal};"
        f" it works here as before. What servers should do instead: {feature.migration}."
    )
