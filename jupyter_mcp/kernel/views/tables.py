"""Data frames and series that are in memory: pandas, polars, pyarrow, and what else narwhals knows, by rows.

Only a slice of the object's own buffers is touched; cells are cut by the library before they become Python objects.
Of a subclass only the data is used, in a frame of the library's own class.
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.views import plain, safe
from jupyter_mcp.kernel.views.base import (
    CSV,
    JSON,
    MARKDOWN,
    Column,
    View,
    ViewError,
    Wanted,
    clipped,
    human_bytes,
    pick_format,
    resume,
    seal,
    span,
)
from jupyter_mcp.kernel.views.formats import Page, distinct, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CHARS", "EAGER", "MOST_COLUMNS", "Arrow", "Frame", "Pandas", "Polars", "cells_of", "chosen"]

CHARS = 500  # of a cell
KEPT = 1501  # characters of a cell that are read: what follows a cut may show that it is a secret
MOST_COLUMNS = 100  # unless they are named
_MOST_NAMED = 1000
_MOST_ROWS, _ROWS_UNASKED, _CHUNK = 10_000, 100, 100  # in one view; when no rows are named; read at once
_LONGEST_NAME = 200
_ITEMS = 21  # of a list in a cell


class Frame(Viewer):
    """What all tables in memory have in common; the methods below `# --` are each library's own."""

    kind = "table"

    def facts(self, value: object) -> dict[str, Any]:
        frame = self.plain(value)
        return {
            "shape": self.shape(value, frame),
            "columns": tuple(map(Column, self.names(frame)[:_MOST_NAMED], self.dtypes(frame)[:_MOST_NAMED])),
            "nbytes": self.nbytes(frame),
        }

    def shape(self, value: object, frame: Any) -> tuple[int, ...]:
        """The shape as the library gives it."""
        return self.height(frame), len(self.names(frame))

    def columns(self, value: object) -> list[str]:
        return self.names(self.plain(value))

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, CSV, JSON, MARKDOWN)
        frame = self.plain(value)
        height, names = self.height(frame), self.names(frame)
        signature = (height, len(names), zlib.crc32("\0".join(names[:_MOST_NAMED]).encode("utf-8", "replace")))
        wanted, at = resume(value, wanted, signature)
        where = span(wanted.rows, height)
        start = where.start if at is None else at
        places = chosen(names, wanted)
        stop = min(where.stop, start + (_MOST_ROWS if wanted.rows else _ROWS_UNASKED))
        try:
            page = self._filled(frame, start, stop, places, names, wanted.budget)
        except (ViewError, MemoryError):
            raise
        except Exception as error:
            if self.height(frame) != height or len(self.names(frame)) != len(names):
                raise ViewError("changed", "the table changed while it was read; read it again") from None
            raise ViewError("failed", f"its library cannot read these rows: {safe.name_of(type(error))}") from None
        text, data, count = rendered(page, mime_type, wanted.budget)
        end = start + count
        data["rows"] = [start, end]
        data["total"] = height
        if mime_type == JSON:
            text = dumps(data)
        notes = [f"rows {start:,} to {end:,} of {height:,}"]
        if len(places) < len(names) and not wanted.columns:
            notes.append(f"{len(places):,} of {len(names):,} columns: name others in columns")
        if wanted.deep:
            data["deep"], said = self.deep(frame, places, names)
            notes.append(said)
        kept = replace(wanted, format=mime_type)
        cursor = seal(value, kept, signature, end) if end < where.stop and count else None
        return View(mime_type, text=text, data=data, cursor=cursor, note="; ".join(notes))

    def _filled(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str], budget: int) -> Page:
        """As many rows as the budget can hold, read a few at a time."""
        page = masked_columns(self.page(frame, start, min(stop, start + _CHUNK), places, names))
        at, size = start + page.height, sum(map(len, map(repr, page.cells)))
        while at < stop and size < budget:
            more = masked_columns(self.page(frame, at, min(stop, at + _CHUNK), places, names))
            if not more.height:
                break
            page = Page(page.columns, tuple([*a, *b] for a, b in zip(page.cells, more.cells, strict=True)))
            at, size = at + more.height, size + sum(map(len, map(repr, more.cells)))
        return page

    def deep(self, frame: Any, places: Sequence[int], names: list[str]) -> tuple[dict[str, Any], str]:
        """Nulls of each shown column, and memory with what it refers to."""
        nulls = {names[at]: self.nulls(frame, at) for at in places}
        size = self.deep_bytes(frame)
        return {"nulls": nulls, "nbytes": size}, f"about {human_bytes(size)} in memory"

    def fingerprint(self, value: object) -> int | None:
        frame = self.plain(value)
        height, names = self.height(frame), self.names(frame)
        crc = zlib.crc32(repr((height, names[:50])).encode("utf-8", "replace"))
        places = list(range(min(len(names), 30)))
        for start in sorted({0, height // 3, 2 * height // 3, max(0, height - 8)}):
            page = self.page(frame, start, min(height, start + 8), places, names)
            crc = zlib.crc32(repr(page.cells).encode("utf-8", "replace"), crc)
        return crc

    def step(self, value: object, key: str | int) -> object:
        frame = self.plain(value)
        names = self.names(frame)
        if type(key) is not str or key not in names:
            raise LookupError(key)
        return self.column(frame, names.index(key))

    # -- each library's own

    def plain(self, value: object) -> Any:
        """The same data in a table of the library's own class, without a copy."""
        raise NotImplementedError

    def height(self, frame: Any) -> int:
        """Number of rows."""
        raise NotImplementedError

    def names(self, frame: Any) -> list[str]:
        """Names of the columns as they are shown: texts, none twice."""
        raise NotImplementedError

    def dtypes(self, frame: Any) -> list[str]:
        """Types of the columns as the library spells them."""
        raise NotImplementedError

    def nbytes(self, frame: Any) -> int | None:
        """Bytes of the buffers."""
        raise NotImplementedError

    def column(self, frame: Any, at: int) -> object:
        """One column, without a copy."""
        raise NotImplementedError

    def cut(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Any:
        """A small table of these rows and columns, its cells cut, its columns called by `names`."""
        raise NotImplementedError

    def nulls(self, frame: Any, at: int) -> int:
        """Nulls of one column."""
        raise NotImplementedError

    def deep_bytes(self, frame: Any) -> int:
        """Bytes with what the cells refer to, estimated where it would run foreign code."""
        return self.nbytes(frame) or 0

    nan_is_null = False

    def page(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Page:
        """Some rows and columns as JSON cells."""
        import narwhals as nw

        dtypes = self.dtypes(frame)
        shown = [names[at] for at in places]
        small = nw.from_native(self.cut(frame, start, stop, places, shown), eager_only=True)
        cells = tuple(cells_of(small.get_column(name).to_list(), self.nan_is_null) for name in shown)
        columns = tuple(Column(name, dtypes[at]) for name, at in zip(shown, places, strict=True))
        return Page(columns, cells)


def cells_of(values: Sequence[Any], nan_is_null: bool = False) -> list[Any]:
    """Cells as JSON."""
    if nan_is_null:
        values = [None if type(value) is float and value != value else value for value in values]
    return [plain.cell(value, CHARS) for value in values]


def chosen(names: list[str], wanted: Wanted) -> list[int]:
    """Places of the wanted columns: in the order wanted, else the first ones, as many as a budget can show.

    Raises:
        ViewError: there is no such column.
    """
    if not wanted.columns:
        return _affordable(names, list(range(min(len(names), MOST_COLUMNS))), wanted.budget)
    where = {name: at for at, name in reversed(list(enumerate(names)))}
    places: list[int] = []
    for name in wanted.columns[:_MOST_NAMED]:
        if name not in where:
            raise ViewError("no such path", f'no column "{clipped(name, 60)}"')
        places.append(where[name])
    return _affordable(names, list(dict.fromkeys(places)), wanted.budget)


def _affordable(names: list[str], places: list[int], budget: int) -> list[int]:
    """The first of these columns whose names (in the schema and in a row) leave room for cells; at least one."""
    used = 0
    for count, at in enumerate(places):
        used += 2 * len(names[at].encode("utf-8", "replace")) + 64
        if count and used > budget // 2:
            return places[:count]
    return places


def _class(value: object) -> type:
    return type(value)


def _name(raw: object) -> str:
    return clipped(plain.key_text(raw), _LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class _Held:
    """A pandas frame with its index in front as columns, where that says something."""

    frame: Any
    levels: tuple[str, ...]  # names of the index's levels; none for a plain count


class Pandas(Frame):
    """DataFrame, Series and Index of pandas."""

    nan_is_null = True

    def plain(self, value: object) -> Any:
        pandas = sys.modules["pandas"]
        if safe.is_a(value, pandas.Index):
            return _Held(_IndexFrame(value), ())
        series = safe.is_a(value, pandas.Series)
        frame: Any = value
        cls: Any = pandas.Series if series else pandas.DataFrame
        if type(frame) is not cls:
            manager: Any = (safe.instance_dict(value) or {}).get("_mgr")
            if not safe.module_of(_class(manager)).startswith("pandas."):
                raise ViewError("unsupported", "a data frame whose data cannot be found")
            frame = cls._from_mgr(manager, axes=manager.axes)
        if series:
            name = (safe.instance_dict(value) or {}).get("_name")
            frame = frame.to_frame(_name(name) if name is not None else "values")
        index = frame.index
        if type(index) is pandas.RangeIndex and index.name is None:
            return _Held(frame, ())  # a plain count says nothing
        return _Held(frame, tuple(_name(name) if name is not None else "index" for name in index.names))

    def shape(self, value: object, frame: Any) -> tuple[int, ...]:
        pandas = sys.modules["pandas"]
        height = len(frame.frame)
        return (height, frame.frame.shape[1]) if safe.is_a(value, pandas.DataFrame) else (height,)

    def height(self, frame: Any) -> int:
        return len(frame.frame)

    def names(self, frame: Any) -> list[str]:
        return distinct([*frame.levels, *map(_name, list(frame.frame.columns))])

    def dtypes(self, frame: Any) -> list[str]:
        index = frame.frame.index
        if not frame.levels:
            own: list[Any] = []
        elif len(frame.levels) > 1:
            own = [level.dtype for level in index.levels]
        else:
            own = [index.dtype]
        return [_dtype(dtype) for dtype in (*own, *list(frame.frame.dtypes))]

    def nbytes(self, frame: Any) -> int | None:
        if type(frame.frame) is _IndexFrame:
            return frame.frame.nbytes
        return sum(int(block.nbytes) for block in _arrays(frame.frame))

    def column(self, frame: Any, at: int) -> object:
        if at < len(frame.levels):
            raise LookupError(at)
        return frame.frame.iloc[:, at - len(frame.levels)]

    def cut(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Any:
        pandas = sys.modules["pandas"]
        count = len(frame.levels)
        rows = frame.frame.iloc[start:stop]
        held: dict[str, Any] = {}
        for at, name in zip(places, names, strict=True):
            if at < count:
                series = pandas.Series(rows.index.get_level_values(at).to_numpy())
            else:
                series = rows.iloc[:, at - count].reset_index(drop=True)
            held[name] = _shorter(pandas, series)
        return pandas.DataFrame(held, copy=False)

    def nulls(self, frame: Any, at: int) -> int:
        count = len(frame.levels)
        column = frame.frame.index.get_level_values(at) if at < count else frame.frame.iloc[:, at - count]
        return int(column.isna().sum())

    def deep_bytes(self, frame: Any) -> int:
        total = self.nbytes(frame) or 0
        height = len(frame.frame)
        for at, dtype in enumerate(list(frame.frame.dtypes)):
            if dtype.kind == "O" and height and _dtype(dtype) == "object":
                sample = frame.frame.iloc[:1000, at].tolist()
                total += sum(map(safe.shallow_size, sample)) * height // len(sample)
        return total


class _IndexFrame:
    """A pandas Index as far as a frame of one column is needed; a range stays a range."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self.index = range(len(index))
        self.columns = ["values"]
        self.dtypes = [index.dtype]
        self.shape = (len(index), 1)
        self.nbytes = int(index.nbytes)
        self.iloc = self

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, where: Any) -> Any:
        rows, column = cast("tuple[Any, Any]", where if type(where) is tuple else (where, None))
        series = sys.modules["pandas"].Series(self._index[rows])
        return series if type(column) is int else series.to_frame("values")


def _dtype(dtype: Any) -> str:
    name: Any = dtype.name
    return clipped(name, 80) if type(name) is str else safe.name_of(_class(dtype))


def _arrays(frame: Any) -> list[Any]:
    manager = frame._mgr
    return [block.values for block in manager.blocks] if hasattr(manager, "blocks") else list(manager.arrays)


def _shorter(pandas: Any, series: Any) -> Any:
    """Texts that the library holds itself are cut before they become Python's; those in object columns are shared."""
    dtype = series.dtype
    arrow = getattr(pandas, "ArrowDtype", None)
    texts = isinstance(dtype, pandas.StringDtype)
    if texts or (arrow is not None and isinstance(dtype, arrow) and _dtype(dtype).startswith(("string", "large_str"))):
        return series.str.slice(0, KEPT)
    return series


class Polars(Frame):
    """DataFrame and Series of polars."""

    def plain(self, value: object) -> Any:
        polars = sys.modules["polars"]
        series = safe.is_a(value, polars.Series)
        frame: Any = value
        cls: Any = polars.Series if series else polars.DataFrame
        if type(frame) is not cls:
            held = (safe.instance_dict(value) or {}).get("_s" if series else "_df")
            if held is None:
                raise ViewError("unsupported", "a data frame whose data cannot be found")
            frame = (cls._from_pyseries if series else cls._from_pydf)(held)
        return frame.to_frame(frame.name or "values") if series else frame

    def shape(self, value: object, frame: Any) -> tuple[int, ...]:
        return frame.shape if safe.is_a(value, sys.modules["polars"].DataFrame) else (frame.height,)

    def height(self, frame: Any) -> int:
        return frame.height

    def names(self, frame: Any) -> list[str]:
        return [clipped(name, _LONGEST_NAME) for name in frame.columns]

    def dtypes(self, frame: Any) -> list[str]:
        return [clipped(str(dtype), 80) for dtype in frame.dtypes]

    def nbytes(self, frame: Any) -> int | None:
        return int(frame.estimated_size())

    def column(self, frame: Any, at: int) -> object:
        return frame.to_series(at)

    def cut(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Any:
        polars = sys.modules["polars"]
        series = (frame.to_series(at).slice(start, stop - start).alias(n) for at, n in zip(places, names, strict=True))
        rows = polars.DataFrame(list(series))
        return rows.with_columns([_shorter_polars(polars, name, dtype) for name, dtype in rows.schema.items()])

    def nulls(self, frame: Any, at: int) -> int:
        return frame.to_series(at).null_count()


def _shorter_polars(polars: Any, name: str, dtype: Any) -> Any:
    column = polars.col(name) if not name.startswith("^") else polars.nth(0)
    base = dtype.base_type()
    if base is polars.String:
        return column.str.slice(0, KEPT)
    if base is polars.Array:
        return column.arr.to_list().list.head(_ITEMS)
    if base is polars.List:
        return column.list.head(_ITEMS)
    if base is polars.Binary:
        return polars.format("<bytes of {} B>", column.bin.size())
    return column


class Arrow(Frame):
    """Table, RecordBatch, ChunkedArray and Array of pyarrow."""

    def plain(self, value: object) -> Any:
        pyarrow = sys.modules["pyarrow"]
        if safe.is_a(value, pyarrow.Table):
            return value
        if safe.is_a(value, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([value])
        return pyarrow.table({"values": value})

    def shape(self, value: object, frame: Any) -> tuple[int, ...]:
        pyarrow = sys.modules["pyarrow"]
        table = safe.is_a(value, pyarrow.Table) or safe.is_a(value, pyarrow.RecordBatch)
        return tuple(frame.shape) if table else (frame.num_rows,)

    def height(self, frame: Any) -> int:
        return frame.num_rows

    def names(self, frame: Any) -> list[str]:
        return distinct([clipped(name, _LONGEST_NAME) for name in frame.column_names])

    def dtypes(self, frame: Any) -> list[str]:
        return [clipped(str(field.type), 80) for field in frame.schema]

    def nbytes(self, frame: Any) -> int | None:
        return int(frame.nbytes)

    def column(self, frame: Any, at: int) -> object:
        return frame.column(at)

    def cut(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Any:
        pyarrow = sys.modules["pyarrow"]
        cut = [_shorter_arrow(pyarrow, frame.column(at).slice(start, stop - start)) for at in places]
        return pyarrow.table(cut, names=names)

    def nulls(self, frame: Any, at: int) -> int:
        return frame.column(at).null_count


def _shorter_arrow(pyarrow: Any, column: Any) -> Any:
    """Cells cut where pyarrow's own functions are loaded; without them only short rows are read."""
    compute, types = sys.modules.get("pyarrow.compute"), pyarrow.types
    kind = column.type
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        sizes = [f"<bytes of {item.as_buffer().size} B>" if item.is_valid else None for item in column]
        return pyarrow.array(sizes, pyarrow.string())
    if compute is None:
        return column if column.nbytes < 16_000_000 else pyarrow.array(["<too large>"] * len(column))
    if types.is_string(kind) or types.is_large_string(kind):
        return compute.utf8_slice_codeunits(column, 0, KEPT)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return compute.list_slice(column, 0, _ITEMS, return_fixed_size_list=False)
    return column


EAGER: tuple[tuple[str, Frame], ...] = (
    *((f"pandas.{name}", Pandas()) for name in ("DataFrame", "Series", "Index")),
    *((f"polars.{name}", Polars()) for name in ("DataFrame", "Series")),
    *((f"pyarrow.{name}", Arrow()) for name in ("Table", "RecordBatch", "ChunkedArray", "Array")),
)
