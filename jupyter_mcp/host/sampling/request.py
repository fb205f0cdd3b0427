"""A server's request for sampling: is it well formed, what of it does a model get, what of it is masked. Pure.

What comes here was written by a server. It is checked as a whole before anybody sees it; the person may then change its
words, and never the server's limits upwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.models import messages as wire
from jupyter_mcp.models.base import ModelRequest
from jupyter_mcp.protocol.secrets import MASK
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, is_number, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["EDITABLE", "edit_problems", "edited", "guess_tokens", "masked", "model_request", "problems"]

EDITABLE = ("systemPrompt", "messages", "maxTokens", "temperature", "stopSequences")
"""What of a request the person may change; beside them an answer names "model" and says "redact"."""

_OURS = ("model", "redact", "allowance")
_CHARACTERS = 3  # of a token, at least, in most languages
_OPAQUE = ("type", "id", "name", "toolUseId", "mimeType", "data", "blob", "isError")


def problems(params: Mapping[str, Any]) -> list[str]:
    """What is wrong with a request, in sentences; nothing when it may be shown and sent to a model."""
    found = _numbers(params)
    system, stops = params.get("systemPrompt"), params.get("stopSequences")
    if system is not None and not isinstance(system, str):
        found.append("The systemPrompt is not a text.")
    if stops is not None and not (is_list(stops) and all(isinstance(stop, str) for stop in stops)):
        found.append("The stopSequences are not a list of texts.")
    return found + wire.problems(params.get("messages"), params.get("tools"), params.get("toolChoice"))


def _numbers(params: Mapping[str, Any]) -> list[str]:
    limit, heat = params.get("maxTokens"), params.get("temperature")
    found: list[str] = []
    if not is_number(limit) or limit < 1 or limit != limit // 1:
        found.append("The maxTokens are not a whole number above 0.")
    if heat is not None and not is_number(heat):
        found.append("The temperature is not a number.")
    return found


def edit_problems(params: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with a request as the person changed it: field -> sentence."""
    unknown = [name for name in edits if name not in (*EDITABLE, *_OURS)]
    if unknown:
        return {unknown[0]: f"It cannot be changed; what can is {', '.join((*EDITABLE, *_OURS))}."}
    if wrong := problems(edited(params, edits)):
        return {"request": " ".join(wrong)}
    most, given = params.get("maxTokens"), edits.get("maxTokens")
    if is_number(given) and is_number(most) and given > most:
        return {"maxTokens": f"The server asked for at most {most} tokens."}
    return {}


def edited(params: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
    """The request with the person's changes; a field that was emptied (None) goes."""
    changed = {**params, **{name: edits[name] for name in EDITABLE if name in edits}}
    return {name: value for name, value in changed.items() if value is not None}


def model_request(params: Mapping[str, Any], most_tokens: int | None = None) -> ModelRequest:
    """What a model is asked. `includeContext` is not among it: no server gets another's words by asking.

    Args:
        params: well formed.
        most_tokens: the most tokens that the answer may have, when that is fewer than the server asks for.
    """
    wanted = int(params["maxTokens"])
    return ModelRequest(
        messages=wire.normal(params["messages"]),
        system=params.get("systemPrompt") or None,
        tools=tuple(as_list(params.get("tools"))),
        tool_choice=params.get("toolChoice"),
        max_tokens=wanted if most_tokens is None else max(1, min(wanted, most_tokens)),
        temperature=params.get("temperature"),
        stop_sequences=tuple(as_list(params.get("stopSequences"))),
        metadata=dict(mapping_of(params.get("metadata"))),
    )


def guess_tokens(value: object) -> int:
    """About how many tokens a text, or the texts of blocks and messages, have; rather too many than too few."""
    if isinstance(value, str):
        return len(value) // _CHARACTERS + 1
    if is_mapping(value):
        return sum(guess_tokens(item) for name, item in value.items() if name not in ("data", "blob"))
    return sum(map(guess_tokens, value)) if is_list(value) or isinstance(value, tuple) else 1  # pyright: ignore[reportUnknownArgumentType]


# --- masking ---------------------------------------------------------------------------------------------------------


def masked(params: Mapping[str, Any], clean: Callable[[Any], Any]) -> tuple[dict[str, Any], int]:
    """The request as a model gets it when what looks secret is masked, and how many places that changes.

    Args:
        params: well formed.
        clean: a copy of a value with its secrets masked.
    """
    shown = {**params, "messages": [_message(message, clean) for message in params["messages"]]}
    if isinstance(system := params.get("systemPrompt"), str):
        shown["systemPrompt"] = clean(system)
    return shown, max(0, _masks(shown) - _masks(params))


def _message(message: Mapping[str, Any], clean: Callable[[Any], Any]) -> dict[str, Any]:
    content = message["content"]
    inside = [_block(block, clean) for block in content] if is_list(content) else _block(content, clean)
    return {**message, "content": inside}


def _block(block: Any, clean: Callable[[Any], Any]) -> Any:
    if not is_mapping(block):
        return block
    words = {name: value for name, value in block.items() if name not in (*_OPAQUE, "content", "resource")}
    done = {**block, **clean(words)}
    if is_list(block.get("content")):
        done["content"] = [_block(inner, clean) for inner in block["content"]]
    if is_mapping(block.get("resource")):
        done["resource"] = _block(block["resource"], clean)
    return done


def _masks(params: Mapping[str, Any]) -> int:
    return _count([params.get("systemPrompt"), params.get("messages")])


def _count(value: object) -> int:
    if isinstance(value, str):
        return value.count(MASK)
    if is_mapping(value):
        return sum(_count(item) for item in value.values())
    return sum(map(_count, _items(value)))


def _items(value: object) -> Sequence[Any]:
    return value if is_list(value) else ()
