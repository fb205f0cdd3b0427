"""A server's log, from a level upwards, narrowed by words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.render.acts import log_piece
from jupyter_mcp.notebook.render.bundles import bundle

if TYPE_CHECKING:
    from jupyter_mcp.notebook.render.views import LogView

__all__ = ["log_card"]

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def log_card(view: LogView) -> Card:
    """Display a log."""
    return LogPanel(view).card.show()


class LogPanel:
    """The lines that fit the level and the words."""

    def __init__(self, view: LogView) -> None:
        self._view = view
        self._level = kit.widgets.Dropdown(
            options=[("all levels", ""), *((f"{level} and above", level) for level in _LEVELS[1:6])],
            description="Level", layout={"width": "180px"},
        )  # fmt: skip
        self._search = kit.widgets.Text(
            description="Search", placeholder="search the log", continuous_update=True, layout={"width": "260px"}
        )
        self._lines: Any = kit.markup("")
        for made in (self._level, self._search):
            kit.watch(made, self._refresh)
        self._refresh()
        controls = kit.row([self._level, self._search], "jmcp-control")
        self.card = Card(kit.root([controls, self._lines]), lambda: bundle(view))

    def _refresh(self) -> None:
        words = self._search.value.lower().split()
        least = _LEVELS.index(self._level.value) if self._level.value else 0
        rows = [
            row
            for row in self._view.rows
            if (row.level not in _LEVELS or _LEVELS.index(row.level) >= least)
            and all(word in f"{row.source} {row.level} {row.text}".lower() for word in words)
        ]
        shown = replace(self._view, rows=rows)
        empty = bool(self._view.rows) and not rows
        kit.paint(self._lines, "<p>No line fits.</p>" if empty else log_piece(shown).html)
