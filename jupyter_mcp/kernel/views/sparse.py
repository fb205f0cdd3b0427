"""Views of scipy's sparse arrays and matrices, entry by entry, from the arrays that they hold."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, cast

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.arrays import MOST_ROWS, ROWS_UNASKED, Numpy
from jupyter_mcp.kernel.views.base import (
    CSV,
    JSON,
    MARKDOWN,
    Column,
    View,
    ViewError,
    Wanted,
    pick_format,
    resume,
    seal,
    span,
)
from jupyter_mcp.kernel.views.formats import Page, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.frames import cells_of
from jupyter_mcp.kernel.views.items import items_of
from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["SPARSE", "Sparse"]

_SHOWN = ("csr", "csc", "coo")
_MOST_AXES = 32


class Sparse(Viewer):
    """scipy.sparse's arrays and matrices; the entries of those in the formats CSR, CSC and COO."""

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        shape = _held(value).get("_shape")
        found: dict[str, Any] = {"text": _format(value)}
        if type(shape) is tuple:
            found["shape"] = tuple(map(int, cast("tuple[Any, ...]", shape)[:_MOST_AXES]))
        if _format(value) in _SHOWN:
            data = _part(value, "data")
            found |= {"dtype": str(data.dtype), "length": int(data.shape[0]), "nbytes": int(data.nbytes)}
            found["text"] = f"{found['text']}, {found['length']:,} entries"
        return found

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, CSV, JSON, MARKDOWN)
        if _format(value) not in _SHOWN:
            why = "entries of sparse arrays can be shown in the CSR, CSC and COO formats; use .tocoo()"
            raise ViewError("unsupported", why)
        data = _part(value, "data")
        total = int(data.shape[0])
        wanted, at = resume(value, wanted, (total,))
        where = span(wanted.rows, total)
        start = where.start if at is None else at
        stop = min(where.stop, start + (MOST_ROWS if wanted.rows else ROWS_UNASKED))
        places = _places(value, start, stop)
        columns = (*(Column(name, "int64") for name in _axes(len(places))), Column("value", str(data.dtype)))
        cells = (*map(cells_of, places), cells_of(items_of(data[start:stop])))
        text, found, count = rendered(masked_columns(Page(columns, cells)), mime_type, wanted.budget)
        end = start + count
        found |= {"shape": list(self.facts(value).get("shape", ())), "rows": [start, end], "total": total}
        if mime_type == JSON:
            text = dumps(found)
        cursor = seal(value, replace(wanted, format=mime_type), (total,), end) if end < where.stop and count else None
        return View(mime_type, text=text, data=found, cursor=cursor, note=f"entries {start:,} to {end:,} of {total:,}")

    def fingerprint(self, value: object) -> int | None:
        return Numpy().fingerprint(_part(value, "data"))


def _held(value: object) -> dict[str, Any]:
    return safe.instance_dict(value) or {}


def _format(value: object) -> str:
    """csr, csc, coo, bsr, dia, dok or lil: by scipy's own class that the value is or derives from."""
    for cls in safe.mro(type(value)):
        if safe.module_of(cls).startswith("scipy.sparse"):
            return safe.name_of(cls).lstrip("_").partition("_")[0]
    return ""


def _axes(count: int) -> tuple[str, ...]:
    return ("row", "column") if count == 2 else tuple(f"axis {at}" for at in range(count))


def _places(value: object, start: int, stop: int) -> list[list[int]]:
    """For each axis, where the entries between two of them are."""
    kind = _format(value)
    if kind == "coo":
        coords = _held(value).get("coords")
        if type(coords) is not tuple:  # older releases of scipy
            return [_part(value, name)[start:stop].tolist() for name in ("row", "col")]
        axes = cast("tuple[Any, ...]", coords)[:_MOST_AXES]
        return [Numpy().plain(part)[start:stop].tolist() for part in axes]
    numpy = sys.modules["numpy"]
    minor = _part(value, "indices")[start:stop].tolist()
    pointers = _part(value, "indptr")
    if len(cast("tuple[Any, ...]", _held(value)["_shape"])) == 1:
        return [minor]
    major = (numpy.searchsorted(pointers, numpy.arange(start, stop), "right") - 1).tolist()
    return [minor, major] if kind == "csc" else [major, minor]


def _part(value: object, name: str) -> Any:
    found = _held(value).get(name)
    if safe.find_base(found, "numpy.ndarray") is None:
        raise ViewError("unsupported", f"a sparse array whose {name} cannot be found")
    return Numpy().plain(found)


SPARSE: tuple[tuple[str, Viewer], ...] = tuple((f"scipy.sparse.{name}", Sparse()) for name in ("sparray", "spmatrix"))
