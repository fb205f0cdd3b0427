"""One HTTP request: which era does it speak, and who answers it.

`EndpointMixin` needs nothing but the interface of tornado's `RequestHandler`, so that it can stand before another one
(`class Handler(EndpointMixin, JupyterHandler)`, decorated with `tornado.web.stream_request_body`). After what `guarded`
checks come media types, then JSON, then what `inbound` says.

Above: `endpoint`. Source of the statuses: spec 2026-07-28 and 2025-11-25 "Streamable HTTP".
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from tornado.web import RequestHandler, stream_request_body

from jupyter_mcp.protocol import forwarded, headers, inbound, jsonrpc, modern
from jupyter_mcp.protocol.inbound import Rejection, Route
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError
from jupyter_mcp.server.http.guard import Refusal
from jupyter_mcp.server.http.guarded import Guarded
from jupyter_mcp.server.http.streams import Nowhere, Stream, accepts
from jupyter_mcp.server.session import modern_exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.server.http.endpoint import Endpoint
    from jupyter_mcp.server.http.sessions import HttpSession
    from jupyter_mcp.server.ways import Outgoing

MODERN_STATUS = {
    jsonrpc.PARSE_ERROR: 400,
    jsonrpc.INVALID_REQUEST: 400,
    jsonrpc.INVALID_PARAMS: 400,
    jsonrpc.HEADER_MISMATCH: 400,
    jsonrpc.MISSING_CLIENT_CAPABILITY: 400,
    jsonrpc.UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_NOWHERE = Nowhere()


class EndpointMixin(Guarded):
    """Streamable HTTP, both eras at one URL."""

    def initialize(self, endpoint: Endpoint) -> None:
        """tornado's: what the rule gives."""
        super().initialize(endpoint)
        self._stream: Stream | None = None
        self._session: HttpSession | None = None
        self._timer: asyncio.TimerHandle | None = None

    # --- POST

    def post(self) -> None:
        """One message, or a batch."""
        if self.refused() or not self.post_media():
            return
        json, events = accepts(self.request.headers.get_list("Accept"))
        if not (json or events):
            self.plain(406, "Accept application/json and text/event-stream.")
            return
        message = self.read_message()
        if message is None:
            return
        self._route(message, json and (self.endpoint.json or not events), events)
        if (stream := self._stream) is not None and not self.response.over:
            self._timer = asyncio.get_running_loop().call_later(self.endpoint.patience, stream.open)
            self.answer_later()

    def _route(self, message: Any, json: bool, events: bool) -> None:
        if isinstance(message, list):
            self._batch(cast("list[Any]", message), json, events)
            return
        kind = jsonrpc.kind(message)
        if kind == "invalid":
            self.invalid(message)
        elif kind == "request" and self._means_another_life(message):
            text = f"{self.endpoint.server.name} was started anew: what it knew is gone. Ask again to go on with it."
            self.reply(200, jsonrpc.error(message["id"], INTERNAL_ERROR, text))
        elif self._is_modern(message):
            self._stateless(message, kind, json, events)
        else:
            self._in_session(message, kind, json, events)

    def _means_another_life(self, message: Mapping[str, Any]) -> bool:
        said, life = self.request.headers.get(forwarded.LIFE), self.endpoint.life
        refused = forwarded.is_of_another_life(said, life, message.get("method"))
        if said is not None and life and (refused or not forwarded.is_another(said, life)):
            self.set_header(forwarded.LIFE, life)  # else the client would pass for told, and has not been
        return refused

    def _is_modern(self, message: Mapping[str, Any]) -> bool:
        if not self.endpoint.modern:
            return False
        if modern.is_enveloped(message) or not self.endpoint.legacy:
            return True
        said = self.request.headers.get_list(headers.VERSION)
        return any(one in self.endpoint.modern for one in said) and message.get("method") != "initialize"

    # --- POST, modern: one exchange, nothing remembered

    def _stateless(self, message: dict[str, Any], kind: str, json: bool, events: bool) -> None:
        if kind == "notification":
            self.response.accept()
            return
        if kind != "request":
            if jsonrpc.is_bare(message):
                self.invalid(message)
                return
            self.reply(400, jsonrpc.error(None, INVALID_REQUEST, "Invalid request: clients send no responses"))
            return
        routed = self._route_modern(message)
        if isinstance(routed, Rejection):
            self.reply(MODERN_STATUS.get(routed.code, 200), routed.reply())
            return
        assert isinstance(routed, Route) and routed.id is not None
        listens = routed.method == "subscriptions/listen"
        if listens and not events:
            self.plain(406, "subscriptions/listen is answered by a stream: accept text/event-stream.")
            return
        if listens:
            self.end_with_token()
        stream = self._stream = Stream(self.response, json=json, events=events, status=MODERN_STATUS)
        self.endpoint.work.start(stream, modern_exchange(routed, routed.id, stream, self.principal), stream)

    def _route_modern(self, message: dict[str, Any]) -> Route | Rejection:
        endpoint = self.endpoint
        if not isinstance(modern.read_envelope(message), RpcError):
            get_all = self.request.headers.get_list
            mismatch = headers.check(get_all, message, endpoint.param_headers(message))
            if mismatch is not None:
                return Rejection(message["id"], mismatch.code, mismatch.message, mismatch.data)
        routed = inbound.route(message, locked="modern", initialized=False, server=endpoint.server.facts)
        assert not isinstance(routed, inbound.Ignore)
        return routed

    # --- POST, legacy: a session

    def _in_session(self, message: dict[str, Any], kind: str, json: bool, events: bool) -> None:
        begins = kind == "request" and message["method"] == "initialize"
        if begins and not self.request.headers.get_list(headers.SESSION):
            session = self._begin_session(message)
        else:
            session = self._find_session(message.get("id") if kind == "request" else None)
        if session is None:
            return
        if kind == "request" and session.full:
            self.plain(503, "This session has no room for another request now.")
        elif kind == "request":
            stream = self._open_stream(session, json, events)
            if begins:
                stream.status, stream.on_answer = MODERN_STATUS, self._began
            session.session.take(message, stream)
        elif session.session.is_broken(message):
            self.invalid(message)
        else:
            session.session.take(message, _NOWHERE)
            self.response.accept()

    def _batch(self, messages: list[Any], json: bool, events: bool) -> None:
        session = self._find_session(None)
        if session is None:
            return
        if session.full:
            self.plain(503, "This session has no room for another request now.")
            return
        stream = self._open_stream(session, json, events)
        if session.session.take_batch(messages, stream) == 0:
            self.response.accept()
            stream.end()

    def _open_stream(self, session: HttpSession, json: bool, events: bool) -> Stream:
        self._session = session
        self._stream = session.stream(self.response, json=json, events=events)
        return self._stream

    def _begin_session(self, message: Mapping[str, Any]) -> HttpSession | None:
        session = self.endpoint.sessions.begin(self.principal)
        if session is None:
            self.plain(503, "This server has no room for another session now.")
        else:
            self.set_header(headers.SESSION, session.id)
        return session

    def _began(self, answer: Outgoing) -> None:
        """The answer to initialize is about to go out: without a handshake there is no session."""
        session = self._session
        if session is not None and session.session.revision is None:
            self.clear_header(headers.SESSION)
            self.endpoint.sessions.end(session)

    def _find_session(self, id_: object) -> HttpSession | None:
        """The session that the headers name; without one, the request has its answer."""
        given = self.request.headers.get_list(headers.SESSION)
        answer_to = id_ if type(id_) is int or type(id_) is str else None
        if len(given) != 1:
            text = "Invalid request: send initialize first, then its Mcp-Session-Id with every request"
            if self.endpoint.modern:
                text += "; or the modern envelope in params._meta"
            self.reply(400, jsonrpc.error(answer_to, INVALID_REQUEST, text))
            return None
        session = self.endpoint.sessions.find(given[0].strip(), self.principal)
        if session is None:
            self.reply(404, jsonrpc.error(answer_to, INVALID_REQUEST, "Session not found: send initialize again"))
            return None
        versions = self.request.headers.get_list(headers.VERSION)
        if len(versions) > 1 or (versions and versions[0].strip() not in self.endpoint.legacy):
            shown = ", ".join(versions)[:60]
            text = f"Unsupported MCP-Protocol-Version: {shown!r}; spoken: {', '.join(self.endpoint.legacy)}"
            self.reply(400, jsonrpc.error(answer_to, INVALID_REQUEST, text))
            return None
        return session

    # --- GET and DELETE, legacy

    def get(self) -> None:
        """The stream of what belongs to no request, or of one that was interrupted."""
        if self.refused() or self._without_session():
            return
        if not accepts(self.request.headers.get_list("Accept"))[1]:
            self.plain(406, "Accept text/event-stream.")
            return
        session = self._find_session(None)
        if session is None:
            return
        self._session = session
        self.end_with_token()
        self._stream = session.attach(self.response, self.request.headers.get(headers.LAST_EVENT_ID))
        if self._stream is None:
            text = "Invalid request: this Last-Event-ID names no stream that is still kept"
            self.reply(400, jsonrpc.error(None, INVALID_REQUEST, text))
        else:
            self.answer_later()

    def delete(self) -> None:
        """The end of a session."""
        if self.refused() or self._without_session():
            return
        session = self._find_session(None)
        if session is not None:
            self.endpoint.sessions.end(session)
            self.set_status(200)
            self.clear_header("Content-Type")
            self.response.finish(None)

    def _without_session(self) -> bool:
        """The modern era has POST only; so has a client that names no session and no legacy revision."""
        said = self.request.headers.get_list(headers.VERSION)
        legacy = bool(self.endpoint.legacy) and not any(one in self.endpoint.modern for one in said)
        if legacy and (said or self.request.headers.get_list(headers.SESSION)):
            return False
        self.plain(405, "This is an endpoint of the Model Context Protocol; it is used by POST.")
        return True

    # --- the end

    def on_finish(self) -> None:
        """The response is complete."""
        super().on_finish()
        self._stop_timer()
        if self._session is not None and self._stream is not None:
            self._session.settled(self._stream)

    def on_connection_close(self) -> None:
        """The client is gone: that cancels a stateless request, and only interrupts one of a session."""
        super().on_connection_close()
        self._stop_timer()
        stream = self._stream
        if stream is not None:
            stream.detach(self.response)
            if self._session is None:
                self.endpoint.work.cancel(stream)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@stream_request_body
class EndpointHandler(EndpointMixin, RequestHandler):
    """The handler of an endpoint that stands for itself."""

    def check_xsrf_cookie(self) -> None:
        """No cookie is looked at here, so none can be abused."""

    def set_default_headers(self) -> None:
        """tornado's name and version are nobody's business."""
        self.clear_header("Server")


@stream_request_body
class NowhereHandler(Guarded, RequestHandler):
    """Every address that is none of an endpoint's: 404 to anybody, and no byte of a body is kept."""

    def _judge(self) -> None:
        self._refusal = Refusal(404, "There is nothing at this address.")

    def _answer(self) -> None:
        self.refused()

    get = head = post = put = patch = delete = options = _answer

    def check_xsrf_cookie(self) -> None:
        """No cookie is looked at here, so none can be abused."""

    def set_default_headers(self) -> None:
        """tornado's name and version are nobody's business."""
        self.clear_header("Server")
