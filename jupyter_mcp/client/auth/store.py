"""What is kept of a login, and the seam for where it is kept.

Credentials belong to the authorization server that gave them: its issuer is a part of the key, so that another one,
even one that the same MCP server names later, never sees them. Nothing here writes anything; the host has the places.

Source: spec 2026-07-28 "Authorization / Authorization Server Binding".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Client", "MemoryStore", "StoreKey", "Stored", "TokenStore", "Tokens"]

VERSION = 1


class StoreKey(NamedTuple):
    """Whose credentials, for what.

    Attributes:
        issuer: of the authorization server, to the letter.
        resource: of the MCP server, as tokens are asked for.
        client: name of the server here, so that two entries may be two people.
    """

    issuer: str
    resource: str
    client: str


@dataclass(frozen=True, slots=True)
class Client:
    """Who we are to an authorization server.

    Attributes:
        id: the client id.
        secret: None for a public client.
        auth_method: how the token endpoint learns it ("none", "client_secret_basic", "client_secret_post",
            "private_key_jwt").
        source: "given" by a person, "document" (the id is the URL of one) or "registered" by ourselves.
        redirect_uri: the one it was registered with; "" when that is not known.
        expires_at: seconds since 1970 when the secret ends; None when it does not.
    """

    id: str
    secret: str | None = field(default=None, repr=False)
    auth_method: str = "none"
    source: str = "registered"
    redirect_uri: str = ""
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What lets us in.

    Attributes:
        access: the access token.
        kind: "Bearer" or "DPoP".
        refresh: None when there is none.
        expires_at: seconds since 1970; None when it was not said.
        scopes: what was granted.
    """

    access: str = field(repr=False)
    kind: str = "Bearer"
    refresh: str | None = field(default=None, repr=False)
    expires_at: float | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything about one login.

    Attributes:
        issuer: of the authorization server.
        resource: what the tokens are for.
        client: who we are there.
        tokens: None before the first.
        dpop_key: the private key that the tokens are bound to (JWK as JSON); None when they are bound to none.
        revocation_endpoint: where tokens are given back; "" when nobody takes them.
        token_endpoint: where they are had.
    """

    issuer: str
    resource: str
    client: Client
    tokens: Tokens | None = None
    dpop_key: str | None = field(default=None, repr=False)
    token_endpoint: str = ""
    revocation_endpoint: str = ""

    def as_json(self) -> dict[str, Any]:
        """All of it, secrets too, for a place that keeps them."""
        client, tokens = self.client, self.tokens
        return {
            "version": VERSION,
            "issuer": self.issuer,
            "resource": self.resource,
            "client": {name: getattr(client, name) for name in client.__slots__},
            "tokens": None if tokens is None else {name: getattr(tokens, name) for name in tokens.__slots__},
            "dpop_key": self.dpop_key,
            "token_endpoint": self.token_endpoint,
            "revocation_endpoint": self.revocation_endpoint,
        }

    @classmethod
    def read(cls, value: object) -> Stored | None:
        """What `as_json` made; None for anything else, which counts as nothing kept."""
        try:
            return _read(cast("Mapping[str, Any]", value))
        except (TypeError, KeyError, ValueError, AttributeError):
            return None

    def without_tokens(self) -> Stored:
        """Who we are there, and nothing that lets us in."""
        return replace(self, tokens=None, dpop_key=None)


def _read(value: Mapping[str, Any]) -> Stored:
    if value["version"] != VERSION:
        raise ValueError(value["version"])
    tokens = value["tokens"]
    texts = [value[name] for name in ("issuer", "resource", "token_endpoint", "revocation_endpoint")]
    client = Client(**value["client"])
    found = None if tokens is None else replace(Tokens(**tokens), scopes=tuple(tokens["scopes"]))
    texts += [client.id, *(() if found is None else (found.access, found.kind, *found.scopes))]
    optional = [client.secret, value["dpop_key"], None if found is None else found.refresh]
    if not all(isinstance(text, str) for text in [*texts, *(one for one in optional if one is not None)]):
        raise TypeError
    return Stored(
        value["issuer"],
        value["resource"],
        client,
        found,
        value["dpop_key"],
        value["token_endpoint"],
        value["revocation_endpoint"],
    )


class TokenStore(Protocol):
    """A place that keeps logins. Called on the event loop; it may take its time."""

    async def load(self, key: StoreKey) -> Stored | None:
        """What is kept under the key."""
        ...

    async def save(self, key: StoreKey, stored: Stored) -> None:
        """Keep it, in place of what was there."""
        ...

    async def forget(self, key: StoreKey) -> None:
        """Keep it no more."""
        ...


class MemoryStore:
    """Keeps logins as long as the process lives."""

    def __init__(self) -> None:
        self._kept: dict[StoreKey, Stored] = {}

    async def load(self, key: StoreKey) -> Stored | None:
        return self._kept.get(key)

    async def save(self, key: StoreKey, stored: Stored) -> None:
        self._kept[key] = stored

    async def forget(self, key: StoreKey) -> None:
        self._kept.pop(key, None)
