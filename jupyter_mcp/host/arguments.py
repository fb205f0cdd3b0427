"""What a person typed as a tool's arguments, made into values by the tool's schema. Pure text in, values out.

    key=value     the schema decides: where it wants text, the characters as they are ("42" stays text); else JSON
    key:=JSON     JSON, whatever the schema says
    a body        one JSON object, or a Python dict literal (never evaluated), or `key: value` lines

Everything here raises `UsageError`: which argument, what is wrong with it, what the schema wants. Whether all required
arguments are there is checked by the host for every way in, not here.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.plain import plain
from jupyter_mcp.host.wants import Wants, describe, wants
from jupyter_mcp.host.wording import decode_json, json_problem, nearest, quote_line, shorten

__all__ = ["NOTHING", "Pair", "Typed", "body", "coerce", "convert"]


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = _Nothing()


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed word: its text or, when `value` is given, the notebook object it stands for."""

    text: str
    value: Any = NOTHING

    @property
    def is_object(self) -> bool:
        return self.value is not NOTHING


Reader = Callable[[str], Typed]
"""Turns a typed word into text or a notebook object (`notebook.namespace.Namespace.read`)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """`key=value`, or `key:=value` when `forced`."""

    key: str
    value: Typed
    forced: bool = False


def coerce(schema: Mapping[str, Any], pairs: Iterable[Pair]) -> dict[str, Any]:
    """The arguments object of some pairs.

    Args:
        schema: the tool's input schema (an object schema; anything else means "anything goes").
        pairs: in the order typed.
    """
    result: dict[str, Any] = {}
    for pair in pairs:
        if pair.key in result:
            raise UsageError(f"{pair.key} is given twice")
        result[pair.key] = _one(pair, property_schema(schema, pair.key), schema)
    return result


def property_schema(schema: Mapping[str, Any], key: str) -> Any:
    """The schema of one argument. Raises `UsageError` with the nearest name when there is no such argument."""
    properties = _mapping(schema.get("properties"))
    if key in properties:
        return properties[key]
    for pattern, sub in _mapping(schema.get("patternProperties")).items():
        if _searches(pattern, key):
            return sub
    extra = schema.get("additionalProperties")
    if isinstance(extra, Mapping):
        return cast("Mapping[str, Any]", extra)
    composed = any(keyword in schema for keyword in ("anyOf", "oneOf", "allOf", "$ref", "if"))
    if extra is True or (extra is None and (not properties or composed)):
        return _branches(schema, key)
    raise _unknown(key, list(properties))


def _branches(schema: Mapping[str, Any], key: str) -> Any:
    """What the alternatives of a composed object schema say about `key`."""
    found: list[Any] = []
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in _sequence(schema.get(keyword)):
            properties = _mapping(_mapping(branch).get("properties"))
            if key in properties:
                found.append(properties[key])
    return {"anyOf": found} if found else {}


def convert(text: str, schema: Any, root: Mapping[str, Any] | None = None) -> Any:
    """One typed text by its schema. Raises `ValueError` with a clause such as "'x' is not an integer"."""
    want = wants(schema, root or _mapping(schema))
    if want.choices is not None:
        return _choice(text, want)
    others = want.types - {"string"}
    if want.types == _TEXT:
        return text
    if "string" in want.types:
        value = _parsed(text, others - {"null"})
        return text if value is NOTHING else value
    if not want.types:
        value = _parsed(text, _ALL)
        return text if value is NOTHING else value
    value = _parsed(text, others)
    if value is NOTHING:
        raise ValueError(_why_not(text, others))
    return value


def body(text: str, schema: Mapping[str, Any], read: Reader) -> dict[str, Any]:
    """The arguments object that the body of a cell holds; an empty body is an empty object.

    Args:
        text: the body.
        schema: the tool's input schema, for `key: value` lines.
        read: what a value that is wholly `$name` or `{expression}` means.
    """
    if not text.strip():
        return {}
    if text.lstrip()[0] in "{[(":
        return _literal(text)
    return coerce(schema, _lines(text, read))


_TEXT = frozenset({"string"})
_ALL = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_NAMES = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a JSON array",
    "object": "a JSON object",
    "null": "null",
    "string": "text",
}


def _one(pair: Pair, schema: Any, root: Mapping[str, Any]) -> Any:
    if pair.value.is_object:
        return plain(pair.value.value, pair.key)
    if pair.forced:
        return _forced(pair)
    try:
        return plain(convert(pair.value.text, schema, root), pair.key)
    except ValueError as error:
        said = f"{pair.key}: {error} (the schema wants {describe(schema, root)})"
        instead = _as_list(pair, schema, root)
        raise UsageError(f"{said}." if instead else said, hint=instead) from None


def _as_list(pair: Pair, schema: Any, root: Mapping[str, Any]) -> str | None:
    """How one word is written where a list is wanted."""
    text = pair.value.text
    is_word = re.fullmatch(r"[^\s\[{\"']{1,60}", text) is not None
    return f"Write {pair.key}={json.dumps([text])}." if is_word and "array" in wants(schema, root).types else None


def _forced(pair: Pair) -> Any:
    try:
        return plain(json.loads(pair.value.text, parse_constant=_refuse_constant), pair.key)
    except json.JSONDecodeError as error:
        raise UsageError(f"{pair.key}:= takes JSON: {json_problem(error)}: {quote_line(error)}") from None
    except RecursionError:
        raise UsageError(f"{pair.key} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{pair.key}: {error}") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


def _parsed(text: str, types: frozenset[str]) -> Any:
    """`text` as JSON of one of the types, else NOTHING. `True`, `None` and the like are understood as well."""
    stripped = text.strip()
    try:
        value = json.loads(stripped, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = _WORDS.get(stripped.lower(), NOTHING)
    return _fit(value, types)


def _fit(value: Any, types: frozenset[str]) -> Any:
    if value is NOTHING:
        return NOTHING
    kind = json_type(value)
    if kind == "number" and "number" not in types and "integer" in types and float(value).is_integer():
        return int(value)
    if kind in types or (kind == "integer" and "number" in types):
        return value
    return NOTHING


def json_type(value: Any) -> str:
    """The JSON Schema word for a JSON value ("integer" for whole numbers written as such)."""
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    if value is None:
        return "null"
    return "array" if isinstance(value, (list, tuple)) else "object"


def _choice(text: str, want: Wants) -> Any:
    choices = want.choices or ()
    value = _parsed(text, _ALL)
    for candidate in (text, value):
        for choice in choices:
            if candidate is not NOTHING and choice == candidate and json_type(choice) == json_type(candidate):
                return choice
    if (value is not NOTHING) and not isinstance(value, str):
        for choice in choices:
            if choice == value and not isinstance(choice, bool) and not isinstance(value, bool):
                return choice
    if want.open_text:
        return text
    names = [choice if isinstance(choice, str) else json.dumps(choice) for choice in choices]
    near = nearest(text, names)
    raise ValueError(f"{shorten(text)!r} is not one of the choices" + (f"; did you mean {near!r}?" if near else ""))


def _why_not(text: str, types: frozenset[str]) -> str:
    names = " or ".join(_NAMES[name] for name in sorted(types) if name in _NAMES)
    if types & {"array", "object"} and not text.strip():
        return f"nothing is not {names}"
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if types & {"array", "object"} and text.strip()[:1] in ("{", "["):
            return f"{shorten(text, error.pos)} is not JSON ({json_problem(error)})"
    except (ValueError, RecursionError) as error:
        return str(error) or "nested too deeply"
    return f"{shorten(text)!r} is not {names}"


def _unknown(key: str, names: list[str]) -> UsageError:
    near = nearest(key, names)
    if near:
        return UsageError(f"no argument {key!r}; did you mean {near!r}?")
    return UsageError(f"no argument {key!r} (there are {', '.join(names)})")


def _literal(text: str) -> dict[str, Any]:
    """A body that starts with a bracket: JSON, else a Python literal."""
    try:
        value, end = decode_json(text, "the body", len(text) - len(text.lstrip()))
        if text[end:].strip():
            line = text.count("\n", 0, len(text) - len(text[end:].lstrip())) + 1
            raise UsageError(f"the body goes on after the object, at line {line}: {shorten(text[end:].strip())}")
    except UsageError as error:
        value = _python(text, error)
    if not isinstance(value, dict):
        raise UsageError(f'the body is a {type(value).__name__}; arguments are an object: {{"name": value}}')
    return plain(cast("dict[str, Any]", value), "the body")


def _python(text: str, not_json: UsageError) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise not_json from None


_LINE = re.compile(r"\s*(?P<key>\"[^\"]+\"|'[^']+'|[^\s:#\"'][^:]*?)\s*:(?P<forced>=)?(?:\s+|$)(?P<value>.*)$")


def _lines(text: str, read: Reader) -> Iterable[Pair]:
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.match(line)
        if not found:
            column = len(line) - len(line.lstrip()) + 1
            raise UsageError(
                f"line {number}, column {column} of the body is not `key: value`: {shorten(line.strip())}.",
                hint="A body is a JSON object, a Python dict, or one `key: value` a line.",
            )
        value = found["value"].strip()
        while value[:1] in ("{", "[") and not _closed(value) and number < len(lines):
            value += "\n" + lines[number]
            number += 1
        forced = bool(found["forced"])
        typed = Typed(value) if forced and not value.startswith("$") else read(_unquoted(value))
        yield Pair(_unquoted(found["key"]), typed, forced)


def _closed(value: str) -> bool:
    try:
        json.loads(value)
    except json.JSONDecodeError as error:
        return error.pos < len(value.rstrip()) and "Unterminated" not in error.msg
    return True


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]:
        return text[1:-1]
    return text


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _searches(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return False
