"""Calls by their state, logs, errors, notes and help. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError, RequestError, ToolError, UsageError
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.advice import request_pieces, request_title
from jupyter_mcp.notebook.render.piece import Piece, error_line, plain_line, stack, table_piece
from jupyter_mcp.notebook.render.text import clean, count, cut, flat, portable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.notebook.render.views import CallView, HelpView, LogRow, LogView, NoteView, TableView, WatchView

__all__ = [
    "call_piece",
    "error_piece",
    "help_piece",
    "log_piece",
    "note_piece",
    "progress_text",
    "repr_piece",
    "table_view_piece",
]

MAX_LINES = 200
_LOUD = frozenset(["error", "critical", "alert", "emergency"])


def call_piece(view: CallView) -> Piece:
    """A call that runs, failed or was stopped; a done one is its result and drawn as that."""
    label = flat(view.label, 200)
    if view.status == "running":
        told = progress_text(view)
        more = f": {told}" if told else ""
        return Piece(html.note(f"{html.code(label)} is running{html.escape(more)}"), f"{label} is running{more}")
    if isinstance(view.outcome, BaseException):
        return error_piece(view.outcome, label)
    words = {"done": "is done", "cancelled": "was cancelled", "interrupted": "was interrupted"}
    said = words.get(view.status, view.status)
    return Piece(html.note(f"{html.code(label)} {html.escape(said)}"), f"{label} {said}")


def progress_text(view: CallView) -> str:
    """ "3 of 10, loading": never more than the total, never a number that is none."""
    parts: list[str] = []
    done, total = view.progress, view.total
    if done is not None and math.isfinite(done):
        known = total is not None and math.isfinite(total) and total > 0
        parts.append(f"{_short(min(done, total))} of {_short(total)}" if known and total is not None else _short(done))
    if view.message:
        parts.append(flat(view.message, 200))
    return ", ".join(parts)


def _short(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def error_piece(error: BaseException, label: str = "") -> Piece:
    """An error as its one sentence, with what helps below it: what the tool said, the usage, the end of stderr."""
    from jupyter_mcp.notebook.render.results import result_piece

    if isinstance(error, ToolError) and error.result is not None:
        return result_piece(error.result)
    said = portable(str(error) or type(error).__name__)
    name = request_title(error) if isinstance(error, RequestError) else type(error).__name__
    line = error_line(f"{label}: {said}" if label else said, name)
    return stack([line, *_help_with(error)])


def _help_with(error: BaseException) -> list[Piece]:
    pieces: list[Piece] = []
    if isinstance(error, UsageError) and error.usage:
        usage = clean(error.usage)
        pieces.append(Piece(html.note(f"usage: {html.code(usage)}"), f"usage: {usage}"))
    if isinstance(error, RequestError):
        pieces += request_pieces(error)
    if isinstance(error, (ConnectionFailed, ConnectionLost)) and error.stderr:
        tail = cut("\n".join(portable(line) for line in error.stderr[-12:]), 4_000)
        pieces.append(Piece(html.details("the end of its stderr", html.pre(tail), open_=True), f"stderr:\n{tail}"))
    if isinstance(error, MCPError) and error.server:
        pieces.append(plain_line(f"more: %mcp log {error.server}", mark="small"))
    return pieces


def log_piece(view: LogView) -> Piece:
    """The last lines of a log, level first; loud ones stand out by word and colour."""
    server = flat(view.server, 40)
    if not view.rows:
        return plain_line(f"{server} has said nothing yet.")
    rows = [(flat(row.level, 20), _logged(row)) for row in view.rows[-MAX_LINES:]]
    missing = view.dropped + len(view.rows) - len(rows)
    earlier = f"… {count(missing, 'earlier line')}" if missing else ""
    head = f"log of {server}"
    cells = [[_level(level), html.escape(said)] for level, said in rows]
    markup = html.note(f"<b>{html.escape(head)}</b> {html.muted(html.escape(earlier))}") + html.table([], cells)
    width = max(len(level) for level, _ in rows)
    text = "\n".join(f"  {level.ljust(width)}  {said}" for level, said in rows)
    return Piece(markup, "\n".join(part for part in (head, earlier, text) if part))


def _logged(row: LogRow) -> str:
    line = clean(row.text[:2_500]).replace("\n", " ").expandtabs(4).rstrip()  # its indentation says something
    said = portable(line if len(line) <= 500 else f"{line[:499]}…")
    return f"{flat(row.source, 40)}: {said}" if row.source and row.source != row.level else said


def _level(level: str) -> str:
    if level in _LOUD:
        return html.tag("b", html.escape(level), "color:var(--jp-error-color1, #d32f2f)")
    return html.tag("b", html.escape(level)) if level == "warning" else html.muted(html.escape(level))


def note_piece(view: NoteView) -> Piece:
    said = clean(view.text)
    word = {"warning": "Note: ", "error": "Error: "}.get(view.tone, "")
    folded = cut("\n".join(clean(line) for line in view.details), 8_000)
    body = Piece(html.note(f"{f'<b>{word}</b>' if word else ''}{html.escape(said)}", view.tone), f"{word}{said}")
    return stack([body, Piece(html.details("details", html.pre(folded)), folded) if folded else None])


def watch_piece(view: WatchView) -> Piece:
    """What is watched, how often it changed, and whether anybody listens at the moment."""
    uri, server = flat(view.uri, 400), flat(view.server, 40)
    times = f" It changed {'once' if view.changes == 1 else count(view.changes, 'time')}." if view.changes else ""
    head = f"{'Watching' if view.active else 'No longer watching'} {uri} of {server}"
    if not view.active:
        return plain_line(f"{head}.{times}")
    away = "" if view.state == "ready" else f" {server} is {flat(view.state, 20)}; the watch goes on when it is back."
    how = html.muted(f"{html.code('%mcp unwatch')} (or .stop()) ends it.")
    said = f"{head}; `%mcp unwatch` (or .stop()) ends it.{times}{away}"
    return Piece(html.note(html.escape(f"{head}.{times}{away}")) + html.note(how), said)


def help_piece(view: HelpView) -> Piece:
    """Help as a reader of manuals expects it: what it does, how it is written, what the parts mean, examples."""
    title = Piece(html.note(f"<b>{html.escape(view.title)}</b>"), clean(view.title))
    summary = plain_line(view.summary) if view.summary else None
    sections = [_section(heading, rows) for heading, rows in view.sections]
    return stack([title, summary, _usage(view), *sections, _examples(view)])


def _section(heading: str, rows: Sequence[tuple[str, str]]) -> Piece:
    shown = [(clean(term), clean(said)) for term, said in rows]
    cells = [[html.code(term), html.escape(said)] for term, said in shown]
    title = html.note(f"<b>{html.escape(heading)}</b>") if heading else ""
    width = min(max((len(term) for term, _ in shown), default=0), 28)
    body = "\n".join(f"  {term.ljust(width)}  {said}".rstrip() for term, said in shown)
    return Piece(title + html.table([], cells), f"{clean(heading)}\n{body}" if heading else body)


def _examples(view: HelpView) -> Piece | None:
    if not view.examples:
        return None
    shown = "\n".join(clean(line) for line in view.examples)
    return Piece(html.note("<b>Examples</b>") + html.pre(shown), f"Examples\n{_indent(shown)}")


def _usage(view: HelpView) -> Piece | None:
    if not view.usage:
        return None
    usage = "\n".join(clean(line) for line in view.usage)
    return Piece(html.pre(usage), _indent(usage))


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def table_view_piece(view: TableView) -> Piece:
    """A table of ours (activity, trace, policy): the last rows when there are too many."""
    if not view.rows:
        return plain_line(f"{view.title}: {view.empty}" if view.title else view.empty)
    kept = [[portable(flat(cell, 300)) for cell in row] for row in view.rows[-MAX_LINES:]]
    earlier = len(view.rows) - len(kept)
    return stack(
        [
            plain_line(view.title, mark="b") if view.title else None,
            plain_line(f"… {count(earlier, 'earlier row')}; .df() holds all", mark="small") if earlier else None,
            table_piece(view.columns, kept),
            plain_line(view.hint, mark="small") if view.hint else None,
        ]
    )


def repr_piece(value: object) -> Piece:
    """Something that has no picture of its own."""
    try:
        said = repr(value)
    except Exception:
        said = f"<{type(value).__name__}>"
    shown = cut(clean(said), 4_000)
    return Piece(html.pre(shown), shown)
