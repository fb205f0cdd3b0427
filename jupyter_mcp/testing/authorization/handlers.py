"""The authorization server over HTTP: its addresses, on tornado."""

from __future__ import annotations

import base64
import hmac
import json
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote_plus, urlsplit

from tornado.web import Application, RequestHandler

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.server.authorization.fetching import Asked, fetch
from jupyter_mcp.testing.authorization import pages
from jupyter_mcp.testing.authorization.book import Refused
from jupyter_mcp.testing.authorization.records import Client, OAuthError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.testing.authorization.issuer import AuthorizationServer

WELL_KNOWN = "/.well-known/oauth-authorization-server"
_NO_CONTENT_BUT_STYLE = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def application(server: AuthorizationServer) -> Application:
    """All addresses of an authorization server."""
    path, given = urlsplit(server.issuer).path, {"server": server}
    return Application(
        [
            (WELL_KNOWN + path, Metadata, given),
            (path + "/keys", Keys, given),
            (path + "/register", Register, given),
            (path + "/authorize", Authorize, given),
            (path + "/decision", Decision, given),
            (path + "/token", TokenEndpoint, given),
            (path + "/introspect", Introspect, given),
            (path + "/revoke", Revoke, given),
        ],
        log_function=_unlogged,
        default_handler_class=Nowhere,
        default_handler_args=given,
    )


def _unlogged(handler: RequestHandler) -> None:
    """Requests are not logged: codes and states are in their addresses."""


class Base(RequestHandler):
    """What all of them share: errors as OAuth writes them, nothing cached, every request on record."""

    def initialize(self, server: AuthorizationServer) -> None:
        """tornado's: what the rule gives."""
        self.server = server
        self.book = server.book

    def prepare(self) -> None:
        """tornado's: before the method."""
        self.server.seen.append(f"{self.request.method} {self.request.path}")

    def set_default_headers(self) -> None:
        """Nothing of this is for a cache, a frame or a referrer."""
        self.set_header("Cache-Control", "no-store")
        self.set_header(
            "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        )
        self.set_header("Referrer-Policy", "no-referrer")
        self.clear_header("Server")

    def check_xsrf_cookie(self) -> None:
        """No cookie is looked at here."""

    @property
    def form(self) -> dict[str, str]:
        """What was posted. Raises OAuthError for what stands there twice (RFC 6749, 3.2)."""
        return _single(self.request.body_arguments)

    def answer(self, value: Mapping[str, Any], status: int = 200) -> None:
        """JSON."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.end(json.dumps(value))

    def page(self, text: str, status: int = 200) -> None:
        """HTML."""
        self.set_status(status)
        self.end(text)

    def end(self, text: str) -> None:
        """The whole body."""
        cast("Any", self).finish(text)  # tornado's own annotations are loose

    def client(self) -> Client:
        """Who asks, at an endpoint where clients prove themselves. Raises OAuthError."""
        return self.book.clients.prove(self.form, self.basic())

    def basic(self) -> tuple[str, str] | None:
        """Id and secret of HTTP Basic; None when it was not used. Raises OAuthError."""
        scheme, _, given = self.request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            name, _, secret = base64.b64decode(given, validate=True).decode().partition(":")
        except ValueError:
            raise OAuthError("invalid_client", "This is not HTTP Basic.", 401) from None
        return unquote_plus(name), unquote_plus(secret)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """An error as OAuth writes it; anything else that goes wrong is ours."""
        error = cast("tuple[Any, Any, Any]", kwargs.get("exc_info", (None, None, None)))[1]
        if isinstance(error, OAuthError):
            if error.status == 401:
                self.set_header("WWW-Authenticate", 'Basic realm="token"')
            self.answer({"error": error.code, "error_description": error.text}, error.status)
        else:
            self.answer({"error": "server_error" if status_code >= 500 else "invalid_request"}, status_code)

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """What clients do wrong is no news."""
        if not isinstance(value, OAuthError):
            super().log_exception(typ, value, tb)


class Metadata(Base):
    """What it says of itself (RFC 8414)."""

    def get(self) -> None:
        """The document."""
        self.answer(self.server.metadata())


class Keys(Base):
    """The keys that its tokens are signed with (RFC 7517)."""

    def get(self) -> None:
        """The public halves."""
        self.answer(self.book.signer.keys())


class Register(Base):
    """Dynamic registration (RFC 7591)."""

    def post(self) -> None:
        """A client registers itself."""
        try:
            said = json.loads(self.request.body)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise OAuthError("invalid_client_metadata", "A registration is a JSON object.")
        self.answer(self.book.clients.register(cast("dict[str, Any]", said)), 201)


class Authorize(Base):
    """A person comes here, sent by a client."""

    async def get(self) -> None:
        """The page that asks, or a redirect that says what is wrong."""
        try:
            query = _single(self.request.query_arguments)
            client = await self._client(query.get("client_id", ""))
            wish = self.book.wish(query, client)
        except OAuthError as error:
            self.page(pages.problem(error.text), 400)
        except Refused as refused:
            self.redirect(refused.address)
        else:
            request = self.server.ask(wish)
            action = urlsplit(self.server.issuer).path + "/decision"
            self.page(pages.consent(wish, request=request, action=action, subject=self.server.subject))

    async def _client(self, id: str) -> Client:
        known = self.book.clients.get(id)
        if known is not None:
            return known
        if not self.server.rules.client_id_documents or "/" not in id:
            raise OAuthError("invalid_client", "This client is not known here.")
        try:
            said = await fetch(Asked(id))
        except ConnectionFailed as error:
            raise OAuthError("invalid_client", f"The document about the client: {error}") from None
        return self.book.clients.by_document(id, said)


class Decision(Base):
    """The person has pressed a button of the page."""

    def post(self) -> None:
        """Back to the client. Each page is good for one decision."""
        wish = self.server.asked(self.form.get("request", ""))
        decision = self.form.get("decision")
        if wish is None or decision not in ("approve", "decline"):
            self.page(pages.problem("This page was answered before, or is too old."), 400)
            return
        address = self.book.decide(wish, approve=decision == "approve", subject=self.server.subject)
        self.redirect(address, status=303)


class TokenEndpoint(Base):
    """Codes, refresh tokens and credentials become access tokens."""

    def post(self) -> None:
        """One of the grants."""
        self.answer(self.book.token(self.form, self.client()))


class Introspect(Base):
    """Resource servers ask about tokens (RFC 7662)."""

    def post(self) -> None:
        """What the token is good for. Only resource servers may ask."""
        id, secret = self.basic() or ("", "")
        known = self.server.resource_secrets.get(id)
        if known is None or not hmac.compare_digest(secret.encode(), known.encode()):
            raise OAuthError("invalid_client", "Only resource servers may ask.", 401)
        self.answer(self.book.introspect(self.form.get("token", "")))


class Revoke(Base):
    """A client gives a token back (RFC 7009)."""

    def post(self) -> None:
        """200 in any case: whether there was such a token is nobody's business."""
        self.book.revoke(self.form.get("token", ""), self.client())
        self.answer({})


class Nowhere(Base):
    """Every other address."""

    def prepare(self) -> None:
        """404 to anybody."""
        super().prepare()
        self.answer({"error": "not_found"}, 404)


def _single(arguments: Mapping[str, list[bytes]]) -> dict[str, str]:
    """Each name once. Raises OAuthError."""
    if twice := [name for name, values in arguments.items() if len(values) != 1]:
        raise OAuthError("invalid_request", f"{twice[0]!r} stands there more than once.")
    return {name: values[0].decode("utf-8", "replace") for name, values in arguments.items()}
