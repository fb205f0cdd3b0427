"""Resources as a tree by their addresses: server, then scheme and host, then folders; templates stand apart. Pure.

Folders that hold nothing but one folder are one row with it ("a/b/c"), so that a deep path is not a staircase.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jupyter_mcp.notebook.cards.explorer.lines import line
from jupyter_mcp.notebook.render.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from jupyter_mcp.notebook.cards.explorer.index import Changes, Thing

__all__ = ["MAX_OPEN", "is_folder", "tree_rows"]

MAX_OPEN = 200
"""With more resources than that, folders below the first level begin closed."""
MAX_DEPTH = 12


@dataclass
class _Folder:
    name: str
    path: str
    folders: dict[str, _Folder] = field(default_factory=dict[str, "_Folder"])
    things: list[tuple[str, Thing]] = field(default_factory=list[tuple[str, "Thing"]])

    def below(self, kind: str) -> int:
        """How many of a kind are in it, however deep."""
        here = sum(thing.kind == kind for _, thing in self.things)
        return here + sum(folder.below(kind) for folder in self.folders.values())


def tree_rows(
    things: Sequence[Thing],
    changes: Changes,
    *,
    watched: Set[tuple[str, str]] = frozenset(),
    open_all: bool = False,
    off: Set[tuple[str, str]] = frozenset(),
) -> list[dict[str, Any]]:
    """The rows of some resources and templates.

    Args:
        things: which.
        changes: what is new since somebody looked.
        watched: (server, URI) of what is watched.
        open_all: every folder is open (a search has narrowed it).
        off: (server, URI) of what models cannot use.
    """
    rows: list[dict[str, Any]] = []
    few = open_all or len(things) <= MAX_OPEN
    for server in dict.fromkeys(thing.server for thing in things):
        mine = [thing for thing in things if thing.server == server]
        top = _Folder(server, f"folder\n{server}")
        for thing in mine:
            if thing.kind == "resource":
                _put(top, thing)
        templates = [thing for thing in mine if thing.kind == "template"]
        if templates:
            held = _Folder("Templates", f"folder\n{server}\ntemplates")
            held.things = [(thing.key, thing) for thing in templates]
            top.folders = {"": held, **top.folders}
        rows += _rows(top, 0, changes, few)
    for row in rows:
        thing = row.pop("thing", None)
        if thing is not None:
            row.update(_leaf(thing, row["name"], changes, watched, off))
    return rows


def is_folder(name: str) -> bool:
    """Whether a row's id is that of a folder."""
    return name.startswith("folder\n")


def _put(top: _Folder, thing: Thing) -> None:
    *folders, name = _parts(thing.key)
    at = top
    for part in folders[:MAX_DEPTH]:
        at = at.folders.setdefault(part, _Folder(part, f"{at.path}\n{part}"))
    at.things.append((unquote("/".join([*folders[MAX_DEPTH:], name])), thing))


def _parts(uri: str) -> list[str]:
    """ "file:///a/b.txt" is "file://", "a", "b.txt"; "notes://today" is "notes://", "today"; others are one part."""
    scheme, mark, rest = uri.partition("://")
    if not mark:
        return [uri]
    host, slash, path = rest.partition("/")
    if not slash:
        return [f"{scheme}://", host or uri]
    parts = [part for part in path.split("/") if part]
    return [f"{scheme}://{host}", *parts] if parts else [f"{scheme}://", f"{host}/"]


def _rows(folder: _Folder, depth: int, changes: Changes, few: bool) -> Iterator[dict[str, Any]]:
    name, folder = _joined(folder, depth)
    yield {
        "id": folder.path,
        "name": name,
        "detail": _held(folder),
        "depth": depth,
        "fixed": True,
        "expandable": True,
        "open": few or depth == 0,
    }
    for inner in folder.folders.values():
        yield from _rows(inner, depth + 1, changes, few)
    for name, thing in folder.things:
        yield {"id": thing.id, "name": name, "depth": depth + 1, "thing": thing}


def _held(folder: _Folder) -> str:
    numbers = [(folder.below(kind), kind) for kind in ("resource", "template")]
    return ", ".join(count(number, kind) for number, kind in numbers if number)


def _joined(folder: _Folder, depth: int) -> tuple[str, _Folder]:
    """A folder with the only folder in it, and so on."""
    name = folder.name if depth == 0 else unquote(folder.name)
    while depth and not folder.things and len(folder.folders) == 1:
        folder = next(iter(folder.folders.values()))
        name = f"{name.rstrip('/')}/{unquote(folder.name)}" if not name.endswith("://") else f"{name}{folder.name}"
    return name, folder


def _leaf(
    thing: Thing, name: str, changes: Changes, watched: Set[tuple[str, str]], off: Set[tuple[str, str]]
) -> dict[str, Any]:
    row = line(thing, changes, off)
    told = thing.item.get("description")
    called = thing.title if thing.title not in (thing.key, name) else ""
    row["name"] = name
    row["detail"] = " — ".join(part for part in (called, told[:300] if isinstance(told, str) else "") if part)
    if (thing.server, thing.key) in watched:
        row["badges"].append({"text": "watched", "tone": "info"})
    return row
