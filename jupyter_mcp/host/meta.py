"""What a person or a program adds to a request's `_meta`, checked: the protocol's own keys are not theirs to set.

Source: spec "Base protocol / General fields / _meta" (2025-06-18 and later).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.plain import plain
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["checked_meta"]

_OURS = ("progressToken",)
_RESERVED = "io.modelcontextprotocol/"


def checked_meta(meta: object) -> Mapping[str, Any] | None:
    """The `_meta` to send along, None for none.

    Args:
        meta: a mapping of JSON values, of any depth; None or an empty one for none.

    Raises:
        UsageError: it is no object, holds what is no JSON, or sets a key that the protocol sets itself.
    """
    if meta is None:
        return None
    if not is_mapping(meta):
        raise UsageError(f'_meta is an object such as {{"example.org/trace": 1}}, not {type(meta).__name__}')
    taken = [str(key) for key in meta if key in _OURS or str(key).startswith(_RESERVED)]
    if taken:
        raise UsageError(
            f"_meta: {taken[0]} is set by the protocol itself; use a key of your own, such as example.org/trace"
        )
    return plain(dict(meta), "_meta") or None
