"""The frame of an MCP App, with the bar above it. Only names are in its state: the page of a server, what is said to
it and what it says go by message, so that neither a saved notebook nor "Save widget state" holds any of it.

What the frames are made of is `host.apps.sandbox`'s, what is said through them `notebook.cards.apps`'s.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import traitlets

from jupyter_mcp.notebook.components import component

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["HEARD", "Frame", "relay"]

HEARD = ("open", "message", "context", "mode", "answer", "share", "permit", "close", "gone")
"""What a view of the frame says."""

_Component: Any = component("frame")


class Frame(_Component):
    """The component.

    Args:
        title: of the tool, a person's words.
        tool: `server.tool`.
        server: its name.
        heard: called with each message of a view, `type` and `view` in it.
        closing: called instead of closing at once; closes by `end`.
    """

    title: Any = traitlets.Unicode().tag(sync=True)
    tool: Any = traitlets.Unicode().tag(sync=True)
    server: Any = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        title: str,
        tool: str,
        server: str,
        heard: Callable[[Mapping[str, Any]], object],
        closing: Callable[[], object],
    ) -> None:
        _Component.__init__(self, title=title, tool=tool, server=server)
        self._closing = closing
        self._over = False
        for kind in HEARD:
            self.hear(kind, heard)

    def close(self) -> None:
        """Have the page put away what it has, and then close."""
        if not self._over:
            self._over = True
            self._closing()

    def end(self) -> None:
        """Close now."""
        self._over = True
        _Component.close(self)


@cache
def relay() -> str:
    """The script of the outer document of a frame."""
    return resources.files(__package__ or __name__).joinpath("relay.js").read_text("utf-8")
