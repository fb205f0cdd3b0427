"""Texts: Markdown drawn or as it was sent, and long ones by their lines, of which the page holds those in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.results.fold import Fold
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.blocks import MAX_TEXT, section_piece
from jupyter_mcp.notebook.render.formatters import masked
from jupyter_mcp.notebook.render.text import clean, count, cut
from jupyter_mcp.notebook.render.textkinds import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["long_text", "markdown_text"]

MAX_LINES = 50_000
_WIDE = 400  # characters of one row; a longer line goes on in the next
PREVIEW = 2_000


def long_text(section: Section) -> Any:
    """The beginning of a text, and all of it on request."""
    text = clean(section.text)
    head = cut(text, PREVIEW)
    beginning = kit.markup(html.pre(head, mono=laid_out(head)))
    return kit.column([beginning, Fold(f"All {count(len(text), 'character')}", lambda: _lines(section, text)).root])


def _lines(section: Section, text: str) -> Any:
    from jupyter_mcp.notebook.components.rows import Column, Rows

    shown = list(_broken(text))
    rows = Rows([Column("text", "Text", kind="code")], "Text", heads=False, height=360, row_height=20)
    rows.set([{"id": str(at), "text": masked(line)} for at, line in enumerate(shown[:MAX_LINES])])
    if len(shown) > MAX_LINES:
        rows.note = f"the first {count(MAX_LINES, 'line')}; {section.where} holds all"
    return rows


def _broken(text: str) -> Iterable[str]:
    for line in text.split("\n"):
        for at in range(0, max(1, len(line)), _WIDE):
            yield line[at : at + _WIDE]


def markdown_text(section: Section) -> Any:
    """Markdown drawn; behind a button the text to the letter, which says more than a drawing shows."""
    parts = [kit.markup(section_piece(section).html)]
    if section.columns is not None:
        parts.append(Fold("Its table, to be sorted", lambda: _table(section)).root)
    parts.append(Fold("The text as it was sent", lambda: _as_sent(section)).root)
    return kit.column(parts)


def _as_sent(section: Section) -> Any:
    return long_text(section) if len(section.text) > MAX_TEXT else kit.markup(html.pre(clean(section.text)))


def _table(section: Section) -> Any:
    from jupyter_mcp.notebook.cards.results.table import table

    return table(section)
