"""An authorization server and a protected MCP server on loopback, for tests of clients and of servers.

    async with authorization_server() as issuer, protected_server(server, issuer) as url:
        …                                              # connect to `url`: 401, metadata, registration, consent, token
        back = await Browser().visit(address)         # a scripted person approves; `back` is the redirect

`authorization_server` is a real one over real HTTP: metadata, dynamic registration, client id metadata documents, PKCE,
a page with Approve and Decline, refresh tokens that rotate, client credentials, introspection, revocation. It forgets
everything at its end and lets anybody register: it is for tests, and listens on 127.0.0.1 only.
`protected_server` puts any `jupyter_mcp.server.Server` behind it. `InThread` has both on a thread of their own, for
tests that are not asynchronous or block their loop (a notebook); `python -m jupyter_mcp.testing.authorization` has them
in a process, and says on a line of JSON where they are.

The rules of OAuth are in `book` (values, no HTTP), what a browser and a client see of them in `handlers` and `pages`.
Source: RFC 6749, 6750, 7009, 7591, 7636, 7662, 8252, 8414, 8707, 9207; spec 2026-07-28 "Authorization".
"""

from __future__ import annotations

from jupyter_mcp.testing.authorization.browser import Browser
from jupyter_mcp.testing.authorization.issuer import AuthorizationServer, authorization_server
from jupyter_mcp.testing.authorization.protected import InThread, notes, protected_server
from jupyter_mcp.testing.authorization.records import OAuthError, Rules

__all__ = [
    "AuthorizationServer",
    "Browser",
    "InThread",
    "OAuthError",
    "Rules",
    "authorization_server",
    "notes",
    "protected_server",
]
