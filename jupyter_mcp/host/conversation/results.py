"""What a model gets to see of a result, a resource, a prompt: content blocks that it takes, within a budget. Pure.

Content comes first; structured content only where there is no content, because most servers say the same in both. The
notebook keeps everything whole. What this model cannot take (a picture, a sound) is named in its place.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UnsupportedContent
from jupyter_mcp.host.conversation.untrusted import cut_middle, one_line, visible
from jupyter_mcp.host.media import decode_base64, sniff_image, split_pictures
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jupyter_mcp.host.result import Result

__all__ = [
    "Budget",
    "block_for_model",
    "contents_for_model",
    "error_for_model",
    "result_for_model",
    "text_block",
]

Block = dict[str, Any]
_EMPTY = "(The tool returned nothing.)"
_LARGEST_MEDIA = 5_000_000  # bytes; providers refuse more


class Budget:
    """What may still be shown.

    Args:
        characters: of text.
        images: pictures and sounds.
        supports: what the model takes besides text ("image", "audio").
        strict: the model's name, when the person attaches it: then what the model cannot take is an error.
    """

    def __init__(
        self, characters: int, images: int, supports: frozenset[str] = frozenset(), *, strict: str = ""
    ) -> None:
        self.left = characters
        self.images = images
        self.supports = supports
        self.strict = strict

    def take(self, text: str) -> str:
        """The text, cut to what is left."""
        limit = max(self.left, 200)  # a remark fits in any case
        shown = cut_middle(text, limit)
        self.left -= min(len(text), limit)
        return shown

    def media(self, kind: str, size: int) -> bool:
        """Whether one more picture or sound may go along. Raises `UnsupportedContent` when strict."""
        if self.strict and kind not in self.supports:
            raise UnsupportedContent(f"{self.strict} takes no {kind}.", hint="Leave it out, or take another model.")
        if kind not in self.supports or self.images <= 0 or not 0 < size <= _LARGEST_MEDIA:
            return False
        self.images -= 1
        return True


def text_block(text: str) -> Block:
    """A text as a content block."""
    return {"type": "text", "text": text}


def result_for_model(result: Result, budget: Budget) -> list[Block]:
    """The blocks of a tool's result."""
    blocks = [block_for_model(block, budget) for sent in result.blocks for block in _as_pictures(sent)]
    shown = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    structured = result.raw.get("structuredContent")
    if not shown and structured is not None:
        shown = [text_block(budget.take(_json(structured)))]
    if result.notes:
        shown.append(text_block(one_line(f"Note of the notebook: {' '.join(result.notes)}", 600)))
    return shown or [text_block("(The tool failed without saying why.)" if result.is_error else _EMPTY)]


def _as_pictures(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A block of text with the pictures in it as pictures: as letters they are of no use, and many."""
    parts = split_pictures(str(block.get("text") or "")) if block.get("type") == "text" else []
    if not any(isinstance(part, bytes) for part in parts):
        return [block]
    return [
        text_block(part) if isinstance(part, str) else {"type": "image", "data": b64encode(part).decode("ascii")}
        for part in parts
    ]


def error_for_model(text: str) -> list[Block]:
    """One sentence about why there is no result."""
    return [text_block(cut_middle(text, 4_000))]


def block_for_model(block: Mapping[str, Any], budget: Budget) -> Block:
    """One block of a server's content as one that a model takes: text, image or audio."""
    match block.get("type"):
        case "text":
            return text_block(budget.take(str(block.get("text") or "")))
        case "image" | "audio" as kind:
            return _media(kind, block.get("data"), block.get("mimeType"), budget)
        case "resource":
            return _embedded(mapping_of(block.get("resource")), budget)
        case "resource_link":
            return text_block(budget.take(_link(block)))
        case _:
            return text_block(budget.take(_json({key: value for key, value in block.items() if key != "_meta"})))


def contents_for_model(parts: Iterable[Mapping[str, Any]], budget: Budget) -> list[Block]:
    """The parts of a resource that was read."""
    return [_embedded(part, budget, named=False) for part in parts]


def _media(kind: str, data: object, claimed: object, budget: Budget) -> Block:
    octets = decode_base64(data)
    mime = (sniff_image(octets) if kind == "image" else str(claimed or "")) or ""
    if mime and budget.media(kind, len(octets)):
        return {"type": kind, "data": data, "mimeType": mime}
    name = one_line(mime or str(claimed or kind), 60)
    return text_block(f"[{kind} {name}, {len(octets):,} bytes: the person sees it in the notebook, you do not]")


def _embedded(part: Mapping[str, Any], budget: Budget, *, named: bool = True) -> Block:
    uri = one_line(str(part.get("uri") or "resource"), 300)
    text, blob = part.get("text"), part.get("blob")
    if isinstance(text, str):
        return text_block(budget.take(f"Resource {uri}:\n{text}" if named else text))
    octets = decode_base64(blob)
    if sniff_image(octets) is not None:
        return _media("image", blob, part.get("mimeType"), budget)
    kind = one_line(str(part.get("mimeType") or "binary data"), 60)
    if kind.startswith("audio/"):
        return _media("audio", blob, kind, budget)
    return text_block(f"[resource {uri}, {kind}, {len(octets):,} bytes: the person has it in the notebook]")


def _link(block: Mapping[str, Any]) -> str:
    uri = one_line(str(block.get("uri") or ""), 500)
    name = one_line(str(block.get("title") or block.get("name") or ""), 120)
    told = one_line(str(block.get("description") or ""), 300)
    return f"Link to the resource {uri} ({name}{': ' if name and told else ''}{told})"


def _json(value: object) -> str:
    try:
        return visible(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return visible(str(value))
