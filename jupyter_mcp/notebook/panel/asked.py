"""Reading what a page asked: each value is what it has to be, or one sentence says what is wrong with it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["text", "texts"]


def text(data: Mapping[str, Any], name: str) -> str:
    """A text that has to be there. Raises `UsageError`."""
    found = data.get(name)
    if not isinstance(found, str) or not found:
        raise UsageError(f"{name} has to be a text.")
    return found


def texts(data: Mapping[str, Any], name: str) -> dict[str, str]:
    """Texts by name; none when there is nothing of that name. Raises `UsageError` for what is no text."""
    found = mapping_of(data.get(name))
    odd = [key for key, value in found.items() if not isinstance(value, str)]
    if odd:
        raise UsageError(f"{name}: {odd[0]} has to be a text.")
    return {key: str(value) for key, value in found.items()}
