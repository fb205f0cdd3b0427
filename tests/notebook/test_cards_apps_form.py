"""The app of a tool in its form: below what a call of it returned."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook.cards.toolpanel import ToolPanel
from tests.notebook.page import button, walk
from tests.notebook.test_cards_apps import Told, begin, frames, host, tool_of

if TYPE_CHECKING:
    from jupyter_mcp.host.host import Host

__all__ = ["frames", "host"]


class Caller:
    """A runner that has called already."""

    def call(self, server: str, tool: str, *more: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(Result({"content": [{"type": "text", "text": "shown"}]}, server=server, tool=tool))
        return done

    def scopes(self) -> list[str]:
        return []

    def switched_off(self, server: str, name: str | None) -> str:
        return ""


def test_a_form_shows_the_app_of_its_tool_below_what_came_back(host: Host, frames: list[Told]) -> None:
    runner: Any = Caller()
    panel = ToolPanel("bench", tool_of(host, "show"), runner)
    button(panel.root, "Call").click()
    assert frames and frames[0] in list(walk(panel.root))
    begin(frames[0])
    panel.close()
