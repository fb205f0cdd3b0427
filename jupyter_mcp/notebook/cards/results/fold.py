"""Something that is made when it is opened, under a button that says what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Fold"]


class Fold:
    """
    Args:
        label: of the button.
        make: makes the widget, at the first opening.
        note: stands beside the button.
        opened: whether it begins open.
    """

    def __init__(self, label: str, make: Callable[[], Any], *, note: str = "", opened: bool = False) -> None:
        self._label, self._make = label, make
        self._made: Any = None
        self._button = kit.button(f"▸ {label}", self._press, tip=f"Show {label}")
        self._place = kit.column([])
        kit.hide(self._place, True)
        beside = [kit.markup(html.muted(html.escape(note)))] if note else []
        self.root = kit.column([kit.row([self._button, *beside]), self._place])
        if opened:
            self._press()

    @property
    def is_open(self) -> bool:
        return self._made is not None and self._place.layout.display != "none"

    def _press(self) -> None:
        opening = not self.is_open
        if self._made is None:
            from jupyter_mcp.runtime.pump import unroute

            self._made = self._make()
            unroute(self._made)
            self._place.children = [self._made]
        kit.hide(self._place, not opening)
        self._button.description = f"{'▾' if opening else '▸'} {self._label}"
        self._button.tooltip = f"{'Hide' if opening else 'Show'} {self._label}"
