"""HTML that is safe, small, and readable with every style stripped (GitHub), in light and in dark.

Semantic tags carry the meaning; the few inline styles only refine it and take their colours from the page
(`--jp-*` variables) with neutral fallbacks. Nothing here loads anything: no script, no link, no remote image.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from jupyter_mcp.notebook.render.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "box",
    "code",
    "details",
    "escape",
    "muted",
    "note",
    "pre",
    "prose",
    "quote",
    "table",
    "tag",
]

_TONES = {
    "plain": "",
    "good": "color:var(--jp-success-color1, #2e7d32)",
    "warning": "color:var(--jp-warn-color0, #b26a00)",
    "error": "color:var(--jp-error-color1, #d32f2f)",
}
_CELL = "text-align:left;vertical-align:top;white-space:pre-wrap"


def escape(value: object) -> str:
    """Any text as HTML text: cleaned of control characters, all of `& < > " '` escaped."""
    return html.escape(clean(value), quote=True)


def tag(name: str, body: str, style: str = "", **attributes: str) -> str:
    """An element around HTML that is already safe."""
    extra = "".join(f' {key.replace("_", "-")}="{html.escape(value, quote=True)}"' for key, value in attributes.items())
    styled = f' style="{style}"' if style else ""
    return f"<{name}{styled}{extra}>{body}</{name}>"


def code(value: object) -> str:
    return tag("code", escape(value))


def muted(body: str) -> str:
    """Secondary HTML text, smaller and paler."""
    return tag("small", body, "color:var(--jp-ui-font-color2, inherit)")


def note(body: str, tone: str = "plain") -> str:
    """One paragraph; the tone colours it, the words have to say it too."""
    return tag("p", body, f"margin:4px 0;{_TONES.get(tone, '')}")


def pre(value: object, *, mono: bool = True) -> str:
    """Text with its own line breaks, monospaced or as prose."""
    family = "" if mono else "font-family:inherit;font-size:inherit;"
    style = f"{family}white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0"
    return tag("pre", escape(value), style)


def prose(value: object) -> str:
    return pre(value, mono=False)


def quote(body: str) -> str:
    """Somebody else's words, marked as theirs."""
    style = "margin:4px 0;padding:2px 12px;border-left:3px solid var(--jp-border-color1, rgba(128,128,128,.6))"
    return tag("blockquote", body, style)


def details(summary: str, body: str, *, open_: bool = False) -> str:
    """A fold; its summary is HTML that is already safe."""
    return f"<details{' open' if open_ else ''}><summary>{summary}</summary>{body}</details>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of HTML cells that are already safe; the header's are plain text."""
    head = "".join(tag("th", escape(cell), _CELL) for cell in header)
    body = "".join(tag("tr", "".join(tag("td", cell, _CELL) for cell in row)) for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if header else ""
    return f'<table style="border-collapse:collapse;margin:4px 0">{top}<tbody>{body}</tbody></table>'


def box(body: str) -> str:
    """One output: every bundle's HTML is one of these."""
    return f'<div class="jupyter-mcp">{body}</div>'
