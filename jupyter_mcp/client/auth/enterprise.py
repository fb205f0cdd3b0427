"""An organisation decides: its identity provider trades a person's ID token for a grant at the server's. A flow.

    identity provider     token exchange: ID token -> ID-JAG, an assertion for one authorization server
    authorization server  that assertion -> access token

Source: the extension `io.modelcontextprotocol/enterprise-managed-authorization` (SEP-990); RFC 8693, RFC 7523; the
draft on identity assertion authorization grants.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jupyter_mcp.client.auth.failing import failed, json_object, refused, said
from jupyter_mcp.client.auth.steps import Request
from jupyter_mcp.client.auth.store import Client
from jupyter_mcp.client.auth.tokens import ask, identified
from jupyter_mcp.client.auth.workload import JWT_BEARER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.client.auth.steps import Flow, Response
    from jupyter_mcp.client.auth.store import Tokens
    from jupyter_mcp.client.auth.tokens import Asking

__all__ = ["Enterprise"]

STEP = "the identity provider's token exchange"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"  # noqa: S105
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


@dataclass(frozen=True, slots=True)
class Enterprise:
    """The grant; who we are to the server's own authorization server stands in the settings.

    Attributes:
        token_endpoint: of the identity provider. It is a person who names it, not a server.
        id_token: the person's, or a function that gives a fresh one.
        client_id: ours at the identity provider.
        client_secret: that goes with it; None for a public client.
        issuer: of the identity provider; "" when it does not matter (it does for a signature).
    """

    token_endpoint: str
    id_token: str | Callable[[], str] = field(repr=False)
    client_id: str = ""
    client_secret: str | None = field(default=None, repr=False)
    issuer: str = ""

    def tokens(self, asking: Asking, resource: str, scopes: Sequence[str]) -> Flow[Tokens]:
        """Tokens by way of the identity provider. Raises `AuthorizationFailed`."""
        assertion = yield from self._exchanged(asking, resource, scopes)
        form = {"grant_type": JWT_BEARER, "assertion": assertion}
        if scopes:
            form["scope"] = " ".join(scopes)
        return (yield from ask(asking, form, scopes))

    def _exchanged(self, asking: Asking, resource: str, scopes: Sequence[str]) -> Flow[str]:
        form = {
            "grant_type": _EXCHANGE,
            "requested_token_type": _ID_JAG,
            "audience": asking.issuer,
            "resource": resource,
            "subject_token": self.id_token if isinstance(self.id_token, str) else self.id_token(),
            "subject_token_type": _ID_TOKEN,
        }
        if scopes:
            form["scope"] = " ".join(scopes)
        method = "none" if self.client_secret is None else "client_secret_basic"
        us = replace(
            asking,
            endpoint=self.token_endpoint,
            issuer=self.issuer,
            client=Client(self.client_id, self.client_secret, method),
        )
        fields, headers = identified(us, form) if self.client_id else (form, {})
        request = Request.form(STEP, self.token_endpoint, fields, headers, self.client_secret, anywhere=True)
        response: Response = yield request
        if response.status != 200:
            raise refused(request, response)
        return _read(request, response)


def _read(request: Request, response: Response) -> str:
    document = json_object(response) or {}
    kind: object = document.get("issued_token_type")
    assertion: object = document.get("access_token")
    if kind != _ID_JAG:
        raise failed(STEP, request.url, "gave something else than the grant that was asked for", said(str(kind)))
    if not isinstance(assertion, str) or not assertion or not assertion.isascii():
        raise failed(STEP, request.url, "gave no grant")
    return assertion
