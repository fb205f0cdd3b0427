"""A model's reply as a server gets it: what a revision can say, and what must never reach a server. Pure.

Tools belong to the server that asked: it runs what the model names. So a reply that calls a tool which was not offered,
or with arguments that are no object, is an error and no result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.models.base import INVALID_INPUT
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.models.base import ModelReply

__all__ = ["problems", "result", "shaped"]

_LISTS_SINCE = "2025-11-25"
_AUDIO_SINCE = "2025-03-26"


def problems(params: Mapping[str, Any], content: Sequence[Any], revision: str) -> list[str]:
    """What is wrong with the blocks of a reply, in sentences; nothing when they can be sent.

    Args:
        params: the request, as the model got it.
        content: the blocks.
        revision: of the connection that they go over.
    """
    if not content:
        return ["It is empty."]
    offered = {mapping_of(tool).get("name") for tool in as_list(params.get("tools"))}
    found = [text for block in content for text in _block(block, offered, revision)]
    if not found and shaped(params, content, revision) is None:
        found.append(f"A server of revision {revision} takes one block of content, not {len(content)}.")
    return found


def _block(block: Any, offered: set[Any], revision: str) -> list[str]:
    if not is_mapping(block):
        return ["A block is no object."]
    kind = block.get("type")
    if kind == "text":
        return [] if isinstance(block.get("text"), str) else ["A text block has no text."]
    if kind in ("image", "audio"):
        whole = all(isinstance(block.get(name), str) and block.get(name) for name in ("data", "mimeType"))
        if kind == "audio" and revision < _AUDIO_SINCE:
            return [f"A server of revision {revision} takes no audio."]
        return [] if whole else [f"The {kind} has no data or no mimeType."]
    if kind != "tool_use":
        return [f"A block of type {kind!r:.40} cannot be sent."]
    name = block.get("name")
    if INVALID_INPUT in mapping_of(block.get("_meta")) or not is_mapping(block.get("input")):
        return [f"The tool {name!r:.80} was called with arguments that are no JSON object."]
    if name not in offered:
        return [f"The tool {name!r:.80} was called, and the server offered none of that name."]
    return [] if isinstance(block.get("id"), str) and block.get("id") else [f"The call of {name!r:.80} has no id."]


def shaped(params: Mapping[str, Any], content: Sequence[Any], revision: str) -> Any:
    """The content as this revision says it: one block where it can be one, else a list; None when neither can be."""
    blocks = [dict(block) for block in content]
    lists = revision >= _LISTS_SINCE
    if lists and (params.get("tools") is not None or any(block.get("type") == "tool_use" for block in blocks)):
        return blocks
    if len(blocks) == 1:
        return blocks[0]
    if all(block.get("type") == "text" for block in blocks):
        return {"type": "text", "text": "\n".join(str(block.get("text", "")) for block in blocks)}
    return blocks if lists else None


def result(params: Mapping[str, Any], reply: ModelReply, revision: str) -> dict[str, Any]:
    """The `CreateMessageResult` of a reply without problems."""
    found: dict[str, Any] = {
        "role": "assistant",
        "content": shaped(params, reply.content, revision),
        "model": reply.model,
    }
    if reply.stop_reason:
        found["stopReason"] = reply.stop_reason
    return found
