"""The seam between a server over HTTP and whoever may act there: headers before a request, an answer to a 401 or 403.

The wire asks an `Authorization` before it sends anything, and again when the server refuses; how a token is come by
(OAuth, an API key that is read anew) is not known here. While it is come by, requests wait and no clock runs.

Above: `wire`. Implementation: `client.auth`. Source: RFC 9110 section 11, RFC 6750, RFC 9449.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Authorization", "Challenge"]

MOST_ANSWERS = 4
"""So many refusals of one request are answered; a nonce, a token and a wider token make three."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A server's 401 or 403 to one request.

    Attributes:
        status: 401 or 403.
        url: the request went to.
        method: HTTP method of the request.
        www_authenticate: the values of all `WWW-Authenticate` headers, as sent.
        dpop_nonce: the `DPoP-Nonce` header; "" when there was none.
        protocol_version: the `MCP-Protocol-Version` that the request brought; "" when it brought none.
        sent: the `Authorization` header that the request brought; "" when it brought none. Not in the repr.
    """

    status: int
    url: str
    method: str
    www_authenticate: list[str] = field(default_factory=list[str])
    dpop_nonce: str = ""
    protocol_version: str = ""
    sent: str = field(default="", repr=False)


class Authorization(Protocol):
    """What lets requests in. Called on the event loop, possibly for many requests at once."""

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """What a request brings besides (`Authorization`, `DPoP`); empty when nothing is known yet.

        Called once for each request that is sent, also for one that is sent again or redirected.

        Raises:
            MCPError: what is needed cannot be had.
        """
        ...

    async def answer(self, challenge: Challenge) -> bool:
        """The server refused. True: something has changed, send the request once more.

        It may take as long as a person does. False leaves the refusal as it is.

        Raises:
            AuthorizationFailed: the way to a token ended; the request gets this error.
        """
        ...

    def learn(self, url: str, dpop_nonce: str) -> None:
        """A server named the nonce of the next proof in an answer that was no refusal (RFC 9449, 8.2)."""
        ...
