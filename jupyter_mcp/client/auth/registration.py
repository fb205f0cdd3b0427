"""Who we are to an authorization server: given, by a document, or registered now. A flow.

    1. a client id that a person gave, for the issuer it belongs to and no other
    2. the one we registered there before, with the same redirect URI
    3. the URL of a document about us, where such are taken
    4. dynamic registration

Source: spec 2025-11-25 and 2026-07-28 "Authorization / Client Registration Approaches"; RFC 7591; OpenID Connect
Dynamic Client Registration 1.0 (`application_type`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp._version import __version__
from jupyter_mcp.client.auth.addresses import Near, near_host
from jupyter_mcp.client.auth.failing import failed, json_object, refused, shown
from jupyter_mcp.client.auth.steps import Request
from jupyter_mcp.client.auth.store import Client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.client.auth.metadata import ServerMetadata
    from jupyter_mcp.client.auth.settings import OAuthSettings
    from jupyter_mcp.client.auth.steps import Flow, Response
    from jupyter_mcp.errors import AuthorizationFailed

__all__ = ["given", "identify"]

STEP = "registration"
CODE, REFRESH = "authorization_code", "refresh_token"
METHODS = ("client_secret_basic", "client_secret_post", "none")
"""Those that need no signature, in the order in which they are preferred for a client that has a secret."""
_NO_WAY = "Ask its operator for a client id and give it with --oauth-client-id, or give a token with --bearer."


def given(settings: OAuthSettings, server: ServerMetadata) -> Client | None:
    """The client that a person gave; None when none was.

    Raises:
        AuthorizationFailed: it belongs to another authorization server.
    """
    if settings.client_id is None:
        return None
    if settings.issuer is not None and settings.issuer != server.issuer:
        hint = f"It belongs to {shown(settings.issuer)}; if the server has moved, ask for a new one."
        raise failed(STEP, server.issuer, "is not the authorization server that the client id was given for", hint=hint)
    return Client(settings.client_id, settings.client_secret, _method_of(settings, server), "given")


def _method_of(settings: OAuthSettings, server: ServerMetadata) -> str:
    if settings.auth_method is not None:
        return settings.auth_method
    if settings.private_key is not None:
        return "private_key_jwt"
    return "none" if settings.client_secret is None else preferred(server.token_methods)


def identify(
    server: ServerMetadata,
    settings: OAuthSettings,
    redirect_uri: str,
    scopes: Sequence[str],
    known: Client | None,
    now: float,
) -> Flow[Client]:
    """Be somebody there.

    Args:
        redirect_uri: where the browser will come back.
        scopes: what will be asked for.
        known: who we were there before.
        now: seconds since 1970.

    Raises:
        AuthorizationFailed
    """
    client = given(settings, server)
    if client is not None:
        return replace(client, redirect_uri=redirect_uri)
    if known is not None and _still_good(known, redirect_uri, now):
        return known
    if settings.document is not None and server.takes_documents:
        return Client(settings.document, None, "none", "document", redirect_uri)
    if not server.registration_endpoint:
        raise failed(STEP, server.issuer, "registers no clients by itself", hint=_NO_WAY)
    return (yield from _register(server, settings, redirect_uri, scopes))


def _still_good(known: Client, redirect_uri: str, now: float) -> bool:
    if known.source != "registered" or known.redirect_uri != redirect_uri:
        return False
    return known.expires_at is None or known.expires_at > now


def _register(
    server: ServerMetadata, settings: OAuthSettings, redirect_uri: str, scopes: Sequence[str]
) -> Flow[Client]:
    request = Request.json(STEP, server.registration_endpoint, about_us(server, settings, redirect_uri, scopes))
    response: Response = yield request
    if response.status not in (200, 201):
        raise refused(request, response, _NO_WAY)
    document = json_object(response)
    if document is None:
        raise failed(STEP, request.url, "did not answer with a JSON object")
    return _read(document, server, request.url, redirect_uri)


def about_us(
    server: ServerMetadata, settings: OAuthSettings, redirect_uri: str, scopes: Sequence[str]
) -> dict[str, Any]:
    """What is registered. The grant of refreshing goes along unless the server says that it has none."""
    grants = [CODE] if server.grants is not None and REFRESH not in server.grants else [CODE, REFRESH]
    document: dict[str, Any] = {
        "client_name": settings.client_name,
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none" if _takes_public(server) else preferred(server.token_methods),
        "application_type": application_type(redirect_uri),
        "software_id": "jupyter_mcp",
        "software_version": __version__,
    }
    return document | ({"scope": " ".join(scopes)} if scopes else {})


def application_type(redirect_uri: str) -> str:
    """ "native" where the browser comes back to this machine, "web" where it comes back to a site."""
    parts = urlsplit(redirect_uri)
    here = parts.scheme in ("http", "https") and near_host(parts.hostname or "") is Near.HERE
    return "native" if here or parts.scheme not in ("http", "https") else "web"


def _takes_public(server: ServerMetadata) -> bool:
    return server.token_methods is None or "none" in server.token_methods


def preferred(methods: Sequence[str] | None) -> str:
    """How a client with a secret shows it. A server that says nothing takes HTTP Basic (RFC 8414, 2)."""
    if methods is None:
        return METHODS[0]
    return next((method for method in METHODS if method in methods), METHODS[0])


def _read(document: dict[str, Any], server: ServerMetadata, url: str, redirect_uri: str) -> Client:
    id_: object = document.get("client_id")
    secret: object = document.get("client_secret")
    said: object = document.get("token_endpoint_auth_method")
    if not isinstance(id_, str) or not id_ or not id_.isprintable():
        raise failed(STEP, url, "gave no client id")
    if not isinstance(secret, str) or not secret:
        return Client(id_, None, "none", "registered", redirect_uri)
    method = said if said in METHODS else preferred(server.token_methods)
    ends: object = document.get("client_secret_expires_at")
    expires_at = float(ends) if isinstance(ends, int | float) and not isinstance(ends, bool) and ends > 0 else None
    return Client(id_, secret, str(method), "registered", redirect_uri, expires_at)


def not_registered(error: AuthorizationFailed) -> bool:
    """Whether a login ended before we were anybody."""
    return error.step == STEP
