"""Reading tools, for clients that do not use resources: the same reads, by name.

Each names its notebook, takes a budget and gives a cursor. Pictures are pictures; they are never copied into the
structured content, where clients would show them to a model as text.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ToolError
from jupyter_mcp.kernel.listing import LISTED, listed
from jupyter_mcp.kernel.resources import text_of
from jupyter_mcp.kernel.views import View, Wanted
from jupyter_mcp.kernel.views.base import MAX_BYTES
from jupyter_mcp.server import Embedded, Image, NotFound, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from jupyter_mcp.kernel.book import NotebookServer

__all__ = ["READING", "register"]

READING = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_VARIABLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "uri": _TEXT,
        "type": _TEXT,
        "module": _TEXT,
        "kind": _TEXT,
        "shape": {"type": "array", "items": _NUMBER},
        "dtype": _TEXT,
        "length": _NUMBER,
        "nbytes": _NUMBER,
        "text": {"type": "string", "description": "the value itself where it is short"},
        "columns": {"type": "array", "items": _TEXT},
        "more_columns": _NUMBER,
    },
    "required": ["name", "uri", "type", "module", "kind"],
}
_COLUMN = {"type": "object", "properties": {"name": _TEXT, "dtype": _TEXT}, "required": ["name", "dtype"]}
_INSPECTED = {
    **_VARIABLE,
    "properties": {**_VARIABLE["properties"], "notebook": _TEXT, "columns": {"type": "array", "items": _COLUMN}},
    "required": ["notebook", *_VARIABLE["required"]],
}
_LIST = {
    "type": "object",
    "properties": {
        "notebook": _TEXT,
        "variables": {"type": "array", "items": _VARIABLE},
        "total": _NUMBER,
        "hidden": {"type": "integer", "description": "how many are not shown because they look like secrets"},
        "cursor": {"type": "string", "description": "give it to get what comes next"},
    },
    "required": ["notebook", "variables", "total", "hidden"],
}
_PIECE = {
    "type": "object",
    "properties": {
        "notebook": _TEXT,
        "name": _TEXT,
        "uri": _TEXT,
        "mimeType": _TEXT,
        "text": {"type": "string", "description": "the piece; left out for pictures and bytes, which are content"},
        "cursor": {"type": "string", "description": "give it to get what comes next"},
        "note": _TEXT,
    },
    "required": ["notebook", "name", "uri", "mimeType"],
}


def register(book: NotebookServer) -> None:
    """Add them to the notebook's server."""
    for function, title, output in (*_lists(book), *_pieces(book)):
        book.server.add_tool(
            book.addressed(function), title=title, annotations=READING, output_schema=output, structured=True
        )


def _lists(book: NotebookServer) -> list[tuple[Callable[..., Any], str, dict[str, Any]]]:
    async def list_variables(notebook: str, cursor: str | None = None, limit: int = LISTED) -> ToolResult:
        """List the notebook's variables: name, type, shape, size. No values; nothing is run.

        Args:
            notebook: which notebook.
            cursor: of the page before, to go on.
            limit: how many on a page.
        """
        return ToolResult(structured=await listed(book, cursor=cursor, limit=limit))

    async def search_variables(notebook: str, query: str, cursor: str | None = None, limit: int = LISTED) -> ToolResult:
        """Find variables by a text in their name, their type or the names of their columns.

        Args:
            notebook: which notebook.
            query: the text; upper and lower case are the same.
            cursor: of the page before, to go on.
            limit: how many on a page.
        """
        return ToolResult(structured=await listed(book, search=query, cursor=cursor, limit=limit))

    return [
        (list_variables, "List variables", _LIST),
        (search_variables, "Search variables", _LIST),
    ]


def _pieces(book: NotebookServer) -> list[tuple[Callable[..., Any], str, dict[str, Any]]]:
    async def inspect_variable(notebook: str, name: str) -> ToolResult:
        """Say what a variable is, without its values: type, shape, columns with their types, memory.

        Args:
            notebook: which notebook.
            name: of the variable.
        """
        with _as_tool_error():
            found = await book.summary(name)
        data = {"notebook": book.slug, "name": name, "uri": book.address(name), **found.data()}
        return ToolResult(structured=data)

    async def read_variable(
        notebook: str,
        name: str,
        rows: str | None = None,
        columns: list[str] | None = None,
        path: str | None = None,
        format: str | None = None,
        cursor: str | None = None,
        max_bytes: int = MAX_BYTES,
        deep: bool = False,
    ) -> ToolResult:
        """Read a bounded piece of a variable; a cursor says that there is more.

        Args:
            notebook: which notebook.
            name: of the variable.
            rows: a slice of rows, items or characters: "0:50", "100:", "-10:".
            columns: of a table, in the order wanted.
            path: a way into the object: a.b[3]["key"].
            format: text/csv, application/json, text/markdown, image/png or text/plain.
            cursor: of the piece before; everything else may be left out then.
            max_bytes: how much to return at most.
            deep: also work out nulls, lengths and memory, which may take long.
        """
        chosen = tuple(columns) if columns else None
        wanted = Wanted(rows, chosen, path, format, cursor, max_bytes, deep)
        with _as_tool_error():
            found = await book.view(name, wanted)
        return _piece(book, name, found)

    return [
        (inspect_variable, "Inspect a variable", _INSPECTED),
        (read_variable, "Read a variable", _PIECE),
    ]


@contextmanager
def _as_tool_error() -> Generator[None]:
    """What is not there is for the model to read, and no fault of ours."""
    try:
        yield
    except NotFound as error:
        raise ToolError(f"{error}. list_variables says what there is.") from None


def _piece(book: NotebookServer, name: str, found: View) -> ToolResult:
    about = {"notebook": book.slug, "name": name, "uri": book.address(name), "mimeType": found.mime_type}
    about |= {key: value for key, value in (("cursor", found.cursor), ("note", found.note)) if value}
    if found.blob is None:
        text = text_of(found)
        return ToolResult(content=text, structured={**about, "text": text})
    if found.mime_type.startswith("image/"):
        return ToolResult(content=Image(found.blob, found.mime_type), structured=about)
    return ToolResult(content=Embedded(about["uri"], found.blob, found.mime_type), structured=about)
