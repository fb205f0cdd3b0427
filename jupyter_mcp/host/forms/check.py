"""Does a JSON value fit a field, and what to say when it does not.

Nothing is clamped or repaired here; the sentence stands beside the field, so it does not repeat the field's name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host.forms.schema import number_of
from jupyter_mcp.protocol import patterns
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from jupyter_mcp.host.forms.field import Field

__all__ = ["check"]


_EMAIL = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+")


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s<>\"]+")


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)


def check(field: Field, value: object) -> str | None:
    """What is wrong with a JSON value for this field, in one sentence; None when it fits."""
    if value is None:
        allowed = field.nullable or (field.kind == "json" and not field.types)
        return None if allowed else f"{field.label} cannot be null."
    if field.kind == "choice":
        fits = any(_same(value, known) for _, known in field.choices)
        return None if fits else f"{quoted(value)} is not one of the choices: {choices_text(field)}."
    if field.types and not any(is_type(value, kind) for kind in field.types):
        return f"{quoted(value)} is not {_type_words(field.types)}."
    if field.kind == "json":
        return _check_deep(field, value)
    if isinstance(value, str):
        return _check_text(field, value)
    if isinstance(value, (int, float)):
        return _check_number(field, value)
    if isinstance(value, list):
        return _check_list(field, cast("list[Any]", value))
    return _check_parts(field, value) if is_mapping(value) else None


def _check_deep(field: Field, value: object) -> str | None:
    """A value without a control of its own, against its whole schema; what that leaves open is the server's."""
    if not is_mapping(value) and not is_list(value):
        return None
    from jupyter_mcp.protocol import schema  # imports jsonschema: only for those who type JSON

    wrong = [issue for issue in schema.check(field.schema, value) if issue.about == "value"]
    return f"{wrong[0]}" if wrong else None


def _check_text(field: Field, value: str) -> str | None:
    length = len(value)
    if field.min_length is not None and length < field.min_length:
        return f"At least {_plural(field.min_length, 'character')}, not {length}."
    if field.max_length is not None and length > field.max_length:
        return f"At most {_plural(field.max_length, 'character')}, not {length}."
    if field.pattern is not None and patterns.matches(field.pattern, value) is False:
        return f"It has to match the pattern {field.pattern}"
    problem = _FORMATS.get(field.kind)
    return problem(value) if problem else None


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


_FORMATS: Mapping[str, Callable[[str], str | None]] = {
    "date": _check_date,
    "date-time": _check_date_time,
    "email": _check_email,
    "uri": _check_uri,
}


def _check_number(field: Field, value: float) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a JSON number."
    low, high = field.minimum, field.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        if low is not None and high is not None:
            return f"It has to be from {_number(low)} to {_number(high)}, not {_number(value)}."
        bound = f"at least {_number(low)}" if low is not None else f"at most {_number(high)}"
        return f"It has to be {bound}, not {_number(value)}."
    above, below = (number_of(field.schema.get(word)) for word in ("exclusiveMinimum", "exclusiveMaximum"))
    if above is not None and value <= above:
        return f"It has to be more than {_number(above)}, not {_number(value)}."
    if below is not None and value >= below:
        return f"It has to be less than {_number(below)}, not {_number(value)}."
    step = number_of(field.schema.get("multipleOf"))
    if step and not math.isclose(math.remainder(value, step), 0, abs_tol=1e-9 * abs(step)):
        return f"It has to be a multiple of {_number(step)}, not {_number(value)}."
    return None


def _check_list(field: Field, value: list[Any]) -> str | None:
    if field.kind == "choices":
        wrong = [entry for entry in value if not any(_same(entry, known) for _, known in field.choices)]
        if wrong:
            return f"{quoted(wrong[0])} is not one of the choices: {choices_text(field)}."
    if field.min_items is not None and len(value) < field.min_items:
        return f"{'Choose' if field.kind == 'choices' else 'Give'} at least {field.min_items}, not {len(value)}."
    if field.max_items is not None and len(value) > field.max_items:
        return f"{'Choose' if field.kind == 'choices' else 'Give'} at most {field.max_items}, not {len(value)}."
    if field.item is not None:
        for number, entry in enumerate(value, 1):
            problem = check(field.item, entry)
            if problem is not None:
                return f"Entry {number}: {problem}"
    if field.schema.get("uniqueItems") is True:
        keys = [json.dumps(entry, sort_keys=True, default=str) for entry in value]
        if len(set(keys)) < len(keys):
            return "No entry may come twice."
    return None


def _check_parts(field: Field, value: Mapping[str, Any]) -> str | None:
    for part in field.parts:
        if part.name in value:
            problem = check(part, value[part.name])
            if problem is not None:
                return f"{part.label}: {problem}"
        elif part.required:
            return f"{part.label} is required."
    return None


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


def choices_text(field: Field) -> str:
    labels = [label for label, _ in field.choices]
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
