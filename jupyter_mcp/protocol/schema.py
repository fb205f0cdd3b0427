"""JSON Schema: make a tool's schema usable, and check a value against a schema, saying what is wrong in words.

The schema is foreign and untrusted: nothing is fetched (an unresolvable `$ref` is an issue), recursion and work are
bounded, a garbage schema never crashes (`schema_clean`). jsonschema is imported at the first check.

Schemas are values: do not change one after handing it over (validators are cached by identity).

Above: salvage, host (arguments, answers), server (arguments, results). Source: JSON Schema 2020-12 (the default since
MCP 2025-11-25), 2019-09, draft-07 and older by `$schema`; spec "Tools / schema security".
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.protocol import formats, schema_words
from jupyter_mcp.protocol.schema_clean import clean
from jupyter_mcp.protocol.shapes import is_list, is_object

if TYPE_CHECKING:
    from types import ModuleType

MAX_ISSUES = 20
_CACHED = 512  # validators
_MAX_REFS = 20_000  # `$ref`s followed in one check
_MAX_UNIQUE = 1000  # items compared with each other for `uniqueItems`


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
    kind = _dialects().get(_dialect_key(dialect)) if isinstance(dialect, str) else _dialects()[_DEFAULT]
    if kind is None:
        why = f"the schema is written in {dialect!s:.100}; only JSON Schema draft-03 to 2020-12 can be checked"
        return Issue("", why, "$schema", "schema")
    validator = kind(safe, registry=_registry(), format_checker=_format_checker() if check_formats else None)
    return lambda instance: _run(validator, instance)


def _run(validator: Any, instance: object) -> list[Issue]:
    issues: list[Issue] = []
    _work.refs = 0
    try:
        for failure in islice(validator.iter_errors(instance), MAX_ISSUES):
            issues.extend(_issues(failure, ()))
    except RecursionError:
        issues.append(Issue("", "the schema or the value is nested too deeply to be checked", "$ref", "schema"))
    except _TooMuchWork:
        issues.append(Issue("", "the schema is too complex to be checked", "$ref", "schema"))
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
        unknown = [name for name in instance if name not in (known or ())]
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


# --- jsonschema, at first use ----------------------------------------------------------------------------------------

_DEFAULT = "json-schema.org/draft/2020-12/schema"


class _TooMuchWork(Exception):
    pass


class _Work(threading.local):
    refs = 0


_work = _Work()


def _dialect_key(uri: str) -> str:
    return uri.strip().removeprefix("https://").removeprefix("http://").rstrip("#/")


def _library() -> Any:
    """jsonschema, without the grammar for the formats iri and iri-reference.

    Jupyter's packages install that grammar (rfc3987_syntax), and compiling it takes over a second of the first check;
    the formats are checked here by `formats`.
    """
    if "jsonschema" in sys.modules or "rfc3987_syntax" in sys.modules:
        return importlib.import_module("jsonschema")
    sys.modules["rfc3987_syntax"] = cast("ModuleType", None)  # "there is no such module"
    try:
        return importlib.import_module("jsonschema")
    finally:
        del sys.modules["rfc3987_syntax"]


@cache
def _dialects() -> Mapping[str, Any]:
    jsonschema = _library()
    names = {
        _DEFAULT: jsonschema.Draft202012Validator,
        "json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
        "json-schema.org/draft-07/schema": jsonschema.Draft7Validator,
        "json-schema.org/draft-06/schema": jsonschema.Draft6Validator,
        "json-schema.org/draft-04/schema": jsonschema.Draft4Validator,
        "json-schema.org/draft-03/schema": jsonschema.Draft3Validator,
        "json-schema.org/schema": jsonschema.Draft202012Validator,
    }
    made = {kind: _bounded(kind) for kind in set(names.values())}
    return {name: made[kind] for name, kind in names.items()}


def _bounded(kind: Any) -> Any:
    """A validator class that counts the `$ref`s it follows, takes tuples for lists, and bounds `uniqueItems`."""
    validators = _library().validators

    def counted(follow: Any) -> Any:
        def keyword(validator: Any, ref: Any, instance: Any, schema: Any) -> Any:
            _work.refs += 1
            if _work.refs > _MAX_REFS:
                raise _TooMuchWork
            return follow(validator, ref, instance, schema)

        return keyword

    def unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        small = _is_array(None, instance) and len(instance) <= _MAX_UNIQUE
        return compare(validator, value, instance, schema) if small else ()

    compare = kind.VALIDATORS["uniqueItems"]
    changed = {name: counted(kind.VALIDATORS[name]) for name in _REFS if name in kind.VALIDATORS}
    extend: Any = validators.extend
    arrays = kind.TYPE_CHECKER.redefine("array", _is_array)
    return extend(kind, {**changed, "uniqueItems": unique_items}, type_checker=arrays)


def _is_array(_checker: object, value: object) -> bool:
    return isinstance(value, (list, tuple))


_REFS = ("$ref", "$dynamicRef", "$recursiveRef")


@cache
def _registry() -> Any:
    """The meta-schemas and nothing else; it has no way to fetch."""
    from jsonschema_specifications import REGISTRY

    return REGISTRY


@cache
def _format_checker() -> Any:
    jsonschema = _library()
    checker = jsonschema.FormatChecker(formats=())

    def make(name: str) -> Callable[[object], bool]:
        return lambda value: not isinstance(value, str) or formats.valid(name, value)

    for name in formats.CHECKED:
        checker.checkers = {**checker.checkers, name: (make(name), ())}
    return checker
