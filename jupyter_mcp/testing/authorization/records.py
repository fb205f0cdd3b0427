"""What an authorization server remembers: rules, clients, requests that wait for a person, codes, tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


class OAuthError(Exception):
    """An error as OAuth writes it (RFC 6749, 5.2).

    Args:
        code: "invalid_grant", "invalid_client" …
        text: for the developer.
        status: of the HTTP answer.
    """

    def __init__(self, code: str, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.status = status


@dataclass
class Rules:
    """How an authorization server behaves. May be changed while it runs.

    Attributes:
        scopes: those it knows; asking for another is `invalid_scope`.
        registration: whether clients may register themselves (RFC 7591).
        client_id_documents: whether a URL may be a client id (CIMD).
        iss: what it puts into its redirects as `iss` (RFC 9207): "right", "wrong" (another issuer), "none" although
            its metadata promises it, or "unsupported": neither.
        pkce: whether its metadata says that it knows S256. It wants S256 in any case.
        refresh: whether it gives refresh tokens to clients that may use them: "always", with "offline_access" only, or
            "never".
        rotate: whether a refresh token is good for one use; one that is used again ends all tokens of its grant.
        signed: whether access tokens are JWTs, which a `JwtVerifier` can check (needs the extra `[auth]`); else only
            the server itself can read them.
        token_seconds: how long an access token is good.
        code_seconds: how long a code is good.
        refuse: an OAuth error code that the token endpoint answers everything with ("" = nothing).
        metadata: put over its metadata: what a malicious one might say; None takes a field away.
    """

    scopes: tuple[str, ...] = ("notes:read", "notes:write")
    registration: bool = True
    client_id_documents: bool = True
    iss: Literal["right", "wrong", "none", "unsupported"] = "right"
    pkce: bool = True
    refresh: Literal["always", "offline_access", "never"] = "always"
    rotate: bool = True
    signed: bool = False
    token_seconds: float = 3600.0
    code_seconds: float = 60.0
    refuse: str = ""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Client:
    """A client that has registered, was registered, or is described by a document at its id.

    Attributes:
        id: its client id.
        secret: "" for a public one.
        name: for people; its own word.
        redirects: where it may send a browser back to.
        method: how it proves itself at the token endpoint.
        grants: the grant types it may use.
        metadata: all that it said of itself.
    """

    id: str
    secret: str = field(repr=False)
    name: str
    redirects: tuple[str, ...]
    method: str
    grants: tuple[str, ...]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True)
class Wish:
    """An authorization request that was found to be in order."""

    client: Client
    redirect: str
    state: str | None = field(repr=False)
    challenge: str = field(repr=False)
    scopes: tuple[str, ...]
    resource: str


@dataclass
class Grant:
    """What a person (or a client for itself) was granted; all tokens of it end together."""

    client: Client
    subject: str
    scopes: tuple[str, ...]
    resource: str
    ended: bool = False


@dataclass
class Code:
    """An authorization code: good once, for a short time, with the verifier of its challenge."""

    wish: Wish
    grant: Grant
    ends: float
    used: bool = False


@dataclass
class Token:
    """An access or a refresh token."""

    grant: Grant
    kind: Literal["access", "refresh"]
    scopes: tuple[str, ...]
    ends: float | None
    used: bool = False
