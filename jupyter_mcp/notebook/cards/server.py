"""Servers with what they are, and buttons to disconnect and to connect again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.browser import Outcome
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.servers import server_piece

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

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
        self._shown: object = None
        self.root = kit.column(
            [self._picture, kit.row([self._disconnect, self._reconnect]), self._outcome.root], "jmcp-field"
        )

    def _close(self) -> None:
        self._gone = True
        self._run(f"disconnect {self._name}", lambda: self._runner.disconnect(self._name))

    def _again(self) -> None:
        self._run(f"reconnect {self._name}", lambda: self._runner.reconnect(self._name))

    def _run(self, label: str, begin: Callable[[], Future[Any]]) -> None:
        self._outcome.run(label, lambda _: begin())

    def _refresh(self) -> None:
        busy = self._outcome.busy
        ended = self._gone and not busy
        self._disconnect.disabled = self._reconnect.disabled = busy or ended
