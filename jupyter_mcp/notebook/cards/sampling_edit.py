"""The words of a request for sampling as fields: system prompt, each text, the most tokens.

What is no text (pictures, sounds, calls of tools) stays as the server sent it and is named. Whether the changes make a
request is decided by the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.models.messages import blocks_of
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import count, flat
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["RequestEditor", "area"]

MOST = 30
"""Texts that can be changed; of longer conversations the last ones."""
_WIDE = "min(680px, 100%)"


def area(label: str, value: str, rows: int = 3, *, code: bool = False) -> Any:
    """A field for a text of several lines, with the label for screen readers."""
    made = kit.widgets.Textarea(value, description=label, rows=rows, continuous_update=True, layout={"width": _WIDE})
    if code:
        made.add_class("jmcp-code")
    return made


class RequestEditor:
    """Fields for one request.

    Args:
        params: well formed.
        changed: called after each change.

    Attributes:
        root: all of it.
    """

    def __init__(self, params: Mapping[str, Any], changed: Callable[[], object]) -> None:
        self._params = params
        self._changed = changed
        self._system = self._field("System prompt", str(params.get("systemPrompt") or ""))
        self._tokens = kit.widgets.BoundedIntText(
            int(params["maxTokens"]), min=1, max=int(params["maxTokens"]), description="Most tokens",
            layout={"width": "130px"},
        )  # fmt: skip
        kit.watch(self._tokens, changed)
        self._texts: dict[tuple[int, int], Any] = {}
        rows = [kit.markup("<b>system prompt</b>"), kit.row([self._system], "jmcp-control"), *self._messages()]
        limit = [kit.markup("most tokens of the answer"), self._tokens]
        self.root = kit.column([*rows, kit.row(limit, "jmcp-control")], "jmcp-group")

    def edits(self) -> dict[str, Any]:
        """What differs from what the server sent."""
        found: dict[str, Any] = {}
        if self._system.value != str(self._params.get("systemPrompt") or ""):
            found["systemPrompt"] = self._system.value or None
        if self._tokens.value != int(self._params["maxTokens"]):
            found["maxTokens"] = int(self._tokens.value)
        messages = [self._message(place, message) for place, message in enumerate(self._params["messages"])]
        if messages != list(self._params["messages"]):
            found["messages"] = messages
        return found

    def _messages(self) -> list[Any]:
        texts = [
            (place, at, message)
            for place, message in enumerate(as_list(self._params.get("messages")))
            for at, block in enumerate(blocks_of(message))
            if is_mapping(block) and block.get("type") == "text"
        ]
        rows: list[Any] = []
        if len(texts) > MOST:
            rows.append(kit.markup(html.muted(f"{count(len(texts) - MOST, 'earlier text')} stay as they are")))
        for place, at, message in texts[-MOST:]:
            role = flat(message["role"], 20)
            value = str(blocks_of(message)[at]["text"])
            self._texts[place, at] = made = self._field(f"{role}, message {place + 1}", value)
            rows += [kit.markup(f"<b>{html.escape(role)}</b>"), kit.row([made], "jmcp-control")]
        return rows

    def _message(self, place: int, message: Mapping[str, Any]) -> dict[str, Any]:
        blocks = [
            {**block, "text": self._texts[place, at].value} if (place, at) in self._texts else block
            for at, block in enumerate(blocks_of(message))
        ]
        return {**message, "content": blocks if is_list(message["content"]) else blocks[0]}

    def _field(self, label: str, value: str) -> Any:
        return kit.watch(
            area(label, value, rows=min(8, max(2, value.count("\n") + 1 + len(value) // 90))), self._changed
        )
