"""Servers with what they are, and buttons to disconnect and to connect again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.browser import Outcome
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.servers import server_piece

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.views import ServersView, ServerView

__all__ = ["server_cards"]


def server_cards(view: ServersView, runner: Runner | None = None) -> Card:
    """Display the servers of a view."""
    acting = runner or HostRunner()
    panels = [ServerPanel(one, acting).root for one in view.servers]
    return Card(kit.root(panels or [kit.markup(bundle(view)["text/html"])]), lambda: bundle(view)).show()


class ServerPanel:
    """One server."""

    def __init__(self, view: ServerView, runner: Runner) -> None:
        self._name, self._runner = view.name, runner
        self._picture = kit.markup(server_piece(view).html, "jmcp-head")
        self._disconnect = kit.button("Disconnect", self._close, tip=f"Close the connection to {view.name}")
        self._reconnect = kit.button("Reconnect", self._again, tip=f"Close and start {view.name} again")
        self._outcome = Outcome(self._refresh)
        self._gone = False
        self.root = kit.column(
            [self._picture, kit.row([self._disconnect, self._reconnect]), self._outcome.root], "jmcp-field"
        )

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
