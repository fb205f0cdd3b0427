"""Objects as the views that `render` draws. Reads cached values only; nothing is asked of a server here."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.notebook.render.views import ListView, LogRow, LogView, ServersView, ServerView

Kind = Literal["tools", "resources", "templates", "prompts"]

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_mcp.client.listings import Listing
    from jupyter_mcp.host.entry import LogLine, ServerEntry

KINDS: tuple[Kind, ...] = ("tools", "resources", "templates", "prompts")
_KEYS = {"resources": "uri", "templates": "uriTemplate"}


def server_view(entry: ServerEntry) -> ServerView:
    """One server: what it is, how it is reached, how much it offers, what is wrong with it."""
    listings = {kind: found for kind in KINDS if (found := cached(entry, kind)) is not None}
    connection = entry.connection
    skipped = [f"{problem.name}: {problem.reason}" for found in listings.values() for problem in found.problems]
    said = list(connection.notes) if connection is not None else []
    if off := _off(entry.name):
        said.append(f"Switched off for models ({off}); %mcp enable {entry.name} is the way back.")
    return ServerView(
        name=entry.name,
        state=entry.state,
        era=entry.era,
        revision=entry.revision,
        info=entry.info,
        target=entry.spec.describe(),
        env=list(dict.fromkeys([*entry.spec.env, *entry.spec.pass_env])),
        capabilities=entry.capabilities,
        counts={kind: len(found.items) for kind, found in listings.items()},
        instructions=entry.instructions,
        problem=entry.trouble,
        stderr=entry.stderr if entry.state in ("failed", "lost", "reconnecting") else (),
        transport=_transport(entry),
        deprecated=[(one.title, one.since, one.migration) for one in entry.deprecated.values()],
        notes=list(dict.fromkeys([*entry.spec.notes, *entry.advice, *said, *skipped])),
    )


def _transport(entry: ServerEntry) -> str:
    """As `ServerView` has it."""
    if entry.spec.kind == "memory":
        return "memory"
    return entry.transport if entry.transport in ("http", "sse") else ""


def servers_view(entries: Iterable[ServerEntry]) -> ServersView:
    return ServersView([server_view(entry) for entry in entries])


def list_view(
    entries: Iterable[ServerEntry],
    kind: str,
    search: str,
    rows: Iterable[tuple[str, Any]],
    problems: Iterable[tuple[str, str, str]] = (),
) -> ListView:
    """What some servers offer of a kind, narrowed to `rows`; templates stand beside resources.

    Args:
        entries, kind, search: whose, of what, and the words that it is narrowed by.
        rows: (server, item).
        problems: (server, what, why) of lists that could not be read.
    """
    entries = list(entries)
    words = search.lower().split()
    shown_kind: Any = "resources" if kind == "templates" else kind
    templates: list[tuple[str, Any]] = []
    if kind == "resources":
        templates = [
            (entry.name, item)
            for entry in entries
            if (found := cached(entry, "templates")) is not None
            for item in found.items
            if all(word in _haystack(item) for word in words)
        ]
    skipped = [
        (entry.name, problem.name, problem.reason)
        for entry in entries
        if (found := cached(entry, kind)) is not None
        for problem in found.problems
    ]
    listed = list(rows)
    key = _KEYS.get(kind, "name")
    items = [*((server, item, key) for server, item in listed), *((s, item, "uriTemplate") for s, item in templates)]
    return ListView(
        kind=shown_kind,
        rows=[] if kind == "templates" else listed,
        templates=listed if kind == "templates" else templates,
        problems=[*problems, *skipped],
        servers=[entry.name for entry in entries],
        search=search,
        off=frozenset((s, str(item.get(key))) for s, item, key in items if _off(s, str(item.get(key)))),
    )


def _off(server: str, name: str | None = None) -> str:
    """The switch by which models do not have something, in words; "" when they do."""
    state = sys.modules.get("jupyter_mcp.runtime.state")
    host = None if state is None else state.existing_host()
    found = None if host is None else host.policy.disabled(server, name)
    return "" if found is None else str(found)


def log_view(lines: Iterable[LogLine], server: str, dropped: int = 0) -> LogView:
    """The log as it is drawn; `dropped` lines came before and are not kept."""
    return LogView(server, [LogRow(line.level, line.text, line.source) for line in lines], dropped)


def names_offered(entry: ServerEntry) -> list[str] | None:
    """All names of what a server offers, as far as its lists have been read; None before its tools have."""
    if cached(entry, "tools") is None:
        return None
    names: list[str] = []
    for kind in ("tools", "prompts", "resources", "templates"):
        found = cached(entry, kind)
        names += [str(item.get(_KEYS.get(kind, "name"))) for item in found.items] if found is not None else []
    return names


def cached(entry: ServerEntry, kind: Any) -> Listing | None:
    """The connection's list as last read, or None."""
    return entry.connection.listing(kind) if entry.connection is not None else None


def _haystack(item: Any) -> str:
    return " ".join(str(item.get(key) or "") for key in ("uriTemplate", "name", "title", "description")).lower()
