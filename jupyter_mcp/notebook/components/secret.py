"""The component `secret`: rows of text with a Copy button, shown when a person asks and never part of a widget's state.

What is shown is asked for by the page and sent by message, to the pages that show it at that moment; it is in no trait,
so neither "Save widget state" nor a page that opens later can have it. `hide` takes it off every page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from jupyter_mcp.notebook.components import component

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Line", "Secret"]


class Line(TypedDict):
    """One text to copy: what stands above it ("" for nothing), what its button copies, and whether it is folded."""

    label: str
    text: str
    what: str
    folded: bool


class Secret:
    """Texts that a page may have when it asks while they are shown.

    Args:
        note: a sentence above them, in plain text.
        lines: gives the texts, each time a page asks.

    Attributes:
        widget: the component's widget, for a card's column.
    """

    def __init__(self, note: str, lines: Callable[[], Sequence[Line]]) -> None:
        self._note, self._lines = note, lines
        self._open = False
        self.widget: Any = component("secret")()
        self.widget.hear("ask", self._asked)

    @property
    def shown(self) -> bool:
        """Whether pages may have the texts now."""
        return self._open

    def show(self) -> None:
        """Let pages have the texts, and send them to those that are there. Any thread."""
        self._open = True
        self._send()

    def hide(self) -> None:
        """Take the texts off every page. Any thread."""
        self._open = False
        self.widget.tell("hide")

    def _asked(self, _: Mapping[str, Any]) -> None:
        if self._open:
            self._send()

    def _send(self) -> None:
        self.widget.tell("show", note=self._note, lines=list(self._lines()))
