"""What a person may set about the way to an HTTP server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.protocol.sse import LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.transport.http.authorization import Authorization

MAX_BODY = 256 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How to reach one server; every value as it is used (placeholders filled). A repr shows no secret.

    Attributes:
        headers: sent with every request to the server's own origin, and nowhere else.
        connect_timeout: seconds for the name, the connection and TLS.
        max_event: bytes that one server-sent event may have.
        max_body: bytes that a JSON answer may have, decompressed.
        proxy: URL of a proxy (http, https, socks5), "env" (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY), or None.
        ca: a file or folder of certificates to trust instead of the system's.
        cert: our own certificate (a PEM file that holds the key too), or certificate and key.
        insecure: do not check the server's certificate.
        socket: path of a Unix socket to connect to instead of the URL's host.
        insist: Streamable HTTP only: no look for the older HTTP+SSE.
        authorization: what lets requests in, and answers when the server refuses them; it goes before `headers`.
    """

    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    connect_timeout: float = 10.0
    max_event: int = LIMIT
    max_body: int = MAX_BODY
    proxy: str | None = field(default="env", repr=False)
    ca: str | None = None
    cert: str | tuple[str, str] | None = None
    insecure: bool = False
    socket: str | None = None
    insist: bool = False
    authorization: Authorization | None = field(default=None, repr=False)
