"""What somebody is asked to allow, as pieces: for the card while it is open, for the record afterwards. Pure.

The words are `host.approvals`'. The live card shows all of it to the letter, because it is that which is approved; what
stays in the notebook has secrets masked and this machine's folders shortened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host import approvals
from jupyter_mcp.host.visible import marked_values
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.data import data_piece
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack
from jupyter_mcp.notebook.render.text import cut, flat, portable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from jupyter_mcp.host.questions import Answer, Question

__all__ = ["about_piece", "arguments_piece", "changed_piece", "opening_piece", "outcome", "reason_piece"]

_BADGE = (
    "display:inline-block;border:1px solid var(--jp-border-color1, rgba(128,128,128,.6));border-radius:8px;"
    "padding:0 7px;margin:1px 5px 1px 0;font-size:90%"
)
_CAREFUL = "border-color:var(--jp-warn-color0, #b26a00);color:var(--jp-warn-color0, #b26a00);font-weight:600"


def opening_piece(question: Question, *, past: bool = False) -> Piece:
    """ "demo.book is about to be called by a model"."""
    before, name, after = approvals.opening(question, past=past)
    body = f"{html.escape(before)}{html.code(name)}{html.escape(after)}"
    return Piece(html.note(body), f"{before}{name}{after}")


def about_piece(question: Question, *, live: bool = False) -> Piece | None:
    """Title, badges, why it asks, what leaves the notebook, how a server is started; without the arguments.

    Args:
        question: an approval, or whether a server may be started.
        live: to the letter, for the card.
    """
    if question.kind == "server":
        rows = approvals.starting(question)
        shown = rows if live else [(label, _kept_text(text)) for label, text in rows]
        return stack([_starting(shown), _line("asked because", approvals.reason(question))])
    said = approvals.title(question)
    called = f"{flat(question.server, 40)} calls it “{cut(said, 400)}”" if said else ""
    return stack(
        [
            plain_line(called, mark="small") if called else None,
            _badges(question),
            _line("asked because", approvals.reason(question)),
            _leaving(approvals.leaves(question)),
        ]
    )


def arguments_piece(question: Question) -> Piece | None:
    """What was to be sent, with secrets masked."""
    given = approvals.arguments(question)
    return _kept(given) if given else None


def changed_piece(question: Question, answer: Answer) -> Piece | None:
    """What was sent in its place."""
    sent = approvals.changed(question, answer)
    if sent is None:
        return None
    return stack([plain_line("The arguments were changed; sent was:", mark="small"), _kept(sent) if sent else None])


def outcome(question: Question, answer: Answer) -> str:
    """ "Allowed for this session", "Denied", "Closed without a choice"."""
    if answer.action == "cancel":
        return "Closed without a choice"
    if answer.action == "decline":
        return "Denied for good" if answer.scope == "never" else "Denied"
    done = "Started" if question.kind == "server" and not approvals.is_network(question) else "Allowed"
    if answer.scope == "client":
        return f"{done} for this client"
    return f"{done} {approvals.FOR.get(answer.scope or 'once', 'once')}"


def reason_piece(question: Question, answer: Answer) -> Piece | None:
    """The person's reason for a no, and who gets to read it."""
    if not answer.remark:
        return None
    if question.kind == "server":
        told = "reason"
    else:
        begun = str(question.params.get("origin") or "")
        reader = approvals.client(question) or {"model": "the model", "server": "the server", "app": "the app"}.get(
            begun
        )
        told = f"reason, told to {reader}" if reader else "reason"
    return plain_line(f"{told}: {flat(answer.remark, 500)}", mark="small")


def _kept(value: Mapping[str, Any]) -> Piece:
    from jupyter_mcp.protocol import secrets

    return data_piece(marked_values(secrets.redact(value)), "")


def _kept_text(text: str) -> str:
    from jupyter_mcp.protocol import secrets

    return portable(secrets.redact_text(text))


def _badges(question: Question) -> Piece | None:
    """Each in words; the colour only says again what the word says."""
    found = approvals.hints(question)
    if approvals.client(question) or question.params.get("tool") == "roots/list":
        return None
    if not found:
        return plain_line(f"{question.server} does not say what it does to things", mark="small")
    worth = approvals.hints_are(question)
    spans = "".join(
        html.tag("span", html.escape(one.text), _BADGE + (f";{_CAREFUL}" if one.careful else ""), title=one.means)
        for one in found
    )
    text = f"{', '.join(one.text for one in found)}: {worth}"
    return Piece(html.note(f"{spans} {html.muted(html.escape(worth))}"), text)


def _line(label: str, text: str) -> Piece | None:
    if not text:
        return None
    return Piece(html.note(f"{html.muted(html.escape(label))} {html.escape(text)}"), f"{label}: {text}")


def _leaving(lines: Sequence[str]) -> Piece | None:
    if not lines:
        return None
    if len(lines) == 1:
        return _line("leaves the notebook", lines[0])
    listed = "".join(html.tag("li", html.escape(line)) for line in lines)
    body = html.note(html.muted("leaves the notebook:")) + html.tag("ul", listed, "margin:2px 0;padding-left:20px")
    return Piece(body, "\n".join(["leaves the notebook:", *(f"- {line}" for line in lines)]))


def _starting(rows: Sequence[tuple[str, str]]) -> Piece:
    cells = [[f"<b>{html.escape(label)}</b>", html.code(text)] for label, text in rows]
    width = max(len(label) for label, _ in rows)
    return Piece(html.table([], cells), "\n".join(f"{label.ljust(width)}  {text}" for label, text in rows))
