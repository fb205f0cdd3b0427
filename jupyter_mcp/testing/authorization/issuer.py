"""`authorization_server`: one that listens on loopback for the length of an `async with`."""

from __future__ import annotations

import secrets
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tornado.httpserver import HTTPServer

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server.authorization import IntrospectionVerifier, JwtVerifier
from jupyter_mcp.testing.authorization.book import Book
from jupyter_mcp.testing.authorization.handlers import application
from jupyter_mcp.testing.authorization.records import Rules
from jupyter_mcp.testing.authorization.registering import GRANTS, METHODS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.server.authorization import Verifier
    from jupyter_mcp.testing.authorization.records import Wish


class AuthorizationServer:
    """An authorization server. Made by `authorization_server`.

    Attributes:
        issuer: its URL.
        rules: how it behaves; may be changed at any time.
        book: what it knows: clients, codes, tokens.
        subject: the person who sits before its page.
        seen: the requests that came ("POST /token"), without anything secret.
        resource_secrets: the ids and secrets by which resource servers ask about tokens.
    """

    def __init__(self, issuer: str, rules: Rules, subject: str = "ada") -> None:
        self.issuer = issuer
        self.rules = rules
        self.book = Book(issuer, rules)
        self.subject = subject
        self.seen: list[str] = []
        self.resource_secrets: dict[str, str] = {}
        self._asked: dict[str, Wish] = {}

    def __repr__(self) -> str:
        return f"<AuthorizationServer {self.issuer}: {len(self.book.clients)} clients>"

    def metadata(self) -> dict[str, Any]:
        """What it says of itself (RFC 8414), with what the rules put over it."""
        rules, issuer = self.rules, self.issuer
        found: dict[str, Any] = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "introspection_endpoint": f"{issuer}/introspect",
            "revocation_endpoint": f"{issuer}/revoke",
            "revocation_endpoint_auth_methods_supported": list(METHODS),
            "response_types_supported": ["code"],
            "grant_types_supported": list(GRANTS),
            "token_endpoint_auth_methods_supported": list(METHODS),
            "scopes_supported": list(rules.scopes),
        }
        if rules.signed:
            found["jwks_uri"] = f"{issuer}/keys"
        if rules.registration:
            found["registration_endpoint"] = f"{issuer}/register"
        if rules.pkce:
            found["code_challenge_methods_supported"] = ["S256"]
        if rules.client_id_documents:
            found["client_id_metadata_document_supported"] = True
        if rules.iss != "unsupported":
            found["authorization_response_iss_parameter_supported"] = True
        if rules.refresh == "offline_access":
            found["scopes_supported"].append("offline_access")
        found |= rules.metadata
        return {key: value for key, value in found.items() if value is not None}

    def verifier(self, *, kept: float = 0.0) -> Verifier:
        """A verifier for a server that is to be protected: it asks here over HTTP, or reads the keys here.

        Args:
            kept: seconds for which an answer about a token is kept.

        Tokens are issued for servers whose URL is in `book.resources`.
        """
        if self.rules.signed:
            return JwtVerifier(self.issuer)
        id, secret = f"resource-{len(self.resource_secrets) + 1}", secrets.token_urlsafe(24)
        self.resource_secrets[id] = secret
        self.book.issued.add(secret)
        return IntrospectionVerifier(
            self.issuer, f"{self.issuer}/introspect", client_id=id, client_secret=secret, kept=kept
        )

    # --- the page

    def ask(self, wish: Wish) -> str:
        """A page is shown; what its form brings back."""
        request = secrets.token_urlsafe(24)
        self._asked[request] = wish
        return request

    def asked(self, request: str) -> Wish | None:
        """What the page was about, once."""
        return self._asked.pop(request, None)


@asynccontextmanager
async def authorization_server(
    *, rules: Rules | None = None, path: str = "", subject: str = "ada", port: int = 0
) -> AsyncGenerator[AuthorizationServer]:
    """Listen on 127.0.0.1 for the length of an `async with`.

    Args:
        rules: how it behaves.
        path: of the issuer, below the origin ("/tenant"): clients must then look at other well-known addresses.
        subject: the person who sits before its page.
        port: where to listen; 0 takes a free one.

    Raises:
        UsageError: a path that cannot be one.
    """
    if path and (not path.startswith("/") or path.endswith("/")):
        raise UsageError("The path of an issuer begins with a slash and does not end with one.")
    listening = socket.create_server(("127.0.0.1", port))
    listening.setblocking(False)
    issuer = f"http://127.0.0.1:{listening.getsockname()[1]}{path}"
    server = AuthorizationServer(issuer, rules or Rules(), subject)
    http = HTTPServer(application(server), max_body_size=2**20)
    http.add_socket(listening)
    try:
        yield server
    finally:
        http.stop()
        await http.close_all_connections()
