"""Servers: one as a card, several as a table. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, error_line, stack, text_table, warning_line
from jupyter_mcp.notebook.render.text import count, cut, flat, portable
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.notebook.render.views import ServersView, ServerView

__all__ = ["counts_text", "era_text", "server_piece", "servers_piece"]

_KINDS = (("tools", "tool"), ("resources", "resource"), ("templates", "template"), ("prompts", "prompt"))
_MARKS = {"ready": "●", "starting": "◌", "lost": "✕", "failed": "✕", "closed": "○"}
MAX_STDERR = 12


def server_piece(view: ServerView) -> Piece:
    """One server: what it is, what it offers, what is wrong with it."""
    return stack([_head(view), _facts(view), _trouble(view), *map(warning_line, view.notes[:10]), _instructions(view)])


def _head(view: ServerView) -> Piece:
    named = flat(view.info.get("title") or view.info.get("name") or "", 120)
    version = flat(view.info.get("version") or "", 40)
    who = " ".join(part for part in (named, version) if part)
    facts = [part for part in (who, era_text(view.era, view.revision)) if part]
    state = f"<b>{html.escape(view.name)}</b> {_MARKS.get(view.state, '○')} {html.escape(view.state)}"
    tone = "error" if view.state in ("lost", "failed") else "plain"
    markup = html.note(" · ".join([state, *map(html.escape, facts)]), tone)
    return Piece(markup, " · ".join([f"{view.name} {view.state}", *facts]))


def era_text(era: str | None, revision: str | None) -> str:
    """ "modern 2026-07-28"."""
    return " ".join(flat(part, 40) for part in (era, revision) if part)


def counts_text(counts: Mapping[str, int]) -> str:
    """ "11 tools, 4 resources"; only what is there."""
    return ", ".join(count(counts[key], word) for key, word in _KINDS if counts.get(key))


def _facts(view: ServerView) -> Piece | None:
    command = "://" not in view.target
    rows = [
        ("offers", counts_text(view.counts)),
        ("started as" if command else "address", portable(flat(view.target, 400))),
        ("environment", ", ".join(flat(name, 80) for name in view.env)),
        ("also declares", ", ".join(_capabilities(view.capabilities))),
    ]
    kept = [(term, said) for term, said in rows if said]
    if not kept:
        return None
    cells = [
        [f"<b>{html.escape(term)}</b>", html.code(said) if term == "started as" else html.escape(said)]
        for term, said in kept
    ]
    return Piece(html.table([], cells), "\n".join(f"  {term}: {said}" for term, said in kept))


def _capabilities(capabilities: Mapping[str, object]) -> list[str]:
    """What it declared beyond the lists that are counted."""
    found: list[str] = []
    for name, value in capabilities.items():
        details = ", ".join(flat(key, 40) for key, on in mapping_of(value).items() if on)
        if name not in ("tools", "resources", "prompts") or details:
            found.append(f"{flat(name, 40)} ({details})" if details else flat(name, 40))
    return found[:20]


def _trouble(view: ServerView) -> Piece | None:
    if view.problem is None:
        return None
    tail = [portable(line) for line in view.stderr[-MAX_STDERR:]]
    line = error_line(portable(view.problem), "Problem")
    if not tail:
        return line
    shown = cut("\n".join(tail), 4_000)
    said = "the end of what the process wrote (stderr)"
    return stack([line, Piece(html.details(said, html.pre(shown), open_=True), f"  {said}:\n{_indent(shown)}")])


def _instructions(view: ServerView) -> Piece | None:
    if not view.instructions:
        return None
    shown = cut(view.instructions, 4_000)
    return Piece(html.details("Instructions of the server", html.prose(shown)), f"  instructions: {flat(shown, 300)}")


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def servers_piece(view: ServersView) -> Piece:
    """All servers at a glance; those in trouble say why below the table."""
    if not view.servers:
        said = "No server is connected."
        hint = "%mcp connect demo"
        return Piece(html.note(f"{said} Start with {html.code(hint)}"), f"{said} Start with: {hint}")
    header = ["server", "state", "speaks", "offers", "what it is"]
    rows = [_row(one) for one in view.servers]
    cells = [[f"<b>{html.escape(row[0])}</b>", *map(html.escape, row[1:])] for row in rows]
    troubles = [error_line(portable(one.problem), one.name) for one in view.servers if one.problem]
    return stack([Piece(html.table(header, cells), text_table(header, rows)), *troubles])


def _row(view: ServerView) -> Sequence[str]:
    named = flat(view.info.get("title") or view.info.get("name") or "", 60)
    version = flat(view.info.get("version") or "", 30)
    return [
        view.name,
        f"{_MARKS.get(view.state, '○')} {view.state}",
        era_text(view.era, view.revision),
        counts_text(view.counts),
        " ".join(part for part in (named, version) if part),
    ]
