"""A question's answer with the calls on the way to it: the model's words as Markdown, each call folded. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.data import data_piece
from jupyter_mcp.notebook.render.markdown import markdown
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, warning_line
from jupyter_mcp.notebook.render.results import result_piece
from jupyter_mcp.notebook.render.text import clean, count, cut, flat
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.render.views import ConversationView, ToolCallView

__all__ = ["answer_piece", "call_piece", "conversation_piece", "footer_piece", "opening_piece"]

MAX_TEXT = 15_000  # characters of plain text of one part
_WORDS: Mapping[str, str] = {
    "running": "is running …",
    "asking": "waits for your answer",
    "denied": "was not allowed",
    "unknown": "does not exist",
    "unreadable": "was called with arguments that cannot be read",
    "repeated": "was not called again",
    "too many": "was not called",
    "cancelled": "was cancelled",
    "error": "failed",
}


def conversation_piece(view: ConversationView) -> Piece:
    """The whole turn: what was attached, what was said and done in order, remarks, who answered."""
    parts = [answer_piece(part) if isinstance(part, str) else call_piece(part) for part in view.parts]
    if not parts and not view.running:
        parts = [plain_line("no answer", mark="i")]
    return stack([opening_piece(view), *parts, *map(warning_line, view.notes), footer_piece(view)])


def opening_piece(view: ConversationView) -> Piece | None:
    """What went along with the question."""
    if not view.attached:
        return None
    return plain_line("Attached: " + "; ".join(flat(label, 300) for label in view.attached), mark="small")


def answer_piece(text: str) -> Piece:
    """What the model said, as Markdown."""
    said = clean(text).strip()
    return Piece(markdown(said) if said else "", cut(said, MAX_TEXT, ".text"))


def call_piece(view: ToolCallView) -> Piece:
    """One call on one line, what was sent and what came back in its fold."""
    label = flat(view.label, 120)
    sent = _one_line(view.arguments)
    told = _told(view)
    joint = ": " if view.status in ("ok", "searched") else " "
    summary = f"{html.code(f'{label}({sent})')} {html.muted(html.escape(told))}"
    approval = plain_line(f"{view.approval[:1].upper()}{view.approval[1:]}.", mark="small") if view.approval else None
    inside = [_sent(view), _passed_on(view), approval, *_came_back(view)]
    body = stack(inside).html
    markup = html.details(summary, body) if body else html.note(summary)
    lines = [f"▸ {label}({sent}){joint}{told}"]
    if view.passes_on:
        lines.append(f"  passes on what {_names(view.passes_on)} returned")
    return Piece(markup, "\n".join(lines))


def footer_piece(view: ConversationView) -> Piece | None:
    """Who answered, and what it took."""
    calls = sum(not isinstance(part, str) for part in view.parts)
    if view.running:
        return plain_line("not finished yet", mark="small")
    if not view.model:
        return None
    said = [flat(view.model, 80), *([count(view.rounds, "round")] if view.rounds else [])]
    if calls:
        said.append(count(calls, "call"))
    if view.tokens is not None:
        said.append(count(view.tokens, "token"))
    if view.cost is not None:
        said.append(f"${view.cost:.4f}")
    return plain_line(", ".join(said), mark="small")


# --- details of a call -----------------------------------------------------------------------------------------------


def _one_line(arguments: Mapping[str, Any]) -> str:
    pairs = [f"{flat(key, 40)}={_value(value)}" for key, value in list(arguments.items())[:8]]
    more = ["…"] if len(arguments) > 8 else []
    return flat(", ".join([*pairs, *more]), 160)


def _value(value: object) -> str:
    return flat(json.dumps(value, ensure_ascii=False, default=str), 60)


def _told(view: ToolCallView) -> str:
    if view.status == "ok":
        return _short(view.result)
    said = flat(view.said, 300)
    if view.status == "searched":
        return said
    words = _WORDS.get(view.status, view.status)
    return f"{words}: {said}" if said else words


def _short(result: Any) -> str:
    """The result in a few words."""
    text = flat(getattr(result, "text", "") or "", 80)
    if text:
        return text
    data = getattr(result, "data", None)
    if data is not None:
        return _value(data)
    kinds = [str(block.get("type")) for block in getattr(result, "blocks", ()) if is_mapping(block)]
    return f"[{', '.join(kinds)}]" if kinds else "done"


def _sent(view: ToolCallView) -> Piece | None:
    return data_piece(dict(view.arguments), "") if view.arguments else None


def _passed_on(view: ToolCallView) -> Piece | None:
    if not view.passes_on:
        return None
    return warning_line(f"Its arguments pass on what {_names(view.passes_on)} returned.")


def _came_back(view: ToolCallView) -> list[Piece]:
    if view.result is not None:
        return [result_piece(view.result)]
    return [plain_line(view.said)] if view.said and view.status != "searched" else []


def _names(servers: Any) -> str:
    return " and ".join(flat(name, 40) for name in servers)
