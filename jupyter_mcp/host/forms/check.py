"""Does a JSON value fit a field, and what to say when it does not.

Nothing is clamped or repaired here; the sentence stands beside the field, so it does not repeat the field's name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms.schema import number_of
from jupyter_mcp.protocol import patterns
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from jupyter_mcp.host.forms.node import Node

__all__ = ["check", "check_json"]


_EMAIL = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+")


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"]+")


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)


_TIME = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?", re.ASCII)


_COLOR = re.compile(r"#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[A-Za-z]+|(rgb|hsl)a?\([0-9.,%/ ]+\)")


_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def check(node: Node, value: object) -> str | None:
    """What is wrong with a JSON value for this field, in one sentence; None when it fits."""
    problem = _check_type(node, value)
    if problem is not None or value is None or node.kind in ("choice", "const"):
        return problem
    try:
        return _CHECKS.get(node.kind, _check_scalar)(node, value)
    except RecursionError:
        return "It is nested too deeply."


def check_json(node: Node, value: object) -> str | None:
    """The same for a value that was written as JSON or comes from a variable: its schema decides, formats do not."""
    problem = _check_type(node, value)
    if problem is not None:
        return problem
    from jupyter_mcp.protocol import schema  # imports jsonschema: only for those who type JSON

    wrong = [issue for issue in schema.check(node.schema, value) if issue.about == "value"]
    return f"{wrong[0]}" if wrong else None


def _check_type(node: Node, value: object) -> str | None:
    if value is None:
        allowed = node.nullable or (node.kind in ("json", "union") and not node.types)
        return None if allowed else f"{node.label} cannot be null."
    if node.kind in ("choice", "const"):
        fits = any(_same(value, known) for _, known in node.choices)
        return None if fits else f"{quoted(value)} is not one of the choices: {choices_text(node)}."
    if node.types and not any(is_type(value, kind) for kind in node.types):
        return f"{quoted(value)} is not {_type_words(node.types)}."
    return None


def _check_scalar(node: Node, value: Any) -> str | None:
    if isinstance(value, str):
        return _check_text(node, value)
    return _check_number(node, value) if isinstance(value, (int, float)) else None


def _check_any(node: Node, value: object) -> str | None:
    """A value without a control of its own, against its whole schema; what that leaves open is the server's."""
    return check_json(node, value) if is_mapping(value) or is_list(value) or node.reason not in _FREE else None


_FREE = ("", "its schema allows any JSON value")


def _check_union(node: Node, value: object) -> str | None:
    if any(check(branch, value) is None for branch in node.branches):
        return None
    fits = next((one for one in node.branches if _check_type(one, value) is None), None)
    said = check(fits, value) if fits is not None else None
    return said or f"{quoted(value)} is none of: {', '.join(branch.label for branch in node.branches[:8])}."


def _check_text(node: Node, value: str) -> str | None:
    length = len(value)
    if node.min_length is not None and length < node.min_length:
        return f"At least {_plural(node.min_length, 'character')}, not {length}."
    if node.max_length is not None and length > node.max_length:
        return f"At most {_plural(node.max_length, 'character')}, not {length}."
    if node.pattern is not None and patterns.matches(node.pattern, value) is False:
        return f"It has to match the pattern {node.pattern}"
    problem = _FORMATS.get(node.format if node.format in _FORMATS else node.kind)
    return problem(value) if problem and value else None


def _check_date(value: str) -> str | None:
    if _DATE.fullmatch(value):
        try:
            date.fromisoformat(value)
        except ValueError:
            return f"{quoted(value)} is not a day of the calendar."
        return None
    return f"{quoted(value)} is not a date; write it as 2026-03-01."


def _check_date_time(value: str) -> str | None:
    if _DATE_TIME.fullmatch(value):
        try:
            datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", re.sub(r"\.[0-9]+", "", value)).upper())
        except ValueError:
            return f"{quoted(value)} is not a moment of the calendar."
        return None
    return f"{quoted(value)} is not a date and time with a zone; write it as 2026-03-01T10:00:00Z."


def _check_email(value: str) -> str | None:
    return None if _EMAIL.fullmatch(value) else f"{quoted(value)} is not an e-mail address such as name@example.org."


def _check_uri(value: str) -> str | None:
    return None if _URI.fullmatch(value) else f"{quoted(value)} is not a full address such as https://example.org/."


def _check_time(value: str) -> str | None:
    if _TIME.fullmatch(value):
        try:
            time.fromisoformat(re.sub(r"[Zz]$|[+-][0-9:]*$|\.[0-9]+", "", value))
        except ValueError:
            return f"{quoted(value)} is not a time of the day."
        return None
    return f"{quoted(value)} is not a time; write it as 10:00:00 or 10:00:00Z."


def _check_color(value: str) -> str | None:
    return None if _COLOR.fullmatch(value) else f"{quoted(value)} is not a colour; write it as #1976d2 or by name."


def _check_ip(kind: type[IPv4Address] | type[IPv6Address], example: str) -> Callable[[str], str | None]:
    def problem(value: str) -> str | None:
        try:
            kind(value)
        except ValueError:
            return f"{quoted(value)} is not an address such as {example}."
        return None

    return problem


def _check_uuid(value: str) -> str | None:
    said = f"{quoted(value)} is not a UUID such as 123e4567-e89b-12d3-a456-426614174000."
    return None if _UUID.fullmatch(value) else said


_FORMATS: Mapping[str, Callable[[str], str | None]] = {
    "date": _check_date,
    "date-time": _check_date_time,
    "email": _check_email,
    "uri": _check_uri,
    "time": _check_time,
    "color": _check_color,
    "ipv4": _check_ip(IPv4Address, "192.0.2.1"),
    "ipv6": _check_ip(IPv6Address, "2001:db8::1"),
    "uuid": _check_uuid,
}


def _check_number(node: Node, value: float) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a JSON number."
    low, high = node.minimum, node.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        if low is not None and high is not None:
            return f"It has to be from {_number(low)} to {_number(high)}, not {_number(value)}."
        bound = f"at least {_number(low)}" if low is not None else f"at most {_number(high)}"
        return f"It has to be {bound}, not {_number(value)}."
    above, below = (number_of(node.schema.get(word)) for word in ("exclusiveMinimum", "exclusiveMaximum"))
    if above is not None and value <= above:
        return f"It has to be more than {_number(above)}, not {_number(value)}."
    if below is not None and value >= below:
        return f"It has to be less than {_number(below)}, not {_number(value)}."
    step = number_of(node.schema.get("multipleOf"))
    if step and not math.isclose(math.remainder(value, step), 0, abs_tol=1e-9 * abs(step)):
        return f"It has to be a multiple of {_number(step)}, not {_number(value)}."
    return None


def _check_list(node: Node, value: list[Any]) -> str | None:
    verb = "Choose" if node.kind == "multichoice" else "Give"
    wrong = [] if verb == "Give" else [one for one in value if not any(_same(one, known) for _, known in node.choices)]
    if wrong:
        return f"{quoted(wrong[0])} is not one of the choices: {choices_text(node)}."
    if node.min_items is not None and len(value) < node.min_items:
        return f"{verb} at least {node.min_items}, not {len(value)}."
    if node.max_items is not None and len(value) > node.max_items:
        return f"{verb} at most {node.max_items}, not {len(value)}."
    if node.kind == "array":
        for at, entry in enumerate(value):
            one = node.entry(at)
            problem = check(one, entry) if one is not None else f"At most {at}, not {len(value)}."
            if problem is not None:
                return f"Entry {at + 1}: {problem}"
    if node.schema.get("uniqueItems") is True and _repeats(value):
        return "No entry may come twice."
    return None


def _repeats(value: list[Any]) -> bool:
    """Whether two entries are the same JSON value (1 and 1.0 are)."""
    keys = [json.dumps(_plain(entry), sort_keys=True, default=str) for entry in value]
    return len(set(keys)) < len(keys)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_mapping(value):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if is_list(value) else value


def _check_parts(node: Node, value: Mapping[str, Any]) -> str | None:
    named = {part.name for part in node.parts}
    for part in node.parts:
        if part.name in value:
            problem = check(part, value[part.name])
            if problem is not None:
                return f"{part.label}: {problem}"
        elif part.required:
            return f"{part.label} is required."
    for name in value:
        if name not in named:
            problem = check(node.extra, value[name]) if node.extra is not None else "there can be no such member."
            if problem is not None:
                return f"{name}: {problem}"
    return None


_CHECKS: Mapping[str, Callable[[Node, Any], str | None]] = {
    "json": _check_any,
    "union": _check_union,
    "array": _check_list,
    "multichoice": _check_list,
    "object": _check_parts,
}


def is_type(value: object, kind: str) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            whole = isinstance(value, float) and value.is_integer()
            return (isinstance(value, int) or whole) and not isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case _:
            return value is None


def _same(left: object, right: object) -> bool:
    """Equality of JSON values: true is not 1."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return left == right


def _type_words(types: Sequence[str]) -> str:
    words = {
        "boolean": "yes or no (true or false)",
        "integer": "an integer",
        "number": "a number",
        "string": "a text",
        "array": "a list",
        "object": "an object",
    }
    return " or ".join(words.get(kind, kind) for kind in types)


def choices_text(node: Node) -> str:
    labels = [label for label, _ in node.choices]
    more = f" … {len(labels) - 12} more" if len(labels) > 12 else ""
    return ", ".join(labels[:12]) + more


def quoted(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    short = text if len(text) <= 60 else text[:57] + "…"
    return f"“{short}”" if isinstance(value, str) else short


def _number(value: float | None) -> str:
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
