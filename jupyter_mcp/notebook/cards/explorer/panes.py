"""The pane of what is chosen: a tool's form, a resource, a prompt, a server, an open question."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.explorer.index import Thing
from jupyter_mcp.notebook.cards.explorer.serverpane import ServerPane
from jupyter_mcp.notebook.cards.explorer.waiting import QuestionPane

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["Panes"]

log = logging.getLogger("jupyter_mcp.cards")


class Panes:
    """Makes them, and knows those that are there.

    Attributes:
        latency: seconds of the last sign of life, by server.
    """

    def __init__(self, runner: Runner, source: Source, changed: Callable[[], object]) -> None:
        self._runner, self._source, self._changed = runner, source, changed
        self._made: dict[str, Any] = {}
        self.latency: dict[str, float] = {}

    def of(self, name: str, item: Any) -> Any:
        """The widget of a new pane.

        Args:
            name: the row's id.
            item: a `Thing`, a server's name or a `Question`.
        """
        try:
            made = self._make(item)
        except Exception:  # what a server describes may be odder than a pane can show; the rest of the list stays
            log.exception("no pane could be made for %r", name[:200])
            return kit.markup("<p>This cannot be shown as a form; the magics and Python take it as it is.</p>")
        self._made[name] = made
        return made.root

    def _make(self, item: Any) -> Any:
        if isinstance(item, str):
            return ServerPane(item, self._runner, self._source, self._answered)
        if not isinstance(item, Thing):
            return QuestionPane(item, self._source)
        if item.kind == "tool":
            from jupyter_mcp.notebook.cards.toolpanel import ToolPanel

            return ToolPanel(item.server, item.item, self._runner)
        if item.kind == "prompt":
            from jupyter_mcp.notebook.cards.prompts import PromptPanel

            return PromptPanel(item.server, item.item, self._runner)
        from jupyter_mcp.notebook.cards.resources import ResourcePanel

        return ResourcePanel(item.server, item.item, self._runner, self._source, self._changed)

    def busy(self, name: str) -> bool:
        """Whether something runs in a pane."""
        made = self._made.get(name)
        return bool(getattr(made, "busy", False))

    def forget(self, name: str) -> None:
        """A pane has been freed."""
        made = self._made.pop(name, None)
        close = getattr(made, "close", None)
        if callable(close):
            close()

    def server_changed(self) -> None:
        """Servers may be others now, or questions."""
        for made in list(self._made.values()):
            if isinstance(made, (ServerPane, QuestionPane)):
                made.refresh()

    def _answered(self, server: str, seconds: float) -> None:
        self.latency[server] = seconds
        self._changed()
