"""A model that says what it was told to say: for tests, and for notebooks that must come out the same each time."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import NoModel
from jupyter_mcp.models.base import Feature, ModelReply, ModelRequest, Ranks, ToolWriting, reply_of
from jupyter_mcp.models.function import FunctionModel

if TYPE_CHECKING:
    from jupyter_mcp.models.base import OnNote, OnText, OnTool

__all__ = ["Reply", "ScriptedModel"]

Reply = str | Mapping[str, Any] | Sequence[Any] | ModelReply | BaseException
"""Text, a block, a list of blocks, a whole reply, or an error to raise."""

_PIECES = 8
"""A call is written in so many pieces."""

_EVERYTHING: frozenset[Feature] = frozenset({"text", "image", "audio", "tools", "stream"})


class ScriptedModel:
    """Gives its replies one after the other.

    Args:
        replies: what it says, in order; or a function of the request (sync or async) that says it.
        name: how it is called.
        ranks: how it compares with others.
        supports: what it takes; everything by default, but for "tool-stream", with which it writes its calls in pieces.

    Attributes:
        requests: what it was asked, in order.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[ModelRequest], Any],
        *,
        name: str = "scripted",
        ranks: Ranks | None = None,
        supports: frozenset[Feature] = _EVERYTHING,
    ) -> None:
        self.name = name
        self.ranks = ranks or Ranks()
        self.supports = supports
        self.requests: list[ModelRequest] = []
        self._function = FunctionModel(replies, name) if callable(replies) else None
        self._replies: list[Reply] = [] if callable(replies) else [replies] if isinstance(replies, str) else [*replies]

    async def generate(
        self,
        request: ModelRequest,
        on_text: OnText | None = None,
        on_note: OnNote | None = None,
        on_tool: OnTool | None = None,
    ) -> ModelReply:
        """The next reply, its text in pieces of one word, its calls in a few. Raises `NoModel` when none is left."""
        del on_note
        self.requests.append(request)
        reply = await self._next(request)
        if on_text is not None:
            for piece in re.findall(r"\s*\S+\s*?|\s+", reply.text):
                on_text(piece)
        if on_tool is not None:
            await _write(reply, on_tool)
        return reply

    async def _next(self, request: ModelRequest) -> ModelReply:
        if self._function is not None:
            return await self._function.generate(request)
        asked = len(self.requests)
        if asked > len(self._replies):
            raise NoModel(f"The model {self.name} was asked {asked} times and has {len(self._replies)} replies.")
        reply = self._replies[asked - 1]
        if isinstance(reply, BaseException):
            raise reply
        return reply_of(reply, self.name)

    def __repr__(self) -> str:
        return f"<model {self.name}: {len(self.requests)} of {len(self._replies)} replies given>"


async def _write(reply: ModelReply, on_tool: OnTool) -> None:
    """The calls of a reply in pieces, as a provider sends them: others of the loop have their turn in between."""
    for place, use in enumerate(reply.tool_uses):
        given = use.get("input")
        text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        step = max(1, len(text) // _PIECES)
        for end in range(step, len(text) + step, step):
            on_tool(ToolWriting(place, str(use.get("name") or ""), text[:end]))
            await asyncio.sleep(0)
