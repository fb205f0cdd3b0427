"""Everything that is offered, under stable names (`server.tool`), from the connections' cached lists. Never blocks.

A server's name has no dot, so the first dot of `server.tool` separates, whatever dots the tool's own name has; the bare
name works when only one server offers it. Nothing is fetched here: `Host.resolve` sees to it that the lists are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.protocol import salvage
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jupyter_mcp.host.entry import ServerEntry

__all__ = ["KEYS", "LISTS", "Catalogue", "Offer", "OfferKind"]

OfferKind = Literal["tool", "resource", "template", "prompt"]
ListKind = Literal["tools", "resources", "templates", "prompts"]
LISTS: Mapping[str, ListKind] = {
    "tool": "tools",
    "resource": "resources",
    "template": "templates",
    "prompt": "prompts",
}
KEYS: Mapping[str, str] = {"tool": "name", "resource": "uri", "template": "uriTemplate", "prompt": "name"}


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing a server offers.

    Attributes:
        kind: "tool", "resource", "template" or "prompt".
        server: the server's name.
        name: the tool's or prompt's name, the URI or the URI template.
        item: as the server sent it (salvaged).
    """

    kind: OfferKind
    server: str
    name: str
    item: Mapping[str, Any]

    @property
    def full_name(self) -> str:
        """`server.name`, the name that stays when other servers come and go."""
        return f"{self.server}.{self.name}"

    @property
    def title(self) -> str:
        """What a person is shown."""
        return salvage.display_name(self.item) or self.name


class Catalogue:
    """A view over the servers of a host."""

    def __init__(self, servers: Mapping[str, ServerEntry]) -> None:
        self._servers = servers

    def tools(self, server: str | None = None) -> list[Offer]:
        """Tools of one server or of all, in the servers' order."""
        return self.offers("tool", server)

    def resources(self, server: str | None = None) -> list[Offer]:
        """Resources, as `tools`."""
        return self.offers("resource", server)

    def templates(self, server: str | None = None) -> list[Offer]:
        """Resource templates, as `tools`."""
        return self.offers("template", server)

    def prompts(self, server: str | None = None) -> list[Offer]:
        """Prompts, as `tools`."""
        return self.offers("prompt", server)

    def offers(self, kind: OfferKind, server: str | None = None) -> list[Offer]:
        """What is cached of one kind."""
        names = list(self._servers) if server is None else [server]
        return [offer for name in names for offer in self._of(kind, name)]

    def search(self, text: str, server: str | None = None) -> list[Offer]:
        """Offers whose name, title or description holds every word of `text`; the better the place, the earlier."""
        words = text.casefold().split()
        found: list[tuple[int, int, Offer]] = []
        for kind in KEYS:
            for offer in self.offers(kind, server):  # pyright: ignore[reportArgumentType]
                rank = _rank(offer, words)
                if rank is not None:
                    found.append((rank, len(found), offer))
        return [offer for _, _, offer in sorted(found, key=lambda one: one[:2])]

    def find(self, kind: OfferKind, text: str, server: str | None = None) -> Offer:
        """The offer a person means by `server.name`, `server name` or a bare name.

        Raises:
            UsageError: nothing of that name (with the nearest ones), or several servers offer it (naming them).
        """
        given, text = text, text.strip()
        if server is not None:
            known = self._known(server)
            return self._get(kind, known, given) or self._exactly(kind, known, text)
        if given != text and (exact := self._to_the_letter(kind, given)) is not None:
            return exact  # a name may begin or end with a blank, beside one that does not
        prefix, separator, rest = text.partition(".")
        if not separator:
            prefix, separator, rest = (part.strip() for part in text.partition(" "))
        if rest and prefix in self._servers and (offer := self._get(kind, prefix, rest)) is not None:
            return offer
        bare = [offer for offer in self.offers(kind) if offer.name == text]
        if len(bare) == 1:
            return bare[0]
        if bare:
            names = " or ".join(offer.full_name for offer in bare)
            raise UsageError(f"{text} is offered by {len(bare)} servers.", hint=f"Write {names}.")
        if rest and prefix in self._servers:
            return self._exactly(kind, prefix, rest)
        raise UsageError(self._nothing(kind, text), hint=self._suggestion(kind, text))

    # --- details -----------------------------------------------------------------------------------------------------

    def _of(self, kind: OfferKind, server: str) -> Iterator[Offer]:
        entry = self._servers.get(server)
        listing = entry.connection.listing(LISTS[kind]) if entry is not None and entry.connection is not None else None
        if listing is not None:
            for item in listing.items:
                yield Offer(kind, server, str(item[KEYS[kind]]), item)

    def _get(self, kind: OfferKind, server: str, name: str) -> Offer | None:
        return next((offer for offer in self._of(kind, server) if offer.name == name), None)

    def _to_the_letter(self, kind: OfferKind, given: str) -> Offer | None:
        prefix, _, rest = given.partition(".")
        if rest and prefix in self._servers:
            return self._get(kind, prefix, rest)
        bare = [offer for offer in self.offers(kind) if offer.name == given]
        return bare[0] if len(bare) == 1 else None

    def _known(self, server: str) -> str:
        if server not in self._servers:
            raise UsageError(f"There is no server {server!r}.", hint=self._which_server(server))
        return server

    def _exactly(self, kind: OfferKind, server: str, name: str) -> Offer:
        offer = self._get(kind, server, name)
        if offer is not None:
            return offer
        entry = self._servers[server]
        if not entry.ready:
            raise UsageError(
                f"{server} is not connected ({entry.state}).", hint=f"%mcp reconnect {server}", server=server
            )
        names = [one.name for one in self._of(kind, server)]
        near = nearest(name, names)
        if near:
            hint = f"Did you mean {server}.{near}?"
        elif names:
            hint = f"It has {', '.join(printable(one, 60) for one in names[:10])}{' …' if len(names) > 10 else ''}."
        else:
            hint = f"It offers no {LISTS[kind]}."
        raise UsageError(f"{server} has no {kind} {name!r}.", hint=hint, server=server)

    def _nothing(self, kind: OfferKind, text: str) -> str:
        if not self._servers:
            return "No server is connected."
        prefix, dot, _ = text.partition(".")
        if dot and not any(offer.name.startswith(f"{prefix}.") for offer in self.offers(kind)):
            return f"There is no server {prefix!r}."
        return f"No connected server has a {kind} {text!r}."

    def _suggestion(self, kind: OfferKind, text: str) -> str:
        if not self._servers:
            return "Connect one first: %mcp connect demo"
        offers = self.offers(kind)
        bare = {offer.name: offer.full_name for offer in reversed(offers)}
        near = nearest(text, [offer.full_name for offer in offers]) or bare.get(nearest(text, list(bare)) or "")
        if near:
            return f"Did you mean {near}?"
        prefix, dot, _ = text.partition(".")
        return self._which_server(prefix if dot else text)

    def _which_server(self, name: str) -> str:
        near = nearest(name, list(self._servers))
        if near:
            return f"Did you mean {near}?"
        return f"Connected: {', '.join(self._servers)}." if self._servers else "Connect one first: %mcp connect demo"


def _rank(offer: Offer, words: list[str]) -> int | None:
    """0 for the best place; None when a word is nowhere."""
    name = offer.full_name.casefold()
    title = offer.title.casefold()
    description = str(offer.item.get("description") or "").casefold()
    if not all(word in name or word in title or word in description for word in words):
        return None
    if all(word in name for word in words):
        return 0 if any(offer.name.casefold().startswith(word) for word in words) else 1
    return 2 if all(word in title for word in words) else 3
