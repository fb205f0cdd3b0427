"""What the bridge says while no notebook is served: the tools that every notebook has, and that there is none.

The tools are listed from the start, because many clients read that list once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.cli.bridge.choosing import Several, described
from jupyter_mcp.relay import usual
from jupyter_mcp.server import results
from jupyter_mcp.server.failures import Failure

if TYPE_CHECKING:
    from jupyter_mcp.cli.bridge.choosing import Nobody
    from jupyter_mcp.server.exchange import Exchange

_EMPTY = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def answer(exchange: Exchange, reason: Several | Nobody) -> dict[str, Any]:
    """The result of a request that no notebook answers. Raises `Failure`."""
    method = exchange.method
    if method == "tools/list":
        return {"tools": tools(reason)}
    if method in _EMPTY:
        return {_EMPTY[method]: []}
    if method == "completion/complete":
        return {"completion": {"values": []}}
    text = why(reason)
    if method == "tools/call":
        return results.error_result(text)
    if method == "resources/read":
        raise Failure(exchange.features.resource_not_found, text, {"uri": exchange.params["uri"]})
    raise Failure(-32602, text)


def why(reason: Several | Nobody) -> str:
    """In words, for a model."""
    if not isinstance(reason, Several):
        return reason.why
    named = "; ".join(described(one) for one in reason.notebooks)
    return f"Several notebooks are served: {named}. Say which one by the argument `notebook`."


def tools(reason: Several | Nobody) -> list[dict[str, Any]]:
    """The tools, with the names that may be said."""
    slugs = [one.slug for one in reason.notebooks] if isinstance(reason, Several) else []
    about = {"type": "string", "description": "The notebook. It may be left out when there is one only."}
    field = {**about, "enum": slugs} if slugs else about
    return usual.tools(field)
