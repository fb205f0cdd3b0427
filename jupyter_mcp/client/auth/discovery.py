"""From a refusal to the authorization server: protected resource metadata, then the server's own. A flow.

    the refusal's `resource_metadata`, else /.well-known/oauth-protected-resource of the path, else of the root
    its issuer: RFC 8414, then OpenID Connect; with a path all three forms
    no such metadata at all: the server itself is the authorization server, as 2025-03-26 has it

RULES

- Metadata of the resource is read on the MCP server's own origin. One that is said to be elsewhere is not fetched.
- Its `resource` is the server's URL, or stands above it. It is then used to the letter.
- An authorization server's `issuer` equals the one we asked about, to the letter. The one exception: in the way of
  2025-03-26, where nobody names an issuer, any of the server's own origin will do.

Source: spec 2025-03-26 … 2026-07-28 "Authorization", RFC 9728 section 3, RFC 8414 section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp.client.auth.addresses import canonical, origin, within
from jupyter_mcp.client.auth.failing import failed, json_object, refused, said
from jupyter_mcp.client.auth.metadata import ResourceMetadata, ServerMetadata, read_resource, read_server
from jupyter_mcp.client.auth.steps import Request
from jupyter_mcp.errors import AuthorizationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_mcp.client.auth.addresses import Reach
    from jupyter_mcp.client.auth.steps import Flow, Response

__all__ = ["Found", "NoLogin", "discover", "resource_places", "server_places"]

RESOURCE = "the server's metadata"
SERVER = "the authorization server's metadata"
_PRM = "/.well-known/oauth-protected-resource"
_OAUTH = "/.well-known/oauth-authorization-server"
_OIDC = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Found:
    """Where to log in.

    Attributes:
        resource: what tokens are asked for (`resource`), to the letter.
        scopes: all that the resource has; None when it does not say.
        dpop_required: the resource takes only tokens that are bound to a key.
        server: the authorization server.
    """

    resource: str
    server: ServerMetadata
    scopes: tuple[str, ...] | None = None
    dpop_required: bool = False


def discover(url: str, reach: Reach, metadata_url: str = "", version: str = "", prefer: str = "") -> Flow[Found]:
    """Find out where to log in.

    Args:
        url: of the MCP server.
        metadata_url: what the refusal said; "" when it said nothing.
        version: protocol version, told to those who may care; "" when none is known.
        prefer: an issuer that is taken when it is among several.

    Raises:
        AuthorizationFailed
    """
    metadata = yield from _resource(url, metadata_url, version)
    if metadata is None:
        server = yield from _without_metadata(url, reach, version)
        return Found(canonical(url), server)
    resource = _checked(metadata, url)
    issuer = _issuer(metadata, url, reach, prefer)
    server = yield from _server(issuer, reach, version)
    return Found(resource, server, metadata.scopes, metadata.dpop_required)


# --- the resource ----------------------------------------------------------------------------------------------------


def resource_places(url: str) -> list[str]:
    """Where a server's metadata is by convention: for its path, then for its root."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return list(dict.fromkeys((f"{origin(url)}{_PRM}{path}{query}", f"{origin(url)}{_PRM}")))


def _resource(url: str, metadata_url: str, version: str) -> Flow[ResourceMetadata | None]:
    """None when there is none. One that the refusal names has to be there, unless it is elsewhere."""
    elsewhere = bool(metadata_url) and not _same_origin(metadata_url, url)
    if metadata_url and not elsewhere:
        request = _get(RESOURCE, metadata_url, version)
        response: Response = yield request
        if response.status != 404:
            return read_resource(_document(request, response))
    for place in resource_places(url):
        request = _get(RESOURCE, place, version)
        response = yield request
        document = json_object(response)
        if response.status == 200 and document is not None:  # a page that is there for any path is none
            return read_resource(document)
    if elsewhere:
        hint = "Its own host has none; ask whoever runs the server, or give a token with --bearer."
        raise failed(RESOURCE, metadata_url, "is not on the host of the MCP server, so it is not asked", hint=hint)
    return None


def _same_origin(one: str, other: str) -> bool:
    try:
        return origin(one) == origin(other) and "@" not in urlsplit(one).netloc
    except ValueError:
        return False


def _checked(metadata: ResourceMetadata, url: str) -> str:
    """The identifier of the resource."""
    resource = metadata.resource
    if resource is None:
        raise failed(RESOURCE, url, "names no resource in its metadata")
    try:
        fits = "#" not in resource and within(url, resource)
    except ValueError:
        fits = False
    if not fits:
        raise failed(RESOURCE, url, "says that it is another resource", said(resource), "It is not logged in to.")
    return resource


def _issuer(metadata: ResourceMetadata, url: str, reach: Reach, prefer: str) -> str:
    if not metadata.authorization_servers:
        raise failed(RESOURCE, url, "names no authorization server", hint="Give a token with --bearer.")
    issuers = metadata.authorization_servers
    issuer = prefer if prefer in issuers else issuers[0]
    reach.check(issuer, RESOURCE, "the authorization server")
    if "?" in issuer:
        raise failed(RESOURCE, url, "names an authorization server that is none", said(issuer))
    return issuer


# --- the authorization server ----------------------------------------------------------------------------------------


def server_places(issuer: str) -> list[str]:
    """Where an authorization server's metadata is, in the order in which it is looked for."""
    path = urlsplit(issuer).path.rstrip("/")
    base = origin(issuer)
    if not path:
        return [base + _OAUTH, base + _OIDC]
    return [base + _OAUTH + path, base + _OIDC + path, base + path + _OIDC]


def _server(issuer: str, reach: Reach, version: str) -> Flow[ServerMetadata]:
    places = server_places(issuer)
    document = yield from _first(places, version)
    if document is None:
        raise failed(SERVER, issuer, f"has none, at any of {len(places)} places")
    server = read_server(document)
    if server.issuer != issuer:
        raise failed(SERVER, issuer, "says that it is another issuer", said(server.issuer or "nobody"))
    return _usable(server, reach)


def _without_metadata(url: str, reach: Reach, version: str) -> Flow[ServerMetadata]:
    """As 2025-03-26 has it: all is on the server's own origin, and where it says nothing at fixed paths."""
    base = origin(url)
    document = yield from _first([base + _OAUTH], version)
    if document is None:
        fixed = (f"{base}/authorize", f"{base}/token", f"{base}/register")
        return ServerMetadata(base, *fixed, pkce_methods=("S256",), assumed=True)
    server = read_server(document)
    if not server.issuer or not _same_origin(server.issuer, base):
        raise failed(SERVER, base, "says that it is another issuer", said(server.issuer or "nobody"))
    return _usable(server, reach)


def _first(places: list[str], version: str) -> Flow[dict[str, Any] | None]:
    """The first that is there. One that broke is told of only when no other is there."""
    broken: AuthorizationFailed | None = None
    for place in places:
        request = _get(SERVER, place, version)
        response: Response = yield request
        document = json_object(response)
        if response.status == 200 and document is not None:
            return document
        if response.status >= 500:
            broken = broken or refused(request, response)
    if broken is not None:
        raise broken
    return None


def _usable(server: ServerMetadata, reach: Reach) -> ServerMetadata:
    """With addresses that may be gone to."""
    for what, url in _addresses(server):
        reach.check(url, SERVER, what)
    if not server.token_endpoint:
        raise failed(SERVER, server.issuer, "names no token endpoint")
    return server


def _addresses(server: ServerMetadata) -> Iterator[tuple[str, str]]:
    named = {
        "the authorization page": server.authorization_endpoint,
        "the token endpoint": server.token_endpoint,
        "the registration endpoint": server.registration_endpoint,
        "the revocation endpoint": server.revocation_endpoint,
    }
    return ((what, url) for what, url in named.items() if url)


def _get(step: str, url: str, version: str) -> Request:
    headers = {"Accept": "application/json"}
    if version:
        headers["MCP-Protocol-Version"] = version
    return Request(step, url, headers=headers)


def _document(request: Request, response: Response) -> dict[str, Any]:
    if response.status != 200:
        raise refused(request, response)
    document = json_object(response)
    if document is None:
        raise failed(request.step, request.url, "did not answer with a JSON object")
    return document


class NoLogin(AuthorizationFailed):
    """A server wants to know who we are, and has no page or endpoint where one could become somebody."""


def nothing_there(url: str) -> NoLogin:
    """The error for it."""
    return NoLogin(
        f"The server wants to know who you are, and {origin(url)} offers no way to log in.",
        step=RESOURCE,
        url=origin(url),
        hint="Give a token with --bearer, or a header with --header.",
    )
