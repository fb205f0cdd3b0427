"""What a server answered, in a line for the journal: kinds, sizes, and the beginning of the first text. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["summary"]

_BEGINNING = 120  # characters that are shown
_LOOKED_AT = 5_000  # characters that are redacted before


def summary(raw: object, clean: Callable[[str], str]) -> str | None:
    """A line about the result of tools/call, resources/read or prompts/get; None for anything else.

    Args:
        raw: the result as sent.
        clean: masks what is secret in a text; it comes before the text is cut, which could cut a secret in two.
    """
    if not is_mapping(raw):
        return None
    if "messages" in raw:
        messages = [mapping_of(one) for one in as_list(raw["messages"])]
        return _told("message", [mapping_of(one.get("content")) for one in messages], clean)
    if "contents" in raw:
        return _told("part", [mapping_of(one) for one in as_list(raw["contents"])], clean)
    if "content" in raw or "structuredContent" in raw:
        blocks = [mapping_of(one) for one in as_list(raw.get("content"))]
        kinds = Counter(str(block.get("type", "unknown"))[:40] for block in blocks)
        said = [kind if many == 1 else f"{many} {kind}" for kind, many in kinds.items()]
        if "structuredContent" in raw:
            said.append("data")
        return _with_text(" + ".join(said) or "nothing", blocks, clean)
    return None


def _told(what: str, parts: Sequence[Mapping[str, Any]], clean: Callable[[str], str]) -> str:
    return _with_text(f"{len(parts)} {what}{'' if len(parts) == 1 else 's'}", parts, clean)


def _with_text(head: str, parts: Sequence[Mapping[str, Any]], clean: Callable[[str], str]) -> str:
    text = next((part["text"] for part in parts if isinstance(part.get("text"), str)), None)
    if text is None:
        return head
    line = " ".join(clean(text[:_LOOKED_AT]).split())
    size = f"{len(text):,} character{'' if len(text) == 1 else 's'}"
    return f"{head}: {line if len(line) <= _BEGINNING else line[:_BEGINNING] + '…'} ({size})"
