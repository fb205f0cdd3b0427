"""What the pages of servers (MCP Apps) tell a model with a question: only what the person has let them.

A page's words are its server's: they go as data, with their origin, bounded like everything that is attached.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.conversation.attaching import Attachment
from jupyter_mcp.host.conversation.results import Budget, block_for_model, text_block
from jupyter_mcp.host.conversation.untrusted import cut_end, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.apps.shared import Shared
    from jupyter_mcp.host.conversation.limits import Limits

__all__ = ["told_by_apps"]

_IMAGES = 4


def told_by_apps(shared: Shared, limits: Limits, supports: frozenset[str] = frozenset()) -> list[Attachment]:
    """What goes along with this question: reports of open pages, and what pages wanted to say, which is gone then.

    Args:
        shared: what the person has let pages tell.
        limits: how long each may be.
        supports: what the model takes besides text.
    """
    reports = [
        _attachment(word.server, word.name, "reports", word.content, word.structured, limits, supports)
        for word in shared.agreed
    ]
    said = [_attachment(one.server, one.name, "says", one.content, None, limits, supports) for one in shared.take()]
    return [*reports, *said]


def _attachment(
    server: str,
    name: str,
    verb: str,
    content: Sequence[Mapping[str, Any]],
    structured: Mapping[str, Any] | None,
    limits: Limits,
    supports: frozenset[str],
) -> Attachment:
    app = f"the app of {server}.{one_line(name, 100)}"
    budget = Budget(limits.attachment, _IMAGES, supports)
    blocks = [block_for_model(block, budget) for block in content]
    texts = [str(block.get("text")) for block in content if block.get("type") == "text"]
    if structured:
        text = json.dumps(structured, ensure_ascii=False, default=str)
        texts.append(text)
        blocks.append(text_block(cut_end(text, limits.attachment)))
    whole = "\n".join(texts)
    head = text_block(f"What {app} {verb}, passed on with the person's leave")
    return Attachment(f"what {app} {verb} ({len(whole):,} characters)", [head, *blocks], origins=((server, whole),))
