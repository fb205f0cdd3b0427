"""The kernels of a Jupyter Server, which of them are served, and where; `GET jupyter-mcp/api/notebooks` lists them."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web

from jupyter_mcp.serverextension.languages import language_of

if TYPE_CHECKING:
    from jupyter_mcp.serverextension.endpoints import Endpoints, State

__all__ = ["KERNELS", "Notebooks", "NotebooksHandler", "Row"]

KERNELS = "jupyter-mcp/kernels"
LOOK_SECONDS = 2.0  # for each kernel, at the same time; one that has not loaded the extension says nothing


@dataclass(frozen=True, slots=True)
class Row:
    """One kernel.

    Attributes:
        kernel_id: by which the Jupyter Server knows it.
        path: of its notebook; "" of a kernel without one.
        name: as which the notebook is served.
        language: of the kernel.
        state: "served", "not served", "silent" (no answer: no extension, or it is just starting) or "gone".
        address: of the MCP endpoint, as a path of this Jupyter Server; "" where there is none.
        hint: what to do, one sentence; "" when it is served.
    """

    kernel_id: str
    path: str
    name: str
    language: str
    state: State
    address: str
    hint: str


class Notebooks:
    """Those of one Jupyter Server.

    Args:
        serverapp: it.
        endpoints: where its kernels are served.
    """

    def __init__(self, serverapp: Any, endpoints: Endpoints) -> None:
        self._app = serverapp
        self._endpoints = endpoints

    async def rows(self, seconds: float = LOOK_SECONDS) -> list[Row]:
        """All of them, by path; each kernel is asked, for at most so long."""
        sessions: list[dict[str, Any]] = await ensure_async(self._app.session_manager.list_sessions())
        paths = {one["kernel"]["id"]: str(one.get("path") or "") for one in sessions if one.get("kernel")}
        kernels: list[dict[str, Any]] = await ensure_async(self._app.kernel_manager.list_kernels())
        rows = await asyncio.gather(*(self._row(one, paths, seconds) for one in kernels))
        return sorted(rows, key=lambda row: (row.path, row.kernel_id))

    async def _row(self, kernel: dict[str, Any], paths: dict[str, str], seconds: float) -> Row:
        kernel_id = str(kernel["id"])
        language = await language_of(self._app.kernel_spec_manager, str(kernel.get("name") or ""))
        standing = await self._endpoints.look(kernel_id, seconds)
        base: str = self._app.web_app.settings["base_url"]
        return Row(
            kernel_id,
            paths.get(kernel_id, ""),
            standing.name,
            language,
            standing.state,
            url_path_join(base, KERNELS, kernel_id) if standing.state == "served" else "",
            standing.hint,
        )


class NotebooksHandler(APIHandler):
    """Lists them.

    Args:
        notebooks: of this Jupyter Server.
    """

    auth_resource = "kernels"

    def initialize(self, notebooks: Notebooks) -> None:
        """Called by tornado."""
        self._notebooks = notebooks

    @web.authenticated
    @authorized(action="read")  # pyright: ignore[reportUntypedFunctionDecorator]
    async def get(self) -> None:
        """`{"notebooks": [{"kernel_id", "path", "name", "language", "state", "address", "hint"}]}`, by path."""
        self.finish({"notebooks": [asdict(row) for row in await self._notebooks.rows()]})
