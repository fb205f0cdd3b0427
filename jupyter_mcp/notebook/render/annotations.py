"""What a server says about a piece of content besides the content: for whom it is, how important, how old. Pure.

They are claims of the server and are shown as such; nothing here depends on them.
"""

from __future__ import annotations

import math

from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import as_list, is_mapping

__all__ = ["server_word"]

_READERS = {"user": "the person", "assistant": "the model"}


def server_word(annotations: object) -> str:
    """ "for the person, priority 0.8, last changed 2026-11-30T10:00:00Z"; "" when it says nothing that can be read.

    Args:
        annotations: as sent (`audience`, `priority` from 0 to 1, `lastModified` in ISO 8601).
    """
    if not is_mapping(annotations):
        return ""
    said: list[str] = []
    audience = [one for one in as_list(annotations.get("audience")) if isinstance(one, str)]
    readers = [word for role, word in _READERS.items() if role in audience]
    if readers:
        said.append(f"for {' and '.join(readers)}")
    priority = annotations.get("priority")
    if isinstance(priority, (int, float)) and not isinstance(priority, bool) and math.isfinite(priority):
        said.append(f"priority {priority:g}")
    changed = annotations.get("lastModified")
    if isinstance(changed, str) and changed.strip():
        said.append(f"last changed {flat(changed, 40)}")
    return ", ".join(said)
