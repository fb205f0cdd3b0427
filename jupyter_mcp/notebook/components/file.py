"""A file that the kernel holds: shown (PDF), or saved from a button. Its bytes go to the page when they are asked for.

The page makes a `blob:` address of them, which has the page's own origin: so a file is only ever shown as what cannot
run there (a PDF in the browser's viewer), and saved as bytes of no type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import traitlets

from jupyter_mcp.notebook.components import component
from jupyter_mcp.notebook.render.text import size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["MAX_BYTES", "File", "safe_name"]

MAX_BYTES = 50_000_000
_Component: Any = component("file")


class File(_Component):
    """The component.

    Args:
        name: what it is saved as; made safe.
        number: of bytes.
        give: the bytes.
        is_pdf: whether it begins as a PDF does, and can be shown.
    """

    name: Any = traitlets.Unicode().tag(sync=True)
    told: Any = traitlets.Unicode().tag(sync=True)
    pdf: Any = traitlets.Bool(False).tag(sync=True)

    def __init__(self, name: str, number: int, give: Callable[[], bytes], *, is_pdf: bool = False) -> None:
        _Component.__init__(self, name=safe_name(name), told=size(number), pdf=is_pdf)
        self._give = give
        self.hear("want", self._want)

    def _want(self, message: Mapping[str, Any]) -> None:
        data = self._give()
        fits = len(data) <= MAX_BYTES
        why = str(message.get("why"))[:20]
        self.tell("bytes", [data] if fits else [], why=why, view=str(message.get("view"))[:80], fits=fits)


def safe_name(name: str) -> str:
    """The last part of a name or address, of harmless letters only; never hidden, never empty."""
    last = re.split(r"[/\\]", name.partition("?")[0].partition("#")[0].rstrip("/"))[-1]
    return re.sub(r"[^\w.\- ]", "_", last).lstrip(". ")[:120] or "file"
