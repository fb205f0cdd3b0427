"""The form of one tool as a card of its own (`tool.form()`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.toolpanel import ToolPanel
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.views import ToolFormView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["tool_form"]


def tool_form(server: str, tool: Mapping[str, Any], runner: Runner | None = None) -> Card:
    """Display the form of one tool."""
    panel = ToolPanel(server, tool, runner or HostRunner())
    view = ToolFormView(server, tool)
    return Card(kit.root([panel.root]), lambda: bundle(view)).show()
