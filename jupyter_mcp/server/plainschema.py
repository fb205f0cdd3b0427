"""The schemas of plain annotations, written down without pydantic: str, int, list[str], Literal, Optional and so on.

Most parameters are of this kind, and a model for each tool costs about a millisecond: a server with 2,000 tools would
need two seconds for its first list. What is not plain returns None and goes the long way; a test holds both ways equal.
"""

from __future__ import annotations

import math
import types
import typing
from typing import Any, cast

Schema = dict[str, Any]

_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    Any: {},
}
_DEEPEST_DEFAULT = 4


def schema_of(annotation: Any) -> Schema | None:
    """The schema of a plain annotation, else None."""
    try:
        scalar = _SCALARS.get(annotation)
    except TypeError:  # not hashable
        return None
    if scalar is not None:
        return dict(scalar)
    origin = typing.get_origin(annotation)
    arguments: tuple[Any, ...] = typing.get_args(annotation)
    if origin is typing.Literal:
        return _literal(arguments)
    if origin is typing.Union or origin is types.UnionType:
        parts = [schema_of(part) for part in arguments]
        return None if None in parts or {} in parts else any_of(cast("list[Schema]", parts))
    if annotation is list or (origin is list and len(arguments) == 1):
        items = schema_of(arguments[0]) if arguments else {}
        return None if items is None else {"items": items, "type": "array"}
    if annotation is dict:
        return {"additionalProperties": True, "type": "object"}
    if origin is dict and len(arguments) == 2 and arguments[0] is str:
        values = schema_of(arguments[1])
        return None if values is None else {"additionalProperties": values or True, "type": "object"}
    return None


def any_of(parts: list[Schema]) -> Schema:
    """One of several; a whole number is a number, so `int | float` (which keeps 3 and 3.0 apart) is just that."""
    if {"type": "number"} in parts:
        parts = [part for part in parts if part != {"type": "integer"}]
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _literal(values: tuple[Any, ...]) -> Schema | None:
    words = {"str": "string", "int": "integer"}
    kinds = {type(value).__name__ for value in values}
    word = words.get(kinds.pop()) if len(kinds) == 1 else None
    if word is None or len(set(values)) != len(values):
        return None
    return {"const": values[0], "type": word} if len(values) == 1 else {"enum": list(values), "type": word}


def is_plain_value(value: Any, depth: int = 0) -> bool:
    """Whether a default is JSON as it stands."""
    if value is None or type(value) in (str, bool, int):
        return True
    if type(value) is float:
        return math.isfinite(value)
    if depth >= _DEEPEST_DEFAULT:
        return False
    if type(value) is list:
        return all(is_plain_value(item, depth + 1) for item in cast("list[Any]", value))
    if type(value) is dict:
        items = cast("dict[Any, Any]", value).items()
        return all(type(key) is str and is_plain_value(item, depth + 1) for key, item in items)
    return False
