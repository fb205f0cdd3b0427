"""`list_functions` and `call_function`: the notebook's own tools, for clients that never look at the list again.

A tool declared in a cell is a tool of the server, with its own schema. Many clients read the list once, when they
connect; these two are there from the start and reach whatever is declared later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ToolError
from jupyter_mcp.kernel.anyvalue import ANY
from jupyter_mcp.protocol.revisions import features
from jupyter_mcp.server import results
from jupyter_mcp.server.content import ToolResult
from jupyter_mcp.server.infer import InvalidArguments
from jupyter_mcp.server.questions import InputRequired
from jupyter_mcp.server.tasks import TaskWork

if TYPE_CHECKING:
    from jupyter_mcp.kernel.book import NotebookServer
    from jupyter_mcp.kernel.functions import FunctionBook
    from jupyter_mcp.server.context import AsyncContext

__all__ = ["register"]

_TEXT = {"type": "string"}
_FUNCTIONS = {
    "type": "object",
    "properties": {
        "notebook": _TEXT,
        "functions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": _TEXT, "title": _TEXT, "description": _TEXT, "inputSchema": {"type": "object"}},
                "required": ["name", "inputSchema"],
            },
        },
    },
    "required": ["notebook", "functions"],
}
_RESULT = {
    "type": "object",
    "properties": {
        "notebook": _TEXT,
        "function": _TEXT,
        "result": {**ANY, "description": "what it returned; left out for pictures and files, which are content"},
    },
    "required": ["notebook", "function"],
}


def register(book: NotebookServer, functions: FunctionBook) -> None:
    """Add both to the notebook's server."""

    async def list_functions(notebook: str, ctx: AsyncContext) -> ToolResult:
        """List the functions that this notebook offers to be called, each with the schema of its arguments.

        Args:
            notebook: which notebook.
        """
        wire = [entry.wire(features(ctx.revision)) for entry in functions.tools()]
        keys = ("name", "title", "description", "inputSchema")
        listed = [{key: one[key] for key in keys if key in one} for one in wire]
        return ToolResult(structured={"notebook": book.slug, "functions": listed})

    async def call_function(
        notebook: str, name: str, ctx: AsyncContext, arguments: dict[str, Any] | None = None
    ) -> ToolResult:
        """Call a function that list_functions lists. It may wait while the kernel runs a cell.

        Args:
            notebook: which notebook.
            name: of the function.
            arguments: as its schema says.
        """
        return await _call(functions, book.slug, name, arguments or {}, ctx)

    reading = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    book.server.add_tool(
        book.addressed(list_functions), title="List functions", annotations=reading, output_schema=_FUNCTIONS
    )
    book.server.add_tool(book.addressed(call_function), title="Call a function", output_schema=_RESULT)


async def _call(
    functions: FunctionBook, slug: str, name: str, arguments: dict[str, Any], ctx: AsyncContext
) -> ToolResult:
    entry = functions.find(name)
    if entry is None:
        known = ", ".join(one.name for one in functions.tools()[:10])
        raise ToolError(f"There is no function {name[:80]!r}.", hint=f"There is {known}." if known else None)
    try:
        values = entry.arguments.read(arguments)
    except InvalidArguments as error:
        raise ToolError(str(error)) from None
    value = await entry.handler.call(values, ctx)
    if isinstance(value, InputRequired):
        return cast("Any", value)  # the server asks, and this is called again with the answers
    if isinstance(value, TaskWork):
        raise ToolError(f"{name} works as a task; call it as a tool of its own.")
    try:
        raw = results.tool_result(value, features(ctx.revision))
    except results.UnusableResult as error:
        raise ToolError(f"{name} ran, but its result cannot be sent: {error}.") from None
    about: dict[str, Any] = {"notebook": slug, "function": name}
    if "structuredContent" in raw:
        about["result"] = _unwrapped(raw["structuredContent"])
    elif value is None or isinstance(value, str | bool | int | float):
        about["result"] = value
    failed = isinstance(value, ToolResult) and value.is_error
    return ToolResult(content=raw["content"], structured=about, is_error=failed)


def _unwrapped(found: Any) -> Any:
    """What an older revision needs wrapped in an object."""
    if not isinstance(found, dict):
        return found
    data = cast("dict[str, Any]", found)
    return data[results.WRAPPED] if [*data] == [results.WRAPPED] else data
