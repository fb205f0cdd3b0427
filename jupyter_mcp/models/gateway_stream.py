"""What the events of a provider's stream bring, in pydantic-ai's form: text, and calls that are still being written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.models.base import ToolWriting

if TYPE_CHECKING:
    from jupyter_mcp.models.base import OnTool

__all__ = ["CallsWritten", "text_of_event"]


def text_of_event(event: Any) -> str:
    """The text that an event of the stream brings, "" for none."""
    if event.event_kind == "part_start":
        return str(event.part.content) if event.part.part_kind == "text" else ""
    if event.event_kind == "part_delta" and event.delta.part_delta_kind == "text":
        return str(event.delta.content_delta)
    return ""


class CallsWritten:
    """The calls of one reply as they grow.

    Args:
        on_tool: told at each piece; None for nobody.
    """

    def __init__(self, on_tool: OnTool | None) -> None:
        self._on_tool = on_tool
        self._parts: dict[int, tuple[str, str]] = {}  # index in the reply -> name, arguments so far

    def take(self, event: Any) -> None:
        """Take one event of the stream; what is no piece of a call is passed over."""
        if self._on_tool is None:
            return
        if event.event_kind == "part_start" and event.part.part_kind == "tool-call":
            self._parts[event.index] = (str(event.part.tool_name), _written(event.part.args))
        elif event.event_kind == "part_delta" and event.delta.part_delta_kind == "tool_call":
            name, text = self._parts.get(event.index, ("", ""))
            more = event.delta.args_delta
            text = _written(more) if isinstance(more, dict) else text + _written(more)
            self._parts[event.index] = (name + (event.delta.tool_name_delta or ""), text)
        else:
            return
        name, text = self._parts[event.index]
        place = sorted(self._parts).index(event.index)
        self._on_tool(ToolWriting(place, name, text))


def _written(arguments: Any) -> str:
    """Arguments as text: providers send pieces of JSON, or (some) the whole as an object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
