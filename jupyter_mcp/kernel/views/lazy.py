"""Tables that are computed when they are read: polars' LazyFrame, dask, duckdb, ibis, Spark; databases' connections.

Their schema and the first rows, computed by their own engine: no cursor, no promised order. What belongs to a
connection is read on the main thread only, where nobody else is using it.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, cast

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.base import (
    CSV,
    JSON,
    MARKDOWN,
    Column,
    View,
    ViewError,
    Wanted,
    clipped,
    pick_format,
)
from jupyter_mcp.kernel.views.formats import Page, distinct, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.frames import cells_of, chosen
from jupyter_mcp.kernel.views.tables import Pandas
from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["LAZY", "Duckdb", "DuckdbConnection", "Lazy", "Sqlite"]

_ROWS_UNASKED, _MOST_ROWS, _MOST_NAMED = 20, 1000, 1000
_NOTE = "the first rows of a lazy table: no order is promised, and there is no cursor"


class Lazy(Viewer):
    """A lazy frame that narwhals can drive."""

    kind = "table"

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, CSV, JSON, MARKDOWN)
        count = _head(wanted)
        if self.main_thread:
            must_be_main()
        schema = self.schema(value)
        names = [column.name for column in schema]
        places = chosen(names, wanted)
        kept = tuple(schema[at] for at in places)
        cells = self.head(value, count, [names[at] for at in places])
        page = masked_columns(Page(kept, tuple(cells_of(held) for held in cells)))
        data: dict[str, Any] = {"data": []}
        text, shown = _names(names), 0
        if page.height:
            text, data, shown = rendered(page, mime_type, wanted.budget)
        data["rows"] = [0, shown]
        data["schema"] = {"fields": [{"name": c.name, "type": clipped(c.dtype, 80)} for c in schema[:_MOST_NAMED]]}
        if mime_type == JSON:
            text = dumps(data)
        note = _NOTE
        if wanted.deep:
            data["total"] = self.length(value)
            note = f"{note}; {data['total']:,} rows"
        return View(mime_type, text=text, data=data, note=note)

    def columns(self, value: object) -> list[str]:
        return [] if self.main_thread and not is_main() else [column.name for column in self.schema(value)]

    def schema(self, value: object) -> list[Column]:
        """Names and types of the columns; may ask the engine."""
        schema = self._frame(value).collect_schema()
        return [Column(clipped(name, 200), clipped(str(dtype), 80)) for name, dtype in schema.items()]

    def head(self, value: object, count: int, names: list[str]) -> list[list[Any]]:
        """The first rows, column by column."""
        import narwhals as nw

        found = self._frame(value).select(*(nw.col(name) for name in names)).head(count).collect()
        return [found.get_column(name).to_list() for name in names]

    def length(self, value: object) -> int:
        """How many rows there are: the engine counts them."""
        import narwhals as nw

        return int(self._frame(value).select(nw.len()).collect().item())

    def _frame(self, value: object) -> Any:
        import narwhals as nw

        frame: Any = nw.from_native(safe.untyped(value))
        return frame


class Dask(Lazy):
    """dask's DataFrame and Series: schema and rows come as pandas' own."""

    def schema(self, value: object) -> list[Column]:
        return self._columns(safe.untyped(value)._meta)

    def head(self, value: object, count: int, names: list[str]) -> list[list[Any]]:
        found = safe.untyped(value).head(count, npartitions=-1)
        every = [column.name for column in self._columns(found)]
        pandas = Pandas()
        page = pandas.page(pandas.plain(found), 0, count, [every.index(name) for name in names], every)
        return list(page.cells)

    def length(self, value: object) -> int:
        return len(safe.untyped(value))

    def _columns(self, found: object) -> list[Column]:
        pandas = Pandas()
        held = pandas.plain(found)
        return [Column(*pair) for pair in zip(pandas.names(held), pandas.dtypes(held), strict=True)]


class Spark(Lazy):
    """pyspark's DataFrame: its session belongs to the main thread."""

    main_thread = True


class Duckdb(Lazy):
    """A duckdb relation; it uses its connection, which answers one at a time."""

    main_thread = True

    def schema(self, value: object) -> list[Column]:
        relation = safe.untyped(value)
        names = distinct([clipped(name, 200) for name in relation.columns])
        return [Column(name, clipped(str(kind), 80)) for name, kind in zip(names, relation.types, strict=True)]

    def head(self, value: object, count: int, names: list[str]) -> list[list[Any]]:
        every = [column.name for column in self.schema(value)]
        rows = safe.untyped(value).limit(count).fetchall()
        return [[row[every.index(name)] for row in rows] for name in names]

    def length(self, value: object) -> int:
        return int(safe.untyped(value).count("*").fetchall()[0][0])


class Connection(Viewer):
    """A connection to a database: the names of its tables."""

    main_thread = True

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, JSON)
        must_be_main()
        rows = self.tables(value)
        data = {"type": safe.label_of(value), "tables": [clipped(str(row[0]), 200) for row in rows[:_MOST_NAMED]]}
        return View(mime_type, text=dumps(data), data=data, note="names of its tables and views")

    def tables(self, value: object) -> list[tuple[Any, ...]]:
        """One row for each table."""
        raise NotImplementedError


class DuckdbConnection(Connection):
    """A duckdb connection; a cursor of its own, so that a pending result stays."""

    def tables(self, value: object) -> list[tuple[Any, ...]]:
        cursor = safe.untyped(value).cursor()
        try:
            query = "SELECT table_name FROM information_schema.tables ORDER BY table_name LIMIT 1000"
            return cursor.execute(query).fetchall()
        finally:
            cursor.close()


class Sqlite(Connection):
    """A connection of Python's own sqlite3; what its subclass or its row factory would do is left out."""

    def tables(self, value: object) -> list[tuple[Any, ...]]:
        sqlite3 = sys.modules["sqlite3"]
        cursor = sqlite3.Cursor(safe.untyped(value))
        try:
            cursor.row_factory = None
            query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name LIMIT 1000"
            return cast("list[tuple[Any, ...]]", sqlite3.Cursor.execute(cursor, query).fetchall())
        finally:
            cursor.close()


def is_main() -> bool:
    """Whether this is the kernel's main thread."""
    return threading.current_thread() is threading.main_thread()


def must_be_main() -> None:
    """Refuse to go on anywhere but on the main thread.

    Raises:
        ViewError: "busy".
    """
    if not is_main():
        raise ViewError("busy", "what belongs to a connection is read on the kernel's main thread, which is busy")


def _head(wanted: Wanted) -> int:
    """How many rows from the first one are wanted."""
    if not wanted.rows:
        return _ROWS_UNASKED
    first, colon, last = wanted.rows.replace(" ", "").partition(":")
    if colon and first in ("", "0") and (last.isdigit() or not last) and len(last) < 16:
        return min(int(last), _MOST_ROWS) if last else _MOST_ROWS
    raise ViewError("unsupported", "a lazy table shows its first rows only; write rows as 0:50")


def _names(names: list[str]) -> str:
    return ",".join(clipped(name, 60) for name in names[:100]) + "\n"


LAZY: tuple[tuple[str, Viewer], ...] = (
    ("polars.LazyFrame", Lazy()),
    ("dask.dataframe.DataFrame", Dask()),
    ("dask.dataframe.Series", Dask()),
    ("ibis.expr.types.Table", Spark()),  # its backend may be a connection
    ("pyspark.sql.DataFrame", Spark()),
    ("pyspark.sql.connect.dataframe.DataFrame", Spark()),
    ("duckdb.DuckDBPyRelation", Duckdb()),
    ("duckdb.DuckDBPyConnection", DuckdbConnection()),
    ("sqlite3.Connection", Sqlite()),
)
