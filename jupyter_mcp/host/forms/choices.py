"""The values that a schema lets one choose from, in all its spellings, and what to call each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import as_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.forms.schema import Schema

__all__ = ["closed", "distinct", "enum_of", "named", "options", "text_of", "type_name", "unlike"]


def options(schema: Schema, branches: Sequence[Schema]) -> tuple[tuple[str, Any], ...]:
    """The values to choose from: enum, enum + enumNames, const + title, unions of those; () when it is no choice."""
    if len(branches) > 1:
        if all(closed(branch) for branch in branches):
            return distinct([pair for branch in branches for pair in options(branch, [branch])])
        return ()
    values = enum_of(schema)
    if values:
        names = as_list(schema.get("enumNames")) or as_list(schema.get("x-enumNames"))
        titles = [text_of(name) for name in names] + [""] * len(values)
        pairs = [(title or named(value), value) for title, value in zip(titles, values, strict=False)]
        return distinct([pair for pair in pairs if pair[1] is not None])
    if "const" in schema:
        return ((text_of(schema.get("title")) or named(schema["const"]), schema["const"]),)
    return ()


def closed(schema: Schema) -> bool:
    """Whether a schema names the values it allows."""
    return "const" in schema or bool(enum_of(schema))


def distinct(pairs: Sequence[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Each value once; a label that two values share gets the value added, so that a person can tell them apart."""
    seen: dict[str, tuple[str, Any]] = {}
    for label, value in pairs:
        seen.setdefault(f"{type_name(value)}:{named(value)}", (label, value))
    labels = [label for label, _ in seen.values()]
    return tuple(
        (f"{label} ({json.dumps(value, ensure_ascii=False, default=str)})" if labels.count(label) > 1 else label, value)
        for label, value in seen.values()
    )


def unlike(labels: Sequence[str]) -> list[str]:
    """The labels with their place added where two are the same."""
    return [f"{one} ({at})" if labels.count(one) > 1 else one for at, one in enumerate(labels, 1)]


def named(value: object) -> str:
    """What to call a value that has no title."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def type_name(value: object) -> str:
    """The JSON Schema word for a value; 1, 1.0, "1" and true are different JSON values."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names: list[tuple[type, str]] = [(float, "number"), (str, "string"), (list, "array"), (dict, "object")]
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def enum_of(schema: Schema) -> list[Any]:
    return as_list(schema.get("enum"))


def text_of(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
