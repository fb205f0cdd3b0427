"""The switch of a tool or a server: may models, servers and apps use it, and for how long is that said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.cards import kit

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["ModelSwitch"]

_FOR = {"session": "this session", "notebook": "this notebook", "project": "this project", "user": "good"}


class ModelSwitch:
    """A check box, and how long it holds.

    Args:
        runner: knows and sets it.
        server: the server.
        name: of one of its tools; None is the server as a whole.
    """

    def __init__(self, runner: Runner, server: str, name: str | None = None) -> None:
        self._runner, self._server, self._name = runner, server, name
        what = f"{server}.{name}" if name is not None else f"anything of {server}"
        tip = f"Whether models, servers and apps see and may use {what}; you always may"
        self._tick = kit.tick("Models may use it" if name is not None else "Models may use this server", tip=tip)
        self._scope = kit.widgets.Dropdown(
            options=[(f"for {_FOR[scope]}", scope) for scope in runner.scopes()],
            description="How long this holds",
            layout={"width": "auto"},
        )
        self._said = kit.markup("")
        self._settling = False
        self.root = kit.row([self._tick, self._scope, self._said], "jmcp-control")
        self._settle()
        kit.watch(self._tick, self._switch)

    def _settle(self, problem: str = "") -> None:
        """Show what holds now, whatever was pressed."""
        off = self._runner.switched_off(self._server, self._name)
        self._settling = True
        try:
            self._tick.value = not off
        finally:
            self._settling = False
        kit.paint(self._said, kit.status(problem or off, "error" if problem else "plain"))

    def _switch(self) -> None:
        if self._settling:
            return
        try:
            self._runner.switch(self._server, self._name, bool(self._tick.value), self._scope.value)
        except MCPError as error:
            self._settle(str(error))
        else:
            self._settle()
