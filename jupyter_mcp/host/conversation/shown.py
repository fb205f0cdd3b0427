"""A server's tool as a model is told of it: its words are untrusted, so they are bounded and made visible. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host.apps import may_call
from jupyter_mcp.host.conversation.untrusted import cut_end, one_line, visible
from jupyter_mcp.protocol.shapes import is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.catalogue import Offer

__all__ = ["for_model", "is_for_models", "summary"]

MAX_DESCRIPTION = 1_000  # providers refuse more than 1,024
MAX_NESTED = 300  # of what a schema says about one argument
MAX_SCHEMA = 12_000  # characters of its JSON
_WORDS = ("description", "title")
_DEPTH = 40


def is_for_models(offer: Offer) -> bool:
    """False for a tool that its server made for its app's own use (MCP Apps: `_meta.ui.visibility` without "model")."""
    return may_call("model", offer.item)


def for_model(name: str, offer: Offer) -> dict[str, Any]:
    """The tool as MCP's `Tool`: name, description, inputSchema.

    Args:
        name: what the model calls it.
        offer: as the server offers it, untrusted.
    """
    return {"name": name, "description": _description(offer), "inputSchema": _schema(offer.item.get("inputSchema"))}


def summary(offer: Offer, limit: int = 200) -> str:
    """What it does, on one line."""
    said = str(offer.item.get("description") or "")
    title = offer.title
    return one_line(f"{title}. {said}" if title != offer.name else said, limit) or "(no description)"


def _description(offer: Offer) -> str:
    title = one_line(offer.title, 120)
    said = cut_end(str(offer.item.get("description") or ""), MAX_DESCRIPTION - 250).strip()
    head = f"Tool of the server {offer.server}"
    head += f", “{title}”" if title != offer.name else ""
    return f"{head}. {said}" if said else f"{head}."


def _schema(schema: object) -> dict[str, Any]:
    """The schema with bounded words; of one that is far too large only the names and types of its arguments."""
    known = mapping_of(schema)
    clean = cast("dict[str, Any]", _clean(known, 0, ())) if known else {}
    if _length(clean) > MAX_SCHEMA:
        clean = cast("dict[str, Any]", _clean(known, 0, _WORDS))
    if _length(clean) > MAX_SCHEMA:
        clean = _outline(known)
    return {**clean, "type": "object"}


def _clean(value: object, depth: int, without: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return visible(value)
    if depth > _DEPTH:
        return {} if is_mapping(value) else None
    if is_mapping(value):
        return {
            visible(key): _words(item) if key in _WORDS and isinstance(item, str) else _clean(item, depth + 1, without)
            for key, item in value.items()
            if not (key in without and isinstance(item, str))
        }
    return [_clean(item, depth + 1, without) for item in value] if is_list(value) else value


def _words(text: str) -> str:
    return one_line(text, MAX_NESTED)


def _outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = mapping_of(schema.get("properties"))
    required = schema.get("required")
    few = list(properties)[:100]
    names = [name for name in required if name in few] if is_list(required) else []
    return {"properties": {visible(name): _outlined(properties[name]) for name in few}, "required": names}


def _outlined(schema: object) -> dict[str, Any]:
    kind = mapping_of(schema).get("type")
    return {"type": kind} if isinstance(kind, str) else {}


def _length(value: object) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return MAX_SCHEMA + 1
