"""A server's request for a model's answer, and what came of it, as something to look at. Pure.

What is saved with a notebook has its secrets masked, whatever was sent. Everything that a model would be sent is there
to be read: nothing is left out, what is long is folded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, warning_line
from jupyter_mcp.notebook.render.results import message_piece
from jupyter_mcp.notebook.render.text import count, cut, flat, pretty
from jupyter_mcp.protocol import secrets
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.questions import Answer, Question

__all__ = ["answered_piece", "asked_piece", "outcome", "parameters_html", "request_html"]

OPEN = 6
"""Messages that are shown unfolded; the earlier ones are in a fold."""
RECORDED = 4
_PARAMETERS = ("maxTokens", "temperature", "stopSequences", "includeContext", "toolChoice", "metadata")
_UNTIL = {"session": "until this kernel ends", "notebook": "in this notebook"}
_OPAQUE = ("data", "blob")


# --- a request that is being looked at -------------------------------------------------------------------------------


def request_html(params: Mapping[str, Any]) -> str:
    """The words of a request: system prompt and messages, all of them."""
    parts: list[str] = []
    system = params.get("systemPrompt")
    if isinstance(system, str) and system:
        parts.append(html.note("<b>system prompt</b>") + html.quote(html.prose(system)))
    pieces = [message_piece(one).html for one in as_list(params.get("messages")) if is_mapping(one)]
    earlier = pieces[:-OPEN]
    if earlier:
        parts.append(html.details(count(len(earlier), "earlier message"), "".join(earlier)))
    return "".join([*parts, *pieces[-OPEN:]]) or html.note("<i>no messages</i>")


def parameters_html(params: Mapping[str, Any]) -> str:
    """Everything else of a request: limits, preferences, tools."""
    rows = [
        [f"<b>{name}</b>", html.escape(_short(params[name]))] for name in _PARAMETERS if params.get(name) is not None
    ]
    preferences = mapping_of(params.get("modelPreferences"))
    hints = [flat(mapping_of(hint).get("name") or "", 60) for hint in as_list(preferences.get("hints"))]
    if any(hints):
        rows.append(["<b>model hints</b>", html.escape(", ".join(hint for hint in hints if hint))])
    rows += [
        [f"<b>{name}</b>", html.escape(_short(value))]
        for name, value in preferences.items()
        if name.endswith("Priority")
    ]
    found = html.details("parameters", html.table([], rows)) if rows else ""
    return found + _tools_html(params)


def _tools_html(params: Mapping[str, Any]) -> str:
    tools = [one for one in as_list(params.get("tools")) if is_mapping(one)]
    if not tools:
        return ""
    rows = [
        [html.code(flat(tool.get("name") or "", 80)), html.escape(cut(str(tool.get("description") or ""), 400))]
        for tool in tools
    ]
    names = ", ".join(flat(tool.get("name") or "", 60) for tool in tools[:6])
    told = f"tools that the model may ask the server to run: {names}{' …' if len(tools) > 6 else ''}"
    return html.details(html.escape(told), html.table([], rows))


def _short(value: Any) -> str:
    return cut(value if isinstance(value, str) else pretty(value), 500)


# --- the record ------------------------------------------------------------------------------------------------------


def asked_piece(question: Question) -> Piece | None:
    """What was asked for, masked; of a review nothing, for its request stands above it."""
    if question.step == "review":
        return None
    found = [one for one in as_list(question.params.get("messages")) if is_mapping(one)]
    shown = [message_piece(_masked(one), question.server) for one in found[-RECORDED:]]
    if len(found) > RECORDED:
        shown.insert(0, plain_line(f"… {count(len(found) - RECORDED, 'earlier message')}", mark="small"))
    system = question.params.get("systemPrompt")
    if isinstance(system, str) and system:
        shown.insert(0, message_piece({"role": "system", "content": secrets.redact_text(system)}))
    return stack(shown) if shown else None


def outcome(question: Question, answer: Answer) -> str:
    """How it ended, in a few words."""
    offer = question.offer
    if offer is None:
        return {"accept": "Answered", "decline": "Refused", "cancel": "Cancelled: nothing was chosen"}[answer.action]
    if answer.by == "model" and answer.action != "accept":
        return f"{flat(offer.model, 80)} gave no answer"
    if question.step == "review":
        return {"accept": "Sent to the server", "decline": "Not sent: refused", "cancel": "Not sent: cancelled"}[
            answer.action
        ]
    if answer.action != "accept":
        return {"decline": "Refused", "cancel": "Cancelled: nothing was chosen"}[answer.action]
    if answer.by in ("model", "script") and "content" in (answer.content or {}):
        return "Answered without a question"
    if _by_hand(answer):
        return "Answered by the person"
    return f"{flat(_model(question, answer), 80)} was asked{_told(question, answer)}"


def answered_piece(question: Question, answer: Answer) -> Piece | None:
    """The answer, masked; what the person changed; why there is none."""
    parts: list[Piece | None] = []
    content = answer.content or {}
    if answer.action == "accept" and ("content" in content or "text" in content):
        parts.append(_said(content))
    elif answer.action == "accept" and question.step == "consent":
        parts.append(_changed(content))
    if answer.remark:
        why = secrets.redact_text(flat(answer.remark, 300))
        parts.append(warning_line(why) if answer.by == "model" and answer.action != "accept" else _small(why))
    if question.offer is not None and question.step == "consent":
        parts += [warning_line(text) for text in question.offer.ignored]
    found = [part for part in parts if part is not None]
    return stack(found) if found else None


def _changed(content: Mapping[str, Any]) -> Piece | None:
    """The request in the words of the person, where they changed them."""
    messages = [one for one in as_list(content.get("messages")) if is_mapping(one)]
    shown = [message_piece(_masked(one)) for one in messages[-RECORDED:]]
    if isinstance(system := content.get("systemPrompt"), str):
        shown.insert(0, message_piece({"role": "system", "content": secrets.redact_text(system)}))
    return stack([_small("asked in these words instead:"), *shown]) if shown else None


def _small(text: str) -> Piece:
    return plain_line(text, mark="small")


def _by_hand(answer: Answer) -> bool:
    return bool(answer.content) and ("text" in answer.content or "content" in answer.content)


def _model(question: Question, answer: Answer) -> str:
    assert question.offer is not None
    return str((answer.content or {}).get("model") or question.offer.model)


def _told(question: Question, answer: Answer) -> str:
    """What the person decided besides."""
    content = answer.content or {}
    said: list[str] = []
    if until := _UNTIL.get(answer.scope):
        said.append(f"and will be without asking, {until}")
    if any(name in content for name in ("systemPrompt", "messages", "maxTokens", "temperature", "stopSequences")):
        said.append("with changes")
    if question.offer is not None and question.offer.masks:
        places = count(question.offer.masks, "place")
        said.append("nothing masked" if content.get("redact") is False else f"{places} masked")
    return f" ({'; '.join(said)})" if said else ""


def _said(content: Mapping[str, Any]) -> Piece:
    block = content.get("content")
    if isinstance(content.get("text"), str):
        block = {"type": "text", "text": content["text"]}
    role = flat(content.get("model") or "assistant", 80)
    return message_piece(_masked({"role": role, "content": block}))


def _masked(message: Mapping[str, Any]) -> dict[str, Any]:
    """The same message with its secrets masked; pictures and sounds stay what they are."""
    content = message.get("content")
    inside = [_clean(block) for block in content] if is_list(content) else _clean(content)
    return {**message, "content": inside}


def _clean(block: Any) -> Any:
    if not is_mapping(block):
        return secrets.redact(block)
    kept = {name: value for name, value in block.items() if name in _OPAQUE}
    return {**secrets.redact({name: value for name, value in block.items() if name not in _OPAQUE}), **kept}
