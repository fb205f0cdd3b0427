"""A JSON value as the rows of a tree, made as they are unfolded; a search through all of it. Pure.

However large the value, only what somebody opened has rows: an array of a million items gives the first hundreds and
a row that gives more.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.text import clean, count
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["JsonTree", "path_text", "summary"]

PAGE = 200
"""Members that one unfolding shows at most."""
MAX_TEXT = 300
MAX_LINES = 400  # of a long text that is unfolded
MAX_FOUND = 300
MAX_LOOKED = 300_000  # members that one search goes through
_PLAIN = re.compile(r"[A-Za-z_$][\w$]*")
Path = tuple[str | int, ...]


@dataclass
class _Node:
    name: str
    path: Path
    value: Any
    depth: int
    kind: str = "member"  # "member", "more" (its value is how many were shown), "line" (of a text)
    loaded: bool = False


class JsonTree:
    """
    Args:
        value: anything that JSON can say.
        open_to: how many levels begin unfolded, as far as they are short.
    """

    def __init__(self, value: Any, *, open_to: int = 1) -> None:
        self._numbers = itertools.count()
        self._nodes: list[_Node] = []
        self._found: list[_Node] | None = None
        self._cut = False
        self.value = value
        root = self._node((), value, 0)
        self._nodes.append(root)
        self._unfold(root, open_to)

    def _node(self, path: Path, value: Any, depth: int, kind: str = "member") -> _Node:
        return _Node(f"n{next(self._numbers)}", path, value, depth, kind)

    def _unfold(self, node: _Node, levels: int) -> None:
        if levels <= 0 or not _expandable(node) or (node.path and _size(node.value) > 20):
            return
        for child in self._load(node):
            self._unfold(child, levels - 1)

    # --- what shows --------------------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """The rows as `components.rowlist` wants them: all that was unfolded, or what a search found."""
        if self._found is not None:
            return [self._row(node, path_text(node.path), 0) for node in self._found]
        return [self._row(node, self._key(node), node.depth) for node in self._nodes]

    def _row(self, node: _Node, key: str, depth: int) -> dict[str, Any]:
        row: dict[str, Any] = {"id": node.name, "key": key, "value": self._told(node), "depth": depth}
        if self._found is None and _expandable(node):
            row.update(expandable=True, open=node.loaded)
        return row

    def _key(self, node: _Node) -> str:
        if node.kind == "more":
            return "…"
        if not node.path:
            return "$"
        last = node.path[-1]
        return f"[{last}]" if isinstance(last, int) else clean(last)

    def _told(self, node: _Node) -> str:
        if node.kind == "more":
            return f"{_size(node.value) - node.path[-1]:,} more; open this row for the next {PAGE}"  # pyright: ignore
        return summary(node.value)

    # --- unfolding ---------------------------------------------------------------------------------------------------

    def open(self, name: str) -> bool:
        """Make the rows below a row, when there are any that are not made yet; returns whether something changed."""
        node = self._find(name)
        if node is None:
            return False
        if node.kind == "more":
            at = self._nodes.index(node)
            shown = int(node.path[-1])
            self._nodes[at : at + 1] = self._children(node.value, node.path[:-1], node.depth, shown)
            return True
        if node.loaded or not _expandable(node):
            return False
        self._load(node)
        return True

    def _load(self, node: _Node) -> list[_Node]:
        node.loaded = True
        children = self._children(node.value, node.path, node.depth + 1, 0)
        at = self._nodes.index(node) + 1
        self._nodes[at:at] = children
        return children

    def _children(self, value: Any, path: Path, depth: int, start: int) -> list[_Node]:
        if isinstance(value, str):
            lines = clean(value).split("\n")[:MAX_LINES]
            return [self._node((*path, at), line, depth, "line") for at, line in enumerate(lines)]
        made = [
            self._node((*path, key), item, depth)
            for key, item in itertools.islice(_members(value), start, start + PAGE)
        ]
        shown = start + len(made)
        return [*made, self._node((*path, shown), value, depth, "more")] if shown < _size(value) else made

    # --- for the person ----------------------------------------------------------------------------------------------

    def path(self, name: str) -> str:
        """Where a row is: "$.rows[3].name"; of a line of a text, the text's."""
        node = self._find(name)
        if node is None:
            return ""
        return path_text(node.path if node.kind == "member" else node.path[:-1])

    def at(self, name: str) -> Any:
        """The value of a row; None for one that is not there."""
        node = self._find(name)
        return None if node is None else node.value

    def search(self, words: str) -> str:
        """Show only members whose name or value has these words ("" for the tree again); returns what to say of it."""
        wanted = words.casefold().strip()
        if not wanted:
            self._found, self._cut = None, False
            return ""
        found: list[_Node] = []
        for looked, (path, value) in enumerate(_walk(self.value)):
            if looked >= MAX_LOOKED or len(found) >= MAX_FOUND:
                self._cut = True
                break
            if wanted in _haystack(path, value):
                found.append(self._node(path, value, 0))
        else:
            self._cut = False
        self._found = found
        return f"{'the first ' if self._cut else ''}{count(len(found), 'member')} with {words.strip()!r}"

    def _find(self, name: str) -> _Node | None:
        known = self._nodes if self._found is None else self._found
        return next((node for node in known if node.name == name), None)


def path_text(path: Sequence[str | int]) -> str:
    """A path as JSONPath writes it (RFC 9535)."""
    said = ["$"]
    for step in path:
        if isinstance(step, int):
            said.append(f"[{step}]")
        else:
            said.append(f".{step}" if _PLAIN.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]")
    return clean("".join(said))


def summary(value: Any) -> str:
    """A value in one line: how many members, or the value itself."""
    if is_mapping(value):
        return f"{{}} {count(len(value), 'member')}" if value else "{}"
    if is_list(value):
        return f"[] {count(len(value), 'item')}" if value else "[]"
    if isinstance(value, str):
        kept = value if len(value) <= MAX_TEXT else value[:MAX_TEXT]
        more = f" … {count(len(value), 'character')}" if len(value) > MAX_TEXT else ""
        return clean(json.dumps(kept, ensure_ascii=False)) + more
    try:
        return clean(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError):
        return clean(str(value))


def _expandable(node: _Node) -> bool:
    if node.kind != "member":
        return node.kind == "more"
    value = node.value
    if isinstance(value, str):
        return len(value) > MAX_TEXT or value.count("\n") > 1
    return (is_mapping(value) or is_list(value)) and bool(value)


def _size(value: Any) -> int:
    return len(value) if is_mapping(value) or is_list(value) else 0


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if is_mapping(value):
        return ((str(key), item) for key, item in value.items())
    items: list[Any] = value
    return ((at, item) for at, item in enumerate(items))


def _walk(value: Any) -> Iterator[tuple[Path, Any]]:
    """Every member, depth first, in order; without recursion, which a deep value would exhaust."""
    waiting: list[Iterator[tuple[Path, Any]]] = [iter([((), value)])]
    while waiting:
        step = next(waiting[-1], None)
        if step is None:
            waiting.pop()
            continue
        path, inner = step
        yield path, inner
        if is_mapping(inner) or is_list(inner):
            waiting.append(_below(path, inner))


def _below(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    return (((*path, key), item) for key, item in _members(value))


def _haystack(path: Path, value: Any) -> str:
    name = str(path[-1]) if path else ""
    said = value if isinstance(value, str) else "" if is_mapping(value) or is_list(value) else summary(value)
    return f"{name}\n{said}".casefold()
