"""What an access token allows, and who can say so.

Apart from `authorization`, because every request may have one, and most servers need nothing else of that room.
"""

from __future__ import annotations

import hashlib
import json
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Access:
    """What a valid access token says. The token itself is not in it.

    Attributes:
        subject: whom it was issued for (`sub`); a client that acts for itself is its own subject.
        client: the OAuth client that uses it (`client_id`).
        issuer: the authorization server that issued it (`iss`).
        audience: whom it is meant for (`aud`): resources, as their server names them.
        scopes: what it allows.
        expires_at: when it ends, in seconds since 1970; None where the issuer does not say.
        claims: all that the issuer said of it. Not shown in a repr: names and addresses of people are in it.
    """

    subject: str
    client: str = ""
    issuer: str = ""
    audience: tuple[str, ...] = ()
    scopes: frozenset[str] = frozenset()
    expires_at: float | None = None
    claims: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def principal(self) -> str:
        """Who this is to the server: stays the same when the token is refreshed, and says nothing about them."""
        who = json.dumps([self.issuer, self.subject, self.client])
        return hashlib.sha256(b"access" + who.encode()).hexdigest()[:32]

    def is_of(self, users: Collection[str]) -> bool:
        """Whether it was issued for one of them.

        Args:
            users: subjects, or mail addresses that the issuer has verified. What people may choose for themselves
                (a display name, `preferred_username`) is not looked at (OpenID Connect Core, 5.7).
        """
        if self.subject in users:
            return True
        mail = self.claims.get("email")
        return isinstance(mail, str) and mail in users and self.claims.get("email_verified") is True


current: ContextVar[Access | None] = ContextVar("access", default=None)
"""What the HTTP request that is being read allows. An exchange takes it along when it is made (`ctx.access`)."""


class Verifier(Protocol):
    """Says what an access token allows.

    Attributes:
        issuers: the authorization servers whose tokens it takes; clients are told to go there.
    """

    @property
    def issuers(self) -> Sequence[str]: ...

    async def verify(self, token: str) -> Access | None:
        """What the token allows; None when it is not valid: unknown, ended, revoked, or from somebody else.

        Whether it is meant for this server, and allows enough, is looked at by the endpoint.

        Raises:
            ConnectionFailed: the authorization server cannot be asked now (the client hears 503, and tries again).
        """
        ...


def read_scopes(value: object) -> frozenset[str]:
    """Scopes as issuers write them: one string with blanks between (RFC 8693, 4.2), or an array of strings."""
    if isinstance(value, str):
        return frozenset(value.split())
    if isinstance(value, list | tuple):
        return frozenset(one for one in value if isinstance(one, str) and one)  # pyright: ignore[reportUnknownVariableType]
    return frozenset()


def read_audience(value: object) -> tuple[str, ...]:
    """`aud`: one string or an array of them (RFC 7519, 4.1.3)."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        return tuple(one for one in value if isinstance(one, str))  # pyright: ignore[reportUnknownVariableType]
    return ()
