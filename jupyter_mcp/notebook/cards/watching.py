"""Watch a resource from its pane: a switch, how often it changed, and whether what is shown is old."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render.text import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from jupyter_mcp.notebook.cards.explorer.source import Source

__all__ = ["WatchToggle"]


class WatchToggle:
    """The switch.

    Args:
        server: whose the resource is.
        source: watches.
        refresh: called when it is switched, on any thread.
        changed: called when something is watched, or no longer.

    Attributes:
        root: the switch.
        said: what is to be said about it.
    """

    def __init__(
        self, server: str, source: Source, refresh: Callable[[], object], changed: Callable[[], object]
    ) -> None:
        self._server, self._source, self._refresh, self._changed = server, source, refresh, changed
        self._uri = ""
        self._stop: Callable[[], object] | None = None
        self._waiting: Future[Any] | None = None
        self._times = 0
        self._read = 0
        self._settling = False
        self.root = kit.widgets.ToggleButton(
            False, description="Watch", tooltip="Be told when this resource changes", layout={"width": "auto"}
        )
        self.said = kit.markup("")
        kit.watch(self.root, self._switch)

    @property
    def on(self) -> bool:
        """Whether it is watched, or about to be."""
        return self._stop is not None or self._waiting is not None

    def at(self, uri: str) -> None:
        """The address that it is about now; "" for none yet. What is watched already stays that address."""
        if not self.on:
            self._uri = uri
        self.root.disabled = not uri and not self.on

    def read(self) -> None:
        """It is read now: what is shown will be new."""
        self._read = self._times
        self._say()

    def close(self) -> None:
        """Stop being told."""
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()

    def _switch(self) -> None:
        if self._settling:
            return
        if not self.root.value:
            self.close()
            self._said("No longer watched.")
            self._changed()
        elif self._uri:
            self._times = self._read = 0
            future = self._waiting = self._source.watch(self._server, self._uri, self._told)
            future.add_done_callback(self._began)

    def _began(self, done: Future[Any]) -> None:
        self._waiting = None
        error = None if done.cancelled() else done.exception()
        if error is not None or done.cancelled():
            self._settle(False)
            self._said(str(error) if isinstance(error, MCPError) else "It cannot be watched.", "error")
        else:
            self._stop = done.result()
            if self.root.value:
                self._say()
            else:  # switched off meanwhile
                self.close()
        self._refresh()
        self._changed()

    def _told(self, times: int) -> None:
        """On the runtime's thread."""
        if times != self._times:
            self._times = times
            self._say()

    def _say(self) -> None:
        if not self.on:
            return
        old = "; what is shown below is older, read it again." if self._times > self._read else "."
        self._said(f"Watched; it changed {count(self._times, 'time')}{old}")

    def _said(self, words: str, tone: str = "plain") -> None:
        kit.paint(self.said, kit.status(words, tone))

    def _settle(self, value: bool) -> None:
        self._settling = True
        try:
            self.root.value = value
        finally:
            self._settling = False
