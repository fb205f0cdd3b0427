"""Who may use a server over HTTP, when an identity provider says so: the server as an OAuth 2.1 protected resource.

    from jupyter_mcp.server import Server
    from jupyter_mcp.server.authorization import JwtVerifier

    verifier = JwtVerifier("https://login.example.org")
    server.run_http(8000, verifier=verifier, resource="https://notes.example.org/mcp", scopes=["notes:read"])

A `Verifier` says what an access token allows (`Access`), or that it is none. `protection` is what the endpoint has of
it: metadata, challenges, scopes. `jwt` and `introspection` are the two verifiers that providers call for; anything
else with `issuers` and `verify` is one too. No token is issued here, and none is passed on.

Above: `server.http`. Below: `server.access`.
Source: spec 2026-07-28 "Authorization"; RFC 6750, RFC 7662, RFC 8707, RFC 9068, RFC 9728.
"""

from __future__ import annotations

from jupyter_mcp.server.access import Access, Verifier
from jupyter_mcp.server.authorization.introspection import IntrospectionVerifier
from jupyter_mcp.server.authorization.jwt import JwtVerifier

__all__ = ["Access", "IntrospectionVerifier", "JwtVerifier", "Verifier"]
