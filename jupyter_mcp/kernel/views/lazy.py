"""Tables that are computed when they are read: polars' LazyFrame, dask, duckdb, ibis, Spark.

Their schema and the first rows, computed by their own engine, which also cuts long cells: no cursor, no promised
order. What belongs to a connection is read on the main thread only, where nobody else is using it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

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
    head_of,
    pick_format,
)
from jupyter_mcp.kernel.views.formats import Page, distinct, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.frames import ITEMS, KEPT, cells_of, chosen
from jupyter_mcp.kernel.views.tables import Arrow, Pandas, Polars
from jupyter_mcp.kernel.views.viewer import Viewer, is_main, must_be_main

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.kernel.views.frames import Frame

__all__ = ["LAZY", "Dask", "Duckdb", "Ibis", "Lazy", "PolarsLazy", "Spark"]

_ROWS_UNASKED, _MOST_ROWS = 20, 1000
_NOTE = "the first rows of a lazy table: no order is promised, and there is no cursor"


class Lazy(Viewer):
    """What all lazy tables have in common; the methods below `# --` are each engine's own."""

    kind = "table"

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, CSV, JSON, MARKDOWN)
        count = head_of(wanted, _ROWS_UNASKED, _MOST_ROWS)
        if self.main_thread:
            must_be_main()
        schema = self.schema(value)
        names = [column.name for column in schema]
        places = chosen(names, wanted)
        cells = self.head(value, count, places)
        page = masked_columns(Page(tuple(schema[at] for at in places), tuple(cells)))
        text, data, shown = rendered(page, mime_type, wanted.budget)
        data["rows"] = [0, shown]
        notes = [_NOTE]
        if len(places) < len(names) and not wanted.columns:
            notes.append(f"{len(places):,} of {len(names):,} columns: name others in columns")
        if wanted.deep:
            data["total"] = self.length(value)
            notes.append(f"{data['total']:,} rows")
        if mime_type == JSON:
            text = dumps(data)
        return View(mime_type, text=text, data=data, note="; ".join(notes))

    def columns(self, value: object) -> list[str]:
        return [] if self.main_thread and not is_main() else [column.name for column in self.schema(value)]

    def step(self, value: object, key: str | int) -> object:
        raise ViewError("no such path", "a lazy table has no paths; name what you want in columns")

    # -- each engine's own

    def schema(self, value: object) -> list[Column]:
        """Names (none twice) and types of the columns; may ask the engine, computes no row."""
        raise NotImplementedError

    def head(self, value: object, count: int, places: Sequence[int]) -> Sequence[list[Any]]:
        """The first rows of these columns, as JSON cells, column by column."""
        raise NotImplementedError

    def length(self, value: object) -> int:
        """How many rows there are: the engine counts them."""
        raise NotImplementedError


def _eager(frame: Frame, table: object, count: int) -> Sequence[list[Any]]:
    """The cells of a small table in memory, cut like those of any other."""
    held = frame.plain(table)
    names = frame.names(held)
    return frame.page(held, 0, count, range(len(names)), names).cells


class PolarsLazy(Lazy):
    """polars' LazyFrame; of a subclass only its query is used."""

    def schema(self, value: object) -> list[Column]:
        schema = self._plain(value).collect_schema()
        return [Column(clipped(name, 200), clipped(str(dtype), 80)) for name, dtype in schema.items()]

    def head(self, value: object, count: int, places: Sequence[int]) -> Sequence[list[Any]]:
        columns = [sys.modules["polars"].nth(at) for at in places]
        return _eager(Polars(), self._plain(value).select(columns).head(count).collect(), count)

    def length(self, value: object) -> int:
        return int(self._plain(value).select(sys.modules["polars"].len()).collect().item())

    def _plain(self, value: object) -> Any:
        cls = sys.modules["polars"].LazyFrame
        if type(value) is cls:
            return value
        held = (safe.instance_dict(value) or {}).get("_ldf")
        if held is None:
            raise ViewError("unsupported", "a lazy frame whose query cannot be found")
        return cls._from_pyldf(held)


class Dask(Lazy):
    """dask's DataFrame, Series and Index: schema and rows come as pandas' own."""

    def schema(self, value: object) -> list[Column]:
        pandas = Pandas()
        held = pandas.plain(safe.untyped(value)._meta)
        return [
            Column(*pair)
            for pair in zip(pandas.names(held), pandas.dtypes(held, range(pandas.width(held))), strict=True)
        ]

    def head(self, value: object, count: int, places: Sequence[int]) -> Sequence[list[Any]]:
        pandas = Pandas()
        levels = pandas.plain(safe.untyped(value)._meta).levels  # rows of a filtered frame have an index that says more
        held = replace(pandas.plain(self._rows(safe.untyped(value), count)), levels=levels)
        return pandas.page(held, 0, count, places, pandas.names(held)).cells

    def _rows(self, frame: Any, count: int) -> Any:
        """The first rows, from as few of its parts as hold so many."""
        parts = int(frame.npartitions)
        tried = 1
        while True:
            first = frame if tried >= parts else frame.partitions[:tried]
            found = first.head(count, npartitions=-1)
            if len(found) >= count or tried >= parts:
                return found[:count]
            tried *= 4

    def length(self, value: object) -> int:
        return len(safe.untyped(value))


class Ibis(Lazy):
    """ibis' tables and columns: their backend may be a connection."""

    main_thread = True

    def schema(self, value: object) -> list[Column]:
        schema = self._table(value).schema()
        return [Column(clipped(str(name), 200), clipped(str(kind), 80)) for name, kind in schema.items()]

    def head(self, value: object, count: int, places: Sequence[int]) -> Sequence[list[Any]]:
        table = self._table(value)
        schema = list(table.schema().items())
        columns = [self._cut(table[schema[at][0]], schema[at][1]).name(f"c{at}") for at in places]
        return _eager(Arrow(), table.select(columns).limit(count).to_pyarrow(), count)

    def _cut(self, column: Any, kind: Any) -> Any:
        if kind.is_string():
            return column.substr(0, KEPT)
        return column[:ITEMS] if kind.is_array() else column

    def length(self, value: object) -> int:
        return int(self._table(value).count().to_pyarrow().as_py())

    def _table(self, value: object) -> Any:
        found = safe.untyped(value)
        return found if safe.find_base(value, "ibis.expr.types.Table") is not None else found.as_table()


class Spark(Lazy):
    """pyspark's DataFrame, classic or of Spark Connect: its session belongs to the main thread."""

    main_thread = True

    def schema(self, value: object) -> list[Column]:
        fields = safe.untyped(value).schema.fields
        names = distinct([clipped(field.name, 200) for field in fields])
        kinds = (clipped(field.dataType.simpleString(), 80) for field in fields)
        return [Column(*pair) for pair in zip(names, kinds, strict=True)]

    def head(self, value: object, count: int, places: Sequence[int]) -> Sequence[list[Any]]:
        frame = safe.untyped(value)
        kinds = [field.dataType.typeName() for field in frame.schema.fields]
        renamed = frame.toDF(*(f"c{at}" for at in range(len(kinds))))  # a name may occur twice, or hold a dot
        cut = [f"{_SPARK_CUT.get(kinds[at], '{0}').format(f'c{at}')} AS c{at}" for at in places]
        rows = renamed.selectExpr(*cut).limit(count).collect()
        return [cells_of([_named(row[at]) for row in rows]) for at in range(len(places))]

    def length(self, value: object) -> int:
        return int(safe.untyped(value).count())


_SPARK_CUT = {
    "string": f"substring({{0}}, 1, {KEPT})",
    "array": f"slice({{0}}, 1, {ITEMS})",
    "binary": "concat('<bytes of ', length({0}), ' B>')",
}


def _named(cell: Any) -> Any:
    """A cell of Spark with its structures as dicts, so that their fields' names are known."""
    if safe.find_base(cell, "pyspark.sql.Row") is not None:
        return {name: _named(item) for name, item in cell.asDict().items()}
    if type(cell) is list:
        return [_named(item) for item in cast("list[Any]", cell)]
    if type(cell) is dict:
        return {key: _named(item) for key, item in cast("dict[Any, Any]", cell).items()}
    return cell


class Duckdb(Lazy):
    """A duckdb relation; it uses its connection, which answers one at a time."""

    main_thread = True

    def schema(self, value: object) -> list[Column]:
        relation = safe.untyped(value)
        names = distinct([clipped(name, 200) for name in relation.columns])
        return [Column(name, clipped(str(kind), 80)) for name, kind in zip(names, relation.types, strict=True)]

    def head(self, value: object, count: int, places: Sequence[int]) -> Sequence[list[Any]]:
        relation = safe.untyped(value)
        kinds = list(map(str, relation.types))
        cut = ", ".join(f"{_duckdb_cut(kinds[at], at + 1)} AS c{at}" for at in places)
        rows = self._fetched(relation.project(cut).limit(count))
        return [cells_of([row[at] for row in rows]) for at in range(len(places))]

    def length(self, value: object) -> int:
        return int(self._fetched(safe.untyped(value).count("*"))[0][0])

    def _fetched(self, relation: Any) -> list[tuple[Any, ...]]:
        try:
            return relation.fetchall()
        except Exception as error:
            if safe.name_of(type(error)) == "ResourceInUseException":
                why = "its connection has a result that is not read to its end; read that first"
                raise ViewError("busy", why) from None
            raise


def _duckdb_cut(kind: str, place: int) -> str:
    """A column by its place, since two may have one name."""
    if kind == "VARCHAR":
        return f"substring(#{place}, 1, {KEPT})"
    if kind.endswith("[]"):
        return f"list_slice(#{place}, 1, {ITEMS})"
    return f"'<bytes of ' || octet_length(#{place}) || ' B>'" if kind == "BLOB" else f"#{place}"


LAZY: tuple[tuple[str, Viewer], ...] = (
    ("polars.LazyFrame", PolarsLazy()),
    *((f"dask.dataframe.{name}", Dask()) for name in ("DataFrame", "Series", "Index")),
    *((f"ibis.expr.types.{name}", Ibis()) for name in ("Table", "Column")),
    *((f"pyspark.sql.{name}", Spark()) for name in ("DataFrame", "connect.dataframe.DataFrame")),
    ("duckdb.DuckDBPyRelation", Duckdb()),
)
