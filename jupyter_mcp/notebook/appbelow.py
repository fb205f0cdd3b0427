"""Do the tools of results have apps (MCP Apps), and may they be shown below? Asked of each value that is shown live.

It costs a look at the list of tools; what shows apps (`cards.apps`) is loaded when there is one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from jupyter_mcp.host.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.conversation import ModelCall
    from jupyter_mcp.notebook.cards.apps.shown import ShownApp
    from jupyter_mcp.runtime.place import Place

__all__ = ["begun", "below", "below_soon", "listed_with_page", "shown_while_made", "with_app"]

MOST = 8
"""Apps of one answer of a model that are shown; the results of its other calls are there as text."""

shown_while_made: WeakSet[ModelCall] = WeakSet()
"""Calls of models whose apps were put on the page before their answer was there."""


def with_app(value: object) -> bool:
    """Display a value and its apps below it; False, and nothing is displayed, when there is none."""
    found = _apps_of(value)
    if not found:
        return False
    from jupyter_mcp.notebook.cards.results.card import shown_live
    from jupyter_mcp.notebook.render import bundle
    from jupyter_mcp.notebook.render.formatters import publish

    if not shown_live(value):
        publish(bundle(value))
    below(value)
    return True


def below(value: object) -> None:
    """Display the apps of a value that has just been displayed: of a result, or of the calls of a model's answer."""
    found = _apps_of(value)
    if found:
        from jupyter_mcp.notebook.cards import apps

        for result, tool in found:
            apps.under(result, tool)


def below_soon(value: object, where: Place) -> None:
    """The same from any thread, in the cell of a call that nobody waited for."""
    if _apps_of(value):
        from jupyter_mcp.runtime import jobs

        jobs.post(lambda: below(value), where)


def begun(server: str, tool: str, arguments: Mapping[str, Any]) -> ShownApp | None:
    """Display the app of a call that is under way, in the current cell; `.ends` tells it the rest.

    None, and nothing is displayed, when the tool has no page.
    """
    item = listed_with_page(server, tool)
    if item is None:
        return None
    from jupyter_mcp.host.apps.app import AppCall
    from jupyter_mcp.notebook.cards.apps.shown import ShownApp

    made = ShownApp(server, item, AppCall(arguments=dict(arguments)))
    made.show()
    return made


def listed_with_page(server: str, tool: str) -> Mapping[str, Any] | None:
    """A tool as its server lists it, when it has a page."""
    from jupyter_mcp.host.apps import resource_uri
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    offers = host.catalogue.tools(server) if host is not None else ()
    found = next((offer.item for offer in offers if offer.name == tool), None)
    return found if found is not None and resource_uri(found) is not None else None


def _apps_of(value: object) -> list[tuple[Result, Mapping[str, Any]]]:
    """The results that have an app which has not been shown while the call was made, each with its tool."""
    results = [value] if isinstance(value, Result) else _of_an_answer(value)
    tools = [(one, listed_with_page(one.server, one.tool)) for one in results]
    return [(one, tool) for one, tool in tools if tool is not None][:MOST]


def _of_an_answer(value: object) -> list[Result]:
    """The results of a model's calls, without those whose apps stand there already."""
    if "jupyter_mcp.notebook.objects.conversation" not in sys.modules:  # nobody has asked anything
        return []
    from jupyter_mcp.notebook.objects.conversation import Conversation

    if not isinstance(value, Conversation):
        return []
    seen = shown_while_made
    return [call.result for call in value.calls if call.result is not None and call not in seen]
