"""A JSON tree: unfolded as one goes, searched, its paths and values copied.

    Tree(value, label="Result").root

It is a list of rows (`rows`) over a tree of them (`jsontree`), so it is as quick, and used by the same keys, whatever
the size of the value. Masked where it is shown and where it is copied: servers say back what they were given.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.components.copy import Copy
from jupyter_mcp.notebook.components.jsontree import JsonTree
from jupyter_mcp.notebook.components.rows import Column, Rows
from jupyter_mcp.notebook.render.formatters import masked

__all__ = ["Tree"]


class Tree:
    """
    Args:
        value: anything that JSON can say.
        label: what it is, for screen readers.
        height: of the part that scrolls, in pixels at most.

    Attributes:
        root: the widget.
    """

    def __init__(self, value: Any, label: str, *, height: int = 360) -> None:
        self._guard = threading.RLock()
        self._tree = JsonTree(value)
        columns = [
            Column("key", "Name", "minmax(120px,2fr)", kind="code"),
            Column("value", "Value", "minmax(0,3fr)", kind="code"),
        ]
        self._rows = Rows(columns, label, search="Search names and values", height=height, row_height=24)
        self._copy = Copy([("value", "Copy value"), ("path", "Copy path")], self._text)
        self._chosen = ""
        self.root = kit.column([self._rows, self._copy])
        self._rows.on_open(self._choose)
        self._rows.on_toggle(self._toggle)
        self._rows.on_search(self._search)
        self._show()

    def _show(self) -> None:
        self._rows.set([masked(row) for row in self._tree.rows()])

    def _choose(self, name: str) -> None:
        with self._guard:
            self._chosen = name
            if self._tree.path(name) and str((self._rows.row(name) or {}).get("key")) == "…":
                self._toggle(name, True)

    def _toggle(self, name: str, opened: bool) -> None:
        with self._guard:
            if opened and self._tree.open(name):
                self._show()

    def _search(self, words: str) -> None:
        with self._guard:
            self._rows.note = masked(self._tree.search(words))
            self._show()

    def _text(self, key: str) -> str:
        """Of the chosen row; of the whole value while none is."""
        with self._guard:
            name = self._chosen if self._rows.row(self._chosen) is not None else ""
            if key == "path":
                return masked(self._tree.path(name) if name else "$")
            value = self._tree.at(name) if name else self._tree.value
        if isinstance(value, str):
            return masked(value)
        return masked(json.dumps(value, ensure_ascii=False, indent=2, default=str))
