"""A foreign JSON Schema made safe to validate with: no keyword of an impossible type, no runaway pattern, bounded.

Servers send `properties: null`, `required: "x"`, patterns of other regular-expression dialects. A validator would crash
on them; here such a keyword is dropped, so that the rest of the schema still checks what it can.

Above: schema. It knows no validator. Source: JSON Schema 2020-12 (types of keywords).
"""

from __future__ import annotations

from typing import Any

from jupyter_mcp.protocol import patterns
from jupyter_mcp.protocol.shapes import is_list, is_number, is_object

_MAX_DEPTH = 60
_MAX_NODES = 20_000
_TYPES = frozenset(("null", "boolean", "object", "array", "number", "string", "integer"))

_SCHEMA = frozenset(
    (
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
_SCHEMA_LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_SCHEMA_MAPS = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))
_NUMBERS = frozenset(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"))
_COUNTS = frozenset(
    ("maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength", "minProperties")
)
_STRINGS = frozenset(("$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$ref", "$schema", "format"))

Schema = dict[str, Any] | bool


class _Budget:
    def __init__(self) -> None:
        self.nodes = 0


def clean(schema: object) -> Schema:
    """A copy of `schema` without what no validator can use. Never raises; what is no schema at all allows anything."""
    return _schema(schema, 0, _Budget())


def _schema(value: object, depth: int, budget: _Budget) -> Schema:
    budget.nodes += 1
    if isinstance(value, bool):
        return value
    if not is_object(value) or depth > _MAX_DEPTH or budget.nodes > _MAX_NODES:
        return True
    out: dict[str, Any] = {}
    for key, item in value.items():
        kept = _keyword(key, item, depth + 1, budget)
        if kept is not _DROPPED:
            out[key] = kept
    if out.get("nullable") is True and "type" in out:
        out["type"] = [*_as_types(out["type"]), "null"]  # OpenAPI's spelling
        if "enum" in out:
            out["enum"] = [*out["enum"], None]
    return out


_DROPPED: Any = object()


def _keyword(key: str, value: object, depth: int, budget: _Budget) -> Any:
    if key in _SCHEMA:
        return _schema(value, depth, budget) if is_object(value) or isinstance(value, bool) else _DROPPED
    if key in _SCHEMA_MAPS:
        return _schema_map(key, value, depth, budget)
    if key in _SCHEMA_LISTS:
        items = [_schema(item, depth, budget) for item in value] if is_list(value) else []
        return items or _DROPPED
    check = _CHECKS.get(key)
    if check is not None:
        return check(value)
    if key in _NUMBERS:
        return value if is_number(value) else _DROPPED
    if key in _COUNTS:
        return value if is_number(value) and value >= 0 else _DROPPED
    if key == "$schema" and depth > 1:
        return _DROPPED  # a part in another dialect would leave the bounds of `schema`
    if key in _STRINGS:
        return value if isinstance(value, str) else _DROPPED
    if key == "items":
        return _items(value, depth, budget)
    if key == "dependencies":
        return _dependencies(value, depth, budget)
    return value


def _schema_map(key: str, value: object, depth: int, budget: _Budget) -> Any:
    if not is_object(value):
        return _DROPPED
    return {
        name: _schema(item, depth, budget)
        for name, item in value.items()
        if key != "patternProperties" or patterns.usable(name)
    }


def _items(value: object, depth: int, budget: _Budget) -> Any:
    if is_list(value):  # until 2019-09: one schema for each place
        return [_schema(item, depth, budget) for item in value] or _DROPPED
    return _schema(value, depth, budget) if is_object(value) or isinstance(value, bool) else _DROPPED


def _dependencies(value: object, depth: int, budget: _Budget) -> Any:
    if not is_object(value):
        return _DROPPED
    return {
        name: _strings(item) if is_list(item) else _schema(item, depth, budget)
        for name, item in value.items()
        if is_list(item) or is_object(item) or isinstance(item, bool)
    }


def _as_types(value: object) -> list[str]:
    items = value if is_list(value) else [value]
    return [item for item in items if isinstance(item, str) and item in _TYPES]


def _type(value: object) -> Any:
    types = _as_types(value)
    return _DROPPED if not types else types[0] if len(types) == 1 else types


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if is_list(value) else []


def _required(value: object) -> Any:
    return _strings(value) or _DROPPED  # `required: true` of a property (draft 3) says nothing here


def _enum(value: object) -> Any:
    return value if is_list(value) and value else _DROPPED


def _pattern(value: object) -> Any:
    return value if patterns.usable(value) else _DROPPED


def _multiple(value: object) -> Any:
    return value if is_number(value) and value > 0 else _DROPPED


def _flag(value: object) -> Any:
    return value if isinstance(value, bool) else _DROPPED


def _dependent_required(value: object) -> Any:
    return {key: _strings(item) for key, item in value.items()} if is_object(value) else _DROPPED


_CHECKS = {
    "type": _type,
    "required": _required,
    "enum": _enum,
    "pattern": _pattern,
    "multipleOf": _multiple,
    "uniqueItems": _flag,
    "dependentRequired": _dependent_required,
}
