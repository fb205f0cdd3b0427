"""Streamable HTTP, the client's side, both eras at once: each message says by its shape how it travels.

A request with the modern envelope goes as 2026-07-28 wants it: headers that repeat the body, no session, no resumption,
and closing its stream cancels it. Any other belongs to the legacy era (2025-03-26 to 2025-11-25): the answer to
`initialize` opens a session, a GET stream brings what belongs to no request, and a stream that ends early is resumed
where it stopped. A request is a task of its own; what fails fails that request (`Receiver.on_request_failed`).

Not here: which era a server speaks, when to begin a new session, when to repeat (client). Source: spec 2025-11-25 and
2026-07-28, "Transports / Streamable HTTP".
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, MCPError, RemoteProtocolError
from jupyter_mcp.protocol import headers as names
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.modern import REVISION_KEY, is_enveloped, meta_of
from jupyter_mcp.protocol.shapes import mapping_of
from jupyter_mcp.protocol.sse import SseDecoder
from jupyter_mcp.transport.base import Closed, Noise, Refused, SessionEnded, unreadable
from jupyter_mcp.transport.http.options import HttpOptions
from jupyter_mcp.transport.http.session import Session
from jupyter_mcp.transport.http.streams import (
    EVENTS,
    REFUSAL_LIMIT,
    Exchange,
    deliver,
    deposit,
    drain,
    plain,
    read_events,
    refusal,
    too_large,
)
from jupyter_mcp.transport.http.wire import Answer, TooBig, Wire, not_held
from jupyter_mcp.transport.traffic import HttpEvent, answer_event, failed_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.protocol.jsonrpc import Id
    from jupyter_mcp.transport.base import Receiver
    from jupyter_mcp.transport.sse import SseTransport

log = logging.getLogger("jupyter_mcp.transport")

# Seconds
CLOSE_LIMIT = 2.0

_POST = {"Content-Type": "application/json", "Accept": f"application/json, {EVENTS}"}


class HttpTransport:
    """One server at a URL; implements `transport.base.Transport`.

    Args:
        url: used byte for byte.
        options: see there.
        wire: what moves the bytes, if not the wire that knows all of HTTP.
    """

    kind = "http"
    stderr: Sequence[str] = ()

    def __init__(self, url: str, options: HttpOptions | None = None, wire: Wire | None = None) -> None:
        self._url = url
        self._options = options or HttpOptions()
        self._wire = wire or Wire(url, self._options)
        self._receiver: Receiver | None = None
        self._asking: dict[Id, asyncio.Task[None]] = {}
        self._exchanges: dict[Id, Exchange] = {}
        self._params: dict[str, names.ParamHeaders] = {}
        self._closing: asyncio.Task[None] | None = None
        self._session: Session | None = None  # legacy
        self._envelope: str | None = None  # modern: the revision of the latest request

    @property
    def key(self) -> object:
        """What is the same for the same server; a digest, because a URL may hold secrets."""
        where = f"{self._url}\n{self._options.socket or ''}"
        return ("http", hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest())

    def downgraded(self) -> SseTransport | None:
        """A transport for the older HTTP+SSE at the same URL; None when that is not wanted."""
        from jupyter_mcp.transport.sse import SseTransport

        return None if self._options.insist else SseTransport(self._url, self._options)

    def learn_tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Take from the last list of tools which arguments are repeated as `Mcp-Param-*` headers."""
        found = ((tool.get("name"), names.read_param_headers(tool.get("inputSchema"))) for tool in tools)
        self._params = {
            name: params
            for name, params in found
            if isinstance(name, str) and isinstance(params, names.ParamHeaders) and params
        }

    async def open(self, receiver: Receiver) -> None:
        """Get ready; nothing is sent. Raises `ConnectionFailed` for a URL or an option that cannot work."""
        self._wire.open()
        self._wire.on_hold = getattr(receiver, "on_hold", not_held)
        self._receiver = receiver

    # -- sending ------------------------------------------------------------------------------------------------------

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Send a message. A request is under way when this returns; anything else has been accepted.

        Raises:
            LocalProtocolError: it is not JSON, or a name or an argument cannot travel in the header that repeats it.
            ConnectionLost: the server cannot be reached (not for a request, see `Receiver.on_request_failed`).
        """
        data = jsonrpc.encode(message)
        if self._receiver is None or self._closing is not None:
            raise ConnectionLost("The connection has been closed.", may_have_run=False)
        one: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
        if "method" in one and "id" in one:
            self._begin(one, data, self._receiver)
        elif not self._is_modern_cancel(one):
            await self._post(one, data)
        return len(data)

    def _begin(self, request: Mapping[str, Any], data: bytes, receiver: Receiver) -> None:
        id: Id = request["id"]
        method: str = request["method"]
        modern = is_enveloped(request)
        if modern:
            headers = names.for_request(request, self._called(request))
            self._envelope = str(meta_of(request.get("params")).get(REVISION_KEY))
        else:
            if method == "initialize":
                self._begin_session(receiver)
            headers = self._session.headers() if self._session is not None else {}
        exchange = self._exchanges[id] = Exchange(id, method, modern=modern)
        work = self._ask(exchange, {**_POST, **headers}, data)
        self._asking[id] = asyncio.get_running_loop().create_task(work, name="mcp http request")

    def _called(self, request: Mapping[str, Any]) -> names.ParamHeaders | None:
        if request["method"] != "tools/call" or not self._params:
            return None
        name = request["params"].get("name")
        return self._params.get(name) if isinstance(name, str) else None

    def _begin_session(self, receiver: Receiver) -> None:
        if self._session is not None:
            self._session.leave()
        self._session = Session(self._wire, receiver, self._options.max_event)

    @property
    def _only_modern(self) -> bool:
        """Whether all we have spoken was the modern era."""
        return self._envelope is not None and (self._session is None or self._session.revision is None)

    def _is_modern_cancel(self, message: Mapping[str, Any]) -> bool:
        """Closing the stream is how the modern era cancels over HTTP; there is no notification for it."""
        if message.get("method") != "notifications/cancelled":
            return False
        id: Id = mapping_of(message.get("params")).get("requestId", "")
        exchange = self._exchanges.get(id)
        if self._only_modern or (exchange is not None and exchange.modern):
            self.cancel(id)
            return True
        return False

    async def _post(self, message: Mapping[str, Any], data: bytes) -> None:
        """Send what gets no answer. What the server says to it means nothing, unless it refuses it."""
        assert self._receiver is not None
        headers = self._session.headers() if self._session is not None else {}
        if self._only_modern:
            headers[names.VERSION] = str(self._envelope)
            if "method" in message:
                headers[names.METHOD] = names.encode_value(message["method"])
        refused = await deposit(self._wire, {**_POST, **headers}, data, message, self._receiver.on_http)
        if refused:
            self._receiver.on_noise(Noise("http", refused))
        elif message.get("method") == "notifications/initialized" and self._session is not None:
            self._session.listen()

    def cancel(self, request_id: Id) -> None:
        """Close the stream of a request nobody waits for any more."""
        task = self._asking.pop(request_id, None)
        if task is None:
            return
        exchange = self._exchanges.get(request_id)
        if exchange is not None and not exchange.answered:
            kind = "cancelled" if exchange.modern else "closed"
            self._tell(HttpEvent(kind, "POST", None, exchange.method, exchange.id, "by us"))
        task.cancel()

    # -- one request --------------------------------------------------------------------------------------------------

    async def _ask(self, exchange: Exchange, headers: Mapping[str, str], data: bytes) -> None:
        receiver = self._receiver
        assert receiver is not None
        try:
            await self._answered(exchange, headers, data)
        except (MCPError, Refused, SessionEnded) as error:
            failure: Exception = error
        except Exception as error:
            log.exception("a request over HTTP failed")
            failure = ConnectionLost(f"The connection to {self._wire.where} failed: {type(error).__name__}.")
            failure.__cause__ = error
        else:
            return
        finally:
            self._done(exchange.id)
        if not exchange.answered:
            receiver.on_request_failed(exchange.id, failure)

    def _done(self, id: Id) -> None:
        if self._asking.get(id) is asyncio.current_task():
            del self._asking[id]
            del self._exchanges[id]

    async def _answered(self, exchange: Exchange, headers: Mapping[str, str], data: bytes) -> None:
        answer = await self._sent(exchange, headers, data)
        try:
            if answer.status >= 300 or answer.status < 200:
                await self._refused(exchange, answer, headers)
                return
            if exchange.method == "initialize" and self._session is not None and not exchange.modern:
                exchange.before = partial(self._session.agreed, answer)
            if answer.media_type == EVENTS:
                self._tell(answer_event(answer, "POST", exchange.method, exchange.id, kind="opened"))
                await self._stream(exchange, answer)
            else:
                await self._json(exchange, answer)
        finally:
            answer.close()

    async def _sent(self, exchange: Exchange, headers: Mapping[str, str], data: bytes) -> Answer:
        """What the server answers; that nothing came is told as well."""
        try:
            return await self._wire.send("POST", headers, data)
        except (MCPError, Refused) as error:
            self._tell(failed_event(error, "POST", exchange.method, exchange.id))
            raise

    def _tell(self, event: HttpEvent) -> None:
        if self._receiver is not None:
            self._receiver.on_http(event)

    async def _json(self, exchange: Exchange, answer: Answer) -> None:
        assert self._receiver is not None
        try:
            body = await answer.all(self._options.max_body)
        except TooBig:
            raise too_large("an answer", self._options.max_body) from None
        if body and not body.isspace():
            line = deliver(self._receiver, body, exchange)
            if exchange.answered:
                return
            if line.messages:
                raise RemoteProtocolError("The server answered another request than ours.")
            if line.answers is not None:
                raise unreadable(line.why)
        self._tell(answer_event(answer, "POST", exchange.method, exchange.id))
        raise Refused(answer.status, answer.reason, plain(body) or "an empty answer, where a result is due")

    async def _refused(self, exchange: Exchange, answer: Answer, sent: Mapping[str, str]) -> None:
        """A status that is no success."""
        assert self._receiver is not None
        body = await answer.start(REFUSAL_LIMIT)
        said = refusal(answer, body, exchange)
        if answer.status == 404 and names.SESSION in sent:
            known = isinstance(said, dict) and jsonrpc.parse_error(said).code == jsonrpc.METHOD_NOT_FOUND
            if not known:
                if self._session is not None and self._session.id == sent[names.SESSION]:
                    self._session.ended = True
                self._tell(answer_event(answer, "POST", exchange.method, exchange.id))
                raise SessionEnded("The server has ended the session.")
        if isinstance(said, Refused):
            self._tell(answer_event(answer, "POST", exchange.method, exchange.id))
            raise said
        exchange.answered = True
        self._receiver.on_message(said, len(body))

    # -- streams ------------------------------------------------------------------------------------------------------

    async def _stream(self, exchange: Exchange, answer: Answer) -> None:
        """Read a request's stream to its response, through as many connections as the legacy era needs."""
        assert self._receiver is not None
        decoder = SseDecoder(self._options.max_event)
        broken: Exception | None = None
        try:
            await read_events(answer, decoder, self._receiver, exchange)
        except ConnectionLost as error:
            broken = error
        if exchange.answered:
            await drain(answer, decoder, self._receiver)
            return
        answer.close()
        why = "" if broken is None else str(broken)
        self._tell(HttpEvent("closed", "POST", None, exchange.method, exchange.id, why))
        if not exchange.modern and decoder.last_id is not None and self._session is not None:
            await self._session.resume(exchange, decoder)
        if not exchange.answered:
            text = f"The stream from {self._wire.where} ended without a response"
            raise ConnectionLost(f"{text} to {exchange.method}.") from broken

    # -- the end ------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End the session, every stream and every connection; within a few seconds."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="mcp http close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        tasks = [*self._asking.values()]
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=CLOSE_LIMIT)
            if self._session is not None:
                await self._session.end()
        finally:
            await self._wire.close()
            if self._receiver is not None:
                self._receiver.on_closed(Closed("was closed"))
