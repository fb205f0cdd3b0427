"""Servers: one as a card, several as a table. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, error_line, plain_line, stack, text_table, warning_line
from jupyter_mcp.notebook.render.text import count, cut, flat, portable
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.notebook.render.views import ServersView, ServerView

__all__ = ["counts_text", "era_text", "server_piece", "servers_piece"]

_KINDS = (("tools", "tool"), ("resources", "resource"), ("templates", "template"), ("prompts", "prompt"))
_MARKS = {
    "ready": "●", "starting": "◌", "reconnecting": "◌", "unresponsive": "◍", "lost": "✕", "failed": "✕", "closed": "○",
}  # fmt: skip
_TONES = {"lost": "error", "failed": "error", "unresponsive": "warning", "reconnecting": "warning"}
_CARRIES = {"http": "over HTTP", "sse": "over HTTP+SSE"}
_SAYS = {
    "unresponsive": "It gives no sign of life; it is connected again unless it answers soon.",
    "reconnecting": "It is being connected again; a call waits for that.",
    "lost": "The next call connects it again, and so does %mcp reconnect {name}.",
}
MAX_STDERR = 12


def server_piece(view: ServerView) -> Piece:
    """One server: what it is, what it offers, what is wrong with it."""
    notes = map(warning_line, view.notes[:10])
    return stack(
        [_head(view), _state(view), _facts(view), _trouble(view), *notes, _outdated(view), _instructions(view)]
    )


def _head(view: ServerView) -> Piece:
    named = flat(view.info.get("title") or view.info.get("name") or "", 120)
    version = flat(view.info.get("version") or "", 40)
    who = " ".join(part for part in (named, version) if part)
    facts = [part for part in (who, _speaks(view)) if part]
    state = f"<b>{html.escape(view.name)}</b> {_MARKS.get(view.state, '○')} {html.escape(view.state)}"
    tone = _TONES.get(view.state, "plain")
    markup = html.note(" · ".join([state, *map(html.escape, facts)]), tone)
    return Piece(markup, " · ".join([f"{view.name} {view.state}", *facts]))


def _state(view: ServerView) -> Piece | None:
    """What a state means that is neither good nor final."""
    said = _SAYS.get(view.state)
    return None if said is None else plain_line(said.format(name=view.name))


def _outdated(view: ServerView) -> Piece | None:
    """What it uses that the specification is going to drop."""
    if not view.deprecated:
        return None
    rows = [f"{title}: since {since}; instead, {migration}" for title, since, migration in view.deprecated]
    names = ", ".join(title for title, _, _ in view.deprecated)
    badge = f"<b>Deprecated:</b> {html.escape(names)}"
    listed = "".join(f"<li>{html.escape(row)}</li>" for row in rows)
    return Piece(
        html.details(badge, f"<ul>{listed}</ul>"),
        "\n".join(["  deprecated, and used by it:", *(f"    {r}" for r in rows)]),
    )


def era_text(era: str | None, revision: str | None) -> str:
    """ "modern 2026-07-28"."""
    return " ".join(flat(part, 40) for part in (era, revision) if part)


def _speaks(view: ServerView) -> str:
    """ "modern 2026-07-28 over HTTP"."""
    return " ".join(part for part in (era_text(view.era, view.revision), _CARRIES.get(view.transport, "")) if part)


def counts_text(counts: Mapping[str, int]) -> str:
    """ "11 tools, 4 resources"; only what is there."""
    return ", ".join(count(counts[key], word) for key, word in _KINDS if counts.get(key))


def _facts(view: ServerView) -> Piece | None:
    rows = [
        ("offers", counts_text(view.counts)),
        (_reached(view), portable(flat(view.target, 400))),
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


def _reached(view: ServerView) -> str:
    """What the target is called."""
    if view.transport == "memory":
        return "is"
    return "address" if "://" in view.target else "started as"


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
    outdated = [_outdated_line(one) for one in view.servers if one.deprecated]
    return stack([Piece(html.table(header, cells), text_table(header, rows)), *troubles, *outdated])


def _outdated_line(view: ServerView) -> Piece:
    names = ", ".join(f"{title} (since {since})" for title, since, _ in view.deprecated)
    return plain_line(f"{view.name} uses what is deprecated: {names}", mark="small")


def _row(view: ServerView) -> Sequence[str]:
    named = flat(view.info.get("title") or view.info.get("name") or "", 60)
    version = flat(view.info.get("version") or "", 30)
    return [
        view.name,
        f"{_MARKS.get(view.state, '○')} {view.state}",
        _speaks(view),
        counts_text(view.counts),
        " ".join(part for part in (named, version) if part),
    ]
