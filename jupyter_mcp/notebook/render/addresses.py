"""An address that a server wants opened, drawn so that a person can judge it, and the one link that opens it. Pure.

The host stands apart and is shown as DNS knows it and as it reads. The link is there only once the person has agreed;
it tells the page nothing of where it came from, and nothing is loaded before it is clicked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host.urls import MAX_URL
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece
from jupyter_mcp.notebook.render.text import flat

if TYPE_CHECKING:
    from jupyter_mcp.host.urls import Address

__all__ = ["address_piece", "link_piece", "page_name"]


def page_name(address: Address) -> str:
    """The site, as short as it can be said honestly."""
    return flat(address.site or "(no site)", 120)


def address_piece(address: Address, *, whole: bool = True) -> Piece:
    """The site, and the address to its last letter.

    Args:
        address: what is known about it.
        whole: without it only the site: what is saved for good holds no one-time codes.
    """
    rows = [("site", html.tag("b", html.escape(address.site)), address.site)] if address.site else []
    if address.reads:
        rows.append(("reads as", _foreign(address.reads), address.reads))
    if whole or not address.site:
        rows.append(("address", html.tag("code", _marked(address), "overflow-wrap:anywhere"), _said(address)))
    table = html.table([], [[f"<b>{term}</b>", cell] for term, cell, _ in rows])
    return Piece(table, "\n".join(f"  {term}: {said}" for term, _, said in rows))


def _foreign(name: str) -> str:
    """A name with its letters outside ASCII marked: they are what a reader takes for others."""
    style = "text-decoration:underline wavy;font-weight:bold"
    pieces = (html.escape(char) if char.isascii() else html.tag("span", html.escape(char), style) for char in name)
    return "".join(pieces)


def _marked(address: Address) -> str:
    if not address.host:
        return html.escape(_said(address))
    return f"{html.escape(address.before)}<b>{html.escape(address.host)}</b>{html.escape(address.after)}"


def _said(address: Address) -> str:
    return flat(address.url or "(none)", MAX_URL)


def link_piece(address: Address, *, css: str = "") -> Piece | None:
    """The link that opens the page in a tab of its own; None for what must not be opened."""
    if address.refusal is not None:
        return None
    label = f"Open {page_name(address)} in a new tab"
    extra = {"class": css} if css else {}
    anchor = html.tag(
        "a", html.escape(label), href=address.url, target="_blank", rel="noopener noreferrer",
        referrerpolicy="no-referrer", **extra,
    )  # fmt: skip
    return Piece(html.note(anchor), f"open it in a browser: {_said(address)}")
