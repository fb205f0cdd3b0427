"""What is offered, as one list that is searched at each key and compared with what it was before. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Changes", "Index", "Kind", "Thing"]

Kind = Literal["tool", "resource", "template", "prompt"]
KEYS: Mapping[str, str] = {"tool": "name", "resource": "uri", "template": "uriTemplate", "prompt": "name"}
MAX_DESCRIPTION = 2_000
"""Characters of a description that a search looks through."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing that a server offers.

    Attributes:
        id: unique in an index; the same in the next one, as long as the server offers it.
        kind, server: what it is, whose it is.
        key: its name, URI or template.
        item: as on the wire.
        title: what a person calls it.
        name: "server.key" in lower case, where a search finds best.
        words: everything that a search looks through, in lower case.
    """

    id: str
    kind: Kind
    server: str
    key: str
    item: Mapping[str, Any]
    title: str
    name: str
    words: str

    @classmethod
    def of(cls, kind: Kind, server: str, item: Mapping[str, Any], number: int = 1) -> Thing:
        """Make one; `number` tells those of the same name apart."""
        key = str(item.get(KEYS[kind]) or "")
        title = title_of(item) or str(item.get("name") or key)
        name = f"{server}.{key}".lower()
        told = item.get("description")
        words = [name, title.lower(), told[:MAX_DESCRIPTION].lower() if isinstance(told, str) else ""]
        words += [str(item.get("mimeType") or ""), *_arguments(kind, item)]
        parts = (kind, server, key, *([str(number)] if number > 1 else []))
        return cls("\n".join(parts), kind, server, key, item, flat(title, 200), name, "\n".join(words))


def _arguments(kind: Kind, item: Mapping[str, Any]) -> Iterable[str]:
    if kind == "tool":
        return [str(name).lower() for name in mapping_of(mapping_of(item.get("inputSchema")).get("properties"))]
    if kind == "prompt":
        return [str(one.get("name")).lower() for one in as_list(item.get("arguments")) if is_mapping(one)]
    return []


@dataclass(frozen=True)
class Changes:
    """What a list has that the one before had not.

    Attributes:
        new, changed, gone: ids. A thing is changed when the server describes it otherwise.
    """

    new: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)

    def __str__(self) -> str:
        parts = [(len(self.new), "new"), (len(self.changed), "changed"), (len(self.gone), "gone")]
        return ", ".join(f"{number:,} {word}" for number, word in parts if number)


@dataclass(frozen=True)
class Index:
    """All things, in their servers' order.

    Attributes:
        things: by id.
    """

    things: Mapping[str, Thing] = field(default_factory=dict[str, Thing])

    @classmethod
    def of(cls, offers: Iterable[tuple[Kind, str, Mapping[str, Any]]]) -> Index:
        """Make one of (kind, server, item as on the wire); two of one name stay two."""
        things: dict[str, Thing] = {}
        for kind, server, item in offers:
            number, thing = 1, Thing.of(kind, server, item)
            while thing.id in things:
                number += 1
                thing = Thing.of(kind, server, item, number)
            things[thing.id] = thing
        return cls(things)

    def search(self, text: str) -> list[Thing]:
        """Those that have every word of a text, the better the place the earlier; all of them for no words."""
        words = text.lower().split()
        if not words:
            return list(self.things.values())
        found = [thing for thing in self.things.values() if all(word in thing.words for word in words)]
        found.sort(key=lambda thing: _rank(thing, words))
        return found

    def with_things(self, more: Iterable[Thing]) -> Index:
        """This one, and some things as they are elsewhere."""
        return Index({**self.things, **{thing.id: thing for thing in more}})

    def since(self, before: Index) -> Changes:
        """What is other than before."""
        old, new = before.things, self.things
        changed = {name for name in new.keys() & old.keys() if new[name].item != old[name].item}
        return Changes(frozenset(new.keys() - old.keys()), frozenset(changed), frozenset(old.keys() - new.keys()))


def _rank(thing: Thing, words: Sequence[str]) -> int:
    if all(word in thing.name for word in words):
        return 0 if any(thing.key.lower().startswith(word) for word in words) else 1
    title = thing.title.lower()
    return 2 if all(word in title for word in words) else 3
