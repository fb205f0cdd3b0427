"""This notebook as a server: how to reach it, what may be seen, who came and what they read. Pure.

The parts are functions of their own, because the live card keeps its buttons between them. None of them holds a port or
a token: what a saved notebook says of them is that they are elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, text_table
from jupyter_mcp.notebook.render.text import count, flat, portable
from jupyter_mcp.protocol.secrets import MASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.notebook.render.views import EndpointView

__all__ = ["acts_piece", "endpoint_piece", "exposed_piece", "head_piece", "who_piece"]

MAX_NAMES = 20
MAX_ACTS = 12
MAX_CLIENTS = 12


def endpoint_piece(view: EndpointView) -> Piece:
    """All of it, as it is saved."""
    if not view.active:
        return stack([head_piece(view), who_piece(view), acts_piece(view.acts)])
    return stack([head_piece(view), _reach(view), exposed_piece(view), who_piece(view), acts_piece(view.acts)])


def head_piece(view: EndpointView) -> Piece:
    """Which notebook, and whether it is served."""
    name = flat(view.name, 60)
    if not view.active:
        return Piece(html.note(f"<b>{html.escape(name)}</b> ○ no longer served"), f"{name} is no longer served.")
    how = "for reading, and for code that you allow" if view.allow_code else "for reading only"
    return Piece(
        html.note(f"<b>{html.escape(name)}</b> ● served {html.escape(how)}", "good"), f"{name} is served, {how}."
    )


def _reach(view: EndpointView) -> Piece:
    """The bridge's command without this machine's folders, and that there is a URL."""
    command = portable(flat(view.command, 400))
    rows = [("command for an agent", command), ("URL and token", MASK)]
    cells = [[f"<b>{html.escape(term)}</b>", html.code(said)] for term, said in rows]
    return Piece(html.table([], cells), "\n".join(f"  {term}: {said}" for term, said in rows))


def exposed_piece(view: EndpointView) -> Piece:
    """What may be seen and called."""
    rows = [("variables", _variables(view))]
    if view.functions:
        rows.append(("functions", _some(view.functions)))
    if view.outside:
        rows.append(("from elsewhere", flat(view.outside, 400)))
    rows.append(("code", flat(view.code, 400) if view.allow_code else "not allowed"))
    cells = [[f"<b>{html.escape(term)}</b>", html.escape(said)] for term, said in rows]
    return Piece(html.table([], cells), "\n".join(f"  {term}: {said}" for term, said in rows))


def _variables(view: EndpointView) -> str:
    said = _some(view.names) if view.names else "none yet"
    only = " (only these)" if view.chosen else ""
    hidden = f"; {view.hidden} hidden" if view.hidden else ""
    return f"{said}{only}{hidden}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(flat(name, 60) for name in names[:MAX_NAMES])
    return shown if len(names) <= MAX_NAMES else f"{shown} and {len(names) - MAX_NAMES:,} more"


def who_piece(view: EndpointView) -> Piece:
    """Who came, by their own words."""
    if not view.clients:
        return plain_line("Nobody has connected yet." if view.active else "Nobody connected.")
    known = list(dict.fromkeys(flat(name, 60) for name, _ in view.clients))
    names = known[:MAX_CLIENTS]
    more = len(known) - len(names)
    return plain_line(f"Connected: {', '.join(names)}{f' and {more} more' if more > 0 else ''}.")


def acts_piece(acts: Sequence[tuple[str, str, str, str]]) -> Piece | None:
    """What they read and called and were asked, the last one first."""
    if not acts:
        return None
    rows = [_act(*act) for act in acts[:MAX_ACTS]]
    header = ["client", "what", ""]
    cells = [[html.escape(who), html.code(what), html.escape(said)] for who, what, said in rows]
    more = len(acts) - len(rows)
    rest = plain_line(f"and {count(more, 'act')} before", mark="small") if more > 0 else None
    return stack([Piece(html.table(header, cells), text_table(header, rows)), rest])


def _act(client: str, kind: str, what: str, outcome: str) -> tuple[str, str, str]:
    return flat(client or "somebody", 60), f"{kind} {flat(what, 200)}", flat(outcome, 60)
