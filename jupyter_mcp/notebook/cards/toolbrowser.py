"""All tools of some servers: search, choose, fill in, call. Any number of tools, one list widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.browser import Browser, Choice
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.toolpanel import ToolPanel
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.notebook.render.views import ListView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["tool_browser", "tool_form"]


def tool_browser(view: ListView, runner: Runner | None = None) -> Card:
    """Display the tools of a view; without any there is only the static picture."""
    acting = runner or HostRunner()
    choices = [Choice(*_line(server, tool), (server, tool)) for server, tool in view.rows]
    browser = Browser("tool", choices, lambda chosen: ToolPanel(*chosen, acting).root, lambda: bundle(view))
    return browser.card.show()


def tool_form(server: str, tool: Mapping[str, Any], runner: Runner | None = None) -> Card:
    """Display the form of one tool."""
    panel = ToolPanel(server, tool, runner or HostRunner())
    view = ListView("tools", [(server, tool)], servers=[server])
    return Card(kit.root([panel.root]), lambda: bundle(view)).show()


def _line(server: str, tool: Mapping[str, Any]) -> tuple[str, str]:
    """The label in the list and the text that a search looks through."""
    name, title = flat(tool.get("name") or "", 120), title_of(tool)
    label = f"{server}.{name}{f' — {title}' if title else ''}"
    told = tool.get("description")
    return label, f"{label} {told if isinstance(told, str) else ''}".lower()
