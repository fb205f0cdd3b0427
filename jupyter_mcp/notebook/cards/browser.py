"""What the browsers of tools, resources and prompts share: one search box, ONE list widget, and a pane for the choice.

However many items there are, the list is a single widget that shows the first 200 matches and says how many there are;
the pane is built when an item is chosen.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.render.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.notebook.render.bundles import Bundle

__all__ = ["MAX_SHOWN", "Browser", "Choice"]

T = TypeVar("T")
MAX_SHOWN = 200


@dataclass(frozen=True)
class Choice(Generic[T]):
    """One line of the list: its label, the lower-case text that a search looks through, and the item."""

    label: str
    haystack: str
    item: T


class Browser(Generic[T]):
    """A list and a pane.

    Args:
        word: what an item is called ("tool").
        choices: all items.
        build: makes the pane of one item: its widget.
        static: draws everything for the plain side of the output.
        search: the words that the list starts with.
    """

    def __init__(
        self,
        word: str,
        choices: Sequence[Choice[T]],
        build: Callable[[T], Any],
        static: Callable[[], Bundle],
        search: str = "",
    ) -> None:
        self._word = word
        self._choices = list(choices)
        self._build = build
        self._shown: list[Choice[T]] = []
        self._guard = threading.RLock()
        self._search = kit.widgets.Text(
            search,
            description="Search",
            placeholder=f"search {word}s",
            continuous_update=True,
            layout={"width": "100%"},
        )
        self._list = kit.widgets.Select(
            options=[], rows=max(4, min(14, len(self._choices))), description=f"{word}s", layout={"width": "100%"}
        )
        self._count = kit.markup("")
        self._pane = kit.column([kit.markup(f"Choose a {word} from the list.", "jmcp-help")])
        self._fill()
        self._search.observe(self._on_search, names="value")
        self._list.observe(self._on_choice, names="index")
        left = kit.column([self._search, self._count, self._list], "jmcp-control", "jmcp-list")
        left.layout.width, left.layout.min_width, left.layout.flex = "300px", "220px", "0 1 300px"
        self._pane.layout.flex, self._pane.layout.min_width = "1 1 400px", "0"
        body = kit.widgets.HBox(
            [left, self._pane], layout=kit.widgets.Layout(flex_flow="row wrap", overflow="visible", grid_gap="16px")
        )
        made = kit.root([body])
        made.layout.max_width = "1100px"
        self.card = Card(made, static)
        if len(self._choices) == 1:
            self._list.index = 0

    def _on_search(self, change: object) -> None:
        with self._guard:
            self._fill()

    def _fill(self) -> None:
        words = self._search.value.lower().split()
        found = [one for one in self._choices if all(word in one.haystack for word in words)]
        self._shown = found[:MAX_SHOWN]
        self._filling = True  # a new list of options chooses its first line by itself; no person did
        try:
            self._list.options = [(one.label, at) for at, one in enumerate(self._shown)]
            self._list.index = None
        finally:
            self._filling = False
        more = f", the first {MAX_SHOWN} shown; search to narrow it" if len(found) > MAX_SHOWN else ""
        whole = f" of {len(self._choices):,}" if len(found) != len(self._choices) else ""
        kit.paint(self._count, kit.status(f"{count(len(found), self._word)}{whole}{more}"))

    def _pane_of(self, at: int) -> Any:
        chosen = self._shown[at]
        return self._build(chosen.item)

    def _on_choice(self, change: object) -> None:
        with self._guard:
            at: int | None = self._list.index
            if self._filling or at is None or not 0 <= at < len(self._shown):
                return
            pane = self._pane_of(at)
            self.card.wire(pane)
            old = self._pane.children
            self._pane.children = [pane]
        for widget in old:
            _close(widget)


def _close(widget: Any) -> None:
    from jupyter_mcp.notebook.cards.live import free

    free(widget)
