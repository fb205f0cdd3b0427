"""One client's talk with the server, whatever carries it: the handshake, its requests, our questions, what it watches.

A pipe has one session for its lifetime, in either era; over HTTP the legacy era has one for each `Mcp-Session-Id`. The
order of things is protocol's (`inbound`, `legacy`), the work on a request is `work`'s, what a method does `dispatch`'s.
Each message comes with the `Way` its answer goes; what belongs to no request goes the session's own way.

Below: `work`. Above: `pipe`, `http.sessions`.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConnectionLost, RequestError
from jupyter_mcp.protocol import inbound, jsonrpc, legacy, listen, modern
from jupyter_mcp.protocol.inbound import Rejection, Route
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, RpcError
from jupyter_mcp.protocol.modern import LOG_LEVELS
from jupyter_mcp.server.exchange import Exchange, Peer
from jupyter_mcp.server.failures import Failure, complain
from jupyter_mcp.server.ways import Batch, Way
from jupyter_mcp.server.work import Own, Work

if TYPE_CHECKING:
    from jupyter_mcp.protocol.revisions import Era
    from jupyter_mcp.server.server import Server
    from jupyter_mcp.transport.base import Message


class Session:
    """What is known of one client, and what runs for it.

    Args:
        server: what it talks to.
        own: the way of what belongs to no request: changes, above all.
        era: what it is locked to from the beginning; None: by its first request.
        principal: who it is to the transport's authentication; "" on a pipe.

    Attributes:
        gone: nobody reads any more; questions fail at once.
    """

    def __init__(self, server: Server, own: Way, *, era: Era | None = None, principal: str = "") -> None:
        self._server = server
        self._way = own
        self._era: Era | None = era
        self._handshake = legacy.ServerSession()
        self._principal = principal
        self._peer: Peer | None = None
        self._asked: dict[Id, asyncio.Future[Mapping[str, Any]]] = {}
        self._ids = itertools.count(1)
        self._watched: set[str] = set()
        self._own: Own = {
            "initialize": self._initialize,
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
        }
        self.work = Work(server)
        self.work.on_change = self._tell_change
        self.gone = False

    @property
    def revision(self) -> str | None:
        """The legacy revision that was negotiated; None before."""
        return self._handshake.revision if self._handshake.phase != "new" else None

    # --- messages

    def take(self, message: Message, way: Way) -> None:
        """One message; its answer goes `way`. No message, however odd, may end the session."""
        try:
            self._take(message, way)
        except Exception as error:
            complain("a message could not be read:", error)
            id_ = message.get("id")
            if "method" in message and (type(id_) is int or type(id_) is str):
                way.post(jsonrpc.error(id_, INTERNAL_ERROR, f"Internal error: {type(error).__name__}"))

    def take_batch(self, messages: Sequence[Any], way: Way) -> int:
        """A batch: answered by ONE array (2025-03-26), refused elsewhere. Returns how many answers it gets."""
        refusal = inbound.route_batch(messages, revision=self.revision)
        if refusal is not None:
            way.post(refusal.reply())
            return 1
        expected = sum(map(self._is_answered, messages))
        batch = Batch(way, expected)
        for message in messages:
            if isinstance(message, dict):
                self.take(cast("Message", message), batch)
            else:
                batch.post(jsonrpc.error(None, INVALID_REQUEST, "Invalid request: this is not a JSON-RPC message"))
        return expected

    def _is_answered(self, message: object) -> bool:
        kind = jsonrpc.kind(message)
        return kind in ("request", "invalid") or (kind == "error" and self.is_broken(cast("Message", message)))

    def is_broken(self, message: Message) -> bool:
        """Whether a message is but an id that nobody asked under: a request without its method."""
        return jsonrpc.is_bare(message) and jsonrpc.match_id(self._asked, message.get("id")) is None

    def _take(self, message: Message, way: Way) -> None:
        if jsonrpc.kind(message) in ("response", "error"):
            if self.is_broken(message):
                way.post(inbound.malformed(message).reply())
            else:
                self._answered(message)
            return
        handshake = self._handshake
        routed = inbound.route(
            message,
            locked=self._era,
            initialized=handshake.phase != "new",
            server=self._server.facts,
            revision=handshake.revision,
        )
        self._era = inbound.lock(routed, self._era)
        if isinstance(routed, Rejection):
            way.post(routed.reply())
        elif isinstance(routed, Route):
            if routed.id is None:
                self._notified(routed)
            elif routed.id in self.work:
                text = "Invalid request: a request with this id is still in flight"
                way.post(jsonrpc.error(routed.id, INVALID_REQUEST, text))
            else:
                self.work.start(routed.id, self._exchange(routed, routed.id, way), way, self._own)

    def _exchange(self, routed: Route, id_: Id, way: Way) -> Exchange:
        if routed.envelope is not None:
            return modern_exchange(routed, id_, way, self._principal)
        peer = self._peer
        if peer is None:
            peer = self._peer = self._new_peer()
        token = modern.meta_of(routed.params).get("progressToken")
        token = token if type(token) is int or type(token) is str else None
        ask = functools.partial(self._ask, way)
        exchange = Exchange(routed.method, routed.params, id_, peer, way.tell, progress_token=token, ask=ask)
        exchange.close_stream = way.close_stream
        return exchange

    def _new_peer(self) -> Peer:
        hand = self._handshake
        ask = functools.partial(self._ask, self._way)
        peer = Peer(hand.revision, hand.capabilities, hand.client_info, self._principal, ask=ask)
        peer.notify = self._way.note
        return peer

    # --- methods that belong to the session

    def _initialize(self, exchange: Exchange) -> dict[str, Any]:
        result = self._handshake.initialize(
            exchange.params,
            versions=self._server.versions,
            capabilities=self._server.capabilities(),
            server_info=self._server.info,
            instructions=self._server.instructions,
        )
        if isinstance(result, RpcError):
            raise Failure(result.code, result.message, result.data)
        self._peer = self._new_peer()
        return result

    def _set_level(self, exchange: Exchange) -> dict[str, Any]:
        level = exchange.params["level"]
        if level not in LOG_LEVELS:
            raise Failure(INVALID_PARAMS, f"Unknown log level {str(level)[:40]!r}; known: {', '.join(LOG_LEVELS)}")
        exchange.peer.log_level = level
        return {}

    def _subscribe(self, exchange: Exchange) -> dict[str, Any]:
        uri: str = exchange.params["uri"]
        if not self._server.dispatcher.readable(uri):
            raise Failure(exchange.features.resource_not_found, f"Resource not found: {uri}", {"uri": uri})
        if uri not in self._watched and len(self._watched) >= listen.MOST_WATCHED:
            raise Failure(INVALID_PARAMS, f"A client may watch {listen.MOST_WATCHED} resources")
        self._watched.add(uri)
        return {}

    def _unsubscribe(self, exchange: Exchange) -> dict[str, Any]:
        self._watched.discard(exchange.params["uri"])
        return {}

    # --- notifications of the client

    def _notified(self, routed: Route) -> None:
        if routed.method == legacy.INITIALIZED:
            self._handshake.initialized()
        elif routed.method == "notifications/cancelled":
            request_id = routed.params.get("requestId")
            if type(request_id) is int or type(request_id) is str:
                self.work.cancel(request_id)

    # --- our questions (legacy)

    async def _ask(self, way: Way, method: str, params: dict[str, Any] | None) -> Mapping[str, Any]:
        """Send the client a request and wait for its bare result. Raises RequestError, ConnectionLost."""
        refusal = self._handshake.may_send(method, params)
        if refusal is not None:
            raise RequestError(refusal.message, code=refusal.code)
        if self.gone:
            raise ConnectionLost("The client is gone.")
        id_ = next(self._ids)
        future: asyncio.Future[Mapping[str, Any]] = self.work.loop.create_future()
        self._asked[id_] = future
        try:
            await way.tell(jsonrpc.request(id_, method, params))
            return await future
        except asyncio.CancelledError:
            note = {"requestId": id_, "reason": "the call that asked was cancelled"}
            way.note(jsonrpc.notification("notifications/cancelled", note))
            raise
        finally:
            self._asked.pop(id_, None)

    def _answered(self, message: Message) -> None:
        key = jsonrpc.match_id(self._asked, message.get("id"))
        future = self._asked.get(key) if key is not None else None
        if future is None or future.done():
            return
        if jsonrpc.kind(message) == "error":
            error = jsonrpc.parse_error(message)
            future.set_exception(RequestError(error.message, code=error.code, data=error.data))
            return
        result = message.get("result")
        future.set_result(cast("Mapping[str, Any]", result) if isinstance(result, Mapping) else {})

    def unanswered(self, request_id: Id, error: Exception) -> None:
        """A question of ours will get no answer."""
        future = self._asked.get(request_id)
        if future is not None and not future.done():
            future.set_exception(error)

    def lose(self) -> None:
        """Nobody reads any more: whoever waits for an answer of the client waits in vain."""
        self.gone = True
        for id_ in list(self._asked):
            self.unanswered(id_, ConnectionLost("The client is gone."))

    # --- what changed (legacy; streams that listen are `work`'s)

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread."""
        self.work.changed(method, params)

    def watched(self) -> set[str]:
        """The URIs whose changes the client asked to hear of. Any thread."""
        return self._watched.copy() | self.work.watched()

    def _tell_change(self, method: str, params: dict[str, Any] | None) -> None:
        if self._handshake.phase == "ready" and self._wanted(params):
            self._way.note(jsonrpc.notification(method, params))

    def _wanted(self, params: Mapping[str, Any] | None) -> bool:
        """List changes go to everyone, a resource's change to those who subscribed to it, a page's to who was asked."""
        if params is None:
            return True
        if "elicitationId" in params:
            return self._peer is not None and self._peer.pages.pop(str(params["elicitationId"]), False)
        uri = str(params.get("uri"))
        return any(uri == one or uri.startswith(one.rstrip("/") + "/") for one in self._watched)


def modern_exchange(routed: Route, id_: Id, way: Way, principal: str) -> Exchange:
    """A stateless request: it brings its own client along."""
    envelope = routed.envelope
    assert envelope is not None
    peer = Peer(routed.revision, envelope.capabilities, envelope.client_info, principal)
    level, token = envelope.log_level, envelope.progress_token
    return Exchange(routed.method, routed.params, id_, peer, way.tell, log_level=level, progress_token=token)
