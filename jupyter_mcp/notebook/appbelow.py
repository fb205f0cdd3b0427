"""Does a result's tool have an app (MCP Apps), and may it be shown below? Asked of each result that is shown live.

It costs a look at the list of tools; what shows apps (`cards.apps`) is loaded when there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.runtime.place import Place

__all__ = ["below", "below_soon", "with_app"]


def with_app(value: object) -> bool:
    """Display a result and its tool's app below it; False, and nothing is displayed, when there is no app."""
    tool = _tool_of(value)
    if tool is None:
        return False
    from jupyter_mcp.notebook.cards.results.card import shown_live
    from jupyter_mcp.notebook.render import bundle
    from jupyter_mcp.notebook.render.formatters import publish

    if not shown_live(value):
        publish(bundle(value))
    below(value)
    return True


def below(value: object) -> None:
    """Display the app of a result that has just been displayed, if it has one."""
    tool = _tool_of(value)
    if tool is not None and isinstance(value, Result):
        from jupyter_mcp.notebook.cards import apps

        apps.under(value, tool)


def below_soon(value: object, where: Place) -> None:
    """The same from any thread, in the cell of a call that nobody waited for."""
    if _tool_of(value) is not None:
        from jupyter_mcp.runtime import jobs

        jobs.post(lambda: below(value), where)


def _tool_of(value: object) -> Mapping[str, Any] | None:
    """The tool of a result, as listed, when it has a page."""
    from jupyter_mcp.host.apps import resource_uri
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    if host is None or not isinstance(value, Result):
        return None
    offers = host.catalogue.tools(value.server)
    tool = next((offer.item for offer in offers if offer.name == value.tool), None)
    return tool if tool is not None and resource_uri(tool) is not None else None
