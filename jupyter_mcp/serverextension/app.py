"""The addresses that a Jupyter Server gets, all below `/jupyter-mcp/` and behind its own sign-in.

GET jupyter-mcp/api/status             {"version", "callback"}: is this extension there, and what can it do?
GET jupyter-mcp/api/notebooks          the kernels, which of them are served, at which address (`notebooks`)
jupyter-mcp/kernels/<kernel id>        MCP over Streamable HTTP (`gateway`)
GET jupyter-mcp/oauth/callback         a browser comes back from an authorization server (`callback`)
"""

from __future__ import annotations

from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_mcp._version import __version__
from jupyter_mcp.serverextension.callback import CALLBACK, CallbackHandler
from jupyter_mcp.serverextension.endpoints import Endpoints
from jupyter_mcp.serverextension.gateway import Gateway, KernelHandler
from jupyter_mcp.serverextension.line import Lines
from jupyter_mcp.serverextension.notebooks import KERNELS, Notebooks, NotebooksHandler

__all__ = ["load"]

STATUS, NOTEBOOKS = "jupyter-mcp/api/status", "jupyter-mcp/api/notebooks"
KERNEL = rf"{KERNELS}/([0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})"


class StatusHandler(APIHandler):
    """Says that it is there."""

    @web.authenticated
    async def get(self) -> None:
        """What it can do."""
        self.finish({"version": __version__, "callback": CALLBACK})


def load(serverapp: Any) -> None:
    """Add them to a Jupyter Server."""
    base = serverapp.web_app.settings["base_url"]
    endpoints = Endpoints(serverapp.kernel_manager, serverapp.kernel_spec_manager)
    gateway = Gateway(endpoints, Lines(serverapp.kernel_manager))
    handlers: list[tuple[str, type[web.RequestHandler], dict[str, Any]]] = [
        (STATUS, StatusHandler, {}),
        (NOTEBOOKS, NotebooksHandler, {"notebooks": Notebooks(serverapp, endpoints)}),
        (KERNEL, KernelHandler, {"gateway": gateway}),
        (CALLBACK, CallbackHandler, {}),
    ]
    added = [(url_path_join(base, path), handler, options) for path, handler, options in handlers]
    serverapp.web_app.add_handlers(".*$", added)
    serverapp.log.info("jupyter_mcp %s: served notebooks are at %s", __version__, url_path_join(base, KERNELS))
