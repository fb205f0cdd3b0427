"""The addresses that a Jupyter Server gets, all below `/jupyter-mcp/` and behind its own sign-in.

GET jupyter-mcp/api/status        {"version", "callback"}: is this extension there, and what can it do?
GET jupyter-mcp/oauth/callback    a browser comes back from an authorization server (`callback`)
"""

from __future__ import annotations

from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_mcp._version import __version__
from jupyter_mcp.serverextension.callback import CALLBACK, CallbackHandler

__all__ = ["HANDLERS", "load"]

STATUS = "jupyter-mcp/api/status"


class StatusHandler(APIHandler):
    """Says that it is there."""

    @web.authenticated
    async def get(self) -> None:
        self.finish({"version": __version__, "callback": CALLBACK})


HANDLERS: list[tuple[str, type[web.RequestHandler]]] = [(STATUS, StatusHandler), (CALLBACK, CallbackHandler)]
"""Path below the base URL, and what answers there."""


def load(serverapp: Any) -> None:
    """Add them to a Jupyter Server."""
    base = serverapp.web_app.settings["base_url"]
    serverapp.web_app.add_handlers(".*$", [(url_path_join(base, path), handler) for path, handler in HANDLERS])
    serverapp.log.info("jupyter_mcp %s: logins come back to %s", __version__, url_path_join(base, CALLBACK))
