"""jsonschema's validators, made safe for schemas and values that come from strangers.

Work is counted and ends at a limit, patterns cannot run away (`patterns`), nothing is fetched, tuples are lists. The
library is imported at the first check.

Above: schema. Source: JSON Schema 2020-12, 2019-09, draft-07 and older; spec "Tools / schema security".
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol import formats, patterns
from jupyter_mcp.protocol.shapes import is_object

if TYPE_CHECKING:
    from types import ModuleType

_MAX_REFS = 20_000  # `$ref`s followed in one check
_MAX_STEPS = 200_000  # places of the value looked at with a schema in one check
_MAX_RISKY = 1_000  # texts held against patterns that may take long, in one check
_SHORT_NAME = 12  # characters on which no pattern takes long
_MAX_UNIQUE = 1000  # items compared with each other for `uniqueItems`

_DEFAULT = "json-schema.org/draft/2020-12/schema"


class TooMuchWork(Exception):
    pass


class _Work(threading.local):
    """What one check has done so far; a limit of each kind ends it."""

    refs = steps = risky = 0
    risky_names = False

    def begin(self, risky_names: bool) -> None:
        self.refs = self.steps = self.risky = 0
        self.risky_names = risky_names

    def follow(self) -> None:
        self.refs += 1
        if self.refs > _MAX_REFS:
            raise TooMuchWork

    def step(self) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise TooMuchWork

    def matches(self, pattern: str, text: str) -> bool | None:
        if patterns.risky(pattern):
            self.risky += 1
            if self.risky > _MAX_RISKY:
                raise TooMuchWork
        return patterns.matches(pattern, text)


work = _Work()


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


def dialect(uri: object) -> Any:
    """The validator class for a `$schema`; that of 2020-12 where there is none, None for one that is not known."""
    return _dialects().get(_dialect_key(uri) if isinstance(uri, str) else _DEFAULT)


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
    """A validator class whose work is counted, whose patterns come to an end, and that takes tuples for lists."""
    own = {
        **{name: _counted(kind.VALIDATORS[name]) for name in _REFS if name in kind.VALIDATORS},
        **{name: make(kind.VALIDATORS[name]) for name, make in _OWN.items() if name in kind.VALIDATORS},
    }
    extend: Any = _library().validators.extend
    made = extend(kind, own, type_checker=kind.TYPE_CHECKER.redefine("array", _is_array))
    made.descend, made.iter_errors = _stepping(made.descend), _stepping(made.iter_errors)
    return made


_Keyword = Callable[[Any, Any, Any, Any], Any]  # validator, the keyword's value, instance, schema -> errors


def _counted(follow: _Keyword) -> _Keyword:
    def keyword(validator: Any, ref: Any, instance: Any, schema: Any) -> Any:
        work.follow()
        return follow(validator, ref, instance, schema)

    return keyword


def _stepping(look: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        work.step()
        return look(self, *args, **options)

    return method


def _unique_items(compare: _Keyword) -> _Keyword:
    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        small = _is_array(None, instance) and len(instance) <= _MAX_UNIQUE
        return compare(validator, value, instance, schema) if small else ()

    return keyword


def _pattern(_: _Keyword) -> _Keyword:
    def keyword(validator: Any, pattern: str, instance: Any, schema: Any) -> Any:
        if isinstance(instance, str) and work.matches(pattern, instance) is False:
            yield _failure(f"does not match {pattern}")

    return keyword


def _pattern_properties(_: _Keyword) -> _Keyword:
    def keyword(validator: Any, by_pattern: Mapping[str, Any], instance: Any, schema: Any) -> Any:
        if is_object(instance):
            for pattern, inner in by_pattern.items():
                for name, value in instance.items():
                    if work.matches(pattern, name):
                        yield from validator.descend(value, inner, path=name, schema_path=pattern)

    return keyword


def _additional_properties(plain: _Keyword) -> _Keyword:
    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        by_pattern, named = schema.get("patternProperties"), schema.get("properties") or ()
        if not by_pattern or not is_object(instance):
            yield from plain(validator, value, instance, schema) or ()
            return
        more = [
            name
            for name in instance
            if name not in named and not any(work.matches(pattern, name) is not False for pattern in by_pattern)
        ]
        if is_object(value):
            for name in more:
                yield from validator.descend(instance[name], value, path=name)
        elif value is False and more:
            yield _failure("has members that are not allowed")

    return keyword


def _unevaluated_properties(plain: _Keyword) -> _Keyword:
    """The library matches names by itself here: only where no pattern in sight can take long."""

    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        names = list(instance) if is_object(instance) else list[str]()
        if work.risky_names and max(map(len, names), default=0) > _SHORT_NAME:
            raise TooMuchWork
        return plain(validator, value, instance, schema)

    return keyword


def _failure(message: str) -> Exception:
    return _library().exceptions.ValidationError(message)


_OWN: Mapping[str, Callable[[_Keyword], _Keyword]] = {
    "uniqueItems": _unique_items,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": _unevaluated_properties,
}


def _is_array(_checker: object, value: object) -> bool:
    return isinstance(value, (list, tuple))


_REFS = ("$ref", "$dynamicRef", "$recursiveRef")


@cache
def registry() -> Any:
    """The meta-schemas and nothing else; it has no way to fetch."""
    from jsonschema_specifications import REGISTRY

    return REGISTRY


@cache
def format_checker() -> Any:
    jsonschema = _library()
    checker = jsonschema.FormatChecker(formats=())

    def make(name: str) -> Callable[[object], bool]:
        return lambda value: not isinstance(value, str) or formats.valid(name, value)

    for name in formats.CHECKED:
        checker.checkers = {**checker.checkers, name: (make(name), ())}
    return checker
