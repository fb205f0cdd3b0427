"""One client's connection to the server: the handshake, what runs, what was asked, who listens.

It is the `Receiver` of a transport. The order of things is protocol's (`inbound`, `legacy`); what a method does is
`dispatch`'s. Here is only what belongs to a connection: the era its first request locked it to, requests in flight and
their cancelling, our questions in flight, subscriptions of both eras, and a good end.

Below: `dispatch`, `outbox`, a transport. Above: `server`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConnectionLost, LocalProtocolError, RequestError
from jupyter_mcp.protocol import inbound, jsonrpc, legacy, listen, modern
from jupyter_mcp.protocol.inbound import Rejection, Route
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, RpcError
from jupyter_mcp.protocol.modern import LOG_LEVELS
from jupyter_mcp.server.dispatch import Failure, complain
from jupyter_mcp.server.exchange import Exchange, Peer
from jupyter_mcp.server.outbox import Outbox
from jupyter_mcp.server.rounds import NeedInput
from jupyter_mcp.server.ways import Batch, Single, Way

if TYPE_CHECKING:
    from jupyter_mcp.protocol.revisions import Era
    from jupyter_mcp.server.server import Server
    from jupyter_mcp.transport.base import Closed, Message, Noise, Transport

LAST_ANSWERS = 1.0
"""Seconds for calls in flight to answer after the client closed our input (one-shot scripts: `echo … | server`)."""
_LAST_STEPS = 0.5  # seconds for cancelled handlers to clean up


class Session:
    """One connection. `run` opens it and returns when it is over."""

    def __init__(self, server: Server, transport: Transport) -> None:
        self._server = server
        self._transport = transport
        self._outbox = Outbox(transport)
        self._single = Single(self._outbox)
        self._era: Era | None = None
        self._handshake = legacy.ServerSession()
        self._peer: Peer | None = None
        self._running: dict[Id, tuple[asyncio.Task[None], Exchange]] = {}
        self._asked: dict[Id, asyncio.Future[Mapping[str, Any]]] = {}
        self._ids = itertools.count(1)
        self._watched: set[str] = set()
        self._listening: dict[Id, dict[str, Any]] = {}
        self._pending_changes: dict[str, dict[str, Any] | None] = {}
        self._over = asyncio.Event()
        self.loop = asyncio.get_running_loop()

    # --- life

    async def run(self) -> None:
        """Serve until the client is gone or the task is cancelled."""
        await self._transport.open(self)
        try:
            await self._over.wait()
            await self._let_finish()
        except asyncio.CancelledError:
            self._end_listens()
            raise
        finally:
            await self._stop()

    async def _let_finish(self) -> None:
        """A client that closed our input may still read the answers to what it sent."""
        if getattr(self._transport, "answers_after_eof", False):
            if self._running:
                await asyncio.wait([task for task, _ in self._running.values()], timeout=LAST_ANSWERS)
            self._end_listens()

    async def _stop(self) -> None:
        for future in self._asked.values():
            if not future.done():
                future.set_exception(ConnectionLost("The client is gone."))
        tasks = [task for task, _ in self._running.values()]
        for id_ in list(self._running):
            self._cancel(id_)
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_STEPS)
        if not self._outbox.closed:
            try:
                async with asyncio.timeout(LAST_ANSWERS):
                    await self._outbox.flush()
            except TimeoutError:
                pass
        self._outbox.closed = True
        await self._transport.close()

    # --- what a transport calls

    def on_message(self, message: Message, size: int) -> None:
        """One message."""
        self._guarded(message, self._single)

    def on_batch(self, messages: list[Message], size: int) -> None:
        """A batch: answered by ONE array (2025-03-26), refused elsewhere."""
        revision = self._handshake.revision if self._handshake.phase != "new" else None
        refusal = inbound.route_batch(messages, revision=revision)
        if refusal is not None:
            self._outbox.post(refusal.reply())
            return
        batch = Batch(self._outbox, sum(1 for one in messages if jsonrpc.kind(one) in ("request", "invalid")))
        for message in messages:
            self._guarded(message, batch)

    def on_noise(self, noise: Noise) -> None:
        """A line that is no message: told to the sender, as JSON-RPC wants it."""
        if noise.kind == "invalid":
            text = "Invalid request: this is not a JSON-RPC message"
            self._outbox.post(jsonrpc.error(None, INVALID_REQUEST, text))
        else:
            self._outbox.post(inbound.parse_failure())

    def on_stderr(self, line: str) -> None:
        """Clients have no stderr."""

    def on_request_failed(self, request_id: int | str, error: Exception) -> None:
        """A question of ours will get no answer."""
        future = self._asked.get(request_id)
        if future is not None and not future.done():
            future.set_exception(error)

    def on_alive(self, request_id: int | str | None) -> None:
        """Clients send no signs of life."""

    def on_closed(self, closed: Closed) -> None:
        """The client is gone, or has closed our input."""
        if not getattr(self._transport, "answers_after_eof", False):
            self._outbox.closed = True
        for future in self._asked.values():
            if not future.done():
                future.set_exception(ConnectionLost("The client is gone."))
        self._over.set()

    # --- messages

    def _guarded(self, message: Message, way: Way) -> None:
        """No message, however odd, may end the connection."""
        try:
            self._take(message, way)
        except Exception as error:
            complain("a message could not be read:", error)
            id_ = message.get("id")
            if "method" in message and (type(id_) is int or type(id_) is str):
                way.post(jsonrpc.error(id_, INTERNAL_ERROR, f"Internal error: {type(error).__name__}"))

    def _take(self, message: Message, way: Way) -> None:
        if "method" not in message and jsonrpc.kind(message) in ("response", "error"):
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
            elif routed.id in self._running or routed.id in self._listening:
                text = "Invalid request: a request with this id is still in flight"
                way.post(jsonrpc.error(routed.id, INVALID_REQUEST, text))
            else:
                self._start(self._exchange(routed, routed.id), way)

    def _start(self, exchange: Exchange, way: Way) -> None:
        """Begin to answer. What needs no waiting is answered now: a client may send more without waiting either."""
        try:
            answer = self._answer(exchange)
        except Failure as failure:
            answer = _Ready(jsonrpc.error(exchange.id, failure.code, failure.message, failure.data))
        except Exception as error:
            answer = _Ready(_internal(exchange, error))
        if answer is None:
            return
        task = self.loop.create_task(self._serve(exchange, answer, way))
        self._running[exchange.id] = (task, exchange)
        task.add_done_callback(lambda task: self._ended(task, exchange, way))

    def _ended(self, task: asyncio.Task[None], exchange: Exchange, way: Way) -> None:
        self._running.pop(exchange.id, None)
        if exchange.cancelled:
            way.drop()
        if not task.cancelled() and (error := task.exception()) is not None:
            complain(f"{exchange.method} failed:", error)

    def _answer(self, exchange: Exchange) -> Awaitable[dict[str, Any]] | None:
        """The result, or how to wait for it; None when there is nothing to answer (a listen stream). Raises Failure."""
        own = _OWN.get(exchange.method)
        if own is not None:
            result = own(self, exchange)
        else:
            if exchange.peer.era == "modern" and exchange.method in _ASKING:
                self._server.dispatcher.open_ledger(exchange)
            result = self._server.dispatcher.answer(exchange)
        return _Ready(self._finished(exchange, result)) if isinstance(result, dict) else result

    def _finished(self, exchange: Exchange, result: dict[str, Any]) -> dict[str, Any]:
        if exchange.peer.era == "modern":
            result = self._server.complete(exchange.method, result)
        return jsonrpc.result(exchange.id, result)

    def _exchange(self, routed: Route, id_: Id) -> Exchange:
        send = self._outbox.send
        if (envelope := routed.envelope) is not None:
            peer = Peer(routed.revision, envelope.capabilities, envelope.client_info)
            level, token = envelope.log_level, envelope.progress_token
            return Exchange(routed.method, routed.params, id_, peer, send, log_level=level, progress_token=token)
        if self._peer is None:
            self._peer = Peer(self._handshake.revision, {}, ask=self._ask)
        token = modern.meta_of(routed.params).get("progressToken")
        token = token if type(token) is int or type(token) is str else None
        return Exchange(routed.method, routed.params, id_, self._peer, send, progress_token=token)

    async def _serve(self, exchange: Exchange, answer: Awaitable[dict[str, Any]], way: Way) -> None:
        """Answer one request; nothing is sent when it was cancelled meanwhile."""
        try:
            message = answer.message if isinstance(answer, _Ready) else await self._outcome(exchange, answer)
        except asyncio.CancelledError:
            if exchange.cancelled:
                return
            # Not ours: the handler let somebody else's cancellation through. The client must not wait for ever.
            message = jsonrpc.error(exchange.id, INTERNAL_ERROR, "The handler was cancelled by its own doing")
        if exchange.cancelled:
            return
        try:
            await way.send(message)
        except LocalProtocolError as error:
            complain(f"{exchange.method}: the result is not JSON: {error}")
            await way.send(jsonrpc.error(exchange.id, INTERNAL_ERROR, f"The server's result is not JSON: {error}"))

    async def _outcome(self, exchange: Exchange, answer: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        """The response to send for what is still being worked on."""
        try:
            return self._finished(exchange, await answer)
        except NeedInput as need:
            try:
                return self._finished(exchange, self._server.dispatcher.paused(exchange, need))
            except Exception as error:
                return _internal(exchange, error)
        except Failure as failure:
            return jsonrpc.error(exchange.id, failure.code, failure.message, failure.data)
        except Exception as error:
            return _internal(exchange, error)

    # --- methods that belong to the connection

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
        handshake = self._handshake
        self._peer = Peer(handshake.revision, handshake.capabilities, handshake.client_info, ask=self._ask)
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
        self._watched.add(uri)
        return {}

    def _unsubscribe(self, exchange: Exchange) -> dict[str, Any]:
        self._watched.discard(exchange.params["uri"])
        return {}

    def _listen(self, exchange: Exchange) -> None:
        wanted = listen.read_filter(exchange.params)
        if isinstance(wanted, RpcError):
            raise Failure(wanted.code, wanted.message, wanted.data)
        kept = listen.honoured(wanted, self._server.capabilities())
        self._listening[exchange.id] = kept
        self._outbox.post(jsonrpc.notification(listen.ACKNOWLEDGED, listen.stamp({"notifications": kept}, exchange.id)))

    def _end_listens(self) -> None:
        for id_ in list(self._listening):
            del self._listening[id_]
            result = self._server.complete("subscriptions/listen", listen.stamp({}, id_))
            self._outbox.post(jsonrpc.result(id_, result))

    # --- notifications of the client

    def _notified(self, routed: Route) -> None:
        if routed.method == legacy.INITIALIZED:
            self._handshake.initialized()
        elif routed.method == "notifications/cancelled":
            request_id = routed.params.get("requestId")
            if type(request_id) is int or type(request_id) is str:
                self._listening.pop(request_id, None)
                self._cancel(request_id)

    def _cancel(self, id_: Id) -> None:
        """Stop a request: its task, and what its handler waits for. `initialize` cannot be cancelled."""
        found = self._running.get(id_)
        if found is None or found[1].method == "initialize":
            return
        task, exchange = found
        exchange.cancel()
        task.cancel()

    # --- our questions (legacy)

    async def _ask(self, method: str, params: dict[str, Any] | None) -> Mapping[str, Any]:
        """Send the client a request and wait for its bare result. Raises RequestError, ConnectionLost."""
        refusal = self._handshake.may_send(method, params)
        if refusal is not None:
            raise RequestError(refusal.message, code=refusal.code)
        if self._outbox.closed or self._over.is_set():
            raise ConnectionLost("The client is gone.")
        id_ = next(self._ids)
        future: asyncio.Future[Mapping[str, Any]] = self.loop.create_future()
        self._asked[id_] = future
        try:
            await self._outbox.send(jsonrpc.request(id_, method, params))
            return await future
        except asyncio.CancelledError:
            note = {"requestId": id_, "reason": "the call that asked was cancelled"}
            self._outbox.post(jsonrpc.notification("notifications/cancelled", note))
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

    # --- what changed

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread; a burst becomes one notification each."""
        self._pending_changes[f"{method} {(params or {}).get('uri', '')}"] = params
        try:
            self.loop.call_soon_threadsafe(self._tell_changes)
        except RuntimeError:
            pass  # the loop is closed

    def _tell_changes(self) -> None:
        pending, self._pending_changes = self._pending_changes, {}
        for key, params in pending.items():
            method = key.split(" ", 1)[0]
            for id_, kept in self._listening.items():
                if listen.wants(kept, method, params):
                    self._outbox.post(jsonrpc.notification(method, listen.stamp(params, id_)))
            if self._handshake.phase == "ready" and self._wanted(params):
                self._outbox.post(jsonrpc.notification(method, params))

    def _wanted(self, params: Mapping[str, Any] | None) -> bool:
        """Legacy: list changes go to everyone, a resource's change to those who subscribed to it."""
        if params is None:
            return True
        uri = str(params.get("uri"))
        return any(uri == one or uri.startswith(one.rstrip("/") + "/") for one in self._watched)


_OWN: dict[str, Callable[[Session, Exchange], dict[str, Any] | None]] = {
    "initialize": Session._initialize,  # pyright: ignore[reportPrivateUsage]
    "server/discover": lambda session, exchange: session._server.discover(),  # pyright: ignore[reportPrivateUsage]
    "logging/setLevel": Session._set_level,  # pyright: ignore[reportPrivateUsage]
    "resources/subscribe": Session._subscribe,  # pyright: ignore[reportPrivateUsage]
    "resources/unsubscribe": Session._unsubscribe,  # pyright: ignore[reportPrivateUsage]
    "subscriptions/listen": Session._listen,  # pyright: ignore[reportPrivateUsage]
}
_ASKING = ("tools/call", "resources/read", "prompts/get")


class _Ready(Awaitable[dict[str, Any]]):
    """A response that is there already, in the clothes of one to wait for."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.message = message

    def __await__(self) -> Generator[Any, Any, dict[str, Any]]:
        yield from ()
        return self.message


def _internal(exchange: Exchange, error: BaseException) -> dict[str, Any]:
    complain(f"{exchange.method} failed:", error)
    return jsonrpc.error(exchange.id, INTERNAL_ERROR, f"Internal error: {type(error).__name__}")
