"""The tools of one conversation: which of the catalogue's it has, what the model is told of them, what has changed.

Up to a number of tools each is described to the model; of more it is given `search_tools`, and what that finds is
described from the next round on. Only tools are here: prompts are for people. Nothing is called from here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.conversation.ranking import Document, rank
from jupyter_mcp.host.conversation.shown import for_model, is_for_models, summary
from jupyter_mcp.host.conversation.switching import ConversationSwitches
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.catalogue import Offer
    from jupyter_mcp.host.conversation.limits import Limits
    from jupyter_mcp.host.conversation.names import ToolNames
    from jupyter_mcp.host.host import Host

__all__ = ["SEARCH", "Changes", "Toolbox"]

SEARCH = "search_tools"
"""The one tool of our own; no tool of a server can have its name, which would hold two underscores in a row."""
_MOST_DESCRIBED = 80  # of those that searches found; the ones found first go first


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the tools since the last look.

    Attributes:
        added, removed, changed: full names (`server.tool`); a changed one has another description or schema.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


class Toolbox:
    """The tools of one conversation.

    Args:
        host: whose catalogue it is.
        names: what the model calls them.
        limits: how many are described.
        servers: only tools of these servers; None is all.
        tools: only tools that one of these patterns fits (`server.tool` or `tool`, with `*` and `?`); None is all.

    Attributes:
        switches: what is switched on or off for this conversation alone.
    """

    def __init__(
        self,
        host: Host,
        names: ToolNames,
        limits: Limits,
        servers: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
    ) -> None:
        self._host = host
        self._names = names
        self.limits = limits
        self.servers = None if servers is None else list(servers)
        self.tools = None if tools is None else list(tools)
        self.switches = ConversationSwitches(host.policy)
        self._offers: dict[str, Offer] = {}
        self._found: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._offers)

    @property
    def searching(self) -> bool:
        """Whether there are too many tools to describe each."""
        return len(self._offers) > self.limits.tools

    def check(self) -> None:
        """Raises `UsageError` when a server that was named is not there."""
        for name in self.servers or ():
            if name not in self._host.servers:
                near = nearest(name, list(self._host.servers))
                known = ", ".join(self._host.servers)
                hint = f"Did you mean {near}?" if near else f"Connected: {known}." if known else "Connect one first."
                raise UsageError(f"There is no server {name!r}.", hint=hint)

    def in_scope(self) -> list[str]:
        """The servers of this conversation that are there and not switched off as a whole, as they were connected."""
        names = [name for name in self._host.servers if self.servers is None or name in self.servers]
        return [name for name in names if self.switches.takes_part(name)]

    async def refresh(self) -> Changes:
        """Look at the servers' lists, which are read anew where a server said that they changed."""
        for name in self.in_scope():
            entry = self._host.servers.get(name)
            if entry is None or not entry.ready or entry.connection is None:
                continue  # what it offered last stays offered: a call connects it again
            try:
                await entry.connection.list("tools")
            except MCPError as error:
                entry.say("note", f"Cannot list its tools: {error}", level="warning")
        before, self._offers = self._offers, {offer.full_name: offer for offer in self._wanted()}
        self._found = {name: None for name in self._found if name in self._offers}
        return Changes(
            tuple(name for name in self._offers if name not in before),
            tuple(name for name in before if name not in self._offers),
            tuple(name for name, offer in self._offers.items() if name in before and _other(offer, before[name])),
        )

    def described(self) -> list[dict[str, Any]]:
        """What the model is told of: MCP's `Tool` dicts, in a stable order."""
        if not self.searching:
            return [for_model(self.name_of(offer), offer) for offer in self._offers.values()]
        found = [self._offers[name] for name in list(self._found)[-_MOST_DESCRIBED:]]
        return [self._search_tool(), *(for_model(self.name_of(offer), offer) for offer in found)]

    def name_of(self, offer: Offer) -> str:
        """What the model calls it."""
        return self._names.give(offer.server, offer.name)

    def find(self, name: str) -> Offer | None:
        """The tool that the model means, when it is offered now."""
        meant = self._names.meant(name)
        return None if meant is None else self._offers.get(".".join(meant))

    def near(self, name: str) -> list[str]:
        """Names that the model may have meant: the nearest, else a few."""
        names = [self.name_of(offer) for offer in self._offers.values()]
        near = nearest(name, names)
        return [near] if near else names[:10]

    async def search(self, query: str, limit: int) -> list[Offer]:
        """The tools that fit a query best; they are described from now on."""
        offers = list(self._offers.values())
        documents = [Document(offer.full_name, _described(offer), _arguments(offer)) for offer in offers]
        best = [offers[at] for at, _ in await asyncio.to_thread(rank, documents, query, limit)]
        for offer in best:
            self._found.pop(offer.full_name, None)
            self._found[offer.full_name] = None
        return best

    def _wanted(self) -> list[Offer]:
        return [
            offer
            for name in self.in_scope()
            for offer in self._host.catalogue.tools(name)
            if is_for_models(offer) and self._fits(offer) and not self.switches.is_off(offer.server, offer.name)
        ]

    def _fits(self, offer: Offer) -> bool:
        if self.tools is None:
            return True
        return any(fnmatchcase(name, pattern) for pattern in self.tools for name in (offer.full_name, offer.name))

    def _search_tool(self) -> dict[str, Any]:
        servers = ", ".join(self.in_scope())
        return {
            "name": SEARCH,
            "description": (
                f"There are {len(self._offers):,} tools (servers: {servers}), too many to list. This finds those that "
                "fit a few words about what is to be done; you can call what it finds right afterwards."
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "a few words about what the tool should do"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": self.limits.found},
                },
                "required": ["query"],
            },
        }


def _other(now: Offer, before: Offer) -> bool:
    """Whether what the tool promises is another now."""
    parts = ("title", "description", "inputSchema", "outputSchema", "annotations")
    return any(now.item.get(part) != before.item.get(part) for part in parts)


def _described(offer: Offer) -> str:
    return f"{offer.title} {summary(offer, 2_000)}"


def _arguments(offer: Offer) -> str:
    properties = mapping_of(mapping_of(offer.item.get("inputSchema")).get("properties"))
    return " ".join(f"{name} {mapping_of(schema).get('description') or ''}" for name, schema in properties.items())
