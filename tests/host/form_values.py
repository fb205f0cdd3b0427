"""Values that fit a schema, and what a person may do to a form: made from chance, for tests of forms.

The makers of values read schemas in their own way and share no code with the forms that they test; what they make is
checked by the validator before it is used.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms import UNSET, AsJson, Members, Node, Picked
from jupyter_mcp.protocol import schema as validator
from jupyter_mcp.protocol.shapes import is_list, is_mapping, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_WORDS = ["", "a", "b c", "42", "null", "true", "[1", '{"a": 1}', '"q"', "é\nü", " x ", "#1", "$v", "-", "0x", "λ" * 30]
_FORMATTED = {
    "date": "2026-03-01",
    "date-time": "2026-03-01T10:00:00Z",
    "time": "10:00:00Z",
    "email": "ada@example.org",
    "uri": "https://example.org/a?b=c",
    "url": "https://example.org/",
    "color": "#1976d2",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
_TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]


def valid_values(schema: dict[str, Any], rng: Random, count: int, tries: int = 60) -> Iterator[Any]:
    """Up to `count` values that the validator accepts."""
    for _ in range(count):
        for _ in range(tries):
            value = _Values(schema, rng).of(schema, 0)
            if is_object(value) and not validator.check(schema, value):
                yield value
                break


class _Values:
    def __init__(self, root: dict[str, Any], rng: Random) -> None:
        self.root = root
        self.rng = rng

    def of(self, schema: Any, depth: int) -> Any:
        rng = self.rng
        if not is_object(schema) or not schema:
            return self._anything(depth)
        if "$ref" in schema:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            return self.of({**self._target(schema["$ref"]), **rest}, depth)
        if schema.get("allOf"):
            whole: Any = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                part = {**self._target(part["$ref"]), **part} if "$ref" in part else part
                properties = {**whole.get("properties", {}), **part.get("properties", {})}
                required = [*whole.get("required", []), *part.get("required", [])]
                whole = {**whole, **part, "properties": properties, "required": required}
                whole.pop("$ref", None)
            if not whole["properties"]:
                whole.pop("properties")
            return self.of(whole, depth)
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                rest = {key: value for key, value in schema.items() if key != word}
                option = rng.choice(schema[word])
                if "$ref" in option:
                    option = self._target(option["$ref"])
                if "properties" in option and "properties" in rest:
                    option = {**option, "properties": {**rest["properties"], **option["properties"]}}
                    option["required"] = [*rest.get("required", []), *option.get("required", [])]
                return self.of({**rest, **option}, depth)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type") or ("object" if "properties" in schema else "array" if "items" in schema else None)
        if kind is None:
            kind = "string" if {"pattern", "minLength", "format"} & schema.keys() else rng.choice(_TYPES)
        if is_list(kind):
            kind = rng.choice(kind)
        return getattr(self, f"_{kind}")(schema, depth)

    def _target(self, reference: str) -> dict[str, Any]:
        found: Any = self.root
        for step in reference.split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    def _anything(self, depth: int) -> Any:
        kinds = _TYPES[:5] if depth > 3 else _TYPES
        return self.of({"type": self.rng.choice(kinds)}, depth)

    def _null(self, schema: dict[str, Any], depth: int) -> None:
        return None

    def _boolean(self, schema: dict[str, Any], depth: int) -> bool:
        return self.rng.random() < 0.5

    def _string(self, schema: dict[str, Any], depth: int) -> str:
        if schema.get("format") in _FORMATTED:
            return _FORMATTED[schema["format"]]
        known = [*schema.get("x-samples", []), *schema.get("examples", [])]
        text = self.rng.choice(known or _WORDS)
        text = text.ljust(schema.get("minLength", 0), "x")
        return text[: schema.get("maxLength", 1000)]

    def _number(self, schema: dict[str, Any], depth: int) -> float:
        low, high = _bounds(schema)
        step = schema.get("multipleOf")
        if step:
            return step * self.rng.randint(math.ceil(low / step), math.floor(min(high, low + 50 * step) / step))
        picked = self.rng.choice([low, high, self.rng.uniform(low, high), float(round(self.rng.uniform(low, high)))])
        return min(max(picked, low), high)

    def _integer(self, schema: dict[str, Any], depth: int) -> int:
        low, high = _bounds(schema)
        step = schema.get("multipleOf", 1)
        return int(step * self.rng.randint(math.ceil(low / step), math.floor(high / step)))

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", least + 3), least + (3 if depth < 4 else 0))
        first = schema.get("prefixItems", [])
        length = max(self.rng.randint(least, max(least, most)), 0)
        items = schema.get("items", {})
        length = min(length, len(first)) if items is False else length
        return [self.of(first[at] if at < len(first) else items, depth + 1) for at in range(length)]

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        members = schema.get("properties", {})
        wanted = set(schema.get("required", []))
        chance = 0.6 if depth < 4 else 0.0
        value = {
            name: self.of(part, depth + 1)
            for name, part in members.items()
            if name in wanted or self.rng.random() < chance
        }
        value |= {name: self._anything(depth + 1) for name in wanted if name not in members}
        extra = schema.get("additionalProperties", {} if self.rng.random() < 0.15 else False)
        if extra is not False and depth < 4:
            for name in self.rng.sample(["k", "key two", "~/odd", "x-y"], self.rng.randint(0, 2)):
                if name not in members:
                    value[name] = self.of({} if extra is True else extra, depth + 1)
        for pattern, part in schema.get("patternProperties", {}).items():
            if self.rng.random() < 0.7:
                value[pattern.strip("^$") + "1"] = self.of(part, depth + 1)
        return value


def _bounds(schema: dict[str, Any]) -> tuple[float, float]:
    low = schema.get("minimum", -1000)
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + (1 if schema.get("type") == "integer" else 0.5)
    high = schema.get("maximum", max(low, 0) + 1000)
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - (1 if schema.get("type") == "integer" else 0.25)
    return low, high


# --- what a person may do --------------------------------------------------------------------------------------------


def drafts(node: Node, rng: Random, depth: int = 0) -> Any:
    """What a person may have done to a form: mostly sensible, sometimes not."""
    if not node.required and rng.random() < 0.4:
        return UNSET
    if node.nullable and rng.random() < 0.2:
        return None
    if rng.random() < 0.04:
        return AsJson(rng.choice(["{}", "[]", "null", "3", '"x"', "{", '{"a": [1, {"b": null}]}']))
    return getattr(_People, node.kind.replace("-", "_"), _People.text)(node, rng, depth)


class _People:
    @staticmethod
    def text(node: Node, rng: Random, depth: int) -> Any:
        if node.format in _FORMATTED and rng.random() < 0.8:
            return _FORMATTED[node.format]
        samples = node.schema.get("x-samples")
        return rng.choice(samples if samples and rng.random() < 0.8 else _WORDS)

    @staticmethod
    def number(node: Node, rng: Random, depth: int) -> Any:
        low, high = _bounds(dict(node.schema))
        return rng.choice(
            [str(int(low)), str(math.ceil(high)), f"{rng.uniform(low, high):.3f}", str(round(low) + 1), "x"]
        )

    integer = number

    @staticmethod
    def boolean(node: Node, rng: Random, depth: int) -> Any:
        return rng.choice([True, False])

    @staticmethod
    def choice(node: Node, rng: Random, depth: int) -> Any:
        return rng.choice(node.choices)[1]

    const = choice

    @staticmethod
    def multichoice(node: Node, rng: Random, depth: int) -> Any:
        return [value for _, value in node.choices if rng.random() < 0.5]

    @staticmethod
    def array(node: Node, rng: Random, depth: int) -> Any:
        least = node.min_items or 0
        entries = (node.entry(at) for at in range(rng.randint(least, least + (2 if depth < 4 else 0))))
        return [drafts(entry, rng, depth + 1) for entry in entries if entry is not None]

    @staticmethod
    def object(node: Node, rng: Random, depth: int) -> Any:
        parts = {
            part.name: drafts(part, rng, depth + 1) if part.required or depth < 4 else UNSET for part in node.parts
        }
        if node.extra is None or not node.open or depth > 3:
            return parts
        names = rng.sample(["k", "key two", "~/odd", "", "x1"], rng.randint(0, 2))
        return Members(parts, [(name, drafts(node.extra, rng, depth + 1)) for name in names])

    @staticmethod
    def union(node: Node, rng: Random, depth: int) -> Any:
        at = rng.randrange(len(node.branches))
        return Picked(at, drafts(node.branches[at], rng, depth + 1))


def json_written(node: Node, draft: Any, place: str = "") -> Iterator[str]:
    """The places where a draft has JSON although the form has a field."""
    if isinstance(draft, AsJson):
        yield place
    elif isinstance(draft, Picked) and draft.at is not None:
        yield from json_written(node.branches[draft.at], draft.draft, f"{place}|{draft.at}")
    elif isinstance(draft, Members) or is_mapping(draft):
        parts: Any = draft.parts if isinstance(draft, Members) else draft
        rows: Any = draft.rows if isinstance(draft, Members) else []
        for part in node.parts:
            yield from json_written(part, parts.get(part.name, UNSET), f"{place}/{part.name}")
        for name, one in rows:
            assert node.extra is not None
            yield from json_written(node.extra, one, f"{place}/{name}")
    elif is_list(draft) and node.kind == "array":
        for at, one in enumerate(draft):
            entry = node.entry(at)
            assert entry is not None
            yield from json_written(entry, one, f"{place}/{at}")
