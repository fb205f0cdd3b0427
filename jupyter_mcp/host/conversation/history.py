"""The messages of a conversation, always fit to be sent: roles take turns, each call has its answer. Pure.

Messages are MCP's (`role`, `content` as a list of blocks). What tools returned is left out, oldest first, when all
together grows too long; what the person and the model said stays.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jupyter_mcp.host.conversation.turn import ModelCall

__all__ = ["History", "tool_result"]

Message = dict[str, Any]
_LEFT_OUT = "[An earlier result, left out because the conversation grew long. Call the tool again if you need it.]"
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
_MEDIA = 4_000  # what a picture or a sound counts as


def tool_result(use: Mapping[str, Any], call: ModelCall) -> dict[str, Any]:
    """The `tool_result` block that answers a `tool_use` block."""
    block: dict[str, Any] = {"type": "tool_result", "toolUseId": use["id"], "content": list(call.shown)}
    if call.outcome not in ("ok", "searched"):
        block["isError"] = True
    return block


class History:
    """The messages of one conversation."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._ids = 0

    def add(self, role: str, blocks: Iterable[Mapping[str, Any]]) -> None:
        """More from one side; what the same side said last goes on, unless it answers calls."""
        content = [dict(block) for block in blocks]
        if not content:
            return
        last = self.messages[-1] if self.messages else None
        if last is not None and last["role"] == role and not _answers(last) and not _answering(content):
            last["content"] += content
        else:
            self.messages.append({"role": role, "content": content})

    def add_reply(self, content: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What the model said; returns its `tool_use` blocks, whose ids are unique from here on."""
        blocks = [dict(block) for block in content if block.get("type") != "text" or block.get("text")]
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        known = self._known_ids()
        for use in uses:
            if not isinstance(use.get("id"), str) or not use["id"] or use["id"] in known:
                use["id"] = self._new_id(known)
            known.add(use["id"])
        self.add("assistant", (_sendable(block) for block in blocks))
        return uses

    def request(self, limit: int) -> list[Message]:
        """The messages for the next request, results left out from the oldest on until they fit `limit` characters."""
        messages = copy.deepcopy(self.messages)
        sizes = [_size(message) for message in messages]
        total = sum(sizes)
        for message, size in zip(messages[:-1], sizes, strict=False):
            if total <= limit:
                break
            if _answers(message):
                for block in message["content"]:
                    block["content"] = [{"type": "text", "text": _LEFT_OUT}]
                    block.pop("structuredContent", None)
                total += _size(message) - size
        return messages

    def _known_ids(self) -> set[str]:
        return {
            block["id"] for message in self.messages for block in message["content"] if block.get("type") == "tool_use"
        }

    def _new_id(self, known: set[str]) -> str:
        while True:
            self._ids += 1
            if (made := f"call-{self._ids}") not in known:
                return made


def _sendable(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call as it can be sent back to any provider, however broken it was; other blocks as they are."""
    if block.get("type") != "tool_use":
        return block
    given = block.get("input")
    name = _UNFIT.sub("_", str(block.get("name") or ""))[:64]
    return {**block, "name": name or "unknown", "input": given if isinstance(given, dict) else {}}


def _answers(message: Message) -> bool:
    return _answering(message["content"])


def _answering(content: Sequence[Mapping[str, Any]]) -> bool:
    return any(block.get("type") == "tool_result" for block in content)


def _size(message: Message) -> int:
    return sum(_block_size(block) for block in message["content"])


def _block_size(block: Mapping[str, Any]) -> int:
    match block.get("type"):
        case "text":
            return len(block["text"])
        case "tool_result":
            return sum(_block_size(part) for part in block["content"])
        case "tool_use":
            return len(json.dumps(block.get("input"), ensure_ascii=False, default=str))
        case _:
            return _MEDIA
