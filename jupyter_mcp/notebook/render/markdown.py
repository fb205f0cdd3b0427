"""Markdown of a model or a server as safe HTML: nothing in it loads, runs or looks like ours. mistune at first use.

A model repeats what servers told it, so its text is as untrusted as theirs. Raw HTML is shown as text. An image would
be fetched by whoever opens the notebook, and its address can carry away what the model knows: it is shown as its
address. Links lead to the web and to mail only, and say where.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import clean, cut, flat

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["markdown"]

log = logging.getLogger("jupyter_mcp.render")
MAX_TEXT = 30_000  # characters
_SCHEMES = ("http", "https", "mailto")


def markdown(text: str, *, whole: str = ".text", limit: int = MAX_TEXT, breaks: bool = False) -> str:
    """Safe HTML of a text in Markdown; what cannot be read as Markdown is shown as it is.

    Args:
        text: untrusted.
        whole: where a program finds all of it, said when it is cut.
        limit: characters that are drawn.
        breaks: its lines stay lines (texts of tools are written for a terminal as often as for a page).
    """
    shown = cut(clean(text), limit, whole)
    try:
        return _reader(breaks)(shown)
    except Exception:
        log.exception("a text could not be read as Markdown")
        return html.prose(shown)


@cache
def _reader(breaks: bool) -> Callable[[str], str]:
    import mistune

    class Safe(mistune.HTMLRenderer):
        def heading(self, text: str, level: int, **attributes: Any) -> str:
            return html.tag(f"h{min(level + (2 if breaks else 0), 6)}", text)  # a part of a page, and not its title

        def image(self, text: str, url: str, title: str | None = None) -> str:
            return html.muted(f"[image: {html.escape(flat(text, 120))} {html.code(flat(url, 300))}]")

        def link(self, text: str, url: str, title: str | None = None) -> str:
            return _link(text, url)

        def block_code(self, code: str, info: str | None = None) -> str:
            return html.pre(code.rstrip("\n"))

    plugins = ["strikethrough", "table", "task_lists"]
    made: Any = mistune.create_markdown(renderer=Safe(escape=True), hard_wrap=breaks, plugins=plugins)
    return lambda text: str(made(text))


def _link(text: str, url: str) -> str:
    """A link with its host behind it, unless its text says where it leads; of another kind of address only the text."""
    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme.lower(), parts.hostname or ""
    except ValueError:
        scheme, host = "", ""
    if scheme not in _SCHEMES:
        return f"{text} {html.muted(html.code(flat(url, 300)))}"
    told = f" {html.muted(html.escape(f'({host})'))}" if host and host not in text else ""
    address = {"href": url, "target": "_blank", "rel": "noopener noreferrer", "title": flat(url, 500)}
    return html.tag("a", text, **address) + told
