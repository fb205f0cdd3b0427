"""Rows as a table that is sorted by its headings; the page holds the rows in sight, the kernel all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.results.fold import Fold
from jupyter_mcp.notebook.components.rows import Column, Rows
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.data import data_piece, value_text
from jupyter_mcp.notebook.render.formatters import masked
from jupyter_mcp.notebook.render.text import count, flat
from jupyter_mcp.protocol.shapes import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.tables import Columns
    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["Row", "table"]

MAX_ROWS = 50_000
MAX_COLUMNS = 30
_LOOKED = 200  # cells that say what a column holds


def table(section: Section) -> Any:
    """The table of a section, what stands beside its rows, and the chosen row in full."""
    columns = section.columns or {}
    names = list(columns)[:MAX_COLUMNS]
    height = max((len(column) for column in columns.values()), default=0)
    heads = [_head(at, name, columns[name]) for at, name in enumerate(names)]
    rows = Rows(heads, section.heading or "Rows", height=330, row_height=26)
    cells = [columns[name] for name in names]
    rows.set([Row(cells, at) for at in range(min(height, MAX_ROWS))])
    chosen = kit.markup("")
    rows.on_open(lambda name: kit.paint(chosen, _in_full(columns, int(name))))
    below = kit.markup(html.note(html.muted(_told(height, len(columns), section))))
    beside = _beside(section)
    whole = [Fold("All of it as a tree", lambda: _tree(section)).root] if section.kind == "data" else []
    return kit.column([*([beside] if beside is not None else []), rows, below, chosen, *whole])


def _tree(section: Section) -> Any:
    from jupyter_mcp.notebook.components.tree import Tree

    return Tree(section.value, section.heading or "JSON value").root


class Row(Mapping[str, Any]):
    """One row of a table, read from its columns when it is looked at."""

    __slots__ = ("_at", "_cells")

    def __init__(self, cells: Sequence[Sequence[Any]], at: int) -> None:
        self._cells = cells
        self._at = at

    def __getitem__(self, key: str) -> Any:
        if key == "id":
            return str(self._at)
        if key == "sort":
            return {f"c{at}": self._sorts(at) for at in range(len(self._cells))}
        if key[:1] == "c" and key[1:].isdigit() and int(key[1:]) < len(self._cells):
            value = self._value(int(key[1:]))
            return "" if value is None else masked(value_text(value))
        raise KeyError(key)

    def _value(self, at: int) -> Any:
        column = self._cells[at]
        return column[self._at] if self._at < len(column) else None

    def _sorts(self, at: int) -> Any:
        value = self._value(at)
        return value if value is None or is_number(value) else value_text(value)

    def __iter__(self) -> Iterator[str]:
        return iter(("id", "sort", *(f"c{at}" for at in range(len(self._cells)))))

    def __len__(self) -> int:
        return 2 + len(self._cells)


def _head(at: int, name: str, column: Sequence[Any]) -> Column:
    """Numbers to the right; room by what is in a column."""
    title = flat(name, 60) or f"column {at + 1}"
    seen = [cell for cell in column[:_LOOKED] if cell is not None]
    if seen and all(is_number(cell) for cell in seen):
        return Column(f"c{at}", title, "minmax(70px,1fr)", kind="number", sortable=True)
    longest = max((len(value_text(cell)) for cell in seen), default=0)
    share = 3 if longest > 40 else 2 if longest > 15 else 1
    return Column(f"c{at}", title, f"minmax(90px,{share}fr)", sortable=True)


def _in_full(columns: Columns, at: int) -> str:
    """One row with all its columns, as names and values."""
    row = {name: column[at] if at < len(column) else None for name, column in columns.items()}
    return html.note(f"<b>row {at + 1}</b>") + data_piece(row, "").html


def _told(height: int, width: int, section: Section) -> str:
    said = [f"{count(height, 'row')}, {count(width, 'column')}"]
    if height > MAX_ROWS:
        said.append(f"the first {MAX_ROWS:,} are here")
    if width > MAX_COLUMNS:
        said.append(f"the first {MAX_COLUMNS} columns are here; a row that is clicked shows all")
    if section.framed:
        said.append(f"{html.code('.df()')} makes a data frame of them")
    return "; ".join(said)


def _beside(section: Section) -> Any:
    """What stands beside the rows in what was sent."""
    from jupyter_mcp.notebook.render.data import remarks_piece

    piece = remarks_piece(section.value) if section.kind == "data" else None
    return kit.markup(piece.html) if piece is not None and piece.html else None
