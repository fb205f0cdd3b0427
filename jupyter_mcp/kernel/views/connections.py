"""Views of connections to databases: the names of their tables, read on the main thread only."""

from __future__ import annotations

import sys
from typing import Any, cast

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.base import JSON, View, Wanted, clipped, pick_format
from jupyter_mcp.kernel.views.formats import dumps
from jupyter_mcp.kernel.views.viewer import Viewer, must_be_main

__all__ = ["CONNECTIONS", "DuckdbConnection", "Sqlite"]

_MOST_NAMED = 1000


class Connection(Viewer):
    """A connection to a database: the names of its tables."""

    main_thread = True

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, JSON)
        must_be_main()
        names = [clipped(str(row[0]), 200) for row in self.tables(value)[:_MOST_NAMED]]
        data = {"type": safe.label_of(value), "tables": names}
        note = "names of its tables and views"
        while len(dumps(data).encode()) > wanted.budget and names:
            data["tables"] = names = names[: len(names) // 2]
            note = f"the first {len(names):,} names of its tables and views"
        return View(mime_type, text=dumps(data), data=data, note=note)

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


CONNECTIONS: tuple[tuple[str, Viewer], ...] = (
    ("duckdb.DuckDBPyConnection", DuckdbConnection()),
    ("sqlite3.Connection", Sqlite()),
)
