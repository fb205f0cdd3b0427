"""What a person typed, as one exact JSON value, or the sentence that says why not.

A text is verbatim; a number is read whole or not at all ("2abc" is no 2); "null" is a text wherever text is allowed.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host.forms.check import check, choices_text, is_type, quoted
from jupyter_mcp.host.forms.node import UNSET, FieldError, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["parse", "parse_json"]

_INTEGER = re.compile(r"[+-]?[0-9]+(\.0+)?", re.ASCII)


_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


_MAX_DIGITS = 400


_TRUE, _FALSE = frozenset(["true", "yes", "y", "on", "1"]), frozenset(["false", "no", "n", "off", "0"])


def parse(node: Node, text: str) -> Any:
    """One typed text as the field's JSON value.

    A blank text is untouched (UNSET) for everything but plain text, where it is the empty text.

    Raises:
        FieldError: with one sentence that says what was expected.
    """
    value = _read(node, text)
    if value is not UNSET:
        problem = check(node, value)
        if problem is not None:
            raise FieldError(problem)
    return value


def _read(node: Node, text: str) -> Any:
    if node.kind in ("text", "multiline"):
        return loose(node, text) if node.types not in ((), ("string",)) else text
    if not text.strip() and not any(value == text for _, value in node.choices):
        return UNSET
    if node.nullable and text.strip() == "null" and node.kind != "choice":
        return None
    return _READERS.get(node.kind, _read_json)(node, text)


def _read_integer(node: Node, text: str) -> int:
    short = text.strip()
    if not _INTEGER.fullmatch(short):
        raise FieldError(f"{quoted(short)} is not an integer; write a whole number such as 3.")
    if len(short) > _MAX_DIGITS:
        raise FieldError("That number is too long.")
    return int(short.split(".")[0])


def _read_number(node: Node, text: str) -> int | float:
    short = text.strip()
    if not _NUMBER.fullmatch(short):
        comma = " with a point, not a comma" if re.fullmatch(r"[+-]?[0-9]+,[0-9]+", short) else " such as 2 or 1.5"
        raise FieldError(f"{quoted(short)} is not a number; write it{comma}.")
    if len(short) > _MAX_DIGITS:
        raise FieldError("That number is too long.")
    if re.fullmatch(r"[+-]?[0-9]+", short, re.ASCII):
        return int(short)
    value = float(short)
    if math.isinf(value):
        raise FieldError(f"{quoted(short)} is too large for JSON's numbers.")
    return value


def _read_boolean(node: Node, text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise FieldError(f"{quoted(text.strip())} is neither yes nor no; write yes or no.")
    return word in _TRUE


def _read_choice(node: Node, text: str) -> Any:
    """By value, then by label, then regardless of case, then by the number of its place in the list."""
    short = text.strip()
    names = [(value if isinstance(value, str) else json.dumps(value), label, value) for label, value in node.choices]
    for found in (
        [value for *_, value in names if isinstance(value, str) and value == text],
        [value for name, _, value in names if name == text],
        [value for name, _, value in names if name == short],
        [value for _, label, value in names if label == short],
        [value for name, label, value in names if short.casefold() in (name.casefold(), label.casefold())],
    ):
        if len(found) == 1:
            return found[0]
    if short.isascii() and short.isdecimal() and len(short) < 6 and 1 <= int(short) <= len(node.choices):
        return node.choices[int(short) - 1][1]
    if node.nullable and short == "null":
        return None
    raise FieldError(f"{quoted(short)} is not one of the choices: {choices_text(node)}.")


def _read_choices(node: Node, text: str) -> list[Any]:
    if text.strip().startswith("["):
        return cast("list[Any]", parse_json(text))
    return [_read_choice(node, part.strip()) for part in re.split(r"[,\n]", text) if part.strip()]


def _read_list(node: Node, text: str) -> list[Any]:
    """A JSON array, or one entry a line."""
    if text.strip().startswith("["):
        try:
            return cast("list[Any]", parse_json(text))
        except FieldError:
            entry = node.entry(0)
            if "\n" not in text.strip() and entry is not None and "string" not in entry.types:
                raise
    return rows_of(node, [line for line in text.splitlines() if line.strip()])


def rows_of(node: Node, rows: Sequence[Any]) -> list[Any]:
    values: list[Any] = []
    for number, row in enumerate(rows, 1):
        entry = node.entry(number - 1) or Node("item")
        try:
            value = parse(entry, row) if isinstance(row, str) else row
        except FieldError as error:
            raise FieldError(f"Entry {number}: {error}") from None
        if value is not UNSET:
            values.append(value)
    return values


def _read_json(node: Node, text: str) -> Any:
    return loose(node, text) if not node.types or "string" in node.types else parse_json(text)


def _read_union(node: Node, text: str) -> Any:
    """The first alternative that reads the text."""
    said: list[str] = []
    for branch in node.branches:
        try:
            return parse(branch, text)
        except FieldError as error:
            said.append(f"{branch.label}: {error}")
    raise FieldError(said[0] if len(said) == 1 else f"No alternative fits. {' '.join(said[:4])}")


def _read_text(node: Node, text: str) -> str:
    return text.strip()


def _read_date_time(node: Node, text: str) -> str:
    return text.strip().replace(" ", "T", 1)


_READERS: Mapping[str, Callable[[Node, str], Any]] = {
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "choice": _read_choice,
    "const": _read_choice,
    "multichoice": _read_choices,
    "array": _read_list,
    "email": _read_text,
    "uri": _read_text,
    "date": _read_text,
    "time": _read_text,
    "color": _read_text,
    "date-time": _read_date_time,
    "object": lambda node, text: parse_json(text),
    "union": _read_union,
    "json": _read_json,
}


def loose(node: Node, text: str) -> Any:
    """Several types, text among them: JSON when it reads as one of the other types, else the text itself."""
    short = text.strip()
    try:
        value = parse_json(short)
    except FieldError:
        if short[:1] in ("{", "[") and set(node.types) != {"string"}:
            if node.types and not {"array", "object"} & set(node.types):
                return text
            raise
        return text
    if not node.types or (isinstance(value, str) and short.startswith('"')):
        return value
    return value if any(is_type(value, kind) for kind in node.types) else text


def parse_json(text: str) -> Any:
    """JSON text as a value; NaN and Infinity are refused.

    Raises:
        FieldError: naming line and column.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise FieldError(_json_problem(error)) from None
    except RecursionError:
        raise FieldError("Invalid JSON: it is nested too deeply.") from None
    except ValueError as error:
        raise FieldError(f"Invalid JSON: {error}.") from None


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not valid JSON")


def _json_problem(error: json.JSONDecodeError) -> str:
    """Where and why; a comma before a closing bracket is named, at the comma, whatever Python's decoder points at."""
    before = error.doc[: error.pos].rstrip()
    after = error.doc[error.pos :].lstrip()
    place, reason = error.pos, error.msg[:1].lower() + error.msg[1:]
    if after[:1] in ("}", "]") and before.endswith(","):
        place, reason = len(before) - 1, "a comma may not stand before the closing bracket"
    elif after[:1] == "," and after[1:].lstrip()[:1] in ("}", "]"):
        reason = "a comma may not stand before the closing bracket"
    line = error.doc.count("\n", 0, place) + 1
    column = place - error.doc.rfind("\n", 0, place)
    return f"Invalid JSON at line {line}, column {column}: {reason}."
