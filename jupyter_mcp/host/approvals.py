"""What an approval and the start of a server ask, in words that the card, the terminal and the record share. Pure.

A `Question` of kind "approval" or "server" is read here and nowhere else. What a server says of itself is named as its
word; what a person says yes to is never shortened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jupyter_mcp.host.visible import marked, same
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.questions import Answer, Question

__all__ = [
    "FOR",
    "Hint",
    "OfferedScope",
    "arguments",
    "changed",
    "client",
    "hints",
    "hints_are",
    "is_network",
    "leaves",
    "opening",
    "reason",
    "schema",
    "scopes",
    "starting",
    "title",
]

OfferedScope = Literal["once", "session", "notebook", "project"]

FOR: Mapping[str, str] = {
    "once": "once",
    "session": "for this session",
    "notebook": "in this notebook",
    "project": "in this project",
    "user": "everywhere",
}
"""How long a yes holds, as the end of a sentence."""

_HINTS: tuple[tuple[str, str, str, bool | None], ...] = (
    ("readOnlyHint", "read-only", "changes things", None),
    ("destructiveHint", "destructive", "not destructive", True),
    ("idempotentHint", "idempotent", "not idempotent", None),
    ("openWorldHint", "open world", "closed world", True),
)
_MEANS = {
    "read-only": "it changes nothing",
    "changes things": "it may change things",
    "destructive": "it may delete or overwrite things",
    "not destructive": "it only adds things",
    "idempotent": "the same call again changes nothing more",
    "not idempotent": "each call changes something",
    "open world": "it reaches outside systems",
    "closed world": "it stays among its own things",
}
_LONGEST_TITLE = 200  # characters; it decides nothing
_DOES = {"prompts/get": "fetched", "resources/read": "read", "resources/subscribe": "watched"}
_BY = {"model": " by a model", "server": " by a server", "code": " by code", "app": " by an app of the server"}


class Hint(NamedTuple):
    """One of the server's own words about its tool.

    Attributes:
        text: "destructive". means: in words. careful: whether it asks for a second look.
    """

    text: str
    means: str
    careful: bool


def hints(question: Question) -> list[Hint]:
    """What the server says about the tool (`ToolAnnotations`); what is not true or false is not said."""
    said = mapping_of(question.params.get("annotations"))
    found: list[Hint] = []
    for key, yes, no, careful in _HINTS:
        value = said.get(key)
        if isinstance(value, bool):
            text = yes if value else no
            found.append(Hint(text, _MEANS[text], value is careful))
    return found


def hints_are(question: Question) -> str:
    """What the hints are worth, as the end of a sentence that lists them."""
    if question.params.get("trusted"):
        return f"says {question.server}, whose word you trust"
    return f"says {question.server}; nobody checks it"


def client(question: Question) -> str:
    """The name that a client of ours gives itself, when it is one who wants it."""
    return marked(str(question.params.get("client") or ""))[:60]


def title(question: Question) -> str:
    """What the server calls it, where that is not its name."""
    said = str(question.params.get("title") or "").strip()
    short = said if len(said) <= _LONGEST_TITLE else f"{said[:_LONGEST_TITLE]}…"
    return "" if said == str(question.params.get("tool") or "") else marked(short)


def reason(question: Question) -> str:
    """Why the person is asked: the rule, or who began it."""
    return marked(str(question.params.get("reason") or ""))


def leaves(question: Question) -> list[str]:
    """What leaves the notebook, a line each."""
    return [marked(str(line)) for line in as_list(question.params.get("leaves"))]


def arguments(question: Question) -> Mapping[str, Any]:
    """What would be sent, as it is."""
    given = question.params.get("arguments")
    return given if is_mapping(given) else {}


def schema(question: Question) -> Mapping[str, Any] | None:
    """Of the arguments; None where they cannot be changed."""
    found = question.params.get("schema")
    return found if is_mapping(found) else None


def scopes(question: Question) -> list[OfferedScope]:
    """How long a yes may hold, of what is offered; once always is."""
    offered = as_list(question.params.get("scopes")) or ["once", "session"]
    wider: tuple[OfferedScope, ...] = ("session", "notebook", "project")
    return ["once", *(scope for scope in wider if scope in offered)]


def changed(question: Question, answer: Answer | None) -> Mapping[str, Any] | None:
    """The arguments that a yes puts in the place of those that were asked about; None where it changes nothing."""
    content = (answer.content if answer is not None and answer.action == "accept" else None) or {}
    sent = content.get("arguments")
    if question.kind != "approval" or not is_mapping(sent) or same(sent, arguments(question)):
        return None
    return sent


def opening(question: Question, *, past: bool = False) -> tuple[str, str, str]:
    """The first sentence in three parts, the middle one being a name: what is to be done, and by whom."""
    if question.kind == "server":
        what = "be reached" if is_network(question) else "be started"
        origin = "a file of the project" if question.params.get("origin") == "project" else "something else than you"
        return "", marked(question.server), f" {'was' if past else 'is'} to {what}: {origin} names it"
    name = str(question.params.get("tool") or "")
    method = question.cause.method if question.cause is not None else "tools/call"
    full = marked(name if "://" in name else f"{question.server}.{name}")
    if who := client(question):
        return f"the client {who} {'wanted' if past else 'wants'} to run ", full, ""
    if name == "roots/list":
        return "", marked(question.server), f" {'wanted' if past else 'wants'} to know the folders of this notebook"
    does = _DOES.get(method, "called") if name == (question.cause.name if question.cause else name) else "called"
    return (
        "",
        full,
        f" {'was to be' if past else 'is about to be'} {does}{_BY.get(str(question.params.get('origin')), '')}",
    )


def is_network(question: Question) -> bool:
    """Whether the server is reached at a URL, and not started."""
    return "url" in question.params


def starting(question: Question) -> list[tuple[str, str]]:
    """Everything that says what is started or reached, to the letter: (what it is, the text)."""
    params = question.params
    rows: list[tuple[str, str]] = []
    if is_network(question):
        rows += [("address", str(params.get("url") or "")), ("headers", _names(params.get("headers")))]
        rows += [("way", str(params.get("way") or ""))]
    else:
        rows += [("command", str(params.get("command") or "")), ("folder", str(params.get("cwd") or ""))]
        rows += [("variables", _names(params.get("env")))]
        rows += [("sandbox", str(params.get("sandbox") or "none: it may do whatever you may"))]
    rows += [("named in", str(params.get("source") or ""))]
    empty = {"headers": "none", "variables": "none", "folder": "where this kernel runs"}
    shown = [(label, marked(text) or empty.get(label, "")) for label, text in rows]
    return [(label, text) for label, text in shown if text]


def _names(value: object) -> str:
    return ", ".join(str(name) for name in as_list(value))
