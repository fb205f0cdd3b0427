"""Items of a small numpy array as Python objects, bounded in size; records become dicts, whose names can be masked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.frames import KEPT, cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["hidden", "items_of", "nested", "with_nulls"]

_WIDE = 20  # items of each further axis
_LARGE_ITEM = 8000  # bytes


def items_of(small: Any) -> list[Any]:
    """The items along the first axis as Python objects: texts cut, moments as text, records as dicts."""
    dtype = small.dtype
    if small.ndim > 1:
        return [items_of(part) for part in small[(slice(None), *[slice(0, _WIDE)] * (small.ndim - 1))]]
    if dtype.names:
        columns = {name: items_of(small[name]) for name in dtype.names[:_WIDE]}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if dtype.kind in "mM":
        small = small.astype(str)
    elif dtype.kind == "S" and dtype.itemsize > _LARGE_ITEM:
        small = small.astype(f"S{KEPT}")
    elif dtype.kind == "U" and dtype.itemsize > _LARGE_ITEM:
        small = small.astype(f"U{KEPT}")
    elif dtype.kind == "V" and dtype.itemsize > _LARGE_ITEM:
        return [f"<void of {dtype.itemsize:,} B>"] * len(small)
    elif dtype.kind == "T":  # numpy's own texts of any length, made into Python's one at a time
        return [small[at][:KEPT] if type(small[at]) is str else None for at in range(len(small))]
    return cast("list[Any]", small.tolist())


def nested(small: Any, mask: Any = None) -> Any:
    """The cells of a small array, axis by axis."""
    if small.ndim == 0:
        return cells_of(with_nulls(items_of(small.reshape(1)), mask, ...))[0]
    if small.ndim == 1:
        return cells_of(with_nulls(items_of(small), mask, ...))
    return [nested(part, None if mask is None else mask[at]) for at, part in enumerate(small)]


def hidden(value: object) -> Any:
    """Which items of a masked array are masked: an array of the same shape; None where no item is."""
    if safe.find_base(value, "numpy.ma.MaskedArray") is None:
        return None
    mask = (safe.instance_dict(value) or {}).get("_mask")
    base = safe.find_base(mask, "numpy.ndarray")
    if base is None:
        return None
    mask = base.view(mask, base)
    return mask if mask.shape == base.shape.__get__(value) else None


def with_nulls(items: Sequence[Any], mask: Any, index: Any) -> list[Any]:
    """The items, None where the mask at this index says so; of a record's masked field too."""
    if mask is None:
        return list(items)
    masked = items_of(mask[index].reshape(len(items), *mask[index].shape[1:]))
    return [_without(item, shown) for item, shown in zip(items, masked, strict=True)]


def _without(item: Any, masked: Any) -> Any:
    if type(masked) is dict:
        held = cast("dict[str, Any]", masked)
        return {name: _without(found, held[name]) for name, found in cast("dict[str, Any]", item).items()}
    if type(masked) is list:
        return [_without(*pair) for pair in zip(item, cast("list[Any]", masked), strict=True)]
    return None if masked else item
