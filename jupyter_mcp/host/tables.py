"""Rows found in what a tool returned, and the data frame made of them.

Finding is pure and only takes what can be read in one way: records, columns, `{"columns", "rows"}`, a wrapped list,
CSV, TSV, JSON lines, a markdown table, a list of dicts as Python prints it. Making the frame imports pandas, else
polars, else pyarrow, at first use.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

from jupyter_mcp.errors import UsageError

__all__ = ["Columns", "find_columns", "frame", "row_members", "text_columns"]

Columns = dict[str, list[Any]]

_ROW_KEYS = ("rows", "data", "values", "records")
_COLUMN_KEYS = ("columns", "column_names", "fields", "header", "headers")
_SCALAR = (str, int, float, bool, type(None))
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,17})\Z")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?\Z")
_RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*\Z")
_FENCE = re.compile(r"\A\s*```[\w+-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_WRAPPERS = 3
_LONGEST_LITERAL = 1_000_000  # characters; reading Python is much slower than JSON


def frame(columns: Columns) -> Any:
    """A data frame of equally long columns. Raises `UsageError` with the pip line when no library is installed."""
    for library, make in _MAKERS.items():
        if find_spec(library) is not None:
            return make(columns)
    raise UsageError("df() needs pandas, polars or pyarrow.", hint="%pip install pandas")


def find_columns(data: Any, text: str = "") -> Columns | None:
    """The table in structured data, else in text; None when there is none that can be read in one way."""
    wrapped = _only_text(data)
    if wrapped is not None and (columns := text_columns(wrapped)) is not None:
        return columns
    found = _of_data(data, 0)
    return found if found is not None else text_columns(text)


def _only_text(data: Any) -> str | None:
    """The text of `{"result": "…"}`, in which a server's library wraps what is no object."""
    if not isinstance(data, Mapping) or len(cast("Mapping[str, Any]", data)) != 1:
        return None
    value = next(iter(cast("Mapping[str, Any]", data).values()))
    return value if isinstance(value, str) else None


def row_members(table: Mapping[str, Any]) -> set[str]:
    """The members of an object that `find_columns` takes the rows from; the others are remarks beside the table."""
    if _split(table) is not None:
        names = next(key for key in _COLUMN_KEYS if key in table and _names(table[key]) is not None)
        return {names, next(key for key in _ROW_KEYS if isinstance(table.get(key), list))}
    if _of_columns(table) is not None:
        return set(table)
    columns = _wrapped(table, 0)
    if columns is None:
        return set(table) if _one_row(table) is not None else set()
    return {name for name, value in table.items() if _of_data(value, 1) == columns}


def text_columns(text: str) -> Columns | None:
    """The table in a text: JSON, JSON lines, one markdown table, TSV or CSV."""
    if (fenced := _FENCE.match(text)) is not None:
        text = fenced[1]
    stripped = text.strip()
    if not stripped:
        return None
    if stripped[0] in "[{":
        found = _of_data(_json(stripped), 0) or _of_json_lines(stripped) or _of_python(stripped)
        if found is not None:
            return found
    return _of_markdown(text) or _of_separated(stripped)


# --- structured data -------------------------------------------------------------------------------------------------


def _of_data(data: Any, depth: int) -> Columns | None:
    if depth > _WRAPPERS:
        return None
    if isinstance(data, list):
        return _of_list(cast("list[Any]", data))
    if not isinstance(data, Mapping) or not data:
        return None
    table = cast("Mapping[str, Any]", data)
    return _split(table) or _of_columns(table) or _wrapped(table, depth) or _one_row(table)


def _of_list(items: list[Any]) -> Columns | None:
    if not items:
        return None
    if all(isinstance(item, Mapping) for item in items):
        return _of_records(cast("list[Mapping[str, Any]]", items))
    if all(isinstance(item, _SCALAR) for item in items):
        return {"value": items}
    return None


def _of_records(records: Sequence[Mapping[str, Any]]) -> Columns:
    names = dict.fromkeys(str(key) for record in records for key in record)
    return {name: [record.get(name) for record in records] for name in names}


def _split(table: Mapping[str, Any]) -> Columns | None:
    """`{"columns": [...], "rows": [[...], ...]}` and its spellings; columns may be objects with a name."""
    names = next((_names(table[key]) for key in _COLUMN_KEYS if key in table), None)
    rows = next((table[key] for key in _ROW_KEYS if isinstance(table.get(key), list)), None)
    if not names or rows is None:
        return None
    found = cast("list[Any]", rows)
    if all(isinstance(row, list) and len(cast("list[Any]", row)) == len(names) for row in found):
        return {name: [row[at] for row in found] for at, name in enumerate(_distinct(names))}
    if found and all(isinstance(row, Mapping) for row in found):
        records = cast("list[Mapping[str, Any]]", found)
        return {name: [record.get(name) for record in records] for name in names}
    return None


def _names(raw: Any) -> list[str] | None:
    if not isinstance(raw, list):
        return None
    names: list[str] = []
    for item in cast("list[Any]", raw):
        name = cast("Mapping[str, Any]", item).get("name") if isinstance(item, Mapping) else item
        if not isinstance(name, str | int):
            return None
        names.append(str(name))
    return names


def _of_columns(table: Mapping[str, Any]) -> Columns | None:
    """A dict of equally long lists of plain values (a single list of objects is a wrapper instead)."""
    lists = [cast("list[Any]", value) for value in table.values() if isinstance(value, list)]
    if len(lists) != len(table) or len({len(items) for items in lists}) != 1:
        return None
    if not all(isinstance(item, _SCALAR) for items in lists for item in items):
        return None
    return {str(name): list(items) for name, items in table.items()}


def _wrapped(table: Mapping[str, Any], depth: int) -> Columns | None:
    """One member holds the rows, the others are remarks about them (a count, a message)."""
    lists = {k: _of_list(cast("list[Any]", v)) for k, v in table.items() if isinstance(v, list)}
    records = [found for key, found in lists.items() if found is not None and not _is_values(table[key])]
    if len(records) == 1:
        return records[0]
    if records:
        return None
    plain = [found for found in lists.values() if found is not None]
    if len(plain) == 1 and len(table) == 1:
        return plain[0]
    tables = [cast("Mapping[str, Any]", value) for value in table.values() if isinstance(value, Mapping)]
    if len(tables) == 1 and not lists and (len(table) == 1 or _is_wrapper(table)):
        return _of_data(tables[0], depth + 1)
    return None


def _is_values(items: list[Any]) -> bool:
    return not any(isinstance(item, Mapping) for item in items)


def _is_wrapper(table: Mapping[str, Any]) -> bool:
    return any(isinstance(table.get(key), Mapping) for key in ("result", "data", "results", "table", "output"))


def _one_row(table: Mapping[str, Any]) -> Columns | None:
    """A flat object is a table of one row."""
    if all(isinstance(value, _SCALAR) for value in table.values()):
        return {str(key): [value] for key, value in table.items()}
    return None


# --- text ------------------------------------------------------------------------------------------------------------


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_python(text: str) -> Columns | None:
    """A list of dicts as Python prints it (`[{'name': 'Paris', 'pop': 1}]`), which many database servers send."""
    if len(text) > _LONGEST_LITERAL or not text.startswith("[{"):
        return None
    try:
        rows = cast("list[Any]", ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return _of_list(rows) if all(isinstance(row, dict) for row in rows) else None


def _of_json_lines(text: str) -> Columns | None:
    rows = [_json(line) for line in text.splitlines() if line.strip()]
    return _of_records(rows) if len(rows) > 1 and all(isinstance(row, dict) for row in rows) else None


def _of_markdown(text: str) -> Columns | None:
    """The only pipe table of a text (there may be prose around it)."""
    lines = text.splitlines()
    rules = [at for at in range(1, len(lines)) if "|" in lines[at] and _RULE.match(lines[at]) and "|" in lines[at - 1]]
    if len(rules) != 1:
        return None
    header = _cells(lines[rules[0] - 1])
    rows: list[list[str]] = []
    for line in lines[rules[0] + 1 :]:
        if "|" not in line:
            break
        cells = _cells(line)[: len(header)]
        rows.append(cells + [""] * (len(header) - len(cells)))
    return _typed(header, rows) if header else None


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _of_separated(text: str) -> Columns | None:
    """Lines that split into the same number of cells under a header of distinct words, by exactly one separator."""
    for separator in ("\t", ",", ";", "|"):
        rows = _split_lines(text, separator)
        if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
            continue
        header = [cell.strip() for cell in rows[0]]
        if all(header) and len(set(header)) == len(header) and not any(_FLOAT.match(cell) for cell in header):
            return _typed(header, rows[1:])
    return None


def _split_lines(text: str, separator: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True) if row]
    except csv.Error:
        return []


def _typed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns:
    columns = {name: [row[at].strip() for row in rows] for at, name in enumerate(_distinct(header))}
    return {name: _typed_column(cells) for name, cells in columns.items()}


def _typed_column(cells: list[str]) -> list[Any]:
    """Numbers when every filled cell is one ("007" is a text); an empty cell is a missing value."""
    filled = [cell for cell in cells if cell]
    convert: Callable[[str], Any] = str
    if filled and all(_INTEGER.match(cell) for cell in filled):
        convert = int
    elif filled and all(_FLOAT.match(cell) and not re.match(r"[+-]?0\d", cell) for cell in filled):
        convert = float
    return [convert(cell) if cell else None for cell in cells]


def _distinct(names: Sequence[str]) -> list[str]:
    """Column names, the repeated ones numbered."""
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


# --- frames ----------------------------------------------------------------------------------------------------------


def _pandas(columns: Columns) -> Any:
    import pandas

    return pandas.DataFrame(columns)


def _polars(columns: Columns) -> Any:
    from importlib import import_module

    return import_module("polars").DataFrame(columns, strict=False)


def _pyarrow(columns: Columns) -> Any:
    from importlib import import_module

    return import_module("pyarrow").table(columns)


_MAKERS: Mapping[str, Callable[[Columns], Any]] = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
