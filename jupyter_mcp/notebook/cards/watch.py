"""A watched resource: how often it changed, whether its server is there, its contents on demand, and a button to stop.

The card changes by itself while the server speaks, a few times a second at most; it is an explorer, so what is saved is
its content as it was last. It ends when the watch does, and leaves a record.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.render.bundles import bundle

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.objects.watch import Watch

__all__ = ["WatchCard", "watch_card"]

PAUSE = 0.3  # seconds between two pictures of a resource that changes all the time


def watch_card(watch: Watch, runner: Runner | None = None) -> Card:
    """Display the card of a watch."""
    return WatchCard(watch, runner or HostRunner()).card.show()


class WatchCard:
    """The live card of one watch."""

    def __init__(self, watch: Watch, runner: Runner) -> None:
        self._watch, self._runner = watch, runner
        self._picture = kit.markup(bundle(watch)["text/html"], "jmcp-head")
        self._read = kit.button("Read now", self._read_now, tip=f"Read {watch.uri} as it is now")
        self._stop = kit.button("Stop watching", self._stop_now, tip=f"No longer be told about {watch.uri}")
        self._outcome = Outcome(self._lock)
        self._due = False
        parts = [self._picture, kit.row([self._read, self._stop]), self._outcome.root]
        self.card = Card(kit.root(parts), lambda: bundle(watch))
        watch.on_change(self._changed)

    def _changed(self, watch: Watch) -> None:
        """On the runtime's loop."""
        if not watch.active:
            self._draw()
        elif not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(PAUSE, self._draw)

    def _draw(self) -> None:
        self._due = False
        if self.card.over:
            return
        if not self._watch.active:
            self.card.finish(bundle(self._watch))
            return
        kit.paint(self._picture, bundle(self._watch)["text/html"])
        self.card.redraw()

    def _read_now(self) -> None:
        watch = self._watch
        self._outcome.run(f"{watch.server.name} {watch.uri}", lambda _: self._runner.read(watch.server.name, watch.uri))

    def _stop_now(self) -> None:
        if not self._stop.disabled:
            self._stop.disabled = True
            self._watch.stop_soon()

    def _lock(self) -> None:
        self._read.disabled = self._outcome.busy
