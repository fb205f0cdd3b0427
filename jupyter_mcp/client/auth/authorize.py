"""A person lets us in: the address of the page, and the answer that the browser brings back. Pure.

RULES

- PKCE with S256, always; an authorization server that does not say that it knows it is not used.
- An answer counts only with our `state`, and with the issuer that we went to: one that names itself has to be it, one
  that said it would name itself has to. That is looked at before anything else in the answer is believed, errors too.

Source: RFC 6749 4.1, RFC 7636, RFC 8707, RFC 9207; spec 2026-07-28 "Authorization / Authorization Response Validation".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from jupyter_mcp.client.auth.failing import failed, said
from jupyter_mcp.client.auth.visit import RedirectParams, VisitRequest, read_redirect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.client.auth.metadata import ServerMetadata
    from jupyter_mcp.errors import AuthorizationFailed

__all__ = ["challenge", "page", "read_answer"]

STEP = "the authorization page"
_LONGEST_CODE = 4096


def challenge(verifier: str) -> str:
    """The code challenge of a verifier (RFC 7636, 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode("ascii")).digest()).rstrip(b"=").decode()


def check_page(server: ServerMetadata) -> None:
    """Raises `AuthorizationFailed` when the server's page is not to be used."""
    if not server.authorization_endpoint:
        raise failed(STEP, server.issuer, "has no page where a person could log in")
    if server.pkce_methods is None or "S256" not in server.pkce_methods:
        known = ", ".join(server.pkce_methods or ()) or "none"
        hint = "Without it a code could be used by whoever sees it, so it is not logged in to."
        raise failed(STEP, server.issuer, "does not say that it knows PKCE with S256", said(f"it names {known}"), hint)


def page(
    server: ServerMetadata,
    *,
    name: str,
    client_id: str,
    redirect_uri: str,
    state: str,
    verifier: str,
    resource: str,
    scopes: Sequence[str],
    key_thumbprint: str = "",
) -> VisitRequest:
    """The page to visit.

    Args:
        name: of the MCP server.
        verifier: for PKCE; only its digest goes into the address.
        resource: that the token is for.
        key_thumbprint: of the key that the code is bound to (RFC 9449, 10); "" when it is bound to none.
    """
    fields = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge(verifier),
        "code_challenge_method": "S256",
        "resource": resource,
    }
    if scopes:
        fields["scope"] = " ".join(scopes)
    if "offline_access" in scopes:
        fields["prompt"] = "consent"  # OpenID Connect grants it on no other condition
    if key_thumbprint:
        fields["dpop_jkt"] = key_thumbprint
    endpoint = server.authorization_endpoint
    url = f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(fields)}"
    return VisitRequest(name, url, server.issuer, tuple(scopes), redirect_uri, state)


def read_answer(answer: RedirectParams | str, asked: VisitRequest, server: ServerMetadata) -> str:
    """The authorization code.

    Args:
        answer: what the browser brought, or the address it came back to.

    Raises:
        AuthorizationFailed: it is no answer to what was asked, somebody else's, or a no.
    """
    if isinstance(answer, str):
        answer = read_redirect(answer, asked.redirect_uri)
    if answer.state is None or not hmac.compare_digest(answer.state.encode(), asked.state.encode()):
        hint = "It may belong to another attempt; log in again."
        raise failed(STEP, asked.authorize_url, "was answered by something else than what was asked", hint=hint)
    _check_issuer(answer.iss, server)
    if answer.error is not None:
        raise _refusal(answer, asked)
    if not answer.code or len(answer.code) > _LONGEST_CODE:
        raise failed(STEP, asked.authorize_url, "was answered without a code")
    return answer.code


def _check_issuer(named: str | None, server: ServerMetadata) -> None:
    """Whoever answers is whoever was asked: character by character, whatever a URL may mean."""
    if named is None and not server.says_issuer:
        return
    if named != server.issuer:
        by = "nobody" if named is None else said(named)
        hint = "The answer may come from another server and is not used."
        raise failed(STEP, server.issuer, "was asked, and the answer names as its issuer", by, hint)


def _refusal(answer: RedirectParams, asked: VisitRequest) -> AuthorizationFailed:
    error = answer.error or ""
    words = said(error + (f" ({answer.error_description})" if answer.error_description else ""))
    if error != "access_denied":
        return failed(STEP, asked.authorize_url, "answered with an error", words)
    refusal = failed(STEP, asked.authorize_url, "says that access was denied", words)
    refusal.declined = True
    return refusal
