"""What a schema wants, in a form small enough to decide how typed text is read, and in words for a person.

Pure and tolerant: an odd schema (unknown words, references that lead nowhere, null) means "anything".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

_DEPTH = 20
_SAFE = 2**53 - 1
_KNOWN = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


@dataclass(frozen=True, slots=True)
class Wants:
    """
    Attributes:
        types: JSON Schema type words; empty means anything.
        choices: the values of an enumeration, or None.
        open_text: beside the choices any text is allowed too.
    """

    types: frozenset[str] = frozenset()
    choices: tuple[Any, ...] | None = None
    open_text: bool = False


def wants(schema: Any, root: Mapping[str, Any]) -> Wants:
    """The types and choices that `schema` allows; `root` holds what its local references lead to."""
    types: set[str] = set()
    choices: list[Any] = []
    anything = open_text = enumerated = False
    for branch in branches(schema, root):
        values = _values(branch)
        if values is not None:
            enumerated = True
            choices.extend(value for value in values if value not in choices)
            continue
        found = _types(branch)
        types |= found
        anything = anything or not found
        open_text = open_text or "string" in found or not found
    if anything:
        types = set()
    if enumerated and not (types - {"null", "string"}) and not anything:
        if "null" in types and None not in choices:
            choices.append(None)
        return Wants(frozenset(types), tuple(choices), open_text)
    if enumerated:
        types |= {_type_of(value) for value in choices} if types else set()
    return Wants(frozenset(types))


def branches(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The alternatives of a schema, references followed, `anyOf` and `oneOf` opened, `allOf` merged."""
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        yield {}
        return
    current = cast("Mapping[str, Any]", schema)
    if isinstance(current.get("$ref"), str):
        target = resolve(current["$ref"], root)
        rest = {key: value for key, value in current.items() if key != "$ref"}
        yield from branches({**target, **rest}, root, depth + 1)
        return
    for keyword in ("anyOf", "oneOf"):
        options: Any = current.get(keyword)
        if isinstance(options, list) and options:
            rest = {key: value for key, value in current.items() if key != keyword}
            for option in cast("list[Any]", options):
                merged = {**rest, **cast("Mapping[str, Any]", option)} if isinstance(option, Mapping) else rest
                yield from branches(merged, root, depth + 1)
            return
    parts: Any = current.get("allOf")
    if isinstance(parts, list) and parts:
        merged = {key: value for key, value in current.items() if key != "allOf"}
        for part in cast("list[Any]", parts):
            first = next(branches(part, root, depth + 1))
            merged = {**first, **merged}
        yield merged
        return
    yield current


def resolve(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema a local reference (`#/$defs/X`) leads to; `{}` when it leads nowhere."""
    if not reference.startswith("#"):
        return {}
    current: Any = root
    for part in reference[1:].strip("/").split("/"):
        if not part:
            continue
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(current, Mapping) or key not in current:
            return {}
        current = cast("Mapping[str, Any]", current)[key]
    return cast("Mapping[str, Any]", current) if isinstance(current, Mapping) else {}


def describe(schema: Any, root: Mapping[str, Any]) -> str:
    """What a schema wants, in a few words: "integer, 1 to 7", "one of 'metric', 'imperial'"."""
    want = wants(schema, root)
    if want.choices is not None:
        shown = [repr(value) if isinstance(value, str) else json.dumps(value) for value in want.choices[:12]]
        more = f" … {len(want.choices) - 12} more" if len(want.choices) > 12 else ""
        words = "one of " + ", ".join(shown) + more
        return words + " or any text" if want.open_text else words
    words = " or ".join(name for name in _ORDER if name in want.types) or "any value"
    first = next(branches(schema, root))
    return ", ".join([words, *_bounds(first)])


_ORDER = ("string", "integer", "number", "boolean", "array", "object", "null")


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    low, high = bound(schema.get("minimum")), bound(schema.get("maximum"))
    if low is not None and high is not None:
        yield f"{low} to {high}"
    elif low is not None or high is not None:
        yield f"at least {low}" if low is not None else f"at most {high}"
    items: Any = schema.get("items")
    if isinstance(items, Mapping) and isinstance(kind := cast("Mapping[str, Any]", items).get("type"), str):
        yield f"of {kind}"
    for word in ("format", "pattern"):
        if isinstance(schema.get(word), str):
            yield f"{word} {schema[word]}"


def bound(limit: Any) -> Any:
    """A limit that says something: the largest exact integer of JavaScript is what zod writes for "any integer"."""
    return None if isinstance(limit, int) and abs(limit) >= _SAFE else limit


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    values: Any = schema.get("enum")
    if isinstance(values, list) and values:
        return cast("list[Any]", values)
    return [schema["const"]] if "const" in schema else None


def _types(schema: Mapping[str, Any]) -> set[str]:
    kind: Any = schema.get("type")
    named = [kind] if isinstance(kind, str) else cast("list[Any]", kind) if isinstance(kind, list) else []
    known = {name for name in named if name in _KNOWN}
    if known:
        return known
    if isinstance(schema.get("properties"), Mapping):
        return {"object"}
    return {"array"} if isinstance(schema.get("items"), Mapping) else set()


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        return "integer" if isinstance(value, int) else "number"
    return "null" if value is None else "array" if isinstance(value, list) else "object"
