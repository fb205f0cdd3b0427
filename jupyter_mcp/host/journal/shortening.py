"""A big message as its frame and the shape of what is in it, so that it can be kept without its content. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["shortened"]

_TEXT = 200  # characters of a text that are kept


def shortened(message: Mapping[str, Any]) -> dict[str, Any]:
    """The frame of a big message and the shape of what is in it; holds no reference to the message's parts."""
    return {key: _short(value, 0) for key, value in message.items()}


def _short(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _TEXT else f"{value[:_TEXT]}… ({len(value):,} characters)"
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        if depth >= 3:
            return f"{{… {len(table)} keys}}"
        short = {key: _short(table[key], depth + 1) for key in list(table)[:10]}
        return short if len(table) <= 10 else {**short, "…": f"{len(table) - 10} more keys"}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if depth >= 3:
            return f"[… {len(items)} items]"
        short_items = [_short(item, depth + 1) for item in items[:5]]
        return short_items if len(items) <= 5 else [*short_items, f"… {len(items) - 5} more items"]
    return value
