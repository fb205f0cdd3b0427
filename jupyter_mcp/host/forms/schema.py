"""Reading a schema that somebody else wrote: references, `allOf`, and values of the wrong type.

The helpers of this room that know JSON Schema's words but no field. Nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

__all__ = ["Flat", "Schema", "beyond", "flatten", "merge", "number_of", "resolve"]

Schema = Mapping[str, Any]


_MAX_DEPTH = 16  # references and combinators followed before a schema is taken for a riddle


_REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")


@dataclass(frozen=True)
class Flat:
    """A schema with its references and `allOf` folded in.

    Attributes:
        schema: the result. refs: the references that were followed. trouble: why it could not be read, or "".
    """

    schema: Schema
    refs: frozenset[str] = frozenset()
    trouble: str = ""


def resolve(schema: object, root: Schema, depth: int = 0) -> Flat:
    """The schema with its own references and `allOf` folded in; its properties are left as they are."""
    if schema is False:
        return Flat({}, trouble="its schema allows no value at all")
    given = mapping_of(schema)
    if depth > _MAX_DEPTH:
        return Flat({}, trouble="its schema refers to itself without end")
    refs: frozenset[str] = frozenset()
    trouble = ""
    reference = next((given[word] for word in _REFERENCES if isinstance(given.get(word), str)), None)
    if isinstance(reference, str):
        target = _lookup(reference, root)
        found = resolve(target, root, depth + 1) if target is not None else _missing(reference)
        rest = {key: value for key, value in given.items() if key not in _REFERENCES}
        given = merge(found.schema, rest) if rest else found.schema
        refs, trouble = found.refs | {reference}, found.trouble
    parts = as_list(given.get("allOf"))
    if not parts:
        return Flat(given, refs, trouble)
    merged: Schema = {key: value for key, value in given.items() if key != "allOf"}
    outer = merged
    merged = {}
    for part in parts:
        flat = resolve(part, root, depth + 1)
        merged = merge(merged, flat.schema)
        refs, trouble = refs | flat.refs, trouble or flat.trouble
    merged = merge(merged, outer)
    if as_list(merged.get("type")) == [] and is_list(merged.get("type")):
        trouble = trouble or "the parts of its schema contradict one another"
    return Flat(merged, refs, trouble)


def flatten(schema: Schema, root: Schema) -> Schema:
    """`resolve` for those who only want the schema."""
    return resolve(schema, root).schema


def _missing(reference: str) -> Flat:
    return Flat({}, trouble=f"its schema refers to {reference[:100]}, which is not in it (nothing is fetched)")


# --- two schemas that both hold --------------------------------------------------------------------------------------


def merge(first: Schema, second: Schema) -> Schema:
    """One schema for a value that has to fit both, as far as words can be joined; annotations are the second's."""
    merged = {**first, **second}
    for word in first.keys() & second.keys():
        join = _JOIN.get(word)
        if join is not None:
            merged[word] = join(first[word], second[word])
    return merged


def _members(left: Any, right: Any) -> Any:
    if not is_mapping(left) or not is_mapping(right):
        return right
    joined = {**left, **right}
    for name in left.keys() & right.keys():
        joined[name] = right[name] if left[name] == right[name] else {"allOf": [left[name], right[name]]}
    return joined


def _both(left: Any, right: Any) -> Any:
    if left is False or right is False:
        return False
    if not is_mapping(left) or not left:
        return right
    return left if not is_mapping(right) or not right or left == right else {"allOf": [left, right]}


def _types(left: Any, right: Any) -> Any:
    first, second = (list(as_list(one) or [one]) for one in (left, right))
    kept = [kind for kind in first if kind in second]
    kept += ["integer"] if "integer" not in kept and _narrower(first, second) else []
    return kept[0] if len(kept) == 1 else kept


def _narrower(first: list[Any], second: list[Any]) -> bool:
    return ("integer" in first and "number" in second) or ("integer" in second and "number" in first)


def _stricter(pick: Callable[[float, float], float]) -> Callable[[Any, Any], Any]:
    def join(left: Any, right: Any) -> Any:
        first, second = number_of(left), number_of(right)
        if first is None or second is None:
            return right if first is None else left
        return pick(first, second)

    return join


def _common(left: Any, right: Any) -> Any:
    return [value for value in as_list(left) if value in as_list(right)]


def _all_names(left: Any, right: Any) -> Any:
    return [*as_list(left), *as_list(right)]


_JOIN: Mapping[str, Callable[[Any, Any], Any]] = {
    "properties": _members,
    "patternProperties": _members,
    "$defs": _members,
    "definitions": _members,
    "required": _all_names,
    "allOf": _all_names,
    "additionalProperties": _both,
    "items": _both,
    "type": _types,
    "enum": _common,
    "minimum": _stricter(max),
    "exclusiveMinimum": _stricter(max),
    "minLength": _stricter(max),
    "minItems": _stricter(max),
    "maximum": _stricter(min),
    "exclusiveMaximum": _stricter(min),
    "maxLength": _stricter(min),
    "maxItems": _stricter(min),
}


# --- references ------------------------------------------------------------------------------------------------------


def _lookup(reference: str, root: Schema) -> object:
    """What a reference inside the same document means; None for another document's."""
    own = root.get("$id")
    if isinstance(own, str) and own and reference.startswith(f"{own.split('#')[0]}#"):
        reference = reference[len(own.split("#")[0]) :]
    if not reference.startswith("#"):
        return None
    if len(reference) > 1 and reference[1] != "/":
        return _anchored(reference[1:], root)
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
            return None
    return node if is_mapping(node) or isinstance(node, bool) else None


def _anchored(name: str, root: Schema) -> object:
    for holder in ("$defs", "definitions"):
        for part in mapping_of(root.get(holder)).values():
            if is_mapping(part) and name in (part.get("$anchor"), part.get("$dynamicAnchor")):
                return part
    return None


# --- what the nodes of a form do not check themselves ----------------------------------------------------------------

_BEYOND = frozenset(
    [
        "allOf",
        "oneOf",
        "not",
        "if",
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "propertyNames",
        "patternProperties",
        "minProperties",
        "maxProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "additionalItems",
        "extends",
        "disallow",
        *_REFERENCES[1:],
    ]
)
_LOOKS = ("$ref", "allOf", "anyOf", "oneOf", "type", "properties", "items", "prefixItems", "enum", "const", "format")
_STRUCTURE = frozenset(
    [*_LOOKS, "additionalProperties", "patternProperties", "minLength", "pattern", "minimum", "maximum"]
)
_DATA = frozenset(["enum", "const", "default", "examples", "example", "required", "type", "title", "description"])
_NAMED = frozenset(["properties", "$defs", "definitions"])


def structured(schema: object) -> bool:
    """Whether an alternative says what a value looks like (and not only which members it has to have)."""
    return is_mapping(schema) and not _STRUCTURE.isdisjoint(schema)


def beyond(schema: object) -> bool:
    """Whether a schema says anything that only the validator checks."""
    return any(
        not _BEYOND.isdisjoint(part) or not all(structured(option) for option in as_list(part.get("anyOf")))
        for part in _schemas(schema)
    )


def _schemas(schema: object) -> Iterator[Schema]:
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if is_list(one):
            waiting.extend(one)
        elif is_mapping(one):
            yield one
            for word, value in one.items():
                if word in _NAMED:
                    waiting.extend(mapping_of(value).values())
                elif word not in _DATA:
                    waiting.append(value)


def number_of(value: object) -> float | None:
    """A finite JSON number, else None (a limit written as text or as `true` is no limit)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
