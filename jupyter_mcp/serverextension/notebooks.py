"""`GET jupyter-mcp/api/notebooks`: the kernels of this Jupyter Server, which of them are served, and where."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web

from jupyter_mcp.serverextension.languages import language_of

if TYPE_CHECKING:
    from jupyter_mcp.serverextension.endpoints import Endpoints, Standing

__all__ = ["KERNELS", "NotebooksHandler"]

KERNELS = "jupyter-mcp/kernels"
LOOK_SECONDS = 2.0  # for each kernel, at the same time; one that has not loaded the extension says nothing


class NotebooksHandler(APIHandler):
    """Lists them.

    Args:
        endpoints: of this Jupyter Server.
    """

    auth_resource = "kernels"

    def initialize(self, endpoints: Endpoints) -> None:
        """Called by tornado."""
        self._endpoints = endpoints

    @web.authenticated
    @authorized(action="read")  # pyright: ignore[reportUntypedFunctionDecorator]
    async def get(self) -> None:
        """`{"notebooks": [{"kernel_id", "path", "name", "language", "state", "address", "hint"}]}`, by path."""
        managers: Any = self  # what it manages is untyped
        sessions: list[dict[str, Any]] = await ensure_async(managers.session_manager.list_sessions())
        paths = {one["kernel"]["id"]: str(one.get("path") or "") for one in sessions if one.get("kernel")}
        kernels: list[dict[str, Any]] = await ensure_async(managers.kernel_manager.list_kernels())
        found = await asyncio.gather(*(self._look(one) for one in kernels))
        rows = [self._row(one, paths, *looked) for one, looked in zip(kernels, found, strict=True)]
        self.finish({"notebooks": sorted(rows, key=lambda row: (row["path"], row["kernel_id"]))})

    async def _look(self, kernel: dict[str, Any]) -> tuple[Standing, str]:
        """How it is with a kernel, and its language."""
        language = await language_of(self.kernel_spec_manager, str(kernel.get("name") or ""))
        return await self._endpoints.look(str(kernel["id"]), LOOK_SECONDS), language

    def _row(self, kernel: dict[str, Any], paths: dict[str, str], standing: Standing, language: str) -> dict[str, Any]:
        kernel_id = str(kernel["id"])
        served = standing.state == "served"
        return {
            "kernel_id": kernel_id,
            "path": paths.get(kernel_id, ""),
            "name": standing.name,
            "language": language,
            "state": standing.state,
            "address": url_path_join(self.base_url, KERNELS, kernel_id) if served else "",
            "hint": standing.hint,
        }
