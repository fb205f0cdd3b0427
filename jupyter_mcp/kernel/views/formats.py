"""A page of a table as CSV, JSON with a table schema, or markdown, in as many rows as fit.

Cells are JSON already and masked. Above: tables, arrays.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views.base import CSV, MARKDOWN, Column, clipped
from jupyter_mcp.protocol.secrets import looks_secret

__all__ = ["Page", "distinct", "dumps", "masked_columns", "rendered"]


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a table: `cells` holds a list for each column, all of one length."""

    columns: tuple[Column, ...]
    cells: tuple[list[Any], ...]

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.cells[0]) if self.cells else 0


def masked_columns(page: Page) -> Page:
    """The page with secrets masked: whole columns by their name, cells by their look."""
    cells = tuple(_masked(c.name, held) for c, held in zip(page.columns, page.cells, strict=True))
    return Page(page.columns, cells)


def _masked(name: str, cells: list[Any]) -> list[Any]:
    if looks_secret(name) or not all(type(cell) in _PLAIN for cell in cells):
        return redact({name: cells})[name]
    return cells


_PLAIN = frozenset((type(None), bool, int, float))


def rendered(page: Page, mime_type: str, budget: int) -> tuple[str, dict[str, Any], int]:
    """The page as text and as data (`{"schema": …, "data": [{…}]}`), and how many rows of it fit the budget in both.

    At least one row is shown.
    """
    page = _first_row_fits(page, budget // 2 - _RESERVE)
    rows = list(zip(*page.cells, strict=True))
    names = [column.name for column in page.columns]
    head = {"fields": [{"name": c.name, "type": schema_type(c.dtype)} for c in page.columns]}
    lines = [_header(names, mime_type)]
    used_text, used_data = len(lines[0].encode()), len(dumps(head).encode()) + _RESERVE
    keys = sum(len(dumps(name).encode()) + 1 for name in names)  # a row as an object is its list and these
    lined = mime_type in (CSV, MARKDOWN)
    count = 0
    for row in rows:
        data = len(dumps(row).encode()) + keys + 1
        line = _line(row, mime_type) if lined else ""
        used_text, used_data = used_text + (len(line.encode()) if lined else data), used_data + data
        if count and max(used_text, used_data) > budget:
            break
        lines.append(line)
        count += 1
    data = {"schema": head, "data": [dict(zip(names, row, strict=True)) for row in rows[:count]]}
    return "".join(lines) if lined else dumps(data), data, count


_RESERVE = 250  # bytes for what else is said: rows, total, shape


def _first_row_fits(page: Page, room: int) -> Page:
    """The page, its cells cut shorter when not even one row fits."""
    for chars in (200, 60, 20, 5):
        first = [cells[:1] for cells in page.cells]
        if len(dumps(first).encode()) <= room:
            return page
        page = Page(page.columns, tuple([_shorter(cell, chars) for cell in cells] for cells in page.cells))
    return page


def _shorter(cell: Any, chars: int) -> Any:
    if type(cell) is str:
        return clipped(cell, chars)
    return clipped(dumps(cell), chars) if type(cell) in (list, dict) else cell


def _header(names: list[str], mime_type: str) -> str:
    if mime_type != MARKDOWN or not names:
        return _line(names, CSV)
    return _line(names, mime_type) + "|" + " --- |" * len(names) + "\n"


def _line(cells: Any, mime_type: str) -> str:
    if mime_type == MARKDOWN:
        return "| " + " | ".join(_flat(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"
    if not cells:
        return ""
    out = io.StringIO()
    as_they_are = _WRITTEN.issuperset(map(type, cells))
    csv.writer(out, lineterminator="\n").writerow(cells if as_they_are else map(_flat, cells))
    return out.getvalue()


def _flat(cell: Any) -> str:
    if type(cell) is str:
        return cell
    if type(cell) is float or type(cell) is int:
        return repr(cell)  # as JSON writes it, without a JSON encoder for each
    if cell is None:
        return ""
    return dumps(cell)


_WRITTEN = frozenset((float, int, str, type(None)))  # the CSV writer writes them as `_flat` would
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def dumps(data: Any) -> str:
    """JSON, compact; the data holds neither NaN nor half a surrogate pair."""
    return _encode(data)


def distinct(names: list[str]) -> list[str]:
    """The names, none twice: a repeated one gets its number."""
    seen: set[str] = set()
    out: list[str] = []
    for name in names:
        found, at = name, 2
        while found in seen:
            found, at = f"{name} ({at})", at + 1
        seen.add(found)
        out.append(found)
    return out


def schema_type(dtype: str) -> str:
    """The type of Frictionless Table Schema that a library's type name stands for."""
    if dtype.endswith("]") and dtype.rpartition("[")[2][:-1].strip("0123456789") == "":
        return "array"  # INTEGER[], INTEGER[3]
    if dtype[:1] in "<>=|" and dtype[1:2] == "U":
        return "string"  # numpy's texts of a fixed length
    low = dtype.lower()
    if low.startswith("dictionary<values="):
        return schema_type(dtype.partition("=")[2])
    for words, found in _SCHEMA_TYPES:
        if low.startswith(words):
            return found
    return "any"


_SCHEMA_TYPES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("list", "array", "large_list", "fixed_size_list"), "array"),
    (("struct", "map"), "object"),
    (("interval[",), "any"),  # pandas': from one value to another
    (("interval",), "duration"),
    (("int", "uint", "bigint", "hugeint", "smallint", "tinyint", "long", "short"), "integer"),
    (("float", "double", "decimal", "halffloat", "real", "bfloat", "qint", "quint"), "number"),
    (("bool",), "boolean"),
    (("datetime", "timestamp"), "datetime"),
    (("date",), "date"),
    (("duration", "timedelta"), "duration"),
    (("time",), "time"),
    (("str", "utf8", "large_string", "categorical", "category", "enum", "varchar", "uuid"), "string"),
)
