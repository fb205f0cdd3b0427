"""Data frames and series that are in memory: pandas, polars, pyarrow, and what else narwhals knows, by rows.

Only a slice of the object's own buffers is touched; cells are cut by the library before they become Python objects.
Of a subclass only the data is used, in a frame of the library's own class.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.views import plain, safe
from jupyter_mcp.kernel.views.base import Column, ViewError, clipped
from jupyter_mcp.kernel.views.cuts import arrow_items, shorter_pandas, shorter_polars
from jupyter_mcp.kernel.views.formats import Page, distinct
from jupyter_mcp.kernel.views.frames import Frame, cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EAGER", "Arrow", "Pandas", "Polars"]

_LONGEST_NAME = 200


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

    def width(self, frame: Any) -> int:
        return len(frame.levels) + int(frame.frame.shape[1])

    def names(self, frame: Any, most: int | None = None) -> list[str]:
        return distinct([*frame.levels, *map(_name, list(frame.frame.columns[:most]))][:most])

    def dtypes(self, frame: Any, places: Sequence[int]) -> list[str]:
        index = frame.frame.index
        if not frame.levels:
            own: list[Any] = []
        elif len(frame.levels) > 1:
            own = [level.dtype for level in index.levels]
        else:
            own = [index.dtype]
        every = [*own, *list(frame.frame.dtypes)]
        return [_dtype(every[at]) for at in places]

    def nbytes(self, frame: Any) -> int | None:
        if type(frame.frame) is _IndexFrame:
            return frame.frame.nbytes
        return sum(int(block.nbytes) for block in _arrays(frame.frame))

    def column(self, frame: Any, at: int) -> object:
        if at < len(frame.levels):
            raise LookupError(at)
        return frame.frame.iloc[:, at - len(frame.levels)]

    def page(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Page:
        pandas, pyarrow = sys.modules["pandas"], sys.modules.get("pyarrow")
        count = len(frame.levels)
        rows = frame.frame.iloc[start:stop]
        own = [at - count for at in places if at >= count]
        columns = iter(rows.iloc[:, own].items() if own else ())  # at once: each look at a frame costs it much
        cells: list[list[Any]] = []
        for at in places:
            series = pandas.Series(rows.index.get_level_values(at)) if at < count else next(columns)[1]
            cells.append(cells_of(shorter_pandas(pandas, pyarrow, series).tolist(), nan_is_null=True))
        return Page(tuple(map(Column, [names[at] for at in places], self.dtypes(frame, places))), tuple(cells))

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
    name: Any = str(dtype) if dtype.name == "interval" else dtype.name  # pandas' own name says less than its text
    return clipped(name, 80) if type(name) is str else safe.name_of(_class(dtype))


def _arrays(frame: Any) -> list[Any]:
    manager = frame._mgr
    return [block.values for block in manager.blocks] if hasattr(manager, "blocks") else list(manager.arrays)


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

    def width(self, frame: Any) -> int:
        return frame.width

    def names(self, frame: Any, most: int | None = None) -> list[str]:
        return distinct([clipped(name, _LONGEST_NAME) for name in frame.columns[:most]])

    def dtypes(self, frame: Any, places: Sequence[int]) -> list[str]:
        return [clipped(str(frame.to_series(at).dtype), 80) for at in places]

    def nbytes(self, frame: Any) -> int | None:
        return int(frame.estimated_size())

    def column(self, frame: Any, at: int) -> object:
        return frame.to_series(at)

    def cut(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Any:
        polars = sys.modules["polars"]
        rows = polars.DataFrame([frame.to_series(at).slice(start, stop - start).alias(f"c{at}") for at in places])
        long = [(polars.col(name), dtype) for name, dtype in rows.schema.items() if not dtype.is_numeric()]
        if long:
            rows = rows.with_columns([shorter_polars(polars, *one).alias(one[0].meta.output_name()) for one in long])
        rows.columns = names
        return rows

    def nulls(self, frame: Any, at: int) -> int:
        return frame.to_series(at).null_count()


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

    def width(self, frame: Any) -> int:
        return frame.num_columns

    def names(self, frame: Any, most: int | None = None) -> list[str]:
        return distinct([clipped(name, _LONGEST_NAME) for name in frame.column_names[:most]])

    def dtypes(self, frame: Any, places: Sequence[int]) -> list[str]:
        return [clipped(str(frame.schema.field(at).type), 80) for at in places]

    def nbytes(self, frame: Any) -> int | None:
        return int(frame.nbytes)

    def column(self, frame: Any, at: int) -> object:
        return frame.column(at)

    def page(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str]) -> Page:
        columns = map(Column, [names[at] for at in places], self.dtypes(frame, places))
        items = (arrow_items(sys.modules["pyarrow"], frame.column(at).slice(start, stop - start)) for at in places)
        return Page(tuple(columns), tuple(map(cells_of, items)))

    def nulls(self, frame: Any, at: int) -> int:
        return frame.column(at).null_count


EAGER: tuple[tuple[str, Frame], ...] = (
    *((f"pandas.{name}", Pandas()) for name in ("DataFrame", "Series", "Index")),
    *((f"polars.{name}", Polars()) for name in ("DataFrame", "Series")),
    *((f"pyarrow.{name}", Arrow()) for name in ("Table", "RecordBatch", "ChunkedArray", "Array")),
)
