"""The protected-resource metadata of an endpoint: what a client without a token reads first (RFC 9728).

Anybody may read it, pages of other origins too; only a request under a foreign name is refused, as everywhere.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from tornado.web import RequestHandler

from jupyter_mcp.server.authorization.protection import WELL_KNOWN, Protection
from jupyter_mcp.server.http.guarded import Guarded

if TYPE_CHECKING:
    from collections.abc import Awaitable


def metadata_pattern(protection: Protection, path: str) -> str:
    """The addresses where clients look: before the resource's path, before our own (a proxy may cut), and the root."""
    paths = dict.fromkeys(("", path.rstrip("/"), urlsplit(protection.resource).path.rstrip("/")))
    return re.escape(WELL_KNOWN) + "(?:" + "|".join(re.escape(one) for one in paths) + ")/?"


class MetadataHandler(Guarded, RequestHandler):
    """One document."""

    allow = "GET, HEAD, OPTIONS"

    def _admit(self) -> Awaitable[None] | None:
        self._refusal = self.endpoint.names.check(self.request.headers.get_list("Host"), ())
        self._refusal = self._refusal or self._check_room()
        self._expect_body()
        return None

    def get(self) -> None:
        """The document."""
        if self.refused():
            return
        protection = cast("Protection", self.endpoint.protection)
        self._let_pages_read()
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "public, max-age=300")
        self.response.finish(json.dumps(protection.metadata()).encode())

    head = get

    def options(self) -> None:
        """A page asks whether it may read it, and say its protocol version while it does."""
        if self.refused():
            return
        self._let_pages_read()
        self.set_header("Access-Control-Allow-Methods", "GET")
        self.set_header("Access-Control-Allow-Headers", "MCP-Protocol-Version")
        self.set_status(204)
        self.clear_header("Content-Type")
        self.response.finish(None)

    def _let_pages_read(self) -> None:
        self.set_header("Access-Control-Allow-Origin", "*")

    def check_xsrf_cookie(self) -> None:
        """No cookie is looked at here, so none can be abused."""

    def set_default_headers(self) -> None:
        """tornado's name and version are nobody's business."""
        self.clear_header("Server")
