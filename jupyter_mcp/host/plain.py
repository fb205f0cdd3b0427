"""Notebook objects as JSON: what a call can carry of numpy numbers, frames, dates, paths, dataclasses, models.

Pure; it imports none of those libraries (it asks the object). Raises `UsageError` that names the place and the type.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import os
import uuid
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, cast

from jupyter_mcp.errors import UsageError

_DEPTH = 100


def plain(value: Any, where: str = "the value") -> Any:
    """`value` as JSON types.

    Args:
        value: any object of the notebook.
        where: its place, for the error ("rows[3].price").
    """
    return _plain(value, where, 0)


def _plain(value: Any, where: str, depth: int) -> Any:
    if depth > _DEPTH:
        raise UsageError(f"{where} is nested too deeply (or contains itself)")
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return _number(float(value), where)
    if isinstance(value, enum.Enum):
        return _plain(value.value, where, depth + 1)
    if isinstance(value, (bool, int, str)):
        return _base(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_key(key, where): _plain(item, f"{where}.{key}", depth + 1) for key, item in items}
    if isinstance(value, (list, tuple)):
        return _items(cast("list[Any]", value), where, depth)
    if isinstance(value, AbstractSet):
        return _items(sorted(cast("AbstractSet[Any]", value), key=repr), where, depth)
    return _object(value, where, depth)


def _items(values: Iterable[Any], where: str, depth: int) -> list[Any]:
    return [_plain(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(values)]


def _base(value: int | str) -> Any:
    return str.__str__(value) if isinstance(value, str) else int(value)


def _number(value: float, where: str) -> float:
    if not math.isfinite(value):
        raise UsageError(f"{where} is {value}, which JSON cannot carry")
    return value


def _key(key: Any, where: str) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, (int, float)) and not isinstance(key, bool):
        return str(key)
    raise UsageError(f"{where} has the key {key!r}; JSON keys are text")


def _object(value: Any, where: str, depth: int) -> Any:
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fsdecode(cast("os.PathLike[str]", value))
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value) if isinstance(value, uuid.UUID) else _decimal(value, where)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _plain(fields, where, depth + 1)
    if callable(dump := getattr(value, "model_dump", None)) and not isinstance(value, type):
        return _plain(dump(mode="json"), where, depth + 1)
    converted = _table(value)
    if converted is not value:
        return _plain(converted, where, depth + 1)
    raise UsageError(f"{where} is a {type(value).__name__}, which a call cannot carry.", hint="Convert it first.")


def _decimal(value: decimal.Decimal, where: str) -> int | float:
    return int(value) if value == value.to_integral_value() else _number(float(value), where)


def _table(value: Any) -> Any:
    """Frames as lists of rows, series and arrays as lists, numpy numbers as numbers; else the value itself."""
    if isinstance(value, type):
        return value
    if hasattr(value, "columns"):
        if callable(rows := getattr(value, "to_dicts", None)):  # polars
            return rows()
        if callable(to_dict := getattr(value, "to_dict", None)):  # pandas
            return to_dict(orient="records")
    for name in ("to_pylist", "tolist", "to_list", "item"):
        if callable(convert := getattr(value, name, None)):
            return convert()
    return value
