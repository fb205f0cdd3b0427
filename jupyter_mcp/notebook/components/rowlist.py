"""The rows of a long list or tree: which are visible, in which order, and what the page is told of a few of them. Pure.

A row is a mapping; nothing but `id` is needed:

    id          text, unique in the list
    <column>    what stands in the column of that key: text or a number
    depth       how deep it is in a tree; the rows below it that are deeper are its own, up to the next that is not
    expandable  whether it can be opened and closed; `open` (default true) says how it begins
    detail      a second, paler line under the first column
    badges      [{"text": …, "tone": "ok" | "warn" | "error" | "info" | ""}]
    marks       short words that say what is new about it ("new", "changed")
    fixed       it cannot be ticked (a folder)
    icon        key of a picture (see `Rows(icons=…)`)
    sort        {column: value} where another value than the shown one sorts

What stands in rows comes from servers: it is cleaned and cut on its way to the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import as_list, is_mapping, is_number, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["MAX_WINDOW", "RowList"]

MAX_WINDOW = 200
"""Rows that one message carries at most."""
MAX_TEXT = 500
MAX_BADGES = 8
TONES = frozenset({"ok", "warn", "error", "info"})


class RowList:
    """The rows of one list.

    Args:
        keys: of the columns, in order.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)
        self._rows: list[Mapping[str, Any]] = []
        self._place: dict[str, int] = {}
        self._open: dict[str, bool] = {}
        self._order: tuple[str, bool] | None = None
        self._visible: list[int] | None = None
        self._index: dict[str, int] | None = None

    # --- what there is ---

    def set(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take these rows instead; what was opened or closed by hand stays so. Of two with one id the first counts."""
        self._rows, self._place = [], {}
        self.append(rows)

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows at the end."""
        for row in rows:
            name = str(row["id"])
            if name not in self._place:
                self._place[name] = len(self._rows)
                self._rows.append(row)
        self._visible = self._index = None

    def update(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take these instead of the rows of the same ids; unknown ones are left out."""
        for row in rows:
            at = self._place.get(str(row["id"]))
            if at is not None:
                self._rows[at] = row
        self._visible = self._index = None

    def row(self, name: str) -> Mapping[str, Any] | None:
        """The row of an id."""
        at = self._place.get(name)
        return None if at is None else self._rows[at]

    def __len__(self) -> int:
        return len(self._rows)

    # --- order and folds ---

    @property
    def tree(self) -> bool:
        """Whether any row is deeper than another or can be opened."""
        return any(row.get("depth") or row.get("expandable") for row in self._rows)

    def is_open(self, name: str) -> bool:
        """Whether what is below a row shows."""
        row = self.row(name)
        return self._open.get(name, row is not None and row.get("open") is not False)

    def toggle(self, name: str, wanted: bool | None = None) -> bool:
        """Open or close a row (None: whichever it is not); returns how it is now."""
        self._open[name] = not self.is_open(name) if wanted is None else wanted
        self._visible = self._index = None
        return self._open[name]

    def sort(self, key: str, descending: bool) -> None:
        """Order by a column; numbers before text. "" is the order they came in. A tree keeps its order."""
        self._order = (key, descending) if key in self._keys else None
        self._visible = self._index = None

    @property
    def order(self) -> tuple[str, bool] | None:
        """The column that orders, and whether it descends."""
        return self._order

    @property
    def visible(self) -> list[int]:
        """Which rows show, in their order."""
        if self._visible is None:
            self._visible = self._sorted() if self._order is not None and not self.tree else self._unfolded()
        return self._visible

    def _sorted(self) -> list[int]:
        assert self._order is not None
        key, descending = self._order
        known = [at for at, row in enumerate(self._rows) if _sort_value(row, key) is not None]
        unknown = [at for at, row in enumerate(self._rows) if _sort_value(row, key) is None]
        known.sort(key=lambda at: _rank(_sort_value(self._rows[at], key)), reverse=descending)
        return known + unknown

    def _unfolded(self) -> list[int]:
        shown: list[int] = []
        below: int | None = None  # rows deeper than this one are in a closed one
        for at, row in enumerate(self._rows):
            depth = _depth(row)
            if below is not None and depth > below:
                continue
            below = None
            shown.append(at)
            if row.get("expandable") and not self.is_open(str(row["id"])):
                below = depth
        return shown

    # --- what the page asks for ---

    def position(self, name: str) -> int | None:
        """Where a row stands among the visible ones."""
        if self._index is None:
            self._index = {str(self._rows[at]["id"]): index for index, at in enumerate(self.visible)}
        return self._index.get(name)

    def window(self, start: int, stop: int) -> list[dict[str, Any]]:
        """The visible rows from one to another, as the page draws them; at most `MAX_WINDOW`."""
        start = max(0, start)
        stop = min(stop, start + MAX_WINDOW, len(self.visible))
        return [self._drawn(self._rows[at], index) for index, at in enumerate(self.visible[start:stop], start)]

    def find(self, prefix: str, after: int) -> int | None:
        """The next visible row after one whose first column begins with these letters, from the top when at the end."""
        wanted = prefix.casefold()
        count = len(self.visible)
        if not wanted or not self._keys:
            return None
        for step in range(1, count + 1):
            at = (after + step) % count
            if str(self._rows[self.visible[at]].get(self._keys[0], "")).casefold().startswith(wanted):
                return at
        return None

    def _drawn(self, row: Mapping[str, Any], index: int) -> dict[str, Any]:
        name = str(row["id"])
        drawn: dict[str, Any] = {"id": name, "cells": [_text(row.get(key)) for key in self._keys]}
        depth = _depth(row)
        if depth:
            drawn["depth"] = depth
            drawn["up"] = self._parent(index, depth)
        if row.get("expandable"):
            drawn["open"] = self.is_open(name)
        if row.get("fixed"):
            drawn["fixed"] = True
        if row.get("detail"):
            drawn["detail"] = flat(row["detail"], MAX_TEXT)
        badges = [one for one in as_list(row.get("badges")) if is_mapping(one)][:MAX_BADGES]
        if badges:
            drawn["badges"] = [[flat(one.get("text", ""), 60), _tone(one.get("tone"))] for one in badges]
        marks = [flat(one, 40) for one in as_list(row.get("marks"))[:MAX_BADGES]]
        if marks:
            drawn["marks"] = marks
        if isinstance(row.get("icon"), str):
            drawn["icon"] = row["icon"]
        return drawn

    def _parent(self, index: int, depth: int) -> int:
        while index > 0:
            index -= 1
            if _depth(self._rows[self.visible[index]]) < depth:
                return index
        return 0


def _text(value: object) -> str:
    return "" if value is None else flat(value, MAX_TEXT)


def _tone(value: object) -> str:
    return value if isinstance(value, str) and value in TONES else ""


def _depth(row: Mapping[str, Any]) -> int:
    depth = row.get("depth")
    return depth if isinstance(depth, int) and depth > 0 else 0


def _sort_value(row: Mapping[str, Any], key: str) -> Any:
    given = mapping_of(row.get("sort"))
    value = given[key] if key in given else row.get(key)
    return None if value is None or value == "" else value


def _rank(value: Any) -> tuple[int, Any]:
    return (0, value) if is_number(value) else (1, str(value).casefold())
