"""The resources of a notebook: variables, the cells that ran, plots, the environment; what completes their addresses.

    notebook://SLUG/variables                     what there is, in short ({?cursor,search} for more)
    notebook://SLUG/variables/NAME{?rows,columns,path,format,cursor}   a bounded piece of one
    notebook://SLUG/history                       the cells that ran
    notebook://SLUG/plots, …/plots/N              pictures, as they were displayed
    notebook://SLUG/environment                   Python, libraries, what the kernel is doing

Everything is read when it is asked for; nothing here waits for the main thread.
"""

from __future__ import annotations

import os
import platform
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, RequestError, ToolError
from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.listing import listed
from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import View, ViewError, Wanted
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS
from jupyter_mcp.server import NotFound
from jupyter_mcp.server.content import contents
from jupyter_mcp.server.paging import Made
from jupyter_mcp.server.values import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.kernel.book import NotebookServer
    from jupyter_mcp.protocol.revisions import Features
    from jupyter_mcp.server.paging import Entry

__all__ = ["CURSOR_KEY", "NOTE_KEY", "register"]

CURSOR_KEY = "jupyter-mcp/cursor"
NOTE_KEY = "jupyter-mcp/note"
FORMATS = ("text/csv", "application/json", "text/markdown", "image/png", "text/plain")
_CELLS = 100
_LONGEST_CELL = 4_000
_MOST_LIBRARIES = 300
_JSON = "application/json"
_KINDS = {"table": "text/csv", "text": "text/plain", "image": "image/png", "figure": "image/png"}


def register(book: NotebookServer) -> None:
    """Add them to the notebook's server."""
    _add_variables(book)
    _add_plots(book)
    _add_about(book)
    _add_completion(book)
    book.server.more_resources(lambda features: _Live(book, features))


def _add_variables(book: NotebookServer) -> None:
    async def variables(search: str = "", cursor: str | None = None) -> dict[str, Any]:
        try:
            return await listed(book, search=search, cursor=cursor)
        except ToolError as error:
            raise _unfit(error) from None

    async def everything() -> dict[str, Any]:
        return await listed(book)

    async def variable(
        name: str,
        rows: str | None = None,
        columns: str | None = None,
        path: str | None = None,
        format: str | None = None,
        cursor: str | None = None,
    ) -> Any:
        wanted = Wanted(rows=rows, columns=split(columns), path=path, format=format, cursor=cursor)
        try:
            found = await book.view(name, wanted)
        except ViewError as error:
            if error.reason == "no such path":
                raise NotFound(str(error)) from None
            raise (_unfit(error) if error.reason == "unsupported" else error) from None
        return [_content(book.address(name), found)]

    add = book.server.add_resource
    add(
        f"{book.uri}/variables",
        everything,
        name="variables",
        title="Variables",
        description="What variables there are: name, type, shape, size. No values.",
        mime_type=_JSON,
    )
    add(
        f"{book.uri}/variables{{?search,cursor}}",
        variables,
        name="variables-search",
        title="Variables, searched or page by page",
        description="Those whose name, type or columns hold the text; the cursor is the one of the page before.",
        mime_type=_JSON,
    )
    add(
        f"{book.uri}/variables/{{name}}{{?rows,columns,path,format,cursor}}",
        variable,
        name="variable",
        title="One variable",
        description="A bounded piece of a variable: rows=0:50, columns=a,b, path=a.b[3], format=text/csv | "
        "application/json | text/markdown | image/png | text/plain. The cursor in _meta goes on.",
    )


def _unfit(error: MCPError) -> RequestError:
    """What was asked for does not fit the object: the client's error, not one of this server."""
    return RequestError(str(error), code=INVALID_PARAMS)


def _content(uri: str, found: View) -> dict[str, Any]:
    """A view as contents of a resource; its cursor and note are beside it."""
    meta = {key: value for key, value in ((CURSOR_KEY, found.cursor), (NOTE_KEY, found.note)) if value}
    piece = contents(uri, found.blob if found.blob is not None else text_of(found), found.mime_type)
    return {**piece, "_meta": meta} if meta else piece


def text_of(found: View) -> str:
    """The text of a view that is no blob."""
    return found.text if found.text is not None else json_text(found.data)


def split(columns: str | None) -> tuple[str, ...] | None:
    """Names separated by commas."""
    names = tuple(name.strip() for name in (columns or "").split(",") if name.strip())
    return names or None


def _add_plots(book: NotebookServer) -> None:
    async def plots() -> dict[str, Any]:
        kept = book.plots.all()
        return {
            "notebook": book.slug,
            "plots": [
                {"number": one.number, "uri": _plot_uri(book, one.number), "cell": one.cell, "mimeType": one.mime_type}
                for one in kept
            ],
        }

    async def plot(number: int) -> Any:
        found = book.plots.get(number)
        if found is None:
            raise NotFound(f"there is no plot {number}; the last ones are in {book.uri}/plots")
        piece = contents(_plot_uri(book, number), found.data, found.mime_type)
        if not found.mime_type.startswith("image/") or found.mime_type == "image/svg+xml":
            piece = contents(_plot_uri(book, number), found.data.decode("utf-8", "replace"), found.mime_type)
        return [piece]

    add = book.server.add_resource
    add(
        f"{book.uri}/plots",
        plots,
        name="plots",
        title="Plots",
        description="The pictures that were displayed last, by number and cell.",
        mime_type=_JSON,
    )
    add(
        f"{book.uri}/plots/{{number}}",
        plot,
        name="plot",
        title="One plot",
        description="A picture as its cell displayed it. Numbers are never used again.",
    )


def _plot_uri(book: NotebookServer, number: int) -> str:
    return f"{book.uri}/plots/{number}"


def _add_about(book: NotebookServer) -> None:
    async def history() -> dict[str, Any]:
        return await book.aside(lambda: _history(book))

    async def environment() -> dict[str, Any]:
        return await book.aside(lambda: _environment(book))

    add = book.server.add_resource
    add(
        f"{book.uri}/history",
        history,
        name="history",
        title="Cells that ran",
        description=f"The last {_CELLS} cells of this session, with their execution counts; secrets are masked.",
        mime_type=_JSON,
    )
    add(
        f"{book.uri}/environment",
        environment,
        name="environment",
        title="Environment",
        description="Python, the libraries that are loaded, the folder, and whether a cell is running.",
        mime_type=_JSON,
    )


def _history(book: NotebookServer) -> dict[str, Any]:
    entered = book.history()
    first = max(1, len(entered) - _CELLS)
    shown = [{"cell": first + place, "code": _cell(code)} for place, code in enumerate(entered[first:])]
    return {"notebook": book.slug, **book.activity(), "cells": shown, "before": first - 1}


def _cell(code: str) -> str:
    short = code if len(code) <= _LONGEST_CELL else code[:_LONGEST_CELL] + "…"
    return str(redact(short))


def _environment(book: NotebookServer) -> dict[str, Any]:
    import IPython

    return {
        "notebook": book.slug,
        "title": book.identity.notebook,
        **book.activity(),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "ipython": IPython.__version__,
        "folder": redact(os.getcwd()),
        "libraries": _libraries(),
        "allows_code": book.choice.allow_code,
    }


def _libraries() -> dict[str, str]:
    """Libraries that are loaded and say their version; no code of theirs is run to ask."""
    found: dict[str, str] = {}
    for name, module in tuple(sys.modules.items()):
        if "." in name or name.startswith("_") or name in sys.stdlib_module_names or type(module) is not ModuleType:
            continue
        version = vars(module).get("__version__")
        if type(version) is str and len(version) < 40:
            found[name] = version
    return dict(sorted(found.items())[:_MOST_LIBRARIES])


# --- what comes and goes ---------------------------------------------------------------------------------------------


class _Live(Made):
    """The variables and plots there are now, as a list of resources; an entry is made when it is looked at."""

    def __init__(self, book: NotebookServer, features: Features) -> None:
        self._book = book
        self._features = features
        self._names = book.exposed().names
        self._plots = book.plots.all()

    def __len__(self) -> int:
        return len(self._names) + len(self._plots)

    def at(self, place: int) -> Entry:
        return self._variable(place) if place < len(self._names) else self._plot(place - len(self._names))

    def _variable(self, place: int) -> Entry:
        name = self._names[place]
        uri = self._book.address(name)
        found = views.summary(self._book.namespace.get(name))
        entry = {"uri": uri, "name": name, "description": found.line(), "mimeType": _KINDS.get(found.kind, _JSON)}
        return uri, ({**entry, "title": f"Variable {name}"} if self._features.titles else entry)

    def _plot(self, place: int) -> Entry:
        plot = self._plots[place]
        uri = _plot_uri(self._book, plot.number)
        title = f"Plot {plot.number}"
        entry = {"uri": uri, "name": f"plot-{plot.number}", "mimeType": plot.mime_type}
        entry["description"] = f"Displayed by cell {plot.cell}."
        return uri, ({**entry, "title": title} if self._features.titles else entry)


# --- completion ------------------------------------------------------------------------------------------------------


def _add_completion(book: NotebookServer) -> None:
    template = f"{book.uri}/variables/{{name}}{{?rows,columns,path,format,cursor}}"
    complete = book.server.completion

    @complete(template, "name")
    async def names(typed: str) -> list[str]:
        return _matching(book.exposed().names, typed)

    @complete(template, "columns")
    async def columns(typed: str, chosen: dict[str, Any]) -> list[str]:
        name = chosen.get("name")
        if not isinstance(name, str):
            return []
        value = book.value(name)
        found = await book.aside(lambda: views.columns(value))
        before, comma, last = typed.rpartition(",")
        return [before + comma + one for one in _matching(found, last)]

    @complete(template, "format")
    async def formats(typed: str) -> list[str]:
        return _matching(FORMATS, typed)

    @complete(template, "rows")
    async def rows(typed: str) -> list[str]:
        return _matching(("0:50", "-10:", "0"), typed)

    @complete(f"{book.uri}/plots/{{number}}", "number")
    async def numbers(typed: str) -> list[str]:
        return _matching([str(one.number) for one in reversed(book.plots.all())], typed)

    del names, columns, formats, rows, numbers  # registered


def _matching(choices: Sequence[str], typed: str) -> list[str]:
    """Those that begin so, then those that hold it."""
    wanted = typed.casefold()
    first = [choice for choice in choices if choice.casefold().startswith(wanted)]
    known = set(first)
    return first + [choice for choice in choices if choice not in known and wanted in choice.casefold()]
