"""Where a browser comes back to after a login, when it sees the Jupyter Server and not the machine of the kernel.

The query is handed to the kernel whose login it is, as it came: `state` begins with the kernel's id, and the kernel
takes it only when it waits for just this `state`, once. Only who may run code in that kernel gets that far. The page
shows nothing of what the browser brought.

Source: RFC 6749 section 4.1.2; RFC 9700 section 4.7.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from tornado import web

from jupyter_mcp.client.auth.landing import DONE, GONE, POLICY, PRIVATE, page, state_of
from jupyter_mcp.serverextension.reach import KernelSaidNo, KernelSilent, control

__all__ = ["CALLBACK", "CallbackHandler"]

CALLBACK = "jupyter-mcp/oauth/callback"
_STATE = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{16,}\Z")


class CallbackHandler(JupyterHandler):
    """Takes a browser that comes back."""

    auth_resource = "kernels"

    @web.authenticated
    @authorized(action="execute")  # pyright: ignore[reportUntypedFunctionDecorator]
    async def get(self) -> None:
        """Hand the query on to the kernel that waits for it."""
        query = self.request.query
        kernel_id = _kernel_of(query)
        if kernel_id is None or kernel_id not in self.kernel_manager:
            self._show(HTTPStatus.NOT_FOUND, GONE)
            return
        try:
            found = await control(self.kernel_manager, kernel_id, "oauth", {"query": query})
        except (KernelSilent, KernelSaidNo, KeyError) as reason:
            self.log.warning("a login did not reach its kernel: %s", type(reason).__name__)
            self._show(
                HTTPStatus.BAD_GATEWAY, "The kernel of the notebook does not answer. Begin the login again there."
            )
            return
        if found.get("delivered") is True:
            self._show(HTTPStatus.OK, DONE)
        else:
            self._show(HTTPStatus.NOT_FOUND, GONE)

    def set_default_headers(self) -> None:
        """Nothing is loaded, framed or kept, and no other page learns the address."""
        super().set_default_headers()
        self.set_header("Content-Type", "text/html; charset=utf-8")
        for name, value in PRIVATE.items():
            self.set_header(name, value)

    def _log(self) -> None:
        """Without the query: what Jupyter does not call a success, it logs with all of its address."""
        self.request.uri = self.request.path
        super()._log()

    @property
    def content_security_policy(self) -> str:
        """Of the page."""
        return POLICY

    def _show(self, status: HTTPStatus, text: str) -> None:
        self.set_status(status)
        self.write(page(text, good=status is HTTPStatus.OK))  # pyright: ignore[reportUnknownMemberType]


def _kernel_of(query: str) -> str | None:
    """The kernel that the one `state` of a query names."""
    match = _STATE.match(state_of(query))
    return match[1] if match else None
