"""URI templates (RFC 6570): the variables of a template, a URI from values, and values from a URI.

Expansion is the `uritemplate` library's, imported at first use. Matching, which the RFC leaves open, is ours: simple,
`+`, `#`, `.`, `/`, `;`, `?` and `&` expressions, several variables, prefix (`:3`) and explode (`*`) modifiers.

Above: server registry (resource templates), host (`read` with a template), completion. Source: RFC 6570; MCP "Resource
templates".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE = re.compile(r"((?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})+)(?::([1-9]\d{0,3})|(\*))?")
_OPERATORS = "+#./;?&"
_NAMED = (";", "?", "&")
MOST_URI = 16_384
"""Characters of a URI that is matched: two `{+x}` in a template take a time that grows with their square."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of an expression: `name`, longest length in characters (0: any), exploded or not."""

    name: str
    prefix: int = 0
    explode: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """`{operator variable, …}`; the operator is "" for a simple one."""

    operator: str
    variables: tuple[Variable, ...]


Part = str | Expression
Values = dict[str, Any]


@lru_cache(maxsize=512)
def parse(template: str) -> tuple[Part, ...]:
    """A template as literal texts and expressions. An expression that is not one is literal text."""
    parts: list[Part] = []
    done = 0
    for found in _EXPRESSION.finditer(template):
        expression = _expression(found[1])
        if expression is not None:
            if found.start() > done:
                parts.append(template[done : found.start()])
            parts.append(expression)
            done = found.end()
    if done < len(template):
        parts.append(template[done:])
    return tuple(parts)


def _expression(text: str) -> Expression | None:
    operator = text[0] if text and text[0] in _OPERATORS else ""
    found = [_VARIABLE.fullmatch(spec.strip()) for spec in text[len(operator) :].split(",")]
    variables = tuple(Variable(m[1], int(m[2] or 0), m[3] is not None) for m in found if m is not None)
    return Expression(operator, variables) if len(variables) == len(found) else None


def variables(template: str) -> list[str]:
    """The names of a template's variables, each once, in order."""
    names = (v.name for part in parse(template) if isinstance(part, Expression) for v in part.variables)
    return list(dict.fromkeys(names))


def expand(template: str, values: Mapping[str, Any]) -> str:
    """The URI that `values` make of `template`; a variable without a value expands to nothing."""
    import uritemplate

    return uritemplate.expand(template, {name: _expandable(value) for name, value in values.items()})


def _expandable(value: object) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def match(template: str, uri: str) -> Values | None:
    """The values that make `uri` of `template`, percent-decoded; None when it is not of that form.

    A value need not be percent-encoded as the RFC has it, because clients are careless: `{x}` takes all but `/`, `?`
    and `#`, at least one character. Where several splits are possible the earlier variable takes as little as it can. A
    variable that the URI leaves out is absent from the values; an exploded one gives a list, or for `;`, `?` and `&` a
    dict when its members have names of their own. A URI of more than `MOST_URI` characters is of no form.
    """
    if len(uri) > MOST_URI:
        return None
    parts = _mergeable(parse(template))
    found = _pattern(parts).fullmatch(uri)
    if found is None:
        return None
    values: Values = {}
    for index, part in enumerate(part for part in parts if isinstance(part, Expression)):
        text = found[f"e{index}"]
        read = _read_named(part, text) if part.operator in _NAMED else _read_list(part, text)
        if read is None or any(values.get(name, value) != value for name, value in read.items()):
            return None
        values.update(read)
    return values


@lru_cache(maxsize=512)
def _mergeable(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """`{?a}{&b}` read as `{?a,b}`: which pair belongs to which is told by the names, not by the place."""
    out: list[Part] = []
    for part in parts:
        last = out[-1] if out else None
        if (
            isinstance(part, Expression)
            and isinstance(last, Expression)
            and part.operator == "&"
            and last.operator in ("?", "&")
        ):
            out[-1] = Expression(last.operator, last.variables + part.variables)
        else:
            out.append(part)
    return tuple(out)


@lru_cache(maxsize=512)
def _pattern(parts: tuple[Part, ...]) -> re.Pattern[str]:
    out: list[str] = []
    count = 0
    for part in parts:
        if isinstance(part, Expression):
            out.append(f"(?P<e{count}>{_shape(part)})")
            count += 1
        else:
            out.append(re.escape(part))
    return re.compile("".join(out), re.DOTALL)


def _shape(expression: Expression) -> str:
    """A pattern for the whole expansion of an expression, its first character and separators included."""
    operator = expression.operator
    several = len(expression.variables) > 1 or any(variable.explode for variable in expression.variables)
    if operator == "":
        return "[^/?#,]*?(?:,[^/?#,]*?)*?" if several else "[^/?#]+?"
    if operator in ("/", "."):
        item = r"/[^/?#]*?" if operator == "/" else r"\.[^/?#.]*?"
        return f"(?:{item})*?" if several else f"(?:{item})?"
    return {"+": ".*?", "#": "(?:#.*?)?", ";": "(?:;[^/?#]*?)?", "?": r"(?:\?[^#]*?)?", "&": "(?:&[^#]*?)?"}[operator]


def _read_list(expression: Expression, text: str) -> Values | None:
    """Values of `{a,b}`, `{+a}`, `{#a}`, `{/a,b}`, `{.a,b}`: by their place."""
    operator, wanted = expression.operator, expression.variables
    if operator in ("#", "/", "."):
        if not text:
            return {}
        text = text[1:]
    elif not text:
        # nothing: a single variable was empty, several were left out
        return {wanted[0].name: ""} if len(wanted) == 1 and not wanted[0].explode else {}
    separator = operator if operator in ("/", ".") else ","
    if len(wanted) == 1 and not wanted[0].explode:
        return _value(wanted[0], text)
    return _by_place(wanted, text.split(separator))


def _by_place(wanted: Sequence[Variable], pieces: list[str]) -> Values | None:
    values: Values = {}
    for index, variable in enumerate(wanted):
        if not pieces:
            break
        if variable.explode:
            rest = len(wanted) - index - 1
            taken, pieces = (pieces[:-rest], pieces[-rest:]) if rest else (pieces, [])
            values[variable.name] = [unquote(piece) for piece in taken]
            continue
        read = _value(variable, pieces.pop(0))
        if read is None:
            return None
        values.update(read)
    return None if pieces else values


def _value(variable: Variable, text: str) -> Values | None:
    plain = unquote(text)
    return None if variable.prefix and len(plain) > variable.prefix else {variable.name: plain}


def _read_named(expression: Expression, text: str) -> Values | None:
    """Values of `{?a,b}`, `{&a}`, `{;a}`: by their names, in any order; other names belong to an exploded variable."""
    values: Values = {}
    exploded = next((v for v in expression.variables if v.explode), None)
    by_name = {v.name: v for v in expression.variables}
    for pair in text[1:].split(";" if expression.operator == ";" else "&") if text else ():
        name, _, raw = pair.partition("=")
        name = unquote(name)
        raw = raw if expression.operator == ";" else raw.replace("+", " ")
        known = by_name.get(name)
        if known is not None and not known.explode:
            if name in values or (read := _value(known, raw)) is None:
                return None
            values.update(read)
        elif known is not None:
            values.setdefault(name, []).append(unquote(raw))
        elif exploded is None:
            return None
        else:
            values.setdefault(exploded.name, {})[name] = unquote(raw)
    return values
