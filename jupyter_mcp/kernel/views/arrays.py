"""Views of arrays: numpy, torch on the CPU, scipy's sparse ones, xarray; a slice of their buffer, never a copy."""

from __future__ import annotations

import sys
import zlib
from dataclasses import replace
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
    resume,
    seal,
    span,
)
from jupyter_mcp.kernel.views.formats import Page, dumps, masked_columns, rendered
from jupyter_mcp.kernel.views.frames import MOST_COLUMNS, cells_of
from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["ARRAYS", "Numpy", "Sparse", "Torch", "Xarray"]

_MOST_ROWS, _ROWS_UNASKED = 10_000, 100
_WIDE = 20  # items of each further axis that are shown
_SAMPLED = 256
_BLOCK = 1_000_000  # items that are looked at in one go


class Numpy(Viewer):
    """numpy.ndarray and what derives from it; of a subclass only the buffer is used."""

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        array = self.plain(value)
        return {
            "shape": tuple(map(int, array.shape)),
            "dtype": clipped(str(array.dtype), 80),
            "nbytes": int(array.nbytes),
        }

    def plain(self, value: object) -> Any:
        """The same buffer as an array of numpy's own class."""
        numpy = sys.modules["numpy"]
        return value if type(value) is numpy.ndarray else numpy.ndarray.view(value, numpy.ndarray)

    def view(self, value: object, wanted: Wanted) -> View:
        array = self.plain(value)
        if array.ndim == 0:
            item = cells_of([array.tolist()])[0]
            return View(JSON, text=dumps(item), data=item)
        flat = array.ndim <= 2
        mime_type = pick_format(wanted.format, *((CSV, JSON, MARKDOWN) if flat else (JSON,)))
        shape = tuple(map(int, array.shape))
        wanted, at = resume(value, wanted, shape)
        where = span(wanted.rows, shape[0])
        start = where.start if at is None else at
        stop = min(where.stop, start + (_MOST_ROWS if wanted.rows else _ROWS_UNASKED))
        if flat:
            text, data, count = self._table(array, start, stop, wanted, mime_type)
        else:
            data, count = self._nested(array, start, stop, wanted.budget)
            text = dumps(data)
        end = start + count
        data |= {"shape": list(shape), "dtype": clipped(str(array.dtype), 80), "rows": [start, end]}
        if mime_type == JSON:
            text = dumps(data)
        notes = [f"rows {start:,} to {end:,} of {shape[0]:,}"]
        if wanted.deep:
            data["deep"] = {"nulls": _nulls(array)}
        if safe.find_base(value, "numpy.ma.MaskedArray") is not None:
            notes.append("its mask is not applied")
        cut = MOST_COLUMNS if flat else _WIDE
        if any(size > cut for size in shape[1:]) and not wanted.columns:
            notes.append(f"the first {cut} along other axes")
        cursor = seal(value, replace(wanted, format=mime_type), shape, end) if end < where.stop and count else None
        return View(mime_type, text=text, data=data, cursor=cursor, note="; ".join(notes))

    def _table(
        self, array: Any, start: int, stop: int, wanted: Wanted, mime_type: str
    ) -> tuple[str, dict[str, Any], int]:
        dtype = clipped(str(array.dtype), 80)
        if array.ndim == 1:
            page = Page((Column("value", dtype),), (cells_of(_listed(array[start:stop])),))
        else:
            places = _places(wanted, int(array.shape[1]))
            stop = min(stop, start + max(1, wanted.budget // (2 * max(1, len(places)))))
            columns = tuple(Column(str(place), dtype) for place in places)
            page = Page(columns, tuple(cells_of(_listed(array[start:stop, place])) for place in places))
        return rendered(masked_columns(page), mime_type, wanted.budget)

    def _nested(self, array: Any, start: int, stop: int, budget: int) -> tuple[dict[str, Any], int]:
        out: list[Any] = []
        used, wide = 2, _WIDE
        at = start
        while at < stop:
            found = _nest(array[(at, *[slice(0, wide)] * (array.ndim - 1))])
            cost = len(dumps(found)) + 1
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
        said = zlib.crc32(repr((array.shape, str(array.dtype))).encode("utf-8", "replace"))
        if array.size == 0:
            return said
        step = max(1, array.size // _SAMPLED)
        if array.dtype.hasobject:
            items = [array.flat[at] for at in range(0, array.size, step)][:_SAMPLED]
            return zlib.crc32(repr(cells_of(items)).encode("utf-8", "replace"), said)
        sample = array.flat[:: step or 1] if array.size <= _BLOCK or array.flags.c_contiguous else array[:8]
        if array.flags.c_contiguous:
            sample = array.reshape(-1)[::step]
        return zlib.crc32(sample.tobytes()[:65_536], said)

    def step(self, value: object, key: str | int) -> object:
        array = self.plain(value)
        if type(key) is str:
            if not array.dtype.names or key not in array.dtype.names:
                raise LookupError(key)
            return array[key]
        if array.ndim == 0:
            raise LookupError(key)
        return array[key]


def _places(wanted: Wanted, width: int) -> list[int]:
    if not wanted.columns:
        return list(range(min(width, MOST_COLUMNS, max(1, wanted.budget // 64))))
    places: list[int] = []
    for name in wanted.columns[: max(1, wanted.budget // 64)]:
        if not name.isdigit() or len(name) > 12 or int(name) >= width:
            raise ViewError("no such path", f'no column "{clipped(name, 60)}"')
        places.append(int(name))
    return list(dict.fromkeys(places))


def _listed(small: Any) -> list[Any]:
    """The items of a small array as Python objects; moments as text."""
    if small.dtype.kind in "mM":
        small = small.astype(str)
    if small.dtype.kind in "SU" and small.dtype.itemsize > 8000:
        small = small.astype(f"{small.dtype.kind}1501")
    return cast("list[Any]", small.tolist())


def _nest(small: Any) -> Any:
    if small.ndim <= 1:
        return cells_of(_listed(small)) if small.ndim else cells_of([small.tolist()])[0]
    return [_nest(part) for part in small]


def _nulls(array: Any) -> int:
    """How many items are NaN, a block at a time."""
    numpy = sys.modules["numpy"]
    if array.dtype.kind not in "fcmM":
        return 0
    count = numpy.isnat if array.dtype.kind in "mM" else numpy.isnan
    if not array.flags.c_contiguous:
        return sum(int(count(part).sum()) for part in (array if array.ndim > 1 else [array]))
    flat = array.reshape(-1)
    return sum(int(count(flat[at : at + _BLOCK]).sum()) for at in range(0, flat.size, _BLOCK))


class Torch(Numpy):
    """torch.Tensor on the CPU, through numpy on the same memory."""

    def facts(self, value: object) -> dict[str, Any]:
        torch = sys.modules["torch"]
        with torch._C.DisableTorchFunctionSubclass():
            tensor = cast("Any", value)
            base = torch.Tensor
            shape = tuple(map(int, base.shape.__get__(tensor)))
            text = None if base.device.__get__(tensor).type == "cpu" else str(base.device.__get__(tensor))
            size = base.element_size(tensor) * base.nelement(tensor)
            return {"shape": shape, "dtype": str(base.dtype.__get__(tensor)), "nbytes": int(size), "text": text}

    def plain(self, value: object) -> Any:
        torch = sys.modules["torch"]
        with torch._C.DisableTorchFunctionSubclass():
            base, tensor = torch.Tensor, cast("Any", value)
            if base.device.__get__(tensor).type != "cpu" or base.layout.__get__(tensor) is not torch.strided:
                raise ViewError("unsupported", "only dense tensors on the CPU can be shown; copy it there first")
            if base.dtype.__get__(tensor) is torch.bfloat16:
                raise ViewError("unsupported", "numpy has no bfloat16; show a slice of it as float")
            return base.numpy(base.detach(tensor).resolve_conj().resolve_neg())


class Sparse(Viewer):
    """scipy's sparse arrays and matrices in the CSR, CSC and COO formats, entry by entry."""

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        held = safe.instance_dict(value) or {}
        data = self._part(value, "data")
        shape = held.get("_shape")
        return {
            "shape": tuple(map(int, cast("tuple[Any, ...]", shape))) if type(shape) is tuple else None,
            "dtype": str(data.dtype),
            "length": int(data.shape[0]),
            "nbytes": int(data.nbytes),
            "text": f"{int(data.shape[0]):,} entries",
        }

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, CSV, JSON, MARKDOWN)
        data = self._part(value, "data")
        total = int(data.shape[0])
        wanted, at = resume(value, wanted, (total,))
        where = span(wanted.rows, total)
        start = where.start if at is None else at
        stop = min(where.stop, start + (_MOST_ROWS if wanted.rows else _ROWS_UNASKED))
        rows, cols = self._places(value, start, stop)
        columns = (Column("row", "int64"), Column("column", "int64"), Column("value", str(data.dtype)))
        page = Page(columns, (cells_of(rows), cells_of(cols), cells_of(_listed(data[start:stop]))))
        text, found, count = rendered(page, mime_type, wanted.budget)
        end = start + count
        found |= {"shape": list(self.facts(value)["shape"] or ()), "rows": [start, end], "total": total}
        cursor = seal(value, replace(wanted, format=mime_type), (total,), end) if end < where.stop and count else None
        return View(mime_type, text=text, data=found, cursor=cursor, note=f"entries {start:,} to {end:,} of {total:,}")

    def fingerprint(self, value: object) -> int | None:
        return Numpy().fingerprint(self._part(value, "data"))

    def _places(self, value: object, start: int, stop: int) -> tuple[list[int], list[int]]:
        numpy = sys.modules["numpy"]
        held = safe.instance_dict(value) or {}
        if "indptr" in held:
            minor = self._part(value, "indices")[start:stop].tolist()
            major = (numpy.searchsorted(self._part(value, "indptr"), numpy.arange(start, stop), "right") - 1).tolist()
            return (minor, major) if "csc" in safe.name_of(type(value)) else (major, minor)
        coords = held.get("coords")
        if type(coords) is tuple and len(cast("tuple[Any, ...]", coords)) == 2:
            rows, cols = (Numpy().plain(part) for part in cast("tuple[Any, ...]", coords))
        else:
            rows, cols = self._part(value, "row"), self._part(value, "col")
        return rows[start:stop].tolist(), cols[start:stop].tolist()

    def _part(self, value: object, name: str) -> Any:
        found = (safe.instance_dict(value) or {}).get(name)
        if safe.find_base(found, "numpy.ndarray") is None:
            raise ViewError("unsupported", "entries of sparse arrays can be shown in the CSR, CSC and COO formats")
        return Numpy().plain(found)


class Xarray(Viewer):
    """xarray's DataArray and Variable over numpy; a Dataset by its variables."""

    kind = "array"

    def facts(self, value: object) -> dict[str, Any]:
        names = safe.slots(value)
        if "_variables" in names:
            variables: dict[Any, Any] = names["_variables"]
            columns = tuple(Column(str(name)[:200], self._dims(held)) for name, held in list(variables.items())[:1000])
            return {"columns": columns, "length": len(variables)}
        variable = names.get("_variable", value)
        data = safe.slots(variable).get("_data")
        if safe.find_base(data, "numpy.ndarray") is None:
            return {"text": self._dims(variable)}
        return {**Numpy().facts(data), "text": self._dims(variable)}

    def view(self, value: object, wanted: Wanted) -> View:
        names = safe.slots(value)
        if "_variables" in names:
            mime_type = pick_format(wanted.format, JSON)
            data = self.summary(value).data()
            return View(mime_type, text=dumps(data), data=data, note="read a variable by its path")
        return Numpy().view(self._array(value), wanted)

    def fingerprint(self, value: object) -> int | None:
        names = safe.slots(value)
        return None if "_variables" in names else Numpy().fingerprint(self._array(value))

    def columns(self, value: object) -> list[str]:
        return [str(name) for name in safe.slots(value).get("_variables", {})]

    def step(self, value: object, key: str | int) -> object:
        variables = safe.slots(value).get("_variables")
        if variables is not None:
            return cast("dict[Any, Any]", variables)[key]
        return Numpy().step(self._array(value), key)

    def _array(self, value: object) -> Any:
        variable = safe.slots(value).get("_variable", value)
        data = safe.slots(variable).get("_data")
        if safe.find_base(data, "numpy.ndarray") is None:
            raise ViewError("unsupported", "its data is not in memory; load it first")
        return data

    def _dims(self, variable: object) -> str:
        dims = safe.slots(variable).get("_dims")
        return (
            f"({', '.join(str(name)[:40] for name in cast('tuple[Any, ...]', dims)[:10])})"
            if type(dims) is tuple
            else ""
        )


ARRAYS: tuple[tuple[str, Viewer], ...] = (
    ("numpy.ndarray", Numpy()),
    ("torch.Tensor", Torch()),
    *((f"scipy.sparse.{name}", Sparse()) for name in ("sparray", "spmatrix")),
    *((f"xarray.{name}", Xarray()) for name in ("DataArray", "Dataset", "Variable")),
)
