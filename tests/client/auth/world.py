"""A protected MCP server and its authorization server, in memory: what each URL answers is a test's to say.

    world = World()
    oauth = world.oauth()
    assert await oauth.answer(world.refusal())     # logs in
    world.seen("token")                            # the forms that its token endpoint got

Nothing travels: `World.send` takes the place of the network. Every secret that there was stands in `secrets`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

from jupyter_mcp.client.auth.oauth import OAuth
from jupyter_mcp.client.auth.settings import OAuthSettings
from jupyter_mcp.client.auth.steps import Request, Response
from jupyter_mcp.client.auth.store import MemoryStore
from jupyter_mcp.client.auth.visit import Prepare, Redirect, RedirectParams, VisitRequest
from jupyter_mcp.transport.http.authorization import Challenge

URL = "https://mcp.example.com/mcp"
ISSUER = "https://login.example.com"
CALLBACK = "http://127.0.0.1:7777/callback"
PRM = "https://mcp.example.com/.well-known/oauth-protected-resource"
METADATA = "/.well-known/oauth-authorization-server"

Handler = Callable[[Request], Response]


def answer(value: Any, status: int = 200, **headers: str) -> Response:
    """A JSON answer; `dpop_nonce=` becomes `dpop-nonce`."""
    given = {name.replace("_", "-"): one for name, one in headers.items()}
    return Response(status, {"content-type": "application/json", **given}, json.dumps(value).encode())


def html(text: str = "<html><body>Welcome</body></html>", status: int = 200) -> Response:
    """A page, as servers show for whatever path."""
    return Response(status, {"content-type": "text/html"}, text.encode())


NOT_FOUND = Response(404, {"content-type": "text/plain"}, b"Not Found")


def form_of(request: Request) -> dict[str, str]:
    """A posted form; each field stands there once."""
    pairs = parse_qsl(request.body.decode(), keep_blank_values=True)
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)


@dataclass
class Person:
    """Implements `Visit`: lets us in, unless `says` is something else.

    Attributes:
        says: what the page does; gets the request and gives what comes back.
    """

    world: World
    prepared: list[Prepare] = field(default_factory=list[Prepare])
    visits: list[VisitRequest] = field(default_factory=list[VisitRequest])
    says: Callable[[VisitRequest], RedirectParams | str] | None = None
    redirect: Redirect = field(default_factory=lambda: Redirect(CALLBACK))

    async def prepare(self, context: Prepare) -> Redirect:
        self.prepared.append(context)
        return self.redirect

    async def visit(self, request: VisitRequest) -> RedirectParams | str:
        self.visits.append(request)
        if self.says is not None:
            return self.says(request)
        return f"{request.redirect_uri}?{urlencode(self.world.let_in(request))}"

    def asked(self, index: int = -1) -> dict[str, str]:
        """The query of a page that was visited."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.visits[index].authorize_url).query).items()}


class World:
    """The two servers.

    Args:
        issuer: of the authorization server, as it calls itself.
        metadata: replaces fields of its metadata; None takes one away.
        resource: replaces fields of the resource's metadata.

    Attributes:
        pages: URL -> what it answers, before anything else.
        requests: everything that was asked, in order.
        lifetime: seconds that an access token lives.
        secrets: every secret there was.
    """

    def __init__(self, *, issuer: str = ISSUER, metadata: Any = None, resource: Any = None, url: str = URL) -> None:
        self.url = url
        self.issuer = issuer
        self.now = 1_800_000_000.0
        self.lifetime: float | None = 3600.0
        self.grants_refresh = True
        self.requests: list[Request] = []
        self.secrets: list[str] = []
        self.codes: dict[str, VisitRequest] = {}
        self.store = MemoryStore()
        self.person = Person(self)
        self.trace: list[Any] = []
        self.pages: dict[str, Response | Handler] = {}
        self.clients: dict[str, str | None] = {}
        self.refreshes: dict[str, str] = {}
        self._metadata: dict[str, Any] = metadata or {}
        self._resource: dict[str, Any] = resource or {}
        self._issued = self._registered = 0

    # -- what a test asks for -----------------------------------------------------------------------------------------

    def oauth(self, **settings: Any) -> OAuth:
        """What is tested."""
        return OAuth(
            self.url,
            settings=OAuthSettings(**settings),
            visit=self.person,
            store=self.store,
            name="docs",
            send=self.send,
            clock=lambda: self.now,
            trace=self.trace.append,
        )

    def refusal(self, header: str | None = None, status: int = 401, sent: str = "", **more: Any) -> Challenge:
        """The server's refusal of a request."""
        header = f'Bearer resource_metadata="{PRM}/mcp"' if header is None else header
        return Challenge(status, self.url, "POST", [header] if header else [], sent=sent, **more)

    def seen(self, place: str) -> list[dict[str, str]]:
        """The forms that an endpoint of the authorization server got."""
        return [form_of(request) for request in self.posts(place)]

    def posts(self, place: str) -> list[Request]:
        """What was posted there, whole."""
        return [request for request in self.requests if urlsplit(request.url).path.endswith(f"/{place}")]

    def client(self, id_: str, secret: str | None) -> None:
        """Somebody registered us."""
        self.clients[id_] = secret
        self.secrets += [secret] if secret else []

    # -- the servers --------------------------------------------------------------------------------------------------

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "revocation_endpoint": f"{self.issuer}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
            **self._metadata,
        }
        return {name: value for name, value in found.items() if value is not None}

    @property
    def resource(self) -> dict[str, Any]:
        found: dict[str, Any] = {"resource": self.url, "authorization_servers": [self.issuer], **self._resource}
        return {name: value for name, value in found.items() if value is not None}

    async def send(self, request: Request) -> Response:
        """In place of the network."""
        self.requests.append(request)
        page = self.pages.get(request.url)
        if page is not None:
            return page if isinstance(page, Response) else page(request)
        places: dict[str, Handler] = {
            f"{PRM}/mcp": lambda _: answer(self.resource),
            self.issuer + METADATA: lambda _: answer(self.metadata),
            f"{self.issuer}/register": self._register,
            f"{self.issuer}/token": self._token,
            f"{self.issuer}/revoke": lambda _: Response(200),
        }
        handler = places.get(request.url)
        return NOT_FOUND if handler is None else handler(request)

    def let_in(self, request: VisitRequest) -> dict[str, str]:
        """What the browser brings back when the person approves."""
        code = self._secret("code")
        self.codes[code] = request
        return {"code": code, "state": request.state, "iss": self.issuer}

    def _register(self, request: Request) -> Response:
        document = json.loads(request.body)
        self._registered += 1
        id_ = f"client-{self._registered}"
        method = document["token_endpoint_auth_method"]
        secret = None if method == "none" else self._secret("client-secret")
        self.clients[id_] = secret
        about = {"client_id": id_, "token_endpoint_auth_method": method}
        return answer(about | ({"client_secret": secret} if secret else {}), 201)

    def _token(self, request: Request) -> Response:
        form = form_of(request)
        client = form.get("client_id")
        if header := request.headers.get("Authorization"):
            pair = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
            client, secret = unquote(pair[0]), unquote(pair[2])
            if self.clients.get(client) != secret:
                return answer({"error": "invalid_client"}, 401)
        if client not in self.clients:
            return answer({"error": "invalid_client"}, 401)
        kind = form["grant_type"]
        if kind == "authorization_code":
            return self._for_code(form)
        if kind == "refresh_token":
            scopes = self.refreshes.pop(form["refresh_token"], None)
            return answer({"error": "invalid_grant"}, 400) if scopes is None else self.issue(scopes)
        return self.issue(form.get("scope", ""))

    def _for_code(self, form: dict[str, str]) -> Response:
        visit = self.codes.pop(form["code"], None)
        verifier = form["code_verifier"]
        self.secrets.append(verifier)
        digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {} if visit is None else dict(parse_qsl(urlsplit(visit.authorize_url).query))
        if digest != asked.get("code_challenge") or form["redirect_uri"] != asked["redirect_uri"]:
            return answer({"error": "invalid_grant"}, 400)
        return self.issue(asked.get("scope", ""))

    def issue(self, scopes: str, kind: str = "Bearer") -> Response:
        """Fresh tokens."""
        found: dict[str, Any] = {"access_token": self._secret("access"), "token_type": kind, "scope": scopes}
        if self.lifetime is not None:
            found["expires_in"] = self.lifetime
        if self.grants_refresh:
            found["refresh_token"] = self._secret("refresh")
            self.refreshes[found["refresh_token"]] = scopes
        return answer(found)

    def _secret(self, kind: str) -> str:
        self._issued += 1
        digest = hashlib.sha256(f"{self.issuer}{kind}{self._issued}".encode()).hexdigest()
        secret = f"{kind}-{self._issued}-{digest[:24]}"
        self.secrets.append(secret)
        return secret


async def bearer(oauth: OAuth, url: str = URL) -> str:
    """The `Authorization` that a request would bring; "" when none."""
    return (await oauth.headers("POST", url)).get("Authorization", "")
