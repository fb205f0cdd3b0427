"""Which life of a kernel each client last had to do with, so that none goes on with a restarted one without knowing.

Who a client is, is as much as it says: the user it comes as, its User-Agent, in the modern era what it calls itself.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol.forwarded import UNKNOWN

if TYPE_CHECKING:
    from tornado.httputil import HTTPServerRequest

__all__ = ["Client", "Lives", "client_of", "user_of"]

MOST = 2_000
"""Clients that are remembered; of one that was forgotten no life is known."""
_READ = 2**20  # bytes of a body that is looked into for the client's name
_INFO = "io.modelcontextprotocol/clientInfo"

Client = tuple[str, str, str, str]
"""The kernel's id, the user, the User-Agent, what the client calls itself."""


class Lives:
    """What is known of all clients of one Jupyter Server."""

    def __init__(self) -> None:
        self._known: OrderedDict[Client, str] = OrderedDict()

    def of(self, client: Client) -> str:
        """The life it last had to do with; "?" when that is not known."""
        return self._known.get(client, UNKNOWN)

    def saw(self, client: Client, life: str | None) -> None:
        """It had an answer from this life."""
        if life:
            self._known[client] = life
            self._known.move_to_end(client)
            while len(self._known) > MOST:
                self._known.popitem(last=False)


def user_of(handler: Any) -> str:
    """Who asks; "" where that is anybody who has the server's token (Jupyter makes up another user each time).

    Args:
        handler: a Jupyter Server's, of a request that is signed in.
    """
    user: Any = handler.current_user
    made_up = str(getattr(user, "name", "")).startswith("Anonymous ")
    return "" if made_up else str(getattr(user, "username", None) or "")


def client_of(kernel_id: str, user: str, request: HTTPServerRequest) -> Client:
    """Who sends a request."""
    return (kernel_id, user, request.headers.get("User-Agent", "")[:200], _called(request.body))


def _called(body: bytes) -> str:
    if not (_INFO.encode() in body and len(body) <= _READ):
        return ""
    try:
        info: Any = json.loads(body)["params"]["_meta"][_INFO]
        return "/".join(str(cast("dict[str, Any]", info).get(key, ""))[:80] for key in ("name", "version"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
