"""An OAuth client of a few lines, by hand: what the tests of the authorization server say to it over HTTP."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tornado.httpclient import HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from jupyter_mcp.testing.authorization import AuthorizationServer, Browser
from jupyter_mcp.testing.authorization.book import challenge_of

REDIRECT = "http://127.0.0.1:9/callback"


async def http(url: str, *, form: dict[str, str] | None = None, **options: Any) -> HTTPResponse:
    """One request; no redirect is followed, no status is an error."""
    client = SimpleAsyncHTTPClient(force_instance=True)
    if form is not None:
        options |= {"method": "POST", "body": urlencode(form)}
    try:
        request = HTTPRequest(url, follow_redirects=False, request_timeout=20, **options)
        return await client.fetch(request, raise_error=False)
    finally:
        client.close()


def read(response: HTTPResponse) -> dict[str, Any]:
    """The JSON of an answer."""
    return json.loads(response.body)


@dataclass
class OAuthClient:
    """One client."""

    server: AuthorizationServer
    resource: str
    id: str = ""
    secret: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    async def register(self, **more: Any) -> dict[str, Any]:
        """Register; the answer."""
        said: dict[str, Any] = {
            "client_name": "By hand",
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
            **more,
        }
        answer = await http(f"{self.server.issuer}/register", method="POST", body=json.dumps(said))
        found = read(answer)
        self.id, self.secret = found.get("client_id", ""), found.get("client_secret", "")
        return found

    def address(self, **more: str) -> str:
        """Of the authorization request; "" leaves one out."""
        query = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": REDIRECT,
            "state": self.state,
            "scope": "notes:read",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": self.resource,
            **more,
        }
        return f"{self.server.issuer}/authorize?{urlencode({k: v for k, v in query.items() if v})}"

    async def approve(self, *, press: str = "approve", **more: str) -> dict[str, str]:
        """A person opens the address and presses a button: what comes back by the redirect."""
        return said_by(await Browser(press=press).visit(self.address(**more)))

    async def token(self, **form: str) -> dict[str, Any]:
        """Ask the token endpoint, as the client proves itself."""
        headers: dict[str, str] = {}
        if self.secret:
            given = base64.b64encode(f"{self.id}:{self.secret}".encode()).decode()
            headers["Authorization"] = f"Basic {given}"
        else:
            form["client_id"] = self.id
        return read(await http(f"{self.server.issuer}/token", form=form, headers=headers))

    async def redeem(self, code: str, **more: str) -> dict[str, Any]:
        """A code for tokens."""
        form = {"redirect_uri": REDIRECT, "code_verifier": self.verifier, "resource": self.resource, **more}
        return await self.token(grant_type="authorization_code", code=code, **form)

    async def refresh(self, token: str, **more: str) -> dict[str, Any]:
        """A refresh token for tokens."""
        form = {"resource": self.resource, **more}
        return await self.token(grant_type="refresh_token", refresh_token=token, **form)

    async def enter(self, **more: str) -> dict[str, Any]:
        """All of it: register, approve, redeem."""
        if not self.id:
            await self.register()
        return await self.redeem((await self.approve(**more))["code"])


def said_by(redirect: str) -> dict[str, str]:
    """What the query of a redirect says."""
    return dict(parse_qsl(urlsplit(redirect).query))
