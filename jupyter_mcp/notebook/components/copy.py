"""Buttons that put a text onto the clipboard. The page asks for the text when one is pressed: it is never in its state.

    Copy([("text", "Copy the text")], give)

Who wants a text in a new cell takes `newcell`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from jupyter_mcp.notebook.components import component

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["MAX_TEXT", "Copy"]

MAX_TEXT = 5_000_000
"""Characters that go to a page at once."""
_Component: Any = component("copy")


class Copy(_Component):
    """The component.

    Args:
        buttons: (key, label).
        give: the text for a key; "" for none now.
    """

    buttons: Any = traitlets.List(traitlets.Any()).tag(sync=True)
    disabled: Any = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, buttons: Sequence[tuple[str, str]], give: Callable[[str], str], *, disabled: bool = False
    ) -> None:
        _Component.__init__(self, buttons=[list(one) for one in buttons], disabled=disabled)
        self._give = give
        self.hear("want", self._want)

    def _want(self, message: Mapping[str, Any]) -> None:
        key = message.get("key")
        if self.disabled or not any(one[0] == key for one in self.buttons):
            return
        text = self._give(str(key))
        fits = len(text) <= MAX_TEXT
        self.tell("text", key=key, view=str(message.get("view"))[:80], text=text if fits else "", fits=fits)
