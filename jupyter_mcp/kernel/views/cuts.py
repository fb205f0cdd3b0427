"""Long cells of tables, cut before they become Python objects: texts, lists, structures, and what nests them.

A cell of five megabytes must not be copied to show its first line, nor a list of a million items to show twenty.
"""

from __future__ import annotations

from typing import Any

from jupyter_mcp.kernel.views.frames import ITEMS, KEPT

__all__ = ["arrow_items", "shorter_pandas", "shorter_polars"]

_DEEPEST = 4  # levels of nesting of which cells are read


# --- polars ----------------------------------------------------------------------------------------------------------


def shorter_polars(polars: Any, column: Any, dtype: Any, depth: int = 0) -> Any:
    """An expression for the same column with its cells cut.

    Args:
        polars: the module.
        column: an expression for the column.
        dtype: its type.
    """
    base = dtype.base_type()
    if base is polars.String:
        return column.str.slice(0, KEPT)
    if base in (polars.Categorical, polars.Enum):
        return column.cast(polars.String).str.slice(0, KEPT)
    if base is polars.Binary:
        return polars.format("<bytes of {} B>", column.bin.size())
    if base not in (polars.List, polars.Array, polars.Struct):
        return column
    if depth >= _DEEPEST:
        return polars.when(column.is_null()).then(None).otherwise(polars.lit("…"))
    if base is polars.Struct:
        return _polars_struct(polars, column, dtype, depth)
    column = (column.arr.to_list() if base is polars.Array else column).list.head(ITEMS)
    plain = not (dtype.inner.is_nested() or dtype.inner.base_type() in _polars_texts(polars))
    return column if plain else column.list.eval(shorter_polars(polars, polars.element(), dtype.inner, depth + 1))


def _polars_struct(polars: Any, column: Any, dtype: Any, depth: int) -> Any:
    names = [field.name for field in dtype.fields]
    if not names:
        return column
    column = column.struct.rename_fields([f"f{at}" for at in range(len(names))])  # ^…$ would be taken for a pattern
    parts = [
        shorter_polars(polars, column.struct.field(f"f{at}"), field.dtype, depth + 1).alias(field.name)
        for at, field in enumerate(dtype.fields)
    ]
    return polars.when(column.is_not_null()).then(polars.struct(parts))


def _polars_texts(polars: Any) -> tuple[Any, ...]:
    return (polars.String, polars.Binary, polars.Categorical, polars.Enum)


# --- pyarrow ---------------------------------------------------------------------------------------------------------


def arrow_items(pyarrow: Any, column: Any) -> list[Any]:
    """The items of a short array (or chunked one), long ones cut.

    Args:
        pyarrow: the module.
        column: so short that each item may be looked at.
    """
    column = _stored(pyarrow, column)
    if _is_small(pyarrow.types, column.type):
        return column.to_pylist()
    return [_arrow_item(pyarrow, item, 0) for item in column]


def _stored(pyarrow: Any, column: Any) -> Any:
    """Of a type of somebody's own what it stores: its class's code is not asked."""
    if not isinstance(column.type, pyarrow.BaseExtensionType):
        return column
    chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
    return _stored(pyarrow, pyarrow.chunked_array([chunk.storage for chunk in chunks], column.type.storage_type))


def _is_small(types: Any, kind: Any) -> bool:
    return types.is_primitive(kind) or types.is_null(kind) or types.is_decimal(kind)


def _arrow_item(pyarrow: Any, item: Any, depth: int) -> Any:
    types, kind = pyarrow.types, item.type
    if not item.is_valid:
        return None
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind) or isinstance(kind, pyarrow.BaseExtensionType):
        return _arrow_item(
            pyarrow, item.value, depth
        )  # of an extension the stored value, not what its class makes of it
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return item.as_buffer()[: 4 * KEPT].to_pybytes().decode("utf-8", "ignore")[:KEPT]
    if (
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    ):
        return f"<bytes of {item.as_buffer().size} B>"
    if _is_small(types, kind):
        return item.as_py()
    if depth >= _DEEPEST:
        return "…"
    if types.is_struct(kind):
        return {kind.field(at).name: _arrow_field(pyarrow, item, at, depth + 1) for at in range(kind.num_fields)}
    if types.is_nested(kind) and not types.is_union(kind):
        return [_arrow_item(pyarrow, one, depth + 1) for one in _stored(pyarrow, item.values[:ITEMS])]
    return f"<{kind}>"


def _arrow_field(pyarrow: Any, item: Any, at: int, depth: int) -> Any:
    kind = item.type.field(at).type
    return f"<{kind}>" if isinstance(kind, pyarrow.BaseExtensionType) else _arrow_item(pyarrow, item[at], depth)


# --- pandas ----------------------------------------------------------------------------------------------------------


def shorter_pandas(pandas: Any, pyarrow: Any, series: Any) -> Any:
    """A short series with its cells cut; texts in object columns are shared with the frame and stay as they are.

    Args:
        pandas, pyarrow: the modules; pyarrow may be None.
        series: some rows of a column.
    """
    dtype = series.dtype
    if isinstance(dtype, pandas.StringDtype):
        return series.str.slice(0, KEPT)
    if isinstance(dtype, pandas.CategoricalDtype):
        return _shorter_categories(pandas, pyarrow, series)
    arrow = getattr(pandas, "ArrowDtype", None)
    if pyarrow is not None and arrow is not None and isinstance(dtype, arrow):
        return pandas.Series(arrow_items(pyarrow, series.array.__arrow_array__()), dtype=object)
    return series


def _shorter_categories(pandas: Any, pyarrow: Any, series: Any) -> Any:
    codes = series.cat.codes.tolist()
    used = sorted({code for code in codes if code >= 0})
    kept = shorter_pandas(pandas, pyarrow, pandas.Series(series.cat.categories.take(used)))
    known = dict(zip(used, kept.tolist(), strict=True))
    return pandas.Series([known.get(code) for code in codes], dtype=object)
