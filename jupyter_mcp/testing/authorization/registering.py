"""How an authorization server comes to know its clients: beforehand, by registration, by a document at their id."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from jupyter_mcp.testing.authorization.records import Client, OAuthError, Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

METHODS = ("none", "client_secret_basic", "client_secret_post")
GRANTS = ("authorization_code", "refresh_token", "client_credentials")
_DEFAULT_GRANTS = ("authorization_code",)  # RFC 7591, 2


class Registered:
    """The clients of one authorization server.

    Attributes:
        issued: their secrets.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._clients: dict[str, Client] = {}
        self.issued: set[str] = set()

    def __iter__(self) -> Iterator[Client]:
        return iter(self._clients.values())

    def __len__(self) -> int:
        return len(self._clients)

    def get(self, id: str) -> Client | None:
        """The client of this id, if it is known."""
        return self._clients.get(id)

    def forget(self) -> None:
        """As if the server had lost them: every client id is unknown from now on."""
        self._clients.clear()

    def add(
        self,
        id: str,
        *,
        secret: str = "",
        name: str = "",
        redirects: Sequence[str] = (),
        method: str | None = None,
        grants: Sequence[str] = GRANTS,
    ) -> Client:
        """Register a client beforehand.

        Args:
            id: its client id.
            secret: its secret; "" makes it a public client.
            name: for people.
            redirects: where it may send a browser back to.
            method: how it proves itself: "none", "client_secret_basic" or "client_secret_post".
            grants: the grant types it may use.
        """
        method = method or ("client_secret_basic" if secret else "none")
        return self._keep(Client(id, secret, name or id, tuple(redirects), method, tuple(grants)))

    def register(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """A client registers itself (RFC 7591); what it is told. Raises OAuthError."""
        if not self._rules.registration:
            raise OAuthError("access_denied", "Clients cannot register themselves here.", 403)
        method = str(said.get("token_endpoint_auth_method", "client_secret_basic"))
        secret = "" if method == "none" else f"client-{secrets.token_urlsafe(24)}"
        client = self._keep(self._read(said, f"client-{len(self._clients) + 1}", secret, method))
        answer = {**said, "client_id": client.id, "redirect_uris": list(client.redirects)}
        answer |= {"token_endpoint_auth_method": method, "grant_types": list(client.grants)}
        return answer | ({"client_secret": secret, "client_secret_expires_at": 0} if secret else {})

    def by_document(self, id: str, said: Mapping[str, Any]) -> Client:
        """A client whose id is the URL of this document about it. Raises OAuthError."""
        if said.get("client_id") != id:
            raise OAuthError("invalid_client", "The document at the client id is about another client.")
        return self._keep(self._read(said, id, "", "none"))

    def _read(self, said: Mapping[str, Any], id: str, secret: str, method: str) -> Client:
        redirects = _strings(said.get("redirect_uris"))
        grants = _strings(said.get("grant_types")) or _DEFAULT_GRANTS
        if method not in METHODS or not set(grants) <= set(GRANTS):
            raise OAuthError("invalid_client_metadata", f"Methods are {METHODS}, grant types {GRANTS}.")
        if "authorization_code" in grants and not redirects:
            raise OAuthError("invalid_redirect_uri", "Codes need an address to go to.")
        if wrong := [one for one in redirects if not _may_redirect(one)]:
            raise OAuthError("invalid_redirect_uri", f"{wrong[0][:100]} is neither https nor on the person's machine.")
        return Client(id, secret, str(said.get("client_name", id))[:200], redirects, method, grants, dict(said))

    def _keep(self, client: Client) -> Client:
        self._clients[client.id] = client
        if client.secret:
            self.issued.add(client.secret)
        return client

    # --- who is it

    def prove(self, form: Mapping[str, str], basic: tuple[str, str] | None) -> Client:
        """The client of a request to the token endpoint, by the method it is registered with. Raises OAuthError.

        Args:
            form: of the request.
            basic: id and secret of HTTP Basic, when it was used.
        """
        id, secret = basic or (form.get("client_id", ""), form.get("client_secret", ""))
        way = "client_secret_basic" if basic else "client_secret_post" if secret else "none"
        client = self._clients.get(id)
        if client is None or way != client.method or not hmac.compare_digest(secret.encode(), client.secret.encode()):
            raise OAuthError("invalid_client", "This is no client, or it did not prove it as it said it would.", 401)
        return client


def same_redirect(given: str, registered: str) -> bool:
    """Whether a redirect address is a registered one: letter by letter, but for the port of a loopback address, which a
    client learns only when it listens (RFC 8252, 7.3).
    """
    if given == registered:
        return True
    one, other = urlsplit(given), urlsplit(registered)
    if not (_is_loopback(one.hostname) and one.hostname == other.hostname):
        return False
    return (one.scheme, one.path, one.query, one.fragment) == (other.scheme, other.path, other.query, other.fragment)


def _may_redirect(address: str) -> bool:
    parts = urlsplit(address)
    local = parts.scheme == "http" and _is_loopback(parts.hostname)
    return (local or (parts.scheme == "https" and bool(parts.hostname))) and not parts.fragment


def _is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _strings(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(one for one in items if isinstance(one, str))
