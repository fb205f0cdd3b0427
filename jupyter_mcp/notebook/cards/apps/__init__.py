"""MCP Apps under the results of calls, live: a frame for each, in a widget. What is in it: `host.apps`.

    for_call(server, tool, arguments, result, runner) -> widget | None     for a form: below what a button started
    under(result) -> bool                                                  for a cell: below a result that it shows

    answering the apps of a model's calls, while it writes and makes them
    shown     one app: reads its page, has its views, ends
    view      one view of it: what the bridge says goes to the frame, what the frame says to the bridge

A tool without a page costs nothing here: nobody imports this room before a tool names one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps import resource_uri
from jupyter_mcp.host.apps.app import AppCall
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.result import Result
    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["for_call", "under"]


def for_call(
    server: str, tool: Mapping[str, Any], arguments: Mapping[str, Any], result: Result, runner: Runner | None = None
) -> Any:
    """The app of one call, as a widget to be put below its result; None when its tool has no page.

    Args:
        server, tool: whose it is, and the tool as listed.
        arguments, result: of the call.
        runner: of the card that it stands in; questions of the app's calls appear where that was displayed.
    """
    if resource_uri(tool) is None or not is_mapping(result.raw):
        return None
    from jupyter_mcp.notebook.cards.apps.shown import ShownApp

    place = getattr(runner, "place", None)
    return ShownApp(server, tool, AppCall(arguments=dict(arguments), result=result.raw), place).frame


def under(result: Result, tool: Mapping[str, Any]) -> None:
    """Display the app of a result below it, in the current cell.

    Args:
        result: just displayed.
        tool: as listed; it has a page.
    """
    from jupyter_mcp.notebook.cards.apps.shown import ShownApp

    ShownApp(result.server, tool, AppCall(arguments=dict(result.arguments), result=result.raw)).show()
