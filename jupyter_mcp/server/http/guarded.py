"""What every handler of an endpoint does first and last: who may speak, how large a body may be, short answers.

The order of the checks: Host, Origin, token, room, size; for a protected resource also what a message asks for. The
body is read after those of the head only, and that of a refused request is thrown away unread. What a POST gets for an
answer is a JSON-RPC error also where the request did not get as far as JSON-RPC (then without its id): many clients
show their users what that says, and of any other body only that there was an error. Whoever reads HTTP only gets a line
of text, and so does who may try again (503) or is nowhere (404).

Above: `handler`, `old_sse`. Below: `guard`, `response`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, cast

from tornado.web import HTTPError, RequestHandler

from jupyter_mcp.protocol import inbound, jsonrpc
from jupyter_mcp.protocol.forwarded import USER, principal_of
from jupyter_mcp.protocol.jsonrpc import INVALID_REQUEST
from jupyter_mcp.server import access
from jupyter_mcp.server.failures import complain
from jupyter_mcp.server.http.guard import Refusal, is_loopback
from jupyter_mcp.server.http.response import Response

if TYPE_CHECKING:
    from jupyter_mcp.server.access import Access
    from jupyter_mcp.server.authorization.protection import Protection
    from jupyter_mcp.server.http.endpoint import Endpoint

    Base = RequestHandler
else:
    Base = object

_SAID_IN_JSON = (400, 401, 403, 413, 421, 431)
MAX_HEAD = 64 * 1024  # bytes of a request's headers
_THROWN_AWAY = 4  # bodies up to so many times the limit are read to their end, so that the answer arrives


class Guarded(Base):
    """What every handler of an endpoint does first and last.

    Attributes:
        allow: the methods it knows.
        principal: who sent the request.
        access: what its access token allows; None when it came without one (its endpoint's own token, or none).
    """

    allow = "POST, GET, DELETE"

    def initialize(self, endpoint: Endpoint) -> None:
        """tornado's: what the rule gives."""
        self.endpoint = endpoint
        self.principal = ""
        self.access: Access | None = None
        self.response = Response(self, endpoint)
        self._refusal: Refusal | None = None
        self._chunks: list[bytes] = []
        self._size = 0
        self._entered = False

    # --- before the body

    def authenticate(self) -> str | None:
        """Who sends this request; None: nobody who may (401). An application with users of its own overrides it."""
        token = self.endpoint.token
        if token is None:
            return "" if _on_loopback(self) else None
        self._refusal = token.check(self.request.headers.get_list("Authorization"))
        return None if self._refusal is not None else principal_of(token.principal, self.request.headers.get(USER))

    def prepare(self) -> Awaitable[None] | None:
        """tornado's: called when the head of the request is there. The body is read when this is done."""
        above = super().prepare()
        if above is not None:
            return self._prepare_after(above)
        return self._admit()

    async def _prepare_after(self, above: Awaitable[None]) -> None:
        await above
        if not self._finished and (admitting := self._admit()) is not None:
            await admitting

    def _admit(self) -> Awaitable[None] | None:
        """Only an access token takes time: its issuer may have to be asked."""
        self._judge()
        if self._refusal is None:
            protection = self.endpoint.protection
            if protection is not None and not self._has_own_token():
                return self._admit_by_access(protection)
            self._enter()
        self._expect_body()
        return None

    async def _admit_by_access(self, protection: Protection) -> None:
        found = await protection.admit(self.request.headers.get_list("Authorization"))
        if self.response.over:  # the client did not wait
            return
        if isinstance(found, Refusal):
            self._refusal = found
        else:
            self.access, self.principal = found, found.principal
            access.current.set(found)  # this request has a task, and so a context, of its own
            self._refusal = self._check_room()
        self._expect_body()

    def _has_own_token(self) -> bool:
        token = self.endpoint.token
        return token is not None and token.check(self.request.headers.get_list("Authorization")) is None

    def _judge(self) -> None:
        """Whether the head of this request can be taken at all: `_refusal` says why not."""
        given = self.request.headers
        self._refusal = self.endpoint.names.check(given.get_list("Host"), given.get_list("Origin"))
        if self._refusal is None and sum(len(name) + len(value) + 4 for name, value in given.get_all()) > MAX_HEAD:
            self._refusal = Refusal(431, f"A request's headers may have {MAX_HEAD} bytes.")

    def _enter(self) -> None:
        principal = self.authenticate()
        if principal is not None:
            self.principal = principal
        elif self._refusal is None:
            self._refusal = Refusal(401, "This request is not authorized.", "Bearer")
        if self._refusal is None:
            self._refusal = self._check_room()

    def _expect_body(self) -> None:
        given = self.request.headers
        if self.request.method == "POST" or "Content-Length" in given or "Transfer-Encoding" in given:
            self.endpoint.expect_body(self)
            self._check_length(given.get("Content-Length", ""))

    def _check_room(self) -> Refusal | None:
        self._entered = self.endpoint.enter()
        return None if self._entered else Refusal(503, "This server has no room for another request now.")

    def _check_length(self, length: str) -> None:
        most = self.endpoint.max_body
        size = int(length) if length.isascii() and length.isdigit() and len(length) < 16 else 0
        if size > most and self._refusal is None:
            self._refusal = self._too_large()
        if self._refusal is not None and (size > _THROWN_AWAY * most or self.request.headers.get("Expect")):
            self._refuse()
        connection: Any = self.request.connection
        connection.set_max_body_size(_THROWN_AWAY * most)

    def _too_large(self) -> Refusal:
        return Refusal(413, f"A request may have {self.endpoint.max_body} bytes.")

    def data_received(self, chunk: bytes) -> None:
        """tornado's: a part of the body."""
        if self._refusal is None:
            self._size += len(chunk)
            self._chunks.append(chunk)
            if self._size > self.endpoint.max_body:
                self._chunks.clear()
                self._refusal = self._too_large()

    def take_body(self) -> bytes:
        """The whole body, once."""
        body = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        return body

    def end_with_token(self) -> None:
        """A response that stays open, to tell of what happens, is good for as long as the token it was opened with."""
        if self.access is not None:
            self.response.good_until = self.access.expires_at

    # --- short answers

    def refused(self) -> bool:
        """Whether this request was refused; it has its answer then."""
        self.endpoint.got_body(self)
        if self._refusal is not None and not self._finished:
            self._refuse()
        return self._refusal is not None

    def _refuse(self) -> None:
        refusal = self._refusal
        assert refusal is not None
        if self.endpoint.on_refused is not None:
            self.endpoint.on_refused(refusal)
        if refusal.challenge:
            self.set_header("WWW-Authenticate", refusal.challenge)
        text = f"{refusal.text} {self.endpoint.token_hint}".rstrip() if refusal.status == 401 else refusal.text
        if self.request.method == "POST" and refusal.status in _SAID_IN_JSON:
            self.reply(refusal.status, jsonrpc.error(None, INVALID_REQUEST, text))
        else:
            self.plain(refusal.status, text)

    def plain(self, status: int, text: str) -> None:
        """An answer for whoever reads HTTP only."""
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        if status == 405:
            self.set_header("Allow", self.allow)
        if status == 503:
            self.set_header("Retry-After", "1")
        self.response.finish(f"{text}\n".encode())

    def reply(self, status: int, message: Mapping[str, Any]) -> None:
        """One JSON-RPC message as the whole answer."""
        self.response.answer(status, jsonrpc.encode(message))

    def post_media(self) -> bool:
        """Whether a POST brings JSON; else it has its answer."""
        kind = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            self.plain(415, "The body of a request must be application/json.")
        elif self.request.headers.get("Content-Encoding", "identity").lower() != "identity":
            self.plain(415, "The body of a request must not be compressed.")
        return not self._finished

    def read_message(self) -> Any:
        """The JSON of the body; None when it has its answer (JSON's null has one too)."""
        try:
            message = jsonrpc.decode(self.take_body())
        except ValueError:
            message = None
            self.reply(400, inbound.parse_failure())
        else:
            if message is None:
                self.invalid(None)
        return None if self._exceeds(message) else message

    def _exceeds(self, message: object) -> bool:
        """Whether the message asks for more than its token allows; it has its answer then."""
        protection = self.endpoint.protection
        if protection is None or self.access is None or message is None:
            return False
        self._refusal = protection.check_messages(self.access, message)
        if self._refusal is not None:
            self._refuse()
        return self._refusal is not None

    def invalid(self, message: object) -> None:
        """The answer to JSON that is no message."""
        id_ = cast("Mapping[str, Any]", message).get("id") if isinstance(message, Mapping) else None
        readable = id_ if type(id_) is int or type(id_) is str else None
        text = "Invalid request: this is not a JSON-RPC message"
        self.reply(400, jsonrpc.error(readable, INVALID_REQUEST, text))

    def answer_later(self) -> None:
        """The response is completed from elsewhere, after the method has returned: no coroutine waits for it."""
        self._auto_finish = False

    # --- the rest of tornado's interface

    def on_finish(self) -> None:
        """The response is complete."""
        self._leave()
        self.response.lost()

    def on_connection_close(self) -> None:
        """The client closed the connection before the response was complete."""
        self._leave()
        self.response.lost()

    def _leave(self) -> None:
        self.endpoint.got_body(self)
        if self._entered:
            self._entered = False
            self.endpoint.leave()

    def compute_etag(self) -> None:
        """Nothing here is cached by HTTP."""

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """A short text instead of a page."""
        self.plain(status_code, "This method is not served here." if status_code == 405 else self._reason)

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """What clients do wrong is no news; what we do wrong is."""
        if value is not None and not isinstance(value, HTTPError):
            complain("a request failed:", value)


def _on_loopback(handler: RequestHandler) -> bool:
    """Whether the request came in on an address of this machine only (or on a Unix socket)."""
    stream: Any = getattr(handler.request.connection, "stream", None)
    try:
        name: Any = stream.socket.getsockname()
    except (AttributeError, OSError):
        return False
    return not isinstance(name, tuple) or is_loopback(str(cast("tuple[Any, ...]", name)[0]))
