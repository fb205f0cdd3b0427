"""What all tables in memory have in common: which rows and columns are shown, in pages, as which format.

A library brings the methods at the end of `Frame` (`tables` has them). Only a slice of the object's own buffers is
touched; cells are cut by the library before they become Python objects.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from jupyter_mcp.kernel.views.formats import Page, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CHARS", "ITEMS", "KEPT", "MOST_COLUMNS", "Frame", "cells_of", "chosen"]

CHARS = 500  # of a cell
KEPT = 1501  # characters of a cell that are read: what follows a cut may show that it is a secret
ITEMS = 21  # of a list in a cell that are read
MOST_COLUMNS = 100  # unless they are named
_MOST_NAMED = 1000
_SAMPLED = 30  # columns of which a fingerprint is made
_MOST_ROWS, _ROWS_UNASKED, _CHUNK = 10_000, 100, 100  # in one view; when no rows are named; read at once


class Frame(Viewer):
    """What all tables in memory have in common; the methods below `# --` are each library's own."""

    kind = "table"

    def facts(self, value: object) -> dict[str, Any]:
        frame = self.plain(value)
        return {
            "shape": self.shape(value, frame),
            "columns": tuple(map(Column, self.names(frame, _MOST_NAMED), self.dtypes(frame, self._named(frame)))),
            "nbytes": self.nbytes(frame),
        }

    def _named(self, frame: Any) -> range:
        return range(min(self.width(frame), _MOST_NAMED))

    def shape(self, value: object, frame: Any) -> tuple[int, ...]:
        """The shape as the library gives it."""
        return self.height(frame), self.width(frame)

    def columns(self, value: object) -> list[str]:
        return self.names(self.plain(value))

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, CSV, JSON, MARKDOWN)
        frame = self.plain(value)
        height, names = self.height(frame), self.names(frame, None if wanted.columns else _MOST_NAMED)
        width = self.width(frame)
        signature = (height, width, zlib.crc32("\0".join(names[:_MOST_NAMED]).encode("utf-8", "replace")))
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
            if self.height(frame) != height or self.width(frame) != width:
                raise ViewError("changed", "the table changed while it was read; read it again") from None
            raise ViewError("failed", f"its library cannot read these rows: {safe.name_of(type(error))}") from None
        deep, said = self.deep(frame, places, names, wanted.budget) if wanted.deep else (None, "")
        room = wanted.budget - (len(dumps(deep).encode()) + 10 if deep else 0)
        text, data, count = rendered(page, mime_type, room)
        end = start + count
        data |= {"rows": [start, end], "total": height, **({"deep": deep} if deep else {})}
        if mime_type == JSON:
            text = dumps(data)
        notes = [f"rows {start:,} to {end:,} of {height:,}"]
        if len(places) < width and not wanted.columns:
            notes.append(f"{len(places):,} of {width:,} columns: name others in columns")
        notes += [said] if said else []
        kept = replace(wanted, format=mime_type, columns=tuple(names[at] for at in places) if wanted.columns else None)
        cursor = seal(value, kept, signature, end) if end < where.stop and count else None
        return View(mime_type, text=text, data=data, cursor=cursor, note="; ".join(notes))

    def _filled(self, frame: Any, start: int, stop: int, places: Sequence[int], names: list[str], budget: int) -> Page:
        """As many rows as the budget can hold, read a few at a time."""
        page = masked_columns(self.page(frame, start, min(stop, start + _CHUNK), places, names))
        more, at, size = page, start + page.height, 0
        while at < stop and more.height and (size := size + sum(map(len, map(repr, more.cells)))) < budget:
            more = masked_columns(self.page(frame, at, min(stop, at + _CHUNK), places, names))
            page = Page(page.columns, tuple([*a, *b] for a, b in zip(page.cells, more.cells, strict=True)))
            at += more.height
        return page

    def deep(self, frame: Any, places: Sequence[int], names: list[str], budget: int) -> tuple[dict[str, Any], str]:
        """Nulls of the shown columns (of as many as fit a quarter of the budget), and memory with all it refers to."""
        nulls: dict[str, int] = {}
        room = budget // 4 - 40
        for at in places:
            nulls[names[at]] = self.nulls(frame, at)
            room -= len(dumps(names[at]).encode()) + 22
            if room < 0:
                del nulls[names[at]]
                break
        size = self.deep_bytes(frame)
        return {"nulls": nulls, "nbytes": size}, f"about {human_bytes(size)} in memory"

    def fingerprint(self, value: object) -> int | None:
        frame = self.plain(value)
        height, names = self.height(frame), self.names(frame, _SAMPLED)
        crc = zlib.crc32(repr((height, self.width(frame), names)).encode("utf-8", "replace"))
        places = range(len(names))
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

    def width(self, frame: Any) -> int:
        """Number of columns, with those of an index."""
        raise NotImplementedError

    def names(self, frame: Any, most: int | None = None) -> list[str]:
        """Names of the columns (of the first ones, if so many are enough) as they are shown: texts, none twice."""
        raise NotImplementedError

    def dtypes(self, frame: Any, places: Sequence[int]) -> list[str]:
        """Types of some columns as the library spells them."""
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

        shown = [names[at] for at in places]
        small = nw.from_native(self.cut(frame, start, stop, places, shown), eager_only=True)
        cells = tuple(cells_of(small.get_column(name).to_list(), self.nan_is_null) for name in shown)
        return Page(tuple(map(Column, shown, self.dtypes(frame, places))), cells)


def cells_of(values: Sequence[Any], nan_is_null: bool = False) -> list[Any]:
    """Cells as JSON."""
    kinds = set(map(id, map(type, values)))  # by identity: a metaclass may answer for `hash` and `==`
    if kinds == _FLOATS and all(map(math.isfinite, values)):
        return list(values)  # a large table is mostly these
    if kinds == _BOOLS or (kinds == _INTS and min(values) >= -plain.BIG and max(values) < plain.BIG):
        return list(values)
    if nan_is_null:
        values = [None if type(value) is float and value != value else value for value in values]
    return [plain.cell(value, CHARS) for value in values]


_FLOATS, _INTS, _BOOLS = {id(float)}, {id(int)}, {id(bool)}


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
