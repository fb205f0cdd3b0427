"""Questions that are over, as a record: asked by whom, during what, in which words, and what was answered. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import urls
from jupyter_mcp.host.questions import OURSELVES
from jupyter_mcp.notebook.render import approvals, html, sampling
from jupyter_mcp.notebook.render.addresses import address_piece, link_piece
from jupyter_mcp.notebook.render.data import data_piece
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, warning_line
from jupyter_mcp.notebook.render.results import label_of
from jupyter_mcp.notebook.render.text import cut, flat
from jupyter_mcp.protocol.secrets import MASK
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.questions import Answer, Question
    from jupyter_mcp.notebook.render.views import QuestionRecord

__all__ = ["asked_by", "login_piece", "question_piece", "record_piece"]

_WANTS = {"url": " you to open a page", "sampling": " for a model's answer", "login": " you to log in"}
MAX_MESSAGE = 2_000


def record_piece(record: QuestionRecord) -> Piece:
    """The whole record."""
    return stack([asked_by(record.question, past=True), _asked(record.question, past=True), _answered(record)])


def question_piece(question: Question) -> Piece:
    """A question that is still open, for the plain side of its live card."""
    return stack(
        [
            asked_by(question),
            _asked(question),
            _link(question) if question.step in ("retry", "wait") else None,
            plain_line("waiting for an answer; expired if its kernel is gone", mark="i"),
        ]
    )


def asked_by(question: Question, *, past: bool = False) -> Piece:
    """ "demo asks, while running demo.book" — who wants something, and which act of the person's led to it."""
    server = flat(
        OURSELVES if question.kind == "inputs" else question.server, 40
    )  # its file needs them, it asks nothing
    if question.kind in ("approval", "server"):
        return approvals.opening_piece(question, past=past)
    asks = ("asked" if past else "asks") + _WANTS.get(question.kind, "")
    cause = question.cause
    if cause is None:
        return Piece(html.note(f"<b>{html.escape(server)}</b> {asks}"), f"{server} {asks}")
    act = cause_text(server, cause.method, cause.name)
    return Piece(
        html.note(f"<b>{html.escape(server)}</b> {asks}, while {html.escape(act[0])} {html.code(act[1])}"),
        f"{server} {asks}, while {act[0]} {act[1]}",
    )


def cause_text(server: str, method: str, name: str) -> tuple[str, str]:
    words = {"tools/call": "running", "prompts/get": "getting the prompt", "resources/read": "reading"}
    if method in ("tools/call", "prompts/get"):
        return words[method], label_of(server, name)
    return words.get(method, f"doing {flat(method, 60)} of"), flat(name, 200)


def _asked(question: Question, *, past: bool = False) -> Piece | None:
    match question.kind:
        case "approval" | "server":
            return stack([approvals.about_piece(question), approvals.arguments_piece(question)])
        case "sampling":
            return sampling.asked_piece(question)
        case "url":
            said = cut(question.message, MAX_MESSAGE)
            address = urls.read(question.params.get("url"))
            warned = [warning_line(text) for text in address.warnings]
            return stack([_quoted(said) if said else None, address_piece(address, whole=not past), *warned])
        case "login":
            return login_piece(question)
        case _:
            return _quoted(cut(question.message, MAX_MESSAGE))


def login_piece(question: Question) -> Piece:
    """Which server, whose page, for what; the page's address is for one use, so only its site is said."""
    params = question.params
    address, issuer = urls.read(params.get("url")), params.get("issuer")
    rows = [
        ("server", flat(str(params.get("resource") or ""), 300)),
        ("logs in at", f"{address.site}{f' (reads {address.reads})' if address.reads else ''}"),
        ("issuer", "" if urls.read(issuer).site == address.site else flat(str(issuer or ""), 300)),
        ("asks for", ", ".join(flat(str(one), 80) for one in params.get("scopes") or ()) or "nothing in particular"),
    ]
    table = html.table([], [[f"<b>{term}</b>", html.escape(said)] for term, said in rows if said])
    return Piece(table, "\n".join(f"  {term}: {said}" for term, said in rows if said))


def _quoted(text: str) -> Piece:
    return Piece(html.quote(html.prose(text)), "\n".join(f"> {line}" for line in text.splitlines() or [""]))


def _link(question: Question) -> Piece | None:
    """The link to a page that the person agreed to open."""
    return link_piece(urls.read(question.params.get("url")))


def _answered(record: QuestionRecord) -> Piece:
    answer = record.answer
    if answer is None:
        return plain_line(record.outcome[:1].upper() + record.outcome[1:], mark="i")
    words = _outcome(record.question, answer)
    by = {"script": " (by a scripted answer)", "headless": " (nobody was there to ask)"}.get(answer.by, "")
    line = Piece(html.note(f"<b>{html.escape(words)}</b>{by}"), f"{words}{by}")
    note = warning_line(answer.note) if answer.note else None
    return stack([line, _content(record.question, answer), _remark(record.question, answer), note])


def _outcome(question: Question, answer: Answer) -> str:
    if question.kind in ("approval", "server"):
        return approvals.outcome(question, answer)
    if question.kind == "sampling":
        return sampling.outcome(question, answer)
    if question.kind == "login":
        return _logged_in(answer)
    if question.kind == "url" and (said := _visited(question, answer)):
        return said
    return {"accept": "Accepted", "decline": "Declined", "cancel": "Cancelled: nothing was chosen"}[answer.action]


def _logged_in(answer: Answer) -> str:
    if answer.action != "accept":
        return "Not logged in"
    return "The browser came back" if answer.by == "server" else "Answered"


def _visited(question: Question, answer: Answer) -> str:
    """What became of a page; "" where it is the same as with any question."""
    if answer.action != "accept":
        return "" if question.step == "consent" else "Agreed to open it, then cancelled"
    if answer.by == "server":
        again = "; the request was sent again" if question.step == "retry" else ""
        return f"Agreed to open it; {flat(question.server, 40)} said that it is done{again}"
    return "Agreed to open it; the request was sent again" if question.step == "retry" else "Agreed to open it"


def _content(question: Question, answer: Answer) -> Piece | None:
    if question.kind in ("approval", "server"):
        return approvals.changed_piece(question, answer)
    if question.kind == "sampling":
        return sampling.answered_piece(question, answer)
    if answer.action != "accept" or not answer.content or question.kind == "login":  # its code is for one use
        return None
    if question.kind == "inputs":
        return plain_line(f"given, and kept in memory only: {', '.join(map(flat, answer.content))}", mark="small")
    asked = mapping_of(mapping_of(question.params.get("requestedSchema")).get("properties"))
    hidden = {name for name, field in asked.items() if _is_hidden(mapping_of(field))}
    shown = {name: MASK if name in hidden else value for name, value in answer.content.items()}
    return data_piece(_redacted(shown), "")


def _is_hidden(field: Mapping[str, Any]) -> bool:
    """Whether it was typed masked, so that it is not shown afterwards either."""
    return field.get("format") == "password" or field.get("writeOnly") is True


def _remark(question: Question, answer: Answer) -> Piece | None:
    if question.kind in ("approval", "server"):
        return approvals.reason_piece(question, answer)
    if not answer.remark or question.kind == "sampling":
        return None
    return plain_line(f"remark (kept here, not sent): {flat(answer.remark, 300)}", mark="small")


def _redacted(value: Any) -> Any:
    from jupyter_mcp.protocol import secrets

    return secrets.redact(value)
