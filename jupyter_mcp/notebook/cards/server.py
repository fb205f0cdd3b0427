"""Servers with what they are, and buttons to disconnect and to connect again.

The pictures follow the servers: a state that changes (lost, connected again) shows by itself, and what is saved is how
they were last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.switching import ModelSwitch
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.servers import server_piece
from jupyter_mcp.notebook.render.views import ServersView

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.bundles import Bundle
    from jupyter_mcp.notebook.render.views import ServerView

__all__ = ["server_cards"]


def server_cards(view: ServersView, runner: Runner | None = None) -> Card:
    """Display the servers of a view."""
    return _Servers(view, runner or HostRunner()).card.show()


class _Servers:
    """The panels of one card, kept as the servers are."""

    def __init__(self, view: ServersView, runner: Runner) -> None:
        self._panels = {one.name: ServerPanel(one, runner) for one in view.servers}
        roots = [panel.root for panel in self._panels.values()]
        self.card = Card(kit.root(roots or [kit.markup(bundle(view)["text/html"])]), self._still)
        if roots:
            self.card.on_over.append(runner.follow(self._changed))

    def _still(self) -> Bundle:
        return bundle(ServersView([panel.view for panel in self._panels.values()]))

    def _changed(self, name: str, view: ServerView | None) -> None:
        """On the runtime's thread."""
        if self.card.over:
            return
        panel = self._panels.get(name)
        if panel is not None and panel.show(view or replace(panel.view, state="closed", problem=None)):
            self.card.redraw()


class ServerPanel:
    """One server.

    Attributes:
        view: what is shown of it.
    """

    def __init__(self, view: ServerView, runner: Runner) -> None:
        self.view = view
        self._name, self._runner = view.name, runner
        self._picture = kit.markup(server_piece(view).html, "jmcp-head")
        self._disconnect = kit.button("Disconnect", self._close, tip=f"Close the connection to {view.name}")
        self._reconnect = kit.button("Reconnect", self._again, tip=f"Close and start {view.name} again")
        self._outcome = Outcome(self._refresh)
        self._gone = False
        self.root = kit.column(
            [
                self._picture,
                kit.row([self._disconnect, self._reconnect]),
                ModelSwitch(runner, view.name).root,
                self._outcome.root,
            ],
            "jmcp-field",
        )

    def show(self, view: ServerView) -> bool:
        """Draw it as it is now; returns whether that is something else. Any thread."""
        if view == self.view:
            return False
        self.view = view
        kit.paint(self._picture, server_piece(view).html)
        return True

    def _close(self) -> None:
        self._outcome.run(f"disconnect {self._name}", lambda _: self._runner.disconnect(self._name), self._closed)

    def _again(self) -> None:
        self._outcome.run(f"reconnect {self._name}", lambda _: self._runner.reconnect(self._name), self._connected)

    def _closed(self, value: object) -> str:
        """The host has forgotten it, so there is nothing left to press."""
        self._gone = True
        return html.note(f"{html.escape(self._name)} is disconnected.")

    def _connected(self, entry: object) -> str:
        """The new connection takes the place of the old picture."""
        kit.paint(self._picture, bundle(entry)["text/html"])
        return html.note("Connected again.", "good")

    def _refresh(self) -> None:
        locked = self._outcome.busy or self._gone
        self._disconnect.disabled = self._reconnect.disabled = locked
