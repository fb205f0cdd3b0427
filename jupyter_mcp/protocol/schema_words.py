"""A JSON Schema and a validation error in words for people.

"'three' is not an integer (wants an integer, 1 to 14)": what is wrong with the value, and what the schema wants. The
sentences never quote a value whose name looks like a secret.

Above: schema, forms and cards. It imports no validator; an error is taken by its attributes.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.protocol.secret_names import looks_secret
from jupyter_mcp.protocol.shapes import is_list, is_mapping, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_LONGEST = 60  # characters of a quoted value
_MOST = 8  # listed alternatives
_SAFE = 2**53 - 1  # as a limit it says "any integer" (zod writes it)


class Failure(Protocol):
    """The part of `jsonschema.ValidationError` that is read here."""

    @property
    def validator(self) -> Any: ...
    @property
    def validator_value(self) -> Any: ...
    @property
    def instance(self) -> Any: ...
    @property
    def schema(self) -> Any: ...
    @property
    def context(self) -> Sequence[Failure] | None: ...
    @property
    def relative_path(self) -> Sequence[str | int]: ...
    @property
    def relative_schema_path(self) -> Sequence[str | int]: ...


def path_text(path: Iterable[str | int]) -> str:
    """["a", 3, "b c"] as `a[3].b c`."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out


def quoted(value: object) -> str:
    """A value as it is written, shortened."""
    if isinstance(value, (dict, list, bool)) or value is None:
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def listed(items: Sequence[Any], last: str = "or") -> str:
    """'a', 'b' or 'c'."""
    shown = [quoted(item) for item in items[:_MOST]]
    if len(items) > _MOST:
        return ", ".join(shown) + f" … ({len(items)} choices)"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + f" {last} {shown[-1]}" if shown else "nothing"


# --- what a schema wants ---------------------------------------------------------------------------------------------

_TYPE_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_PLURALS = {
    "a string": "strings",
    "an integer": "integers",
    "a number": "numbers",
    "a list": "lists",
    "an object": "objects",
    "true or false": "true or false",
    "any value": "anything",
}
_FORMAT_WORDS = {
    "email": "an e-mail address",
    "uri": "a URI",
    "date": "a date, YYYY-MM-DD",
    "date-time": "a date and time, YYYY-MM-DDThh:mm:ssZ",
    "time": "a time, hh:mm:ss",
    "uuid": "a UUID",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}


def describe(schema: object, depth: int = 0) -> str:
    """What a schema wants, in a few words: "an integer, 1 to 14", "one of 'a' or 'b'", "a list of strings"."""
    if not is_mapping(schema) or depth > 3:
        return "nothing" if schema is False else "any value"
    wants = schema
    if "const" in wants:
        return quoted(wants["const"])
    if is_list(wants.get("enum")):
        return f"one of {listed(wants['enum'])}"
    for key in ("anyOf", "oneOf"):
        if is_list(branches := wants.get(key)) and branches:
            return _describe_choices(branches, depth)
    kind = wants.get("type")
    if is_list(kind):
        return " or ".join(_describe_type(str(item), wants, depth) for item in kind) or "any value"
    return _describe_type(kind, wants, depth) if isinstance(kind, str) else "any value"


def _describe_choices(branches: list[Any], depth: int) -> str:
    maps = [branch for branch in branches if is_mapping(branch)]
    if maps and all("const" in branch for branch in maps):
        return f"one of {listed([branch['const'] for branch in maps])}"
    words = list(dict.fromkeys(describe(branch, depth + 1) for branch in branches[:_MOST]))
    return " or ".join(words) + (" …" if len(branches) > _MOST else "")


def _describe_type(kind: str, wants: Mapping[str, Any], depth: int) -> str:
    word = _TYPE_WORDS.get(kind, "any value")
    if kind in ("integer", "number"):
        return word + _range_words(wants)
    if kind == "string":
        form = wants.get("format")
        word = _FORMAT_WORDS.get(form, word) if isinstance(form, str) else word
        pattern = wants.get("pattern")
        like = f" matching {pattern}" if isinstance(pattern, str) and len(pattern) <= _LONGEST else ""
        return word + like + _count_words(wants, "minLength", "maxLength", "character")
    if kind == "array":
        items = wants.get("items")
        of = _of_items(describe(items, depth + 1)) if is_mapping(items) and items else ""
        return word + of + _count_words(wants, "minItems", "maxItems", "item")
    if kind == "object":
        properties = wants.get("properties")
        names = list(properties) if is_mapping(properties) else []
        return word + (f" with {', '.join(names[:_MOST])}{' …' if len(names) > _MOST else ''}" if names else "")
    return word


def _of_items(words: str) -> str:
    plural = _PLURALS.get(words)
    return f" of {plural}" if plural else f", each {words}"


def _range_words(wants: Mapping[str, Any]) -> str:
    low, above = _limit(wants.get("minimum")), _limit(wants.get("exclusiveMinimum"))
    high, below = _limit(wants.get("maximum")), _limit(wants.get("exclusiveMaximum"))
    if low is not None and high is not None:
        return f", {low} to {high}"
    words = [
        f"{word} {value}"
        for word, value in (("at least", low), ("more than", above), ("at most", high), ("less than", below))
        if value is not None
    ]
    return f", {' and '.join(words)}" if words else ""


def _count_words(wants: Mapping[str, Any], least: str, most: str, unit: str) -> str:
    low, high = _number(wants.get(least)), _number(wants.get(most))
    if not low and high is None:
        return ""
    units = unit if (high if high is not None else low) == "1" else unit + "s"
    if low and low != "0" and high is not None:
        return f", {low} {units}" if low == high else f", {low} to {high} {units}"
    return f", at most {high} {units}" if high is not None else f", at least {low} {units}" if low != "0" else ""


def _limit(value: object) -> str | None:
    return _number(value) if is_number(value) and abs(value) < _SAFE else None


def _number(value: object) -> str | None:
    if not is_number(value):
        return None
    return f"{int(value)}" if isinstance(value, float) and value.is_integer() else f"{value}"


# --- what is wrong ---------------------------------------------------------------------------------------------------


def explain(failure: Failure, path: Sequence[str | int]) -> str:
    """What is wrong with the value and what is wanted instead. `path` is where it is."""
    secret = any(isinstance(step, str) and looks_secret(step) for step in path)
    shown = "the value given" if secret else quoted(failure.instance)
    say = _SAY.get(str(failure.validator))
    if failure.validator is None:
        return f"{shown} is not allowed here"
    if say is None:
        return f"{shown} does not satisfy `{failure.validator}` (wants {describe(failure.schema)})"
    return say(failure, shown)


def _wants(failure: Failure) -> str:
    return f" (wants {describe(failure.schema)})"


def _say_type(failure: Failure, shown: str) -> str:
    kinds = failure.validator_value
    words = " or ".join(_TYPE_WORDS.get(kind, str(kind)) for kind in (kinds if is_list(kinds) else [kinds]))
    return f"{shown} is not {words}{_wants(failure)}"


def _say_limit(relation: str) -> Callable[[Failure, str], str]:
    def say(failure: Failure, shown: str) -> str:
        return f"{shown} is {relation} {_number(failure.validator_value)}{_wants(failure)}"

    return say


def _say_count(unit: str, relation: str) -> Callable[[Failure, str], str]:
    def say(failure: Failure, shown: str) -> str:
        count, limit = len(failure.instance), failure.validator_value
        return f"{shown} has {count} {unit}{'' if count == 1 else 's'}, {relation} {_number(limit)}{_wants(failure)}"

    return say


def _say_format(failure: Failure, shown: str) -> str:
    wanted = _FORMAT_WORDS.get(str(failure.validator_value), f"of the format {failure.validator_value}")
    return f"{shown} is not {wanted}"


def _say_choices(failure: Failure, shown: str) -> str:
    if not failure.context and str(failure.validator) == "oneOf":
        return f"{shown} fits more than one of the alternatives{_wants(failure)}"
    return f"{shown} fits none of the alternatives{_wants(failure)}"


def missing(failure: Failure, name: str) -> str:
    """A required member is not there."""
    properties = failure.schema.get("properties")
    wanted = properties.get(name) if is_mapping(properties) else None
    return f"is required but missing (wants {describe(wanted)})" if wanted is not None else "is required but missing"


def unknown(failure: Failure, name: str) -> str:
    """A member that the schema does not know."""
    properties = failure.schema.get("properties")
    names = list(properties) if is_mapping(properties) else []
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if not names:
        return f"is not known{hint} (there are no fields here)"
    return f"is not known{hint} (known: {', '.join(names[:_MOST])}{' …' if len(names) > _MOST else ''})"


_SAY: dict[str, Callable[[Failure, str], str]] = {
    "type": _say_type,
    "enum": lambda f, shown: f"{shown} is not one of {listed(f.validator_value)}",
    "const": lambda f, shown: f"{shown} is not {quoted(f.validator_value)}",
    "minimum": _say_limit("less than"),
    "maximum": _say_limit("more than"),
    "exclusiveMinimum": _say_limit("not more than"),
    "exclusiveMaximum": _say_limit("not less than"),
    "multipleOf": _say_limit("not a multiple of"),
    "minLength": _say_count("character", "fewer than"),
    "maxLength": _say_count("character", "more than"),
    "minItems": _say_count("item", "fewer than"),
    "maxItems": _say_count("item", "more than"),
    "minProperties": _say_count("field", "fewer than"),
    "maxProperties": _say_count("field", "more than"),
    "pattern": lambda f, shown: f"{shown} does not match the pattern {f.validator_value}",
    "format": _say_format,
    "uniqueItems": lambda f, shown: f"{shown} has repeated items",
    "anyOf": _say_choices,
    "oneOf": _say_choices,
    "not": lambda f, shown: f"{shown} is not allowed here",
    "contains": lambda f, shown: f"{shown} does not contain {describe(f.validator_value)}",
}
