"""The token endpoint: how it learns who we are, what it gives, what its refusals mean. A flow.

Source: RFC 6749 sections 2.3, 4.1.3, 5 and 6; RFC 7523; RFC 8707; RFC 9449 section 5; RFC 7009 (revocation).
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jupyter_mcp.client.auth.failing import failed, json_object, refused, said
from jupyter_mcp.client.auth.steps import Request
from jupyter_mcp.client.auth.store import Client, Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.client.auth.dpop import DpopKey
    from jupyter_mcp.client.auth.steps import Flow, Response

__all__ = ["Asking", "ask", "refreshed", "traded_code"]

STEP = "the token request"
REFRESH_STEP = "renewing the token"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_LONGEST_TOKEN = 65_536
_LONGEST_LIFE = 100 * 365 * 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks which token endpoint.

    Attributes:
        endpoint: its URL.
        issuer: whose it is.
        client: who we are there.
        now: seconds since 1970.
        dpop: binds the tokens to this key; None binds them to none.
        private_key, algorithm: for clients that sign (see `OAuthSettings`).
    """

    endpoint: str
    issuer: str
    client: Client
    now: float
    dpop: DpopKey | None = None
    private_key: str | None = None
    algorithm: str | None = None

    def __repr__(self) -> str:
        return f"<Asking {self.endpoint}>"


def traded_code(
    asking: Asking, code: str, verifier: str, redirect_uri: str, resource: str, scopes: Sequence[str]
) -> Flow[Tokens]:
    """Tokens for an authorization code."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
        "resource": resource,
    }
    return ask(asking, form, scopes)


def refreshed(asking: Asking, tokens: Tokens, resource: str) -> Flow[Tokens]:
    """Tokens for a refresh token; the old one stays when no new one is given."""
    assert tokens.refresh is not None
    form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh, "resource": resource}
    fresh = yield from ask(asking, form, tokens.scopes, step=REFRESH_STEP)
    if fresh.refresh is not None:
        return fresh
    return Tokens(fresh.access, fresh.kind, tokens.refresh, fresh.expires_at, fresh.scopes)


def ask(asking: Asking, form: Mapping[str, str], scopes: Sequence[str], step: str = STEP) -> Flow[Tokens]:
    """Ask for tokens; once more when only the nonce of the proof was missing.

    Args:
        form: without what says who we are.
        scopes: what is granted if the answer does not say otherwise.

    Raises:
        AuthorizationFailed: the error that it answered is in `said`.
    """
    request = _request(asking, form, step)
    response: Response = yield request
    if asking.dpop is not None and _wants_nonce(response):
        asking.dpop.learn(asking.endpoint, response.headers["dpop-nonce"])
        request = _request(asking, form, step)
        response = yield request
    if asking.dpop is not None and (nonce := response.headers.get("dpop-nonce")):
        asking.dpop.learn(asking.endpoint, nonce)
    if response.status != 200:
        raise refused(request, response)
    return _read(request, response, asking, scopes)


def _wants_nonce(response: Response) -> bool:
    document = json_object(response) if response.status in (400, 401) else None
    named = document is not None and document.get("error") == "use_dpop_nonce"
    return named and bool(response.headers.get("dpop-nonce"))


def _request(asking: Asking, form: Mapping[str, str], step: str) -> Request:
    fields, headers = identified(asking, dict(form))
    if asking.dpop is not None:
        headers["DPoP"] = asking.dpop.proof("POST", asking.endpoint, asking.now)
    return Request.form(step, asking.endpoint, fields, headers, asking.client.secret)


def identified(asking: Asking, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The form and the headers that say who we are."""
    client = asking.client
    if client.auth_method == "private_key_jwt":
        from jupyter_mcp.client.auth.signing import client_assertion

        assertion = client_assertion(client.id, asking.issuer, asking.private_key, asking.algorithm, asking.now)
        signed = {"client_id": client.id, "client_assertion_type": ASSERTION, "client_assertion": assertion}
        return form | signed, {}
    if client.secret is None or client.auth_method == "none":
        return form | {"client_id": client.id}, {}
    if client.auth_method == "client_secret_post":
        return form | {"client_id": client.id, "client_secret": client.secret}, {}
    pair = f"{quote(client.id, safe='')}:{quote(client.secret, safe='')}"
    return form, {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def _read(request: Request, response: Response, asking: Asking, scopes: Sequence[str]) -> Tokens:
    document = json_object(response)
    if document is None:
        raise failed(request.step, request.url, "did not answer with a JSON object")
    access: object = document.get("access_token")
    if not isinstance(access, str) or not 0 < len(access) <= _LONGEST_TOKEN or not _sendable(access):
        raise failed(request.step, request.url, "gave no access token that could be sent")
    kind = _kind(document, request, asking)
    refresh: object = document.get("refresh_token")
    granted: object = document.get("scope")
    return Tokens(
        access,
        kind,
        refresh if isinstance(refresh, str) and 0 < len(refresh) <= _LONGEST_TOKEN else None,
        _ends(document.get("expires_in"), asking.now),
        tuple(dict.fromkeys(granted.split())) if isinstance(granted, str) else tuple(scopes),
    )


def _sendable(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _kind(document: dict[str, Any], request: Request, asking: Asking) -> str:
    said_kind: object = document.get("token_type")
    kind = said_kind.lower() if isinstance(said_kind, str) else ""
    wanted = "Bearer" if asking.dpop is None else "DPoP"
    if kind == wanted.lower():
        return wanted
    if asking.dpop is not None and kind == "bearer":
        raise failed(request.step, request.url, "gave a token that is not bound to our key (it does not know DPoP)")
    raise failed(request.step, request.url, "gave a token of a kind that was not asked for", said(str(said_kind)))


def _ends(lives: object, now: float) -> float | None:
    """When a token ends, by the seconds that it lives: a number, or one written as text."""
    if isinstance(lives, str) and lives.isdecimal() and len(lives) < 12:
        lives = int(lives)
    if isinstance(lives, bool) or not isinstance(lives, int | float) or not 0 <= lives <= _LONGEST_LIFE:
        return None
    return now + lives


def revoked(asking: Asking, endpoint: str, token: str, hint: str) -> Flow[None]:
    """Give a token back. What is answered does not matter: it is forgotten here in any case."""
    fields, headers = identified(asking, {"token": token, "token_type_hint": hint})
    yield Request.form("giving back the token", endpoint, fields, headers, asking.client.secret)
