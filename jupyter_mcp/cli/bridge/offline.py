"""What the bridge says while no notebook is served: the tools that every notebook has, and that there is none.

The tools are listed from the start, because many clients read that list once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.cli.bridge.choosing import Several, described
from jupyter_mcp.server import results
from jupyter_mcp.server.failures import Failure

if TYPE_CHECKING:
    from jupyter_mcp.cli.bridge.choosing import Nobody
    from jupyter_mcp.server.exchange import Exchange

_TEXT = {"type": "string"}
_READS = {"readOnlyHint": True, "openWorldHint": False}
_RUNS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


def _tool(
    tool: str, title: str, description: str, annotations: Any, required: tuple[str, ...] = (), /, **more: Any
) -> dict[str, Any]:
    return {
        "name": tool,
        "title": title,
        "description": description,
        "annotations": annotations,
        "inputSchema": {"type": "object", "properties": {"notebook": _TEXT, **more}, "required": list(required)},
    }


_VARIABLE: Any = {"name": {"type": "string", "description": "A variable of the notebook."}}
TOOLS = (
    _tool("list_variables", "List variables", "The variables of the live notebook: name, type, size.", _READS),
    _tool(
        *("inspect_variable", "Inspect a variable", "Type, shape and columns of one variable.", _READS, ("name",)),
        **_VARIABLE,
    ),
    _tool(
        *("read_variable", "Read a variable", "The value of one variable, or a part of it.", _READS, ("name",)),
        **_VARIABLE,
    ),
    _tool("search_variables", "Search variables", "Variables by name or type.", _READS, ("query",), query=_TEXT),
    _tool("list_functions", "List functions", "The functions that the notebook offers as tools.", _READS),
    _tool(
        *("call_function", "Call a function", "Call one of the notebook's functions.", _RUNS, ("name",)),
        name=_TEXT,
        arguments={"type": "object"},
    ),
    _tool("execute_code", "Run code", "Run code in the notebook, where that is allowed.", _RUNS, ("code",), code=_TEXT),
    _tool(
        *("set_variable", "Set a variable", "Give a variable a value, where allowed.", _RUNS, ("name", "value")),
        name=_TEXT,
        value={},
    ),
)
NAMES = frozenset(tool["name"] for tool in TOOLS)
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
    return [_naming(tool, field) for tool in TOOLS]


def _naming(tool: dict[str, Any], field: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = tool["inputSchema"]
    return {**tool, "inputSchema": {**schema, "properties": {**schema["properties"], "notebook": field}}}
