"""What a field accepts, in words: for the help line above a control and for the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms.node import UNSET, Node
from jupyter_mcp.host.forms.schema import flatten, number_of
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["constraints", "labels", "shape"]

_WORDS: Mapping[str, str] = {
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "email": "e-mail address",
    "uri": "full address (https://…)",
    "date": "date, YYYY-MM-DD",
    "date-time": "date and time with zone, 2026-03-01T10:00:00Z",
    "time": "time, 10:00:00",
    "color": "colour, #1976d2",
    "multichoice": "several may be chosen",
}


_SEEN = frozenset(["choice", "multichoice", "boolean", "const", "object", "array"])
"""Kinds whose controls show the default anyway."""


def constraints(node: Node) -> str:
    """What the field accepts, in words, for the help line ("whole number, from 1 to 3"); empty for any text."""
    said = [_kind_words(node), *_limit_words(node)]
    if node.nullable:
        said.append("may be null")
    if node.kind not in _SEEN and node.default is not UNSET:
        text = json.dumps(node.default, ensure_ascii=False)
        said.append(f"default {text if len(text) <= 60 else text[:57] + '…'}")
    return ", ".join(word for word in said if word)


def _kind_words(node: Node) -> str:
    if node.kind == "json":
        said = shape(node.schema)
        return f"JSON: {said.removesuffix(' | null') if node.nullable else said}"
    if node.kind == "array":
        entry = constraints(node.item) if node.item is not None and node.item.kind not in _SEEN else ""
        return f"each: {entry}" if entry else ""
    if node.kind == "text" and len(node.types) > 1:
        return " or ".join(_WORDS.get(kind, "text") for kind in node.types)
    return _WORDS.get(node.kind, "")


def _limit_words(node: Node) -> list[str]:
    schema = node.schema
    words = [
        _range(node.minimum, node.maximum),
        _range(node.min_length, node.max_length, "character", "characters"),
        _range(node.min_items, node.max_items, *(("entry", "entries") if node.kind != "multichoice" else ("", ""))),
    ]
    for word, said in (
        ("exclusiveMinimum", "more than"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "in steps of"),
    ):
        limit = number_of(schema.get(word))
        if limit is not None and node.kind in ("integer", "number"):
            words.append(f"{said} {_short(limit)}")
    if node.pattern:
        words.append(f"matching {node.pattern if len(node.pattern) <= 60 else node.pattern[:57] + '…'}")
    if schema.get("uniqueItems") is True and node.kind in ("array", "multichoice"):
        words.append("each once")
    return words


def _range(low: float | None, high: float | None, one: str = "", many: str = "") -> str:
    """Limits with their unit; a lower limit of no characters or entries is none."""

    def unit(number: float) -> str:
        word = one if number == 1 else many
        return f" {word}" if word else ""

    if low is not None and high is not None:
        return f"{_short(low)}{unit(low)}" if low == high else f"{_short(low)} to {_short(high)}{unit(high)}"
    if low is not None and (low or not many):
        return f"at least {_short(low)}{unit(low)}"
    return f"at most {_short(high)}{unit(high)}" if high is not None else ""


def _short(value: float) -> str:
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def shape(schema: object, limit: int = 160) -> str:
    """The shape of a JSON value as a short text: `[{"time": text, "value": number, "group"?: text}, …]`."""
    root = mapping_of(schema)
    text = _shape(root, root, 0)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shape(schema: object, root: Mapping[str, Any], depth: int) -> str:
    if not is_mapping(schema) or depth > 3:
        return "…"
    flat = flatten(schema, root)
    for word in ("anyOf", "oneOf"):
        options = as_list(flat.get(word))
        if options:
            return " | ".join(dict.fromkeys(_shape(option, root, depth + 1) for option in options[:6]))
    values = as_list(flat.get("enum")) or ([flat["const"]] if "const" in flat else [])
    if values:
        return " | ".join(json.dumps(value, ensure_ascii=False, default=str) for value in values[:6])
    kinds = as_list(flat.get("type")) or [flat.get("type")]
    return " | ".join(_shape_of(str(kind), flat, root, depth) for kind in kinds[:6])


def _shape_of(kind: str, flat: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> str:
    properties = flat.get("properties")
    if is_mapping(properties) and kind in ("object", "None"):
        required = as_list(flat.get("required"))
        said = [
            f'"{name}"{"" if name in required else "?"}: {_shape(part, root, depth + 1)}'
            for name, part in list(properties.items())[:8]
        ]
        return "{" + ", ".join([*said, *(["…"] if len(properties) > 8 else [])]) + "}"
    if kind == "array" or (kind == "None" and "items" in flat):
        return f"[{_shape(flat.get('items', {}), root, depth + 1)}, …]" if "items" in flat else "[…]"
    names = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true | false"}
    return names.get(kind, {"object": "{…}", "null": "null"}.get(kind, "any value"))


def labels(found: Sequence[Node]) -> list[str]:
    """The labels of some fields, with the machine name added where two share one."""
    titles = [node.label for node in found]
    return [f"{node.label} ({node.name})" if titles.count(node.label) > 1 else node.label for node in found]
