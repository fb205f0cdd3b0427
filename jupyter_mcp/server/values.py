"""Any Python value as plain JSON: what handlers return, made safe for the wire.

NaN and infinities become null (JSON has neither), dates and enums become text, models and dataclasses objects, frames
bounded records; numpy and the like go through their own `tolist`. Nothing is imported for it: whoever returns a frame
has imported its library already.
"""

from __future__ import annotations

import base64
import decimal
import itertools
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic_core import PydanticSerializationError, from_json, to_json

MAX_ROWS = 1000
MAX_ITEMS = 100_000
_DEEPEST = 200
_MISSING = ("NaTType", "NAType")  # pandas' words for nothing, known by name because pandas is not imported here


def json_text(value: Any) -> str:
    """Compact JSON of a value.

    Raises:
        ValueError: it cannot be JSON (it contains itself, its keys are no text); the message says so in one sentence.
    """
    try:
        return to_json(value, inf_nan_mode="null", fallback=fallback, bytes_mode="base64").decode()
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        # Lone surrogates, keys like tuples, and errors inside a fallback: slower, and it names what is wrong.
        return json.dumps(_walk(value, 0), separators=(",", ":"), ensure_ascii=False)


def plain(value: Any) -> Any:
    """The value as dicts, lists, str, int, float, bool and None, all floats finite. Raises as `json_text`."""
    if value is None or (isinstance(value, (str, bool)) and type(value) in (str, bool)):
        return value
    text = json_text(value)
    try:
        return from_json(text)
    except (ValueError, TypeError):  # lone surrogates
        return json.loads(text)


def fallback(value: Any) -> Any:
    """What the serialiser does not know: frames, arrays, numpy scalars, and at last their `str`, bounded."""
    if is_frame(value):
        return records(value)
    if type(value).__name__ in _MISSING:
        return None
    if not isinstance(value, type):
        for way in ("to_frame", "tolist", "item", "isoformat", "to_dict", "__float__"):
            converted = _converted(value, way)
            if type(converted) is not type(value):
                return fallback(converted) if is_frame(converted) else converted
        if hasattr(value, "__iter__"):
            return list(itertools.islice(cast("Iterable[Any]", value), MAX_ITEMS))
    return str(value)[:10_000]


def _converted(value: Any, way: str) -> Any:
    """What the value's own method makes of it; the value itself when it has none, or that fails."""
    try:
        return getattr(value, way)()
    except Exception:  # somebody else's method may raise anything
        return value


def is_frame(value: Any) -> bool:
    """Whether a value is a data frame of pandas or polars, by its methods."""
    if isinstance(value, type) or not hasattr(value, "columns"):
        return False
    return hasattr(value, "to_dicts") or (hasattr(value, "to_dict") and hasattr(value, "iloc"))


def records(frame: Any) -> dict[str, Any]:
    """The first `MAX_ROWS` rows of a frame: `{"rows": [{column: value}], "total": n}`.

    A named index becomes columns; columns of the same name are numbered.
    """
    total = len(frame)
    head = frame.head(MAX_ROWS)
    if hasattr(head, "to_dicts"):
        return {"rows": head.to_dicts(), "total": total}
    if any(name is not None for name in head.index.names):
        head = head.reset_index(allow_duplicates=True)
    columns = _distinct([_column(name) for name in head.columns])
    rows = [dict(zip(columns, row, strict=True)) for row in head.itertuples(index=False, name=None)]
    return {"rows": rows, "total": total}


def _column(name: Any) -> str:
    return " ".join(str(part) for part in cast("tuple[Any, ...]", name)) if isinstance(name, tuple) else str(name)


def _distinct(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    distinct: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return distinct


def _walk(value: Any, depth: int) -> Any:
    """`plain` in Python, for what the fast serialiser refuses."""
    if depth > _DEEPEST:
        raise ValueError("The value is nested too deeply for JSON, or contains itself.")
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (str, decimal.Decimal)):
        return str(value)
    if isinstance(value, Mapping):
        return {_key(key): _walk(item, depth + 1) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_walk(item, depth + 1) for item in cast("list[Any]", value)]
    return _walk(_opened(value), depth + 1)


def _opened(value: Any) -> Any:
    """An object as what it holds."""
    if isinstance(value, (bytes, bytearray)):
        return base64.urlsafe_b64encode(value).decode()
    kind = cast("type[Any]", type(value))
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in kind.__dataclass_fields__}
    if hasattr(kind, "model_dump"):
        return value.model_dump(by_alias=True)
    return value.value if hasattr(kind, "__members__") else fallback(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return str(key)
    if isinstance(key, tuple):
        return " ".join(str(part) for part in cast("tuple[Any, ...]", key))
    return str(key)
