"""A recorded request of ours that can be sent once more, as it was: for this process only, never for a page or a file.

The cell that repeats a call, with placeholders for what is masked, is `repeat`. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Again", "asked_again"]

_KEYS = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}


@dataclass(frozen=True, slots=True)
class Again:
    """What is sent again. Its repr tells no arguments: they may be secret.

    Attributes:
        method: "tools/call", "resources/read" or "prompts/get".
        server: its name in this notebook.
        name: of the tool or prompt, or the URI.
        arguments: as they were sent.
    """

    method: str
    server: str
    name: str = field(repr=False)
    arguments: Mapping[str, Any] = field(repr=False)


def asked_again(server: str, direction: str, message: Mapping[str, Any]) -> Again | None:
    """What a message asks for, when it is such a request of ours."""
    key = _KEYS.get(str(message.get("method")))
    params = mapping_of(message.get("params"))
    name = params.get(key or "")
    if direction != "send" or key is None or "id" not in message or not isinstance(name, str):
        return None
    return Again(str(message["method"]), server, name, dict(mapping_of(params.get("arguments"))))
