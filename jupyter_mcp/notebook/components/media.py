"""A picture, a drawing or a sound that the kernel holds: shown in the page, saved on a button, never in widget state.

The kernel says what the bytes are (by their first ones, not by what a server calls them). Pictures and sounds get a
`blob:` address of exactly that type. A drawing (SVG) in such an address would run its scripts if somebody opened it in
a tab of its own, so it becomes a `data:` address in an `<img>`, which runs nothing and which no tab opens. What is
saved is saved as bytes of no type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import traitlets

from jupyter_mcp.notebook.components import component
from jupyter_mcp.notebook.components.file import MAX_BYTES, safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Media"]

_Component: Any = component("media")


class Media(_Component):
    """The component.

    Args:
        kind: what to show it in.
        data: its bytes. mime: what they are.
        caption: the line below, which also stands for it where it cannot be seen.
        name: what it is saved as; made safe.
    """

    kind: Any = traitlets.Unicode().tag(sync=True)
    mime: Any = traitlets.Unicode().tag(sync=True)
    caption: Any = traitlets.Unicode().tag(sync=True)
    name: Any = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, kind: Literal["image", "drawing", "audio"], data: bytes, mime: str, *, caption: str, name: str
    ) -> None:
        _Component.__init__(self, kind=kind, mime=mime, caption=caption, name=safe_name(name))
        self._data = data
        self.hear("want", self._want)

    def _want(self, message: Mapping[str, Any]) -> None:
        fits = len(self._data) <= MAX_BYTES
        why = "save" if message.get("why") == "save" else "show"
        view = str(message.get("view"))[:80]
        self.tell("bytes", [self._data] if fits else [], why=why, view=view, fits=fits)
