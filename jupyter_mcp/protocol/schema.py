"""JSON Schema: make a tool's schema usable, and check a value against a schema, saying what is wrong in words.

The schema is foreign and untrusted: nothing is fetched (an unresolvable `$ref` is an issue), recursion and work are
bounded (`schema_bounds`), a garbage schema never crashes (`schema_clean`).

Schemas are values: do not change one after handing it over (validators are cached by identity).

Above: salvage, host (arguments, answers), server (arguments, results). Source: JSON Schema 2020-12 (the default since
MCP 2025-11-25), 2019-09, draft-07 and older by `$schema`; spec "Tools / schema security".
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, cast

from jupyter_mcp.protocol import patterns, schema_words
from jupyter_mcp.protocol import schema_bounds as bounds
from jupyter_mcp.protocol.schema_clean import clean
from jupyter_mcp.protocol.shapes import is_list, is_object

MAX_ISSUES = 20
_CACHED = 512  # validators


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong.

    Attributes:
        path: where, as `days` or `items[3].name`; "" for the whole value.
        message: what is wrong and what is wanted, without the path.
        keyword: the schema's keyword that says so.
        about: "value", or "schema" when the schema itself cannot be used there: the value is then unchecked, not wrong.
    """

    path: str
    message: str
    keyword: str
    about: Literal["value", "schema"] = "value"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


# --- normalise -------------------------------------------------------------------------------------------------------


def normalise(schema: object) -> dict[str, Any]:
    """A tool's input schema as an object schema whose `properties` is a dict of dicts and `required` a list of strings.

    null, [], a missing or an odd schema becomes `{"type": "object"}`. A good one is returned as it is, not copied.
    """
    if not is_object(schema):
        return {"type": "object"}
    given = schema
    properties: Any = given.get("properties", _NONE)
    required: Any = given.get("required", _NONE)
    good = (
        given.get("type") == "object"
        and (properties is _NONE or (is_object(properties) and all(map(is_object, properties.values()))))
        and (required is _NONE or (is_list(required) and all(isinstance(name, str) for name in required)))
    )
    return given if good else _mended(given, properties, required)


_NONE: Any = object()


def _mended(given: dict[str, Any], properties: object, required: object) -> dict[str, Any]:
    out = {**given, "type": "object"}
    if properties is not _NONE:
        members = properties if is_object(properties) else {}
        out["properties"] = {name: member if is_object(member) else {} for name, member in members.items()}
    if required is not _NONE:
        names = required if is_list(required) else []
        out["required"] = [name for name in names if isinstance(name, str)]
    return out


# --- check -----------------------------------------------------------------------------------------------------------


def check(schema: object, instance: object, *, check_formats: bool = False) -> list[Issue]:
    """What is wrong with `instance` (at most `MAX_ISSUES` things); [] when nothing is. Never raises.

    Args:
        schema: any value; what is no schema allows anything.
        instance: a JSON value (tuples count as lists).
        check_formats: also check the formats of `formats` (else they are annotations, as JSON Schema has it).
    """
    if schema is True or schema == {}:
        return []
    validate = _validator(schema, check_formats)
    return [validate] if isinstance(validate, Issue) else validate(instance)


Validate = Callable[[object], list[Issue]]
_cache: OrderedDict[tuple[int, bool], tuple[object, Validate | Issue]] = OrderedDict()
_cache_lock = threading.Lock()


def _validator(schema: object, check_formats: bool) -> Validate | Issue:
    key = (id(schema), check_formats)
    with _cache_lock:
        found = _cache.get(key)
        if found is not None:  # it holds the schema, so its id still means that schema
            _cache.move_to_end(key)
            return found[1]
    made = _compile(schema, check_formats)
    with _cache_lock:
        _cache[key] = (schema, made)
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)
    return made


def _compile(schema: object, check_formats: bool) -> Validate | Issue:
    safe = clean(schema)
    dialect = None if isinstance(safe, bool) else safe.get("$schema")
    kind = bounds.dialect(dialect)
    if kind is None:
        why = f"the schema is written in {dialect!s:.100}; only JSON Schema draft-03 to 2020-12 can be checked"
        return Issue("", why, "$schema", "schema")
    checker = bounds.format_checker() if check_formats else None
    validator = kind(safe, registry=bounds.registry(), format_checker=checker)
    risky_names = any(map(patterns.risky, _name_patterns(safe)))
    return lambda instance: _run(validator, instance, risky_names)


def _name_patterns(schema: object) -> Iterator[str]:
    """Every pattern for the names of members, however deep."""
    if is_object(schema):
        named = schema.get("patternProperties")
        yield from named if is_object(named) else ()
        for inner in schema.values():
            yield from _name_patterns(inner)
    elif is_list(schema):
        for inner in schema:
            yield from _name_patterns(inner)


def _run(validator: Any, instance: object, risky_names: bool) -> list[Issue]:
    issues: list[Issue] = []
    bounds.work.begin(risky_names)
    try:
        for failure in islice(validator.iter_errors(instance), MAX_ISSUES):
            issues.extend(_issues(failure, ()))
    except RecursionError:
        issues.append(Issue("", "the schema or the value is nested too deeply to be checked", "$ref", "schema"))
    except bounds.TooMuchWork:
        issues.append(Issue("", "the schema or the value is too large to be checked whole", "$ref", "schema"))
    except Exception as error:
        issues.append(_unusable(error))
    return issues[:MAX_ISSUES]


def _unusable(error: Exception) -> Issue:
    cause = getattr(error, "_wrapped", error)
    ref = getattr(cause, "ref", None)
    if isinstance(ref, str):
        why = f"the schema refers to {ref[:100] or 'a place'!r}, which is not in it (nothing is fetched)"
        return Issue("", why, "$ref", "schema")
    return Issue("", f"the schema cannot be used ({type(cause).__name__}: {str(cause)[:100]})", "", "schema")


def _issues(failure: schema_words.Failure, base: Sequence[str | int]) -> Iterator[Issue]:
    path = (*base, *failure.relative_path)
    keyword = str(failure.validator)
    if keyword in ("anyOf", "oneOf") and (inner := _closest(failure)):
        for item in inner:
            yield from _issues(item, path)
        return
    names = _named_by(failure, keyword)
    if names is None:
        yield Issue(schema_words.path_text(path), schema_words.explain(failure, path), keyword)
        return
    say = schema_words.missing if keyword == "required" else schema_words.unknown
    for name in names:
        yield Issue(schema_words.path_text((*path, name)), say(failure, name), keyword)


def _named_by(failure: schema_words.Failure, keyword: str) -> list[str] | None:
    """The members that a `required` or `additionalProperties` failure is about."""
    value, instance = failure.validator_value, failure.instance
    if not is_object(instance):
        return None
    if keyword == "required":  # the validator fails once for each name: take it from its own message
        named = [name for name in cast("list[str]", value) if name not in instance]
        message = str(getattr(failure, "message", ""))
        return [name for name in named if message.startswith(repr(name))] or named[:1]
    if keyword in ("additionalProperties", "unevaluatedProperties") and value is False:
        known = failure.schema.get("properties")
        by_pattern = failure.schema.get("patternProperties") or ()
        unknown = [
            name
            for name in instance
            if name not in (known or ()) and not any(patterns.matches(one, name) for one in by_pattern)
        ]
        return unknown or None
    return None


def _closest(failure: schema_words.Failure) -> list[schema_words.Failure]:
    """The failures inside the alternative that the value was most probably meant for; [] when none stands out."""
    branches: dict[object, list[schema_words.Failure]] = {}
    for inner in failure.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    # an alternative whose type and constants fit at the top, but something inside it does not
    fitting = [
        errors
        for errors in branches.values()
        if not any(not e.relative_path and str(e.validator) in ("type", "const", "enum") for e in errors)
        and not any(len(e.relative_path) == 1 and str(e.validator) == "const" for e in errors)
    ]
    return fitting[0] if len(fitting) == 1 else []
