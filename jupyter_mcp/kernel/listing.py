"""Lists of variables: name, type, shape; no values beyond short plain ones, page by page.

A list runs no code of an object, so it answers whatever a notebook holds. Above: `resources`, `tools`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ToolError
from jupyter_mcp.kernel import views
from jupyter_mcp.server.paging import InvalidCursor, Made, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.kernel.book import NotebookServer
    from jupyter_mcp.server.paging import Entry

__all__ = ["MOST_LISTED", "described", "listed"]

LISTED = 200
MOST_LISTED = 10_000
_COLUMNS_SHOWN = 30


async def listed(
    book: NotebookServer, *, search: str = "", cursor: str | None = None, limit: int = LISTED
) -> dict[str, Any]:
    """One page of the variables.

    Args:
        search: only those whose name, type or one of whose columns holds this text.
        cursor: of the page before.
        limit: how many on a page.

    Raises:
        ToolError: the cursor is none of this list.
    """
    return await book.aside(lambda: _listed(book, search.strip().casefold(), cursor, max(1, min(limit, MOST_LISTED))))


def _listed(book: NotebookServer, search: str, cursor: str | None, limit: int) -> dict[str, Any]:
    seen = book.exposed()
    names = [name for name in seen.names if _holds(book, name, search)] if search else seen.names
    try:
        shown, following = page(_Described(book, names), cursor, f"variables {search}", limit)
    except InvalidCursor:
        raise ToolError("This cursor is not one of this list; list from the start.") from None
    found: dict[str, Any] = {"notebook": book.slug, "variables": shown, "total": len(names), "hidden": seen.hidden}
    return found if following is None else {**found, "cursor": following}


def described(book: NotebookServer, name: str, found: views.Summary) -> dict[str, Any]:
    """A variable in a list."""
    data = found.data()
    if found.columns is not None:
        data["columns"] = [column.name for column in found.columns[:_COLUMNS_SHOWN]]
        data.pop("more_columns", None)
        if (more := len(found.columns) - _COLUMNS_SHOWN) > 0:
            data["more_columns"] = more
    return {"name": name, "uri": book.address(name), **data}


def _holds(book: NotebookServer, name: str, search: str) -> bool:
    if search in name.casefold():
        return True
    found = views.summary(book.namespace.get(name))
    words = (found.type, found.module, found.kind, *(column.name for column in found.columns or ()))
    return any(search in word.casefold() for word in words)


class _Described(Made):
    """Names with their descriptions, each made when it is looked at."""

    def __init__(self, book: NotebookServer, names: Sequence[str]) -> None:
        self._book = book
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def at(self, place: int) -> Entry:
        name = self._names[place]
        return name, described(self._book, name, views.summary(self._book.namespace.get(name)))
