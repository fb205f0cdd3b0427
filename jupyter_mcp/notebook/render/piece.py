"""A piece of output in its two plain forms, HTML and text, and how pieces stack. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import clean, flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Piece", "error_line", "plain_line", "stack", "table_piece", "text_table", "warning_line"]

_CELL = 60  # characters of one cell in a text table


class Piece(NamedTuple):
    """The same content as safe HTML and as plain text."""

    html: str
    text: str


def stack(pieces: Iterable[Piece | None]) -> Piece:
    """Pieces one below the other."""
    kept = [piece for piece in pieces if piece is not None]
    return Piece("".join(piece.html for piece in kept), "\n".join(piece.text for piece in kept if piece.text))


def plain_line(text: str, *, mark: str = "") -> Piece:
    """One sentence of ours; `mark` is a tag around all of it ("b", "i", "small")."""
    said = clean(text)
    safe = html.escape(said)
    return Piece(html.note(html.muted(safe) if mark == "small" else html.tag(mark, safe) if mark else safe), said)


def warning_line(text: str) -> Piece:
    said = clean(text)
    return Piece(html.note(f"<b>Note:</b> {html.escape(said)}", "warning"), f"Note: {said}")


def error_line(text: str, label: str = "Error") -> Piece:
    said = clean(text)
    return Piece(html.note(f"<b>{html.escape(label)}:</b> {html.escape(said)}", "error"), f"{label}: {said}")


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned by blanks; a cell is one line of at most 60 characters."""
    cells = [[flat(cell, _CELL) for cell in row] for row in ([header, *rows] if header else rows)]
    width = max(map(len, cells), default=0)
    widths = [max((len(row[at]) for row in cells if at < len(row)), default=0) for at in range(width)]
    return "\n".join("  ".join(cell.ljust(widths[at]) for at, cell in enumerate(row)).rstrip() for row in cells)


def table_piece(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Piece:
    """A table of plain cells."""
    safe = [[html.escape(cell) for cell in row] for row in rows]
    return Piece(html.table(header, safe), text_table(header, rows))
