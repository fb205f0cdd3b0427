"""Reading a schema that somebody else wrote: references, `allOf`, and values of the wrong type.

The helpers of this room that know JSON Schema's words but no field. Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from jupyter_mcp.protocol.shapes import as_list, is_mapping

Schema = Mapping[str, Any]


_MAX_DEPTH = 16  # references and combinators followed before a schema is taken for a riddle


def flatten(schema: Schema, root: Schema, depth: int = 0) -> Schema:
    """The schema with its own `$ref` and `allOf` folded in; its properties are left as they are."""
    if depth > _MAX_DEPTH:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = _lookup(reference, root)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**flatten(target, root, depth + 1), **rest}
    parts = [part for part in as_list(schema.get("allOf")) if is_mapping(part)]
    if not parts:
        return schema
    merged: dict[str, Any] = {}
    for part in [*(flatten(part, root, depth + 1) for part in parts), schema]:
        merged = _merge(merged, part)
    merged.pop("allOf", None)
    return merged


def _merge(first: Mapping[str, Any], second: Schema) -> dict[str, Any]:
    merged = {**first, **second}
    for word in ("properties",):
        left, right = first.get(word), second.get(word)
        if is_mapping(left) and is_mapping(right):
            merged[word] = {**left, **right}
    required = [*as_list(first.get("required")), *as_list(second.get("required"))]
    if required:
        merged["required"] = required
    return merged


def _lookup(reference: str, root: Schema) -> Schema:
    """A reference inside the same document; anything else (another file, an anchor) says nothing."""
    if not reference.startswith("#"):
        return {}
    node: Any = root
    for step in reference[1:].split("/")[1:]:
        key = re.sub(r"%([0-9A-Fa-f]{2})", lambda hit: chr(int(hit[1], 16)), step)
        key = key.replace("~1", "/").replace("~0", "~")
        if is_mapping(node):
            node = node.get(key)
        elif isinstance(node, list) and key.isdecimal() and len(key) < 7:
            rows = cast("list[Any]", node)
            node = rows[int(key)] if int(key) < len(rows) else None
        else:
            return {}
    return node if is_mapping(node) else {}


def number_of(value: object) -> float | None:
    """A finite JSON number, else None (a limit written as text or as `true` is no limit)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
