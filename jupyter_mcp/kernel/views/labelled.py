"""Views of xarray's arrays and datasets, and of dask's arrays, which are computed only when their rows are read."""

from __future__ import annotations

import sys
import zlib
from dataclasses import replace
from typing import Any, cast

from jupyter_mcp.kernel.views import plain, safe
from jupyter_mcp.kernel.views.arrays import MOST_ROWS, ROWS_UNASKED, WIDE, Numpy
from jupyter_mcp.kernel.views.base import JSON, Column, View, ViewError, Wanted, clipped, head_of, pick_format
from jupyter_mcp.kernel.views.formats import dumps
from jupyter_mcp.kernel.views.frames import MOST_COLUMNS
from jupyter_mcp.kernel.views.tables import Pandas
from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["LABELLED", "DaskArray", "Xarray"]

_MOST_NAMED = 1000
_MOST_ITEMS = 1_000_000  # that are computed for named columns
_SAMPLED = 30  # variables of a dataset
_NUMPY, _PANDAS = Numpy(), Pandas()


class DaskArray(Viewer):
    """dask.array.Array: its shape, and its first rows, which dask computes."""

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        held = safe.slots(value)
        chunks = cast("tuple[tuple[Any, ...], ...]", held["_Array__chunks"])
        sizes = [sum(part) if all(type(one) is int for one in part) else None for part in chunks]
        meta = held.get("_meta")
        found: dict[str, Any] = {"text": "not computed"}
        if safe.find_base(meta, "numpy.ndarray") is not None:
            found["dtype"] = _NUMPY.dtype(_NUMPY.plain(meta))
        if None not in sizes:
            found["shape"] = tuple(sizes)
        return found

    def view(self, value: object, wanted: Wanted) -> View:
        array = safe.untyped(value)
        if array.ndim == 0:
            return _NUMPY.view(_computed(array), wanted)
        count = head_of(wanted, ROWS_UNASKED, MOST_ROWS)
        wide = MOST_COLUMNS if array.ndim <= 2 and not wanted.columns else WIDE if array.ndim > 2 else None
        if wide is None:
            count = min(count, max(1, _MOST_ITEMS // max(1, array.shape[1])))
        small = _computed(array[(slice(0, count), *[slice(0, wide)] * (array.ndim - 1))])
        found = _NUMPY.view(small, replace(wanted, rows=None))
        note = f"the first rows of an array that is computed when it is read; {found.note}"
        return replace(found, cursor=None, note=note)


def _computed(array: Any) -> Any:
    """What dask computes, as an array of numpy's own.

    Raises:
        ViewError: it is an array of another library.
    """
    found = array.compute()
    if safe.find_base(found, "numpy.ndarray") is not None:
        return _NUMPY.plain(found)
    if safe.find_base(found, "numpy.generic") is not None:
        return sys.modules["numpy"].asarray(found)
    raise ViewError("unsupported", f"its blocks are of {safe.label_of(found)}, which cannot be shown")


class Xarray(Viewer):
    """xarray's DataArray and Variable, their coordinates by their names; a Dataset by its variables."""

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        variables = _variables(value)
        if variables is not None:
            named = list(variables.items())[:_MOST_NAMED]
            columns = tuple(Column(_name(name), self._said(held)) for name, held in named)
            return {"columns": columns, "length": len(variables)}
        variable, data = self._data(value)
        dims = _dims(variable)
        if data is None:
            return {"text": f"{dims} not in memory"}
        found = _viewer_of(data).facts(data)
        columns: tuple[Column, ...] = found.pop("columns", ())
        if columns and "dtype" not in found:
            found["dtype"] = columns[0].dtype
        return {**found, "text": " ".join(filter(None, (dims, found.get("text"))))}

    def view(self, value: object, wanted: Wanted) -> View:
        if _variables(value) is not None:
            mime_type = pick_format(wanted.format, JSON)
            data = self.summary(value).data()
            while len(dumps(data).encode()) > wanted.budget and data["columns"]:
                data["columns"] = data["columns"][: len(data["columns"]) // 2]
            return View(mime_type, text=dumps(data), data=data, note="read a variable by its path")
        _, data = self._data(value)
        if data is None:
            raise ViewError("unsupported", "its data is not in memory; load it first")
        return _viewer_of(data).view(data, wanted)

    def fingerprint(self, value: object) -> int | None:
        variables = _variables(value)
        if variables is None:
            _, data = self._data(value)
            return None if data is None else _viewer_of(data).fingerprint(data)
        crc = zlib.crc32(repr(list(map(_name, list(variables)[:_MOST_NAMED]))).encode("utf-8", "replace"))
        for held in list(variables.values())[:_SAMPLED]:
            crc = zlib.crc32(b"%d" % (self.fingerprint(held) or 0), crc)
        return crc

    def columns(self, value: object) -> list[str]:
        return list(map(_name, _variables(value) or ()))

    def step(self, value: object, key: str | int) -> object:
        held = _variables(value)
        held = held if held is not None else _coordinates(value)
        if type(key) is str:
            for name, variable in list(held.items())[:_MOST_NAMED]:
                if _name(name) == key:
                    return variable
            raise LookupError(key)
        _, data = self._data(value)
        if data is None or _variables(value) is not None:
            raise LookupError(key)
        return _viewer_of(data).step(data, key)

    def _said(self, variable: object) -> str:
        """The type and the dimensions of a dataset's variable."""
        found = self.facts(variable)
        return clipped(" ".join(filter(None, (found.get("dtype"), found.get("text")))), 80)

    def _data(self, value: object) -> tuple[object, Any]:
        """A variable, and the array in memory (or dask's) that it holds; None where it is to be loaded."""
        variable = safe.slots(value).get("_variable", value)
        data = safe.slots(variable).get("_data")
        if safe.find_base(data, "xarray.core.indexing.PandasIndexingAdapter") is not None:
            data = safe.slots(data).get("array")  # a coordinate that is an index
        return variable, data if _viewer_of(data) is not _NONE else None


_NONE = Viewer()
_DASK = DaskArray()


def _viewer_of(data: object) -> Viewer:
    for dotted, viewer in (("numpy.ndarray", _NUMPY), ("pandas.Index", _PANDAS), ("dask.array.Array", _DASK)):
        if safe.find_base(data, dotted) is not None:
            return viewer
    return _NONE


def _variables(value: object) -> dict[Any, Any] | None:
    """The variables of a dataset; None for an array."""
    found = safe.slots(value).get("_variables")
    return cast("dict[Any, Any]", found) if type(found) is dict else None


def _coordinates(value: object) -> dict[Any, Any]:
    found = safe.slots(value).get("_coords")
    return cast("dict[Any, Any]", found) if type(found) is dict else {}


def _name(raw: object) -> str:
    return clipped(plain.key_text(raw), 200)


def _dims(variable: object) -> str:
    dims = safe.slots(variable).get("_dims")
    if type(dims) is not tuple:
        return ""
    return f"({', '.join(clipped(_name(name), 40) for name in cast('tuple[Any, ...]', dims)[:10])})"


LABELLED: tuple[tuple[str, Viewer], ...] = (
    *((f"xarray.{name}", Xarray()) for name in ("DataArray", "Dataset", "Variable")),
    ("dask.array.Array", DaskArray()),
)
