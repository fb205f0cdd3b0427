"""The rules of an authorization server, without HTTP: who registers, what is granted, what a token is good for.

    wish = book.wish(query)                    a request for authorization, checked
    address = book.decide(wish, approve=True)  where the browser goes next, with a code or an error
    answer = book.token(form, client)          what the token endpoint answers
    book.introspect(token), book.revoke(token)

What is wrong before the redirect address is known to be the client's raises `OAuthError`, and the person reads it; what
is wrong after it goes to the client by the redirect (`Refused`).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from jupyter_mcp.server.authorization.urls import same_resource
from jupyter_mcp.testing.authorization.records import Client, Code, Grant, OAuthError, Rules, Token, Wish
from jupyter_mcp.testing.authorization.registering import Registered, same_redirect
from jupyter_mcp.testing.authorization.signing import Signer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Book", "OAuthError", "Refused", "Rules"]

WRONG_ISSUER = "https://another-issuer.example"


class Refused(Exception):
    """A request for authorization that is answered by a redirect.

    Attributes:
        address: where the browser goes.
    """

    def __init__(self, address: str) -> None:
        super().__init__("refused")
        self.address = address


class Book:
    """One authorization server's memory.

    Args:
        issuer: its name in tokens, metadata and redirects.
        rules: how it behaves.

    Attributes:
        resources: the servers it issues tokens for, by their URLs; a token for another one is refused.
        clients: by id.
        signer: signs access tokens, where the rules have it so.
        issued: every secret it ever gave out or was told (codes, tokens, client secrets, verifiers of challenges), for
            tests that look for them where they must not be.
    """

    def __init__(self, issuer: str, rules: Rules) -> None:
        self.issuer = issuer
        self.rules = rules
        self.resources: list[str] = []
        self.clients = Registered(rules)
        self.issued: set[str] = self.clients.issued
        self.signer = Signer()
        self._codes: dict[str, Code] = {}
        self._tokens: dict[str, Token] = {}

    # --- a person is asked

    def wish(self, query: Mapping[str, str], client: Client) -> Wish:
        """A request for authorization, checked.

        Raises:
            OAuthError: the redirect address is not the client's: no redirect may follow.
            Refused: anything else that is wrong.
        """
        redirect = query.get("redirect_uri", "")
        if not any(same_redirect(redirect, own) for own in client.redirects):
            raise OAuthError("invalid_request", "This redirect_uri is not one of the client's.")
        state = query.get("state")
        try:
            scopes = self._scopes(query.get("scope", ""))
            resource = self._resource(query.get("resource", ""))
            challenge = query.get("code_challenge", "")
            if query.get("response_type") != "code":
                raise OAuthError("unsupported_response_type", "Only code is served here.")
            if "authorization_code" not in client.grants:
                raise OAuthError("unauthorized_client", "This client may not use codes.")
            if query.get("code_challenge_method") != "S256" or not 43 <= len(challenge) <= 128:
                raise OAuthError("invalid_request", "PKCE with S256 is needed.")
        except OAuthError as error:
            raise Refused(self._back(redirect, {"error": error.code, "error_description": error.text}, state)) from None
        self.issued.update(one for one in (state,) if one)
        return Wish(client, redirect, state, challenge, scopes, resource)

    def decide(self, wish: Wish, *, approve: bool, subject: str = "ada") -> str:
        """Where the browser goes next: with a code, or with the word that the person said no.

        Args:
            wish: what was asked for.
            approve: the person's decision.
            subject: who the person is.
        """
        if not approve:
            said = {"error": "access_denied", "error_description": "The person said no."}
            return self._back(wish.redirect, said, wish.state)
        code = self._secret("code")
        grant = Grant(wish.client, subject, wish.scopes, wish.resource)
        self._codes[code] = Code(wish, grant, time.time() + self.rules.code_seconds)
        return self._back(wish.redirect, {"code": code}, wish.state)

    def _back(self, redirect: str, said: dict[str, str], state: str | None) -> str:
        iss = {"right": self.issuer, "wrong": WRONG_ISSUER}.get(self.rules.iss)
        given = said | ({"state": state} if state is not None else {}) | ({"iss": iss} if iss else {})
        return redirect + ("&" if urlsplit(redirect).query else "?") + urlencode(given)

    # --- the token endpoint

    def token(self, form: Mapping[str, str], client: Client) -> dict[str, Any]:
        """What the token endpoint answers. Raises OAuthError."""
        if self.rules.refuse:
            raise OAuthError(self.rules.refuse, "This is what the test wants.")
        ways = {
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh,
            "client_credentials": self._for_itself,
        }
        kind = form.get("grant_type", "")
        if kind not in ways:
            raise OAuthError("unsupported_grant_type", f"The grant types are {', '.join(ways)}.")
        if kind not in client.grants:
            raise OAuthError("unauthorized_client", f"This client may not use {kind}.")
        return ways[kind](form, client)

    def _by_code(self, form: Mapping[str, str], client: Client) -> dict[str, Any]:
        code = self._codes.get(form.get("code", ""))
        verifier = form.get("code_verifier", "")
        self.issued.update(one for one in (verifier,) if one)
        if code is None or code.wish.client.id != client.id:
            raise OAuthError("invalid_grant", "There is no such code.")
        if code.used:  # somebody has stolen it: nothing that came of it is good any more (RFC 6749, 4.1.2)
            code.grant.ended = True
            raise OAuthError("invalid_grant", "This code was used before.")
        code.used = True
        if time.time() > code.ends:
            raise OAuthError("invalid_grant", "This code has ended.")
        if form.get("redirect_uri") != code.wish.redirect:
            raise OAuthError("invalid_grant", "The redirect_uri is another one than before.")
        if not hmac.compare_digest(challenge_of(verifier), code.wish.challenge):
            raise OAuthError("invalid_grant", "The code_verifier does not fit the code_challenge.")
        self._same_resource(form, code.grant)
        return self._issue(code.grant, code.grant.scopes)

    def _by_refresh(self, form: Mapping[str, str], client: Client) -> dict[str, Any]:
        token = self._tokens.get(form.get("refresh_token", ""))
        if token is None or token.kind != "refresh" or token.grant.client.id != client.id:
            raise OAuthError("invalid_grant", "There is no such refresh token.")
        if token.used and self.rules.rotate:
            token.grant.ended = True
        if token.grant.ended:
            raise OAuthError("invalid_grant", "This refresh token is not good any more.")
        self._same_resource(form, token.grant)
        wanted = self._scopes(form["scope"]) if form.get("scope") else token.grant.scopes
        if not set(wanted) <= set(token.grant.scopes):
            raise OAuthError("invalid_scope", "A refresh gives no more than was granted.")
        token.used = True
        return self._issue(token.grant, wanted, refresh=self.rules.rotate)

    def _for_itself(self, form: Mapping[str, str], client: Client) -> dict[str, Any]:
        if not client.secret:
            raise OAuthError("unauthorized_client", "A public client cannot act for itself.")
        scopes, resource = self._scopes(form.get("scope", "")), self._resource(form.get("resource", ""))
        return self._issue(Grant(client, client.id, scopes, resource), scopes, refresh=False)

    def _issue(self, grant: Grant, scopes: tuple[str, ...], *, refresh: bool = True) -> dict[str, Any]:
        now, seconds = time.time(), self.rules.token_seconds
        token = Token(grant, "access", scopes, now + seconds)
        access = self.signer.sign(self._said(token)) if self.rules.signed else self._secret("access")
        self.issued.add(access)
        self._tokens[access] = token
        answer: dict[str, Any] = {"access_token": access, "token_type": "Bearer", "expires_in": int(seconds)}
        answer["scope"] = " ".join(scopes)
        allowed = {"always": True, "never": False, "offline_access": "offline_access" in grant.scopes}
        if refresh and allowed[self.rules.refresh] and "refresh_token" in grant.client.grants:
            answer["refresh_token"] = self._secret("refresh")
            self._tokens[answer["refresh_token"]] = Token(grant, "refresh", grant.scopes, None)
        return answer

    # --- tokens that there are

    def introspect(self, token: str) -> dict[str, Any]:
        """What a resource server is told of a token (RFC 7662)."""
        found = self._tokens.get(token)
        if found is None or found.kind != "access" or found.grant.ended or (found.ends or 0) <= time.time():
            return {"active": False}
        return {"active": True, **self._said(found)}

    def _said(self, token: Token) -> dict[str, Any]:
        grant = token.grant
        said = {"iss": self.issuer, "sub": grant.subject, "client_id": grant.client.id, "aud": grant.resource}
        return said | {"scope": " ".join(token.scopes), "exp": token.ends}

    def revoke(self, token: str, client: Client) -> None:
        """End a token; a refresh token ends its whole grant (RFC 7009, 2.1). Another client's stays as it is."""
        found = self._tokens.get(token)
        if found is None or found.grant.client.id != client.id:
            return
        if found.kind == "refresh":
            found.grant.ended = True
        else:
            found.ends = 0.0

    def end_access_tokens(self) -> None:
        """As if their time were over: the next request is answered by 401."""
        for token in self._tokens.values():
            if token.kind == "access":
                token.ends = 0.0

    def end_grants(self) -> None:
        """As if everybody had withdrawn their consent: refresh tokens end too."""
        for token in self._tokens.values():
            token.grant.ended = True

    @property
    def live(self) -> list[str]:
        """The access tokens that are good now."""
        return [token for token in self._tokens if self.introspect(token)["active"]]

    # --- inside

    def _secret(self, kind: str) -> str:
        made = f"{kind}-{secrets.token_urlsafe(24)}"
        self.issued.add(made)
        return made

    def _scopes(self, text: str) -> tuple[str, ...]:
        wanted = tuple(dict.fromkeys(text.split()))
        known = (*self.rules.scopes, "offline_access")
        if unknown := [scope for scope in wanted if scope not in known]:
            raise OAuthError("invalid_scope", f"There is no scope {unknown[0]!r}.")
        return wanted

    def _resource(self, wanted: str) -> str:
        for resource in self.resources:
            if same_resource(wanted, resource):
                return resource
        raise OAuthError("invalid_target", "Tokens are issued for the servers that are known here only (resource).")

    def _same_resource(self, form: Mapping[str, str], grant: Grant) -> None:
        if not same_resource(form.get("resource", ""), grant.resource):
            raise OAuthError("invalid_target", "The resource is another one than was granted.")


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
