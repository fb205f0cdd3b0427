"""The folders that servers are told about, with a picker: walk to a folder, share it, take one back.

The picker lists names of folders only, at most `MAX_SHOWN` of one, and opens no file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.text import cut, flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.objects.roots import RootsTable

__all__ = ["MAX_SHOWN", "folders_in", "roots_card"]

MAX_SHOWN = 500
_LOOKED_AT = 20_000  # entries; a folder may hold millions


def roots_card(table: RootsTable) -> Card:
    """Display the roots of a table with buttons."""
    return _Roots(table).card.show()


class _Roots:
    def __init__(self, table: RootsTable) -> None:
        self._table = table
        self._rows = kit.column([])
        self._said = kit.markup("")
        self._picker = _Picker(self._add)
        self._pick = kit.button("Add a folder", self._toggle, tip="Choose a folder of this machine")
        self.card = Card(
            kit.root(
                [
                    kit.markup(html.note(html.tag("strong", html.escape(table.title))), "jmcp-head"),
                    self._rows,
                    self._said,
                    kit.row([self._pick]),
                    self._picker.root,
                    kit.markup(html.note(html.muted(html.escape(table.hint)))),
                ]
            ),
            lambda: bundle(table),
        )
        kit.hide(self._picker.root, True)
        self._draw()

    def _draw(self) -> None:
        rows = [self._row(one) for one in self._table]
        self._rows.children = rows or [kit.markup(html.note(html.escape(self._table.empty)))]
        self.card.wire(self._rows)
        self.card.redraw()

    def _row(self, root: dict[str, Any]) -> Any:
        name, uri = str(root.get("name") or ""), str(root["uri"])
        shown = f"{html.escape(cut(flat(name), 80))} {html.muted(html.escape(cut(flat(uri), 200)))}"
        take = kit.button("Remove", lambda: self._remove(root), tip=f"Tell no server of {name or uri} any more")
        return kit.row([take, kit.markup(html.note(shown))])

    def _toggle(self) -> None:
        opening = self._picker.root.layout.display == "none"
        if opening:
            self._picker.open(Path.cwd())
        kit.hide(self._picker.root, not opening)
        self._pick.description = "Close" if opening else "Add a folder"

    def _add(self, folder: Path) -> None:
        self._do(lambda: self._table.add(str(folder)), f"{folder.name or folder} is shared.")

    def _remove(self, root: dict[str, Any]) -> None:
        self._do(lambda: self._table.remove(root), f"{root.get('name') or root['uri']} is shared no more.")

    def _do(self, change: Callable[[], object], done: str) -> None:
        try:
            change()
        except MCPError as error:
            kit.paint(self._said, kit.status(str(error), "bad"))
            return
        kit.paint(self._said, kit.status(cut(flat(done), 200)))
        self._draw()


class _Picker:
    """Where one is, the folders in it, and what to do: by mouse, or by keys alone."""

    def __init__(self, choose: Callable[[Path], object]) -> None:
        self._choose = choose
        self._here = Path.cwd()
        self._where = kit.markup("")
        self._list = kit.widgets.Select(options=[], rows=8, description="folders", layout={"width": "100%"})
        self._up = kit.button("Up", self._rise, tip="The folder around this one")
        self._in = kit.button("Open", self._enter, tip="Go into the chosen folder")
        self._share = kit.button("Share", self._take, look="primary", tip="Tell servers of the chosen folder")
        self.root = kit.column(
            [self._where, self._list, kit.row([self._up, self._in, self._share])], "jmcp-control", "jmcp-list"
        )
        self.root.layout.max_width = "520px"

    def open(self, folder: Path) -> None:
        """Show the folders of a folder."""
        names, more = folders_in(folder)
        self._here = folder
        with self._list.hold_sync():  # in one message: between two, somebody may have chosen already
            self._list.options = [". (this folder)", *names]
            self._list.index = 0
        note = f" {html.muted(html.escape(more))}" if more else ""
        kit.paint(self._where, kit.status(cut(str(folder), 300)) + note)
        self._up.disabled = folder.parent == folder

    @property
    def _chosen(self) -> Path:
        at: int = self._list.index or 0
        return self._here if at == 0 else self._here / str(self._list.options[at])

    def _rise(self) -> None:
        self.open(self._here.parent)

    def _enter(self) -> None:
        self.open(self._chosen)

    def _take(self) -> None:
        self._choose(self._chosen)


def folders_in(folder: Path) -> tuple[list[str], str]:
    """The names of the folders in a folder, hidden ones last; and what there is to say about that (or "")."""
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for seen, entry in enumerate(entries):
                if seen >= _LOOKED_AT:
                    break
                if _is_folder(entry):
                    names.append(entry.name)
    except OSError as error:
        return [], f"cannot be listed: {error.strerror or error}"
    names.sort(key=lambda name: (name.startswith("."), name.casefold()))
    return names[:MAX_SHOWN], f"the first {MAX_SHOWN} folders" if len(names) > MAX_SHOWN else ""


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle
        return False
