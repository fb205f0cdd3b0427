"""Views of numpy's arrays: a slice of their buffer, never a copy; records by their fields, masked items as null.

Above: the other families of arrays (tensors, sparse, labelled), which have their pages from here.
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.kernel.masking import redact
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
    resume,
    seal,
    span,
)
from jupyter_mcp.kernel.views.formats import Page, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.frames import MOST_COLUMNS, cells_of, chosen
from jupyter_mcp.kernel.views.items import hidden, items_of, nested, with_nulls
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOST_ROWS", "NUMPY", "ROWS_UNASKED", "WIDE", "Numpy"]

MOST_ROWS, ROWS_UNASKED = 10_000, 100
WIDE = 20  # items of each further axis that are shown
_SAMPLED = 256
_BLOCK = 1_000_000  # items that are looked at in one go
_LARGE_ITEM = 4096  # bytes


class Numpy(Viewer):
    """numpy.ndarray and what derives from it; of a subclass only the buffer (and a mask) is used.

    An array of another library can be shown by a subclass that says what `plain`, `read` and `dtype` are.
    """

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        array = self.plain(value)
        found: dict[str, Any] = {"shape": _shape(array), "dtype": self.dtype(array), "nbytes": int(array.nbytes)}
        if array.dtype.names:
            found["columns"] = _fields(array)
        return found

    def columns(self, value: object) -> list[str]:
        return [clipped(name, 200) for name in self.names(self.plain(value))]

    def view(self, value: object, wanted: Wanted) -> View:
        array = self.plain(value)
        if array.ndim == 0:
            return self._single(value, array, wanted)
        flat = self._is_table(array)
        mime_type = pick_format(wanted.format, *((CSV, JSON, MARKDOWN) if flat else (JSON,)))
        shape = _shape(array)
        signature = (shape, self.dtype(array))
        wanted, at = resume(value, wanted, signature)
        where = span(wanted.rows, shape[0])
        start = where.start if at is None else at
        stop = min(where.stop, start + (MOST_ROWS if wanted.rows else ROWS_UNASKED))
        mask = hidden(value)
        if flat:
            text, data, count = self._table(array, mask, start, stop, wanted, mime_type)
        else:
            data, count = self._nested(array, mask, start, stop, wanted.budget)
            text = ""
        end = start + count
        data |= {"shape": list(shape), "dtype": self.dtype(array), "rows": [start, end]}
        notes = self._notes(array, mask, wanted, (start, end))
        if wanted.deep:
            data["deep"] = {"nulls": self.nulls(array)}
        if mime_type == JSON:
            text = dumps(data)
        cursor = seal(value, replace(wanted, format=mime_type), signature, end) if end < where.stop and count else None
        return View(mime_type, text=text, data=data, cursor=cursor, note="; ".join(notes))

    # -- what a library's arrays differ in

    def plain(self, value: object) -> Any:
        """The same buffer as an array of the library's own class."""
        numpy = sys.modules["numpy"]
        return value if type(value) is numpy.ndarray else numpy.ndarray.view(value, numpy.ndarray)

    def dtype(self, array: Any) -> str:
        """The type of the items as the library spells it."""
        return clipped(str(array.dtype), 80)

    def names(self, array: Any) -> tuple[str, ...]:
        """Names of a record's fields."""
        return array.dtype.names or ()

    def read(self, array: Any, index: Any) -> Any:
        """A piece as an array of numpy's own class."""
        return array[index]

    def nulls(self, array: Any) -> int:
        """How many items are NaN, a block at a time."""
        numpy = sys.modules["numpy"]
        if array.dtype.kind not in "fcmM":
            return 0
        count = numpy.isnat if array.dtype.kind in "mM" else numpy.isnan
        array = array.T if array.flags.f_contiguous else array
        if not array.flags.c_contiguous:
            return sum(int(count(part).sum()) for part in (array if array.ndim > 1 else [array]))
        flat = array.reshape(-1)
        return sum(int(count(flat[at : at + _BLOCK]).sum()) for at in range(0, flat.size, _BLOCK))

    def sample(self, array: Any) -> Any:
        """Some of the items, from all over the array."""
        array = array.T if array.flags.f_contiguous else array
        if not array.flags.c_contiguous:
            each = max(1, int(_SAMPLED ** (1 / array.ndim)))
            return array[tuple(slice(None, None, -(-size // each)) for size in array.shape)]
        flat = array.reshape(-1)
        if array.dtype.itemsize > _LARGE_ITEM and not array.dtype.hasobject:
            flat = flat.view("u1")
        return flat[:: max(1, flat.size // _SAMPLED)]

    # -- pieces

    def _single(self, value: object, array: Any, wanted: Wanted) -> View:
        pick_format(wanted.format, JSON)
        item = with_nulls([items_of(self.read(array, ...).reshape(1))[0]], hidden(value), ...)[0]
        item = redact(cells_of([item])[0])
        return View(JSON, text=dumps(item), data=item)

    def _is_table(self, array: Any) -> bool:
        return array.ndim == 1 or (array.ndim == 2 and not self.names(array))

    def _notes(self, array: Any, mask: Any, wanted: Wanted, rows: tuple[int, int]) -> list[str]:
        shape = _shape(array)
        notes = [f"rows {rows[0]:,} to {rows[1]:,} of {shape[0]:,}"]
        if mask is not None:
            notes.append("masked items are null")
        cut = MOST_COLUMNS if self._is_table(array) else WIDE
        if any(size > cut for size in shape[1:]) and not wanted.columns:
            notes.append(f"the first {cut} along other axes")
        return notes

    def _table(
        self, array: Any, mask: Any, start: int, stop: int, wanted: Wanted, mime_type: str
    ) -> tuple[str, dict[str, Any], int]:
        rows = slice(start, stop)
        if self.names(array):
            return self._records(array, mask, rows, wanted, mime_type)
        if array.ndim == 1:
            cells = cells_of(with_nulls(items_of(self.read(array, rows)), mask, rows))
            page = Page((Column("value", self.dtype(array)),), (cells,))
        else:
            places = _places(wanted, int(array.shape[1]))
            rows = slice(start, min(stop, start + max(1, wanted.budget // (2 * max(1, len(places))))))
            columns = tuple(Column(str(place), self.dtype(array)) for place in places)
            page = Page(columns, tuple(self._column(array, mask, (rows, place)) for place in places))
        return rendered(masked_columns(page), mime_type, wanted.budget)

    def _column(self, array: Any, mask: Any, index: tuple[slice, int]) -> list[Any]:
        return cells_of(with_nulls(items_of(self.read(array, index)), mask, index))

    def _records(
        self, array: Any, mask: Any, rows: slice, wanted: Wanted, mime_type: str
    ) -> tuple[str, dict[str, Any], int]:
        """A table with a column for each field."""
        fields = _fields(array)
        places = chosen([column.name for column in fields], wanted)
        names = [self.names(array)[place] for place in places]
        cells = (
            cells_of(with_nulls(items_of(array[name][rows]), None if mask is None else mask[name], rows))
            for name in names
        )
        page = Page(tuple(fields[place] for place in places), tuple(cells))
        return rendered(masked_columns(page), mime_type, wanted.budget)

    def _nested(self, array: Any, mask: Any, start: int, stop: int, budget: int) -> tuple[dict[str, Any], int]:
        out: list[Any] = []
        used, wide = 2, WIDE
        at = start
        while at < stop:
            index = (at, *[slice(0, wide)] * (array.ndim - 1))
            found = redact(nested(self.read(array, index), None if mask is None else mask[index]))
            cost = len(dumps(found).encode()) + 1
            if cost > budget and wide > 1:
                wide //= 2
                continue
            if out and used + cost > budget:
                break
            out.append(found if cost <= budget else "…")
            used, at = used + cost, at + 1
        return {"values": out}, len(out)

    def fingerprint(self, value: object) -> int | None:
        array = self.plain(value)
        said = zlib.crc32(repr((_shape(array), self.dtype(array))).encode("utf-8", "replace"))
        if 0 in _shape(array):
            return said
        small = self.sample(array)
        if small.dtype.hasobject or small.dtype.kind == "T":
            return zlib.crc32(repr(cells_of(items_of(small.reshape(-1)))).encode("utf-8", "replace"), said)
        return zlib.crc32(small.tobytes()[:65_536], said)

    def step(self, value: object, key: str | int) -> object:
        array = self.plain(value)
        if type(key) is str:
            if key not in self.names(array):
                raise LookupError(key)
            return array[key]
        if array.ndim == 0:
            raise LookupError(key)
        return array[key, ...] if self.names(array) else array[key]  # a record stays an array, whose fields have names


def _shape(array: Any) -> tuple[int, ...]:
    return tuple(map(int, array.shape))


def _fields(array: Any) -> tuple[Column, ...]:
    dtype = array.dtype
    return tuple(Column(clipped(name, 200), clipped(str(dtype[name]), 80)) for name in dtype.names)


def _places(wanted: Wanted, width: int) -> Sequence[int]:
    if not wanted.columns:
        return range(min(width, MOST_COLUMNS, max(1, wanted.budget // 64)))
    places: list[int] = []
    for name in wanted.columns[: max(1, wanted.budget // 64)]:
        if not (name.isascii() and name.isdigit()) or len(name) > 12 or int(name) >= width:
            raise ViewError("no such path", f'no column "{clipped(name, 60)}"')
        places.append(int(name))
    return list(dict.fromkeys(places))


NUMPY: tuple[tuple[str, Viewer], ...] = (("numpy.ndarray", Numpy()),)
