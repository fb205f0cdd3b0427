"""A person's own rules of what is secret: values by their key, headers by name, texts by a pattern. Pure.

    key      a member of an object, and `name=value` or `"name": value` in a text; `*` and `?` stand for any characters
    header   the same, and the rest of the line after `Name:`
    pattern  a regular expression (ECMA 262, as in JSON Schema); what it finds. A text that takes too long to search is
             masked whole: better too much than too little

Upper and lower case are the same in names. Above: redaction, which masks what looks secret besides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Literal, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import patterns
from jupyter_mcp.protocol.secrets import MASK

__all__ = ["HideRule", "RuleKind", "hidden"]

RuleKind = Literal["key", "header", "pattern"]
_KINDS = ("key", "header", "pattern")
_MAX_DEPTH = 100
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class HideRule:
    """What is never shown.

    Attributes:
        kind: "key", "header" or "pattern".
        what: the name, or the regular expression.

    Raises:
        UsageError: a name that is none, or a pattern that cannot be used or finds nothing at all everywhere.
    """

    kind: RuleKind
    what: str

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise UsageError(f"{self.kind!r} cannot be hidden by; there are {', '.join(_KINDS)}.")
        if self.kind != "pattern" and not 0 < len(self.what.strip()) <= _LONGEST_NAME:
            raise UsageError(f"A {self.kind} to hide has a name of 1 to {_LONGEST_NAME} characters.")
        if self.kind == "pattern" and not patterns.usable(self.what):
            raise UsageError(f"The pattern {self.what!r} is no regular expression that can be used here.")
        if self.kind == "pattern" and patterns.matches(self.what, "") is not False:
            raise UsageError(f"The pattern {self.what!r} finds the empty text, so it would mask nothing or everything.")

    def __str__(self) -> str:
        return f"{self.kind} {self.what}"


def hidden(value: Any, rules: Sequence[HideRule]) -> Any:
    """A deep copy of a JSON-like value in which all that the rules name is masked."""
    return _hidden(value, rules, 0) if rules else value


def _hidden(value: Any, rules: Sequence[HideRule], depth: int) -> Any:
    if isinstance(value, str):
        return _text(value, rules)
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return _members(cast("Mapping[Any, Any]", value), rules, depth)
    if isinstance(value, list | tuple):
        return [_hidden(item, rules, depth + 1) for item in cast("Sequence[Any]", value)]
    return value


def _members(table: Mapping[Any, Any], rules: Sequence[HideRule], depth: int) -> dict[Any, Any]:
    # {"name": "X-Account", "value": "…"}
    paired = "value" in table and any(_named(table.get(key), rules) for key in ("name", "key", "header"))
    out: dict[Any, Any] = {}
    for key, item in table.items():
        secret = _named(key, rules) or (paired and key == "value")
        shown = _hidden(key, [rule for rule in rules if rule.kind == "pattern"], depth) if isinstance(key, str) else key
        out[shown] = _masked(item) if secret else _hidden(item, rules, depth + 1)
    return out


def _named(key: object, rules: Sequence[HideRule]) -> bool:
    if not isinstance(key, str):
        return False
    name = key[:_LONGEST_NAME].lower()
    return any(rule.kind != "pattern" and fnmatchcase(name, rule.what.lower()) for rule in rules)


def _masked(value: Any) -> Any:
    """Nothing of a value but that there is one."""
    return value if value is None or value in ("", [], {}) else MASK


def _text(text: str, rules: Sequence[HideRule]) -> str:
    for rule in rules:
        if rule.kind == "pattern":
            found = patterns.replaced(rule.what, text, MASK)
            text = MASK if found is None else found
        else:
            text = _assigned(rule.what, rule.kind == "header").sub(_mask_value, text)
    return text


@lru_cache(maxsize=256)
def _assigned(name: str, header: bool) -> re.Pattern[str]:
    """`name=value`, `name: value`, `"name": "value"` in a text; of a header all that follows on its line."""
    # a name in a text has no spaces in it, so `*` and `?` do not run on
    word = re.escape(name).replace(r"\*", r"[\w.-]{0,80}").replace(r"\?", r"[\w.-]")
    bare = r"[^\s\"'][^\r\n]*" if header else r"[^\s\"',;&(){}\[\]]+"
    quoted = r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?"
    return re.compile(rf"((?<![\w.-]){word}\\?[\"']?\s{{0,3}}(?:=>|[=:])\s{{0,3}})(\\?(?:{quoted})|{bare})", re.I)


def _mask_value(found: re.Match[str]) -> str:
    value = found[2]
    quote = value[0] if value[0] in "\"'" else value[:2] if value[:2] in ('\\"', "\\'") else ""
    return f"{found[1]}{quote}{MASK}{quote}"
