"""Where a browser comes back to after a login, when it sees the Jupyter Server and not the machine of the kernel.

The query is handed to the kernel whose login it is, as it came: `state` begins with the kernel's id, and the kernel
takes it only when it waits for just this `state`, once. Only who may run code in that kernel gets that far. The page
shows nothing of what the browser brought.

Source: RFC 6749 section 4.1.2; RFC 9700 section 4.7.
"""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from urllib.parse import parse_qsl

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from tornado import web

from jupyter_mcp.serverextension.reach import KernelSaidNo, KernelSilent, control

__all__ = ["CALLBACK", "CallbackHandler"]

CALLBACK = "jupyter-mcp/oauth/callback"
_LONGEST = 16_384  # characters of a query
_STATE = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{16,}\Z")
_PAGE = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    '<meta name="viewport" content="width=device-width"><title>{title}</title></head>'
    '<body style="font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem">'
    '<h1 style="font-size:1.4rem">{title}</h1><p>{text}</p></body></html>'
)
_GONE = "Nobody waits for this login any more. Begin it again in the notebook."


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
            self._show(HTTPStatus.NOT_FOUND, _GONE)
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
            self._show(HTTPStatus.OK, "You can close this tab and go back to the notebook.")
        else:
            self._show(HTTPStatus.NOT_FOUND, _GONE)

    def set_default_headers(self) -> None:
        """Nothing is loaded, framed or kept, and no other page learns the address."""
        super().set_default_headers()
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")

    def _log(self) -> None:
        """Without the query: what Jupyter does not call a success, it logs with all of its address."""
        self.request.uri = self.request.path
        super()._log()

    @property
    def content_security_policy(self) -> str:
        """Of the page."""
        return "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

    def _show(self, status: HTTPStatus, text: str) -> None:
        title = "Back to the notebook" if status is HTTPStatus.OK else "This login is not known here"
        self.set_status(status)
        self.write(_PAGE.format(title=escape(title), text=escape(text)))  # pyright: ignore[reportUnknownMemberType]


def _kernel_of(query: str) -> str | None:
    """The kernel that the one `state` of a query names."""
    if len(query) > _LONGEST:
        return None
    states = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "state"]
    match = _STATE.match(states[0]) if len(states) == 1 else None
    return match[1] if match else None
