"""Structured values: rows as a table, flat objects as name and value, everything else as JSON. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.tables import find_columns, row_members
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, table_piece
from jupyter_mcp.notebook.render.text import clean, count, cut, flat, pretty
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.tables import Columns

__all__ = ["columns_piece", "data_piece", "remarks_piece", "same_data", "table_of", "value_text"]

MAX_ROWS = 20
MAX_COLUMNS = 20
MAX_CELL = 300
MAX_JSON = 8_000


def data_piece(data: Any, whole: str = ".data") -> Piece:
    """A structured value; `whole` says where a program finds all of it."""
    columns = table_of(data)
    if columns is not None:
        return _table(data, columns, whole)
    pairs = _flat_pairs(data) if is_mapping(data) else None
    if pairs is not None:
        return _pairs(pairs, whole)
    return _json(data, whole)


def table_of(data: Any) -> Columns | None:
    """The rows in a structured value, when they read best as a table."""
    columns = find_columns(data) if is_mapping(data) or is_list(data) else None
    return columns if columns is not None and _is_table(data, columns) else None


def _is_table(data: object, columns: Mapping[str, Sequence[Any]]) -> bool:
    """One row of a flat object reads better as names and values; a list of single values as JSON."""
    if is_list(data) and list(columns) == ["value"] and not is_mapping(data[0]):
        return False
    plain = is_mapping(data) and _flat_pairs(data) is not None
    return any(columns.values()) and not plain


def _flat_pairs(data: Mapping[str, Any]) -> list[tuple[str, Any]] | None:
    """The members of an object without depth (short lists of plain values count as plain)."""
    pairs = list(data.items())
    if not pairs or not all(_is_plain(value) for _, value in pairs):
        return None
    return pairs


def _is_plain(value: Any) -> bool:
    if is_list(value):
        return len(value) <= 10 and not any(is_mapping(item) or is_list(item) for item in value)
    return not is_mapping(value)


def _table(data: Any, columns: Columns, whole: str) -> Piece:
    return stack([remarks_piece(data), columns_piece(columns, framed=bool(whole))])


def columns_piece(columns: Columns, *, framed: bool = True) -> Piece:
    """The first rows of a table.

    Args:
        columns: of equal length, or nearly.
        framed: the object that it belongs to has a `.df()`.
    """
    names = list(columns)
    height = max((len(column) for column in columns.values()), default=0)
    shown = names[:MAX_COLUMNS]
    rows = [
        [value_text(columns[name][at]) if at < len(columns[name]) else "" for name in shown]
        for at in range(min(height, MAX_ROWS))
    ]
    return stack([table_piece(shown, rows), _whole_table(height, len(names), framed)])


def _whole_table(height: int, width: int, framed: bool) -> Piece | None:
    """How much of it was left out, and where all of it is."""
    said = [count(height - MAX_ROWS, "more row")] if height > MAX_ROWS else []
    said += [count(width - MAX_COLUMNS, "more column")] if width > MAX_COLUMNS else []
    if said:
        return plain_line(f"… {' and '.join(said)}{'; .df() holds all' if framed else ''}", mark="small")
    if not framed:
        return None
    size = f"{count(height, 'row')}, {count(width, 'column')}; {html.code('.df()')} makes a data frame of them"
    return Piece(html.note(html.muted(size)), "")  # in a terminal the rows speak for themselves


def remarks_piece(data: Any) -> Piece | None:
    """What stands beside the rows in a wrapper (a count, a message, other objects): not to be lost."""
    if not is_mapping(data):
        return None
    rows = row_members(data)
    beside = [(name, value) for name, value in data.items() if name not in rows]
    short = [(name, value) for name, value in beside if _is_plain(value) or len(_json_line(value)) <= MAX_CELL]
    long = [(name, value) for name, value in beside if (name, value) not in short]
    inner = [remarks_piece(data[name]) for name in data if name in rows]
    caption = plain_line(", ".join(flat(name) for name in data if name in rows), mark="small")
    return stack(
        [
            _pairs(short, "") if short else None,
            *(_folded(name, value) for name, value in long),
            *inner,
            caption if any(not _is_plain(value) for _, value in beside) else None,
        ]
    )


def _folded(name: str, value: Any) -> Piece:
    inner = _json(value, ".data")
    return Piece(html.details(html.escape(flat(name)), inner.html), f"{flat(name)}: {inner.text}")


def _pairs(pairs: Sequence[tuple[str, Any]], whole: str) -> Piece:
    kept = pairs[:60]
    rows = [[name, value_text(value)] for name, value in kept]
    markup = html.table([], [[f"<b>{html.escape(name)}</b>", html.escape(value)] for name, value in rows])
    more = f"… {count(len(pairs) - 60, 'more member')}; {whole or '.data'} holds all" if len(pairs) > 60 else ""
    text = "\n".join(f"{flat(name)}: {value}" for name, value in rows)
    return Piece(markup + (html.note(html.muted(html.escape(more))) if more else ""), f"{text}\n{more}".rstrip())


def _json(data: Any, whole: str) -> Piece:
    text = cut(pretty(data), MAX_JSON, whole)
    return Piece(html.pre(text), text)


def value_text(value: Any) -> str:
    """One value in a cell: text as it is, everything else as JSON, long ones cut."""
    if isinstance(value, str):
        text = clean(value)
    else:
        text = _json_line(value)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def _json_line(value: Any) -> str:
    try:
        return clean(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):
        return clean(str(value))


def same_data(texts: Sequence[str], data: Any) -> bool:
    """Whether the text blocks only repeat the structured content (as JSON, or as the value of its single member)."""
    inner = next(iter(data.values())) if is_mapping(data) and len(data) == 1 else data
    if len(texts) == 1:
        parsed = _parsed(texts[0])
        return parsed in (data, inner) or (isinstance(inner, str) and texts[0].strip() == inner.strip())
    parsed_all = [_parsed(text, text) for text in texts]
    return bool(texts) and parsed_all in (data, inner)


_NOTHING = object()


def _parsed(text: str, default: Any = _NOTHING) -> Any:
    if len(text) > 2_000_000:
        return default
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return default
