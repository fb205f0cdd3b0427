"""Buttons that put a text into a new cell below, or on the clipboard where the page cannot make cells.

    NewCell([("line", "Insert as a cell", "code"), ("messages", "Insert as Markdown", "markdown")], give)

The page asks for the text when a button is pressed: it may hold what somebody typed, and is never in widget state. The
page then sends `jupyter-mcp:new-cell` up from the button (a cancelable CustomEvent, `detail` {source, kind}); our
JupyterLab extension inserts a cell below the one the button is in and cancels the event. Where nobody does, the text
is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import traitlets

from jupyter_mcp.notebook.components import component

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["NewCell"]

_Component: Any = component("newcell")


class NewCell(_Component):
    """The component.

    Args:
        buttons: (key, label, kind of cell).
        give: the text for a key; "" for none now.
    """

    buttons: Any = traitlets.List(traitlets.Any()).tag(sync=True)
    disabled: Any = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, buttons: Sequence[tuple[str, str, Literal["code", "markdown"]]], give: Callable[[str], str]
    ) -> None:
        _Component.__init__(self, buttons=[list(one) for one in buttons])
        self._give = give
        self.hear("want", self._want)

    def _want(self, message: Mapping[str, Any]) -> None:
        key = message.get("key")
        known = [one for one in self.buttons if one[0] == key]
        if known and not self.disabled:
            self.tell(
                "cell", key=key, view=str(message.get("view"))[:80], source=self._give(known[0][0]), kind=known[0][2]
            )
