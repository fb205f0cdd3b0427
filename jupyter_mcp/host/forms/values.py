"""A whole form: drafts in, values and errors out.

The raw draft (texts, ticks, a chosen null) is kept apart from the parsed values: what does not parse yields an error,
never an older value, and what was not touched is not sent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms.check import check
from jupyter_mcp.host.forms.field import UNSET, Field, FieldError, Unset
from jupyter_mcp.host.forms.parse import loose, parse, rows_of
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Raw", "collect", "draft", "needed"]

Raw = Any  # a text as typed, a value as chosen, None for a chosen null, a mapping for a group, UNSET when untouched


def collect(fields: Sequence[Field], raws: Mapping[str, Raw]) -> tuple[dict[str, Any], dict[str, str]]:
    """The whole form: the values to send and, for what cannot be sent, a sentence by field name.

    Untouched fields are left out, whatever their default: a form that shows a default starts from `draft`, where it
    is already filled in. A required field that is untouched takes its default, else it is an error.
    Errors in a group carry the dotted name of the part (`range.from`).
    """
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in fields:
        raw = raws.get(field.name, UNSET)
        try:
            value, inner = _collect_one(field, raw)
        except FieldError as error:
            errors[field.name] = str(error)
            continue
        errors.update({f"{field.name}.{name}": text for name, text in inner.items()})
        if value is UNSET and field.required and not inner:
            value = field.default
            if value is UNSET:
                errors[field.name] = f"{field.label} is required."
        if value is not UNSET and not inner:
            values[field.name] = value
    return values, errors


def _collect_one(field: Field, raw: Raw) -> tuple[Any, dict[str, str]]:
    if raw is UNSET:
        if field.kind != "group" or not field.required:
            return UNSET, {}
        raw = {}
    if isinstance(raw, str):
        return parse(field, raw), {}
    if field.kind == "group" and is_mapping(raw):
        parts, errors = collect(field.parts, raw)
        touched = any(part is not UNSET for part in raw.values())
        if not touched and not field.required:
            return UNSET, {}
        return parts, errors
    value = rows_of(field, raw) if field.kind == "list" and is_list(raw) else raw
    problem = check(field, value)
    if problem is not None:
        raise FieldError(problem)
    return _exact(field, value), {}


def _exact(field: Field, value: Any) -> Any:
    """A whole number of an integer field is written without a point: 2, not 2.0."""
    if field.kind == "integer" and isinstance(value, float):
        return int(value)
    if field.kind == "list" and field.item is not None and is_list(value):
        return [_exact(field.item, entry) for entry in value]
    return value


def needed(fields: Sequence[Field], raws: Mapping[str, Raw]) -> list[str]:
    """Labels of the required fields that are still untouched, for "Still needed: seat, date"."""
    labels: list[str] = []
    for field in fields:
        raw = raws.get(field.name, UNSET)
        if field.kind == "group" and (is_mapping(raw) or field.required) and not isinstance(raw, str):
            inner = mapping_of(raw)
            if field.required or any(part is not UNSET for part in inner.values()):
                labels.extend(f"{field.label}: {label}" for label in needed(field.parts, inner))
        elif field.required and field.default is UNSET and (raw is UNSET or _is_blank(field, raw)):
            labels.append(field.label)
    return labels


def _is_blank(field: Field, raw: Raw) -> bool:
    return isinstance(raw, str) and field.kind not in ("text", "multiline", "choice") and not raw.strip()


def draft(fields: Sequence[Field], values: Mapping[str, Any] | None = None) -> dict[str, Raw]:
    """The drafts that a form starts with: the given values (from its JSON side), else the schema's defaults."""
    given: Mapping[str, Any] = {} if values is None else values
    raws: dict[str, Raw] = {}
    for field in fields:
        value = given.get(field.name, UNSET) if values is not None else field.default
        if field.kind == "group" and (value is UNSET or is_mapping(value)):
            inner = value if is_mapping(value) else None
            raws[field.name] = draft(field.parts, inner if inner is not None or values is None else {})
        else:
            raws[field.name] = _raw_of(field, value)
    return raws


def _raw_of(field: Field, value: Any) -> Raw:
    if value is UNSET or value is None or isinstance(value, Unset):
        return value
    if field.kind in ("choice", "choices", "boolean"):
        return value
    if field.kind == "list":
        rows = as_list(value)
        plain = all(isinstance(row, str) and row.strip() and "\n" not in row for row in rows)
        plain = plain and bool(rows) and not str(rows[0]).lstrip().startswith("[")
        return "\n".join(rows) if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and field.kind != "json":
        return value if field.types in ((), ("string",)) or loose(field, value) == value else json.dumps(value)
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, (dict, list)) else None)
