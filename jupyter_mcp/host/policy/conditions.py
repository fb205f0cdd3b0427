"""What a rule says about arguments: `{"path": {"glob": "/data/*"}, "n": {"gt": 3}}`, read and tested. Pure.

A test has three outcomes, because a value may not let itself be judged: a number where a text was meant, a path that
climbs (`/data/../etc`), a regular expression that takes too long. Such a doubt counts as met for a rule that tightens
and as not met for one that loosens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, cast
from urllib.parse import unquote

from jupyter_mcp.errors import UsageError

__all__ = ["Condition", "climbs", "conditions", "to_mapping", "typed", "typed_hint"]

_CLIMBS = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)")
_TYPED = re.compile(r"(?P<not>!?)(?P<key>[^\s=~<>!{}]+)\s*(?:(?P<sign>[=~<>])\s*(?P<value>.*))?\Z", re.DOTALL)
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Condition:
    """One predicate about one argument.

    Attributes:
        key: the argument, with dots for what lies deeper (`options.path`).
        test: "equals", "in", "glob", "regex", "lt", "gt" or "missing".
        value: what it is compared with; of "in" a tuple, of "missing" True or False.
    """

    key: str
    test: str
    value: Any

    def met(self, arguments: Mapping[str, Any], *, doubt: bool) -> bool:
        """Whether the arguments meet it.

        Args:
            arguments: of the act.
            doubt: what counts when it cannot be told. Where doubt counts as met, one element of a list is enough;
                else every element has to meet it.
        """
        found = _lookup(arguments, self.key)
        if self.test == "missing":
            return (found is _NOTHING) is bool(self.value)
        if found is _NOTHING:
            return False
        if isinstance(found, list) and self.test not in ("equals", "in"):
            each = [self._one(value, doubt) for value in cast("list[Any]", found)]
            return any(each) if doubt else bool(each) and all(each)
        return self._one(found, doubt)

    def _one(self, value: Any, doubt: bool) -> bool:
        told = _TESTS[self.test](value, self.value)
        return doubt if told is None else told

    def __str__(self) -> str:
        if self.test == "missing":
            return f"{self.key} is {'not given' if self.value else 'given'}"
        return f"{self.key} {_SIGNS.get(self.test, self.test)} {_text(self.value)}"


def conditions(where: object) -> tuple[Condition, ...]:
    """Read `where`: argument name -> a predicate or several, or a plain value that it must equal.

    Raises:
        UsageError: a predicate that is not known, or a value that it cannot take.
    """
    if where is None:
        return ()
    if not isinstance(where, Mapping):
        raise UsageError("where is a table: argument -> {glob, equals, in, regex, lt, gt or missing: value}.")
    found: list[Condition] = []
    for key, tests in cast("Mapping[object, object]", where).items():
        named = cast("Mapping[str, object]", tests) if isinstance(tests, Mapping) else {"equals": tests}
        if not named:
            raise UsageError(f"where.{key} says nothing.")
        found += [_condition(str(key), str(test), value) for test, value in named.items()]
    return tuple(sorted(found, key=lambda one: (one.key, one.test, str(one.value))))


def typed(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The conditions that a person types: `path=/data/*`, `n>5`, `n<5`, `name~REGEX`, `!force`, `force`, or JSON.

    A value after `=` with a wildcard is a glob; else it is equal to the text, or to the number, true or false.

    Raises:
        UsageError: one of them is no condition.
    """
    where: dict[str, dict[str, Any]] = {}
    for text in texts:
        for key, tests in _typed(text.strip()).items():
            named = cast("Mapping[str, Any]", tests) if isinstance(tests, Mapping) else {"equals": tests}
            where.setdefault(key, {}).update(named)
    return where


def typed_hint(text: str) -> tuple[str, bool]:
    """The annotation that a person types: `destructiveHint`, `readOnlyHint=false`. Raises `UsageError`."""
    key, equals, value = text.partition("=")
    if equals and value not in ("true", "false"):
        raise UsageError(f"{text!r} is not an annotation: {key}=true or {key}=false.")
    return key, value != "false"


def _typed(text: str) -> Mapping[str, Any]:
    if text.startswith("{"):
        try:
            found: Any = json.loads(text)
        except ValueError as error:
            raise UsageError(f"{text!r:.80} is no JSON object ({error}).") from None
        return cast("Mapping[str, Any]", found)
    match = _TYPED.match(text)
    if match is None or (match["not"] and match["sign"]):
        raise UsageError(f"{text!r:.80} is no condition.", hint="path=/data/*, 'n>5', name~REGEX, !force, or JSON")
    key, sign, value = match["key"], match["sign"], match["value"]
    if not sign:
        return {key: {"missing": bool(match["not"])}}
    if sign == "=":
        return {key: {"glob": value} if re.search(r"[*?\[]", value) else {"equals": _scalar(value)}}
    if sign == "~":
        return {key: {"regex": value}}
    if _number(value) is None:
        raise UsageError(f"{text!r:.80}: after {sign} comes a number.")
    return {key: {"lt" if sign == "<" else "gt": float(value) if "." in value or "e" in value.lower() else int(value)}}


def _scalar(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (bool, int, float)) else text


def to_mapping(found: Sequence[Condition]) -> dict[str, dict[str, Any]]:
    """The same as `conditions` reads it."""
    where: dict[str, dict[str, Any]] = {}
    for one in found:
        where.setdefault(one.key, {})[one.test] = list(one.value) if one.test == "in" else one.value
    return where


def climbs(text: str) -> bool:
    """Whether a path or URI has a step upwards, so that the beginning of it says nothing."""
    return bool(_CLIMBS.search(text) or _CLIMBS.search(unquote(text)))


def _condition(key: str, test: str, value: Any) -> Condition:
    if test not in _TESTS and test != "missing":
        raise UsageError(f"where.{key} has no predicate {test!r}; there are {', '.join(_TESTS)}, missing.")
    if test == "in":
        if not isinstance(value, (list, tuple)):
            raise UsageError(f"where.{key}.in is a list of values.")
        value = tuple(cast("Sequence[Any]", value))
    elif test in ("glob", "regex") and not isinstance(value, str):
        raise UsageError(f"where.{key}.{test} is a text.")
    elif test in ("lt", "gt") and _number(value) is None:
        raise UsageError(f"where.{key}.{test} is a number.")
    elif test == "missing" and not isinstance(value, bool):
        raise UsageError(f"where.{key}.missing is true or false.")
    if test == "regex":
        from jupyter_mcp.protocol import patterns

        if not patterns.usable(value):
            raise UsageError(f"where.{key}.regex is no regular expression that can be used: {value!r:.80}")
    return Condition(key, test, value)


def _lookup(arguments: Mapping[str, Any], key: str) -> Any:
    if key in arguments:  # a name may have a dot of its own
        return arguments[key]
    current: Any = arguments
    for part in key.split("."):
        if not isinstance(current, Mapping) or part not in current:
            return _NOTHING
        current = cast("Mapping[str, Any]", current)[part]
    return current


# --- the predicates: True, False, or None when it cannot be told -----------------------------------------------------


def _equals(value: Any, wanted: Any) -> bool | None:
    if isinstance(value, bool) is isinstance(wanted, bool) and value == wanted:
        return True
    # a server may read "5" as 5: the same text in another kind of value is no clear no
    return None if _text(value) == _text(wanted) else False


def _in(value: Any, wanted: tuple[Any, ...]) -> bool | None:
    told = [_equals(value, one) for one in wanted]
    return True if True in told else None if None in told else False


def _glob(value: Any, pattern: str) -> bool | None:
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return None
    text = _text(value)
    return None if climbs(text) and not climbs(pattern) else fnmatchcase(text, pattern)


def _regex(value: Any, pattern: str) -> bool | None:
    from jupyter_mcp.protocol import patterns

    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return None
    return patterns.matches(pattern, _text(value))


def _lt(value: Any, limit: float) -> bool | None:
    number = _number(value)
    return None if number is None else number < limit


def _gt(value: Any, limit: float) -> bool | None:
    number = _number(value)
    return None if number is None else number > limit


_TESTS: Mapping[str, Callable[[Any, Any], bool | None]] = {
    "equals": _equals,
    "in": _in,
    "glob": _glob,
    "regex": _regex,
    "lt": _lt,
    "gt": _gt,
}
_SIGNS = {"equals": "=", "glob": "like", "regex": "matching", "lt": "<", "gt": ">"}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if number != number else number


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(list(cast("Any", value)) if isinstance(value, tuple) else value, ensure_ascii=False, default=str)
