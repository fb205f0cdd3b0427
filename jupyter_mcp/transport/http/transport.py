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
import contextlib
import hashlib
import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, MCPError, RemoteProtocolError
from jupyter_mcp.protocol import headers as names
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.modern import REVISION_KEY, is_enveloped, meta_of
from jupyter_mcp.protocol.shapes import is_object, mapping_of
from jupyter_mcp.protocol.sse import SseDecoder
from jupyter_mcp.transport.base import Closed, Noise, Refused, SessionEnded
from jupyter_mcp.transport.http.options import HttpOptions
from jupyter_mcp.transport.http.streams import Exchange, deliver, plain, read_events, refusal, too_large
from jupyter_mcp.transport.http.wire import Answer, TooBig, Wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.protocol.jsonrpc import Id
    from jupyter_mcp.transport.base import Message, Receiver
    from jupyter_mcp.transport.sse import SseTransport

log = logging.getLogger("jupyter_mcp.transport")

# Seconds
POST_LIMIT = 30.0  # for a notification or an answer of ours to be accepted
DRAIN = 1.0  # for the end of a stream whose response has come, so that its connection can be used again
DELETE_LIMIT = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # before a stream is opened again, when the server names no time
LONGEST_RETRY = 3600.0
UNREACHABLE = 4.0  # since the session's stream was last there, until its loss is told

MOST_RESUMPTIONS = 5  # attempts in a row that bring nothing
REFUSAL_LIMIT = 2**20  # bytes read of an answer that is no success

_JSON = "application/json"
_EVENTS = "text/event-stream"
_POST = {"Content-Type": _JSON, "Accept": f"{_JSON}, {_EVENTS}"}
_GET = {"Accept": _EVENTS}


class HttpTransport:
    """One server at a URL; implements `transport.base.Transport`.

    Args:
        url: used byte for byte.
        options: see there.
    """

    kind = "http"
    stderr: Sequence[str] = ()

    def __init__(self, url: str, options: HttpOptions | None = None) -> None:
        self._url = url
        self._options = options or HttpOptions()
        self._wire = Wire(url, self._options)
        self._receiver: Receiver | None = None
        self._asking: dict[Id, asyncio.Task[None]] = {}
        self._modern: set[Id] = set()
        self._params: dict[str, names.ParamHeaders] = {}
        self._listening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._session: str | None = None
        self._ended = False  # that session, says the server
        self._revision: str | None = None  # legacy: the negotiated one
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
        self._receiver = receiver

    # -- sending ------------------------------------------------------------------------------------------------------

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Send a message. A request is under way when this returns; anything else has been accepted.

        Raises:
            LocalProtocolError: it is not JSON, or an argument cannot travel in the header its tool wants.
            ConnectionLost: the server cannot be reached (not for a request, see `Receiver.on_request_failed`).
        """
        data = jsonrpc.encode(message)
        if self._receiver is None or self._closing is not None:
            raise ConnectionLost("The connection has been closed.", may_have_run=False)
        one: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
        if "method" in one and "id" in one:
            self._begin(one, data)
        elif not self._is_modern_cancel(one):
            await self._post(one, data)
        return len(data)

    def _begin(self, request: Mapping[str, Any], data: bytes) -> None:
        id: Id = request["id"]
        method: str = request["method"]
        modern = is_enveloped(request)
        if modern:
            headers = names.for_request(request, self._called(request))
            self._envelope = str(meta_of(request.get("params")).get(REVISION_KEY))
            self._modern.add(id)
        else:
            if method == "initialize":
                self._forget_session()
            headers = self._session_headers()
        work = self._ask(Exchange(id, method), {**_POST, **headers}, data, modern)
        self._asking[id] = asyncio.get_running_loop().create_task(work, name="mcp http request")

    def _called(self, request: Mapping[str, Any]) -> names.ParamHeaders | None:
        if request["method"] != "tools/call" or not self._params:
            return None
        name = request["params"].get("name")
        return self._params.get(name) if isinstance(name, str) else None

    def _session_headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        if self._session is not None:
            headers[names.SESSION] = self._session
        if self._revision is not None:
            headers[names.VERSION] = self._revision
        return headers

    def _is_modern_cancel(self, message: Mapping[str, Any]) -> bool:
        """Closing the stream is how the modern era cancels over HTTP; there is no notification for it."""
        if message.get("method") != "notifications/cancelled":
            return False
        id: Id = mapping_of(message.get("params")).get("requestId", "")
        if id in self._modern or (self._revision is None and self._envelope is not None):
            self.cancel(id)
            return True
        return False

    async def _post(self, message: Mapping[str, Any], data: bytes) -> None:
        """Send what gets no answer. What the server says to it means nothing, unless it refuses it."""
        assert self._receiver is not None
        headers = self._session_headers()
        if self._revision is None and self._envelope is not None:
            headers[names.VERSION] = self._envelope
            if "method" in message:
                headers[names.METHOD] = names.encode_value(message["method"])
        try:
            async with asyncio.timeout(POST_LIMIT):
                answer = await self._wire.send("POST", {**_POST, **headers}, data)
                body = await answer.start(REFUSAL_LIMIT if answer.media_type != _EVENTS else 0)
        except TimeoutError:
            raise ConnectionLost(f"{self._wire.where} did not take a message within {POST_LIMIT:g} s.") from None
        except Refused as refused:
            self._receiver.on_noise(Noise("http", f"{refused} to {message.get('method', 'an answer')}: {refused.body}"))
            return
        if answer.status >= 400:
            refused = refusal(answer, body, None)
            words = f": {refused.body}" if isinstance(refused, Refused) and refused.body else ""
            self._receiver.on_noise(Noise("http", f"{refused} to {message.get('method', 'an answer')}{words}"))
        elif message.get("method") == "notifications/initialized":
            self._listen()

    def cancel(self, request_id: Id) -> None:
        """Close the stream of a request nobody waits for any more."""
        task = self._asking.pop(request_id, None)
        if task is not None:
            task.cancel()

    # -- one request --------------------------------------------------------------------------------------------------

    async def _ask(self, exchange: Exchange, headers: Mapping[str, str], data: bytes, modern: bool) -> None:
        receiver = self._receiver
        assert receiver is not None
        try:
            await self._answered(exchange, headers, data, modern)
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
        self._modern.discard(id)

    async def _answered(self, exchange: Exchange, headers: Mapping[str, str], data: bytes, modern: bool) -> None:
        answer = await self._wire.send("POST", headers, data)
        try:
            if answer.status >= 300 or answer.status < 200:
                await self._refused(exchange, answer, headers)
                return
            if exchange.method == "initialize" and not modern:
                exchange.before = partial(self._agreed, answer)
            if answer.media_type == _EVENTS:
                await self._stream(exchange, answer, modern)
            else:
                await self._json(exchange, answer)
        finally:
            answer.close()

    async def _json(self, exchange: Exchange, answer: Answer) -> None:
        assert self._receiver is not None
        try:
            body = await answer.all(self._options.max_body)
        except TooBig:
            raise too_large("an answer", self._options.max_body, "max_body") from None
        if body and not body.isspace():
            line = deliver(self._receiver, body, exchange)
            if exchange.answered:
                return
            if line.messages:
                raise RemoteProtocolError("The server answered another request than ours.")
        raise Refused(answer.status, answer.reason, plain(body) or "an empty answer, where a result is due")

    async def _refused(self, exchange: Exchange, answer: Answer, sent: Mapping[str, str]) -> None:
        """A status that is no success."""
        assert self._receiver is not None
        body = await answer.start(REFUSAL_LIMIT)
        said = refusal(answer, body, exchange)
        if answer.status == 404 and names.SESSION in sent:
            known = isinstance(said, dict) and jsonrpc.parse_error(said).code == jsonrpc.METHOD_NOT_FOUND
            if not known:
                self._ended = self._ended or self._session == sent[names.SESSION]
                raise SessionEnded("The server has ended the session.")
        if isinstance(said, Refused):
            raise said
        exchange.answered = True
        self._receiver.on_message(said, len(body))

    # -- streams ------------------------------------------------------------------------------------------------------

    async def _stream(self, exchange: Exchange, answer: Answer, modern: bool) -> None:
        """Read a request's stream to its response, through as many connections as the legacy era needs."""
        assert self._receiver is not None
        decoder = SseDecoder(self._options.max_event)
        broken: Exception | None = None
        try:
            await read_events(answer, decoder, self._receiver, exchange)
        except ConnectionLost as error:
            broken = error
        if exchange.answered:
            await self._drain(answer, decoder)
            return
        answer.close()
        if not modern and decoder.last_id is not None:
            await self._resume(exchange, decoder)
        if not exchange.answered:
            text = f"The stream from {self._wire.where} ended without a response"
            raise ConnectionLost(f"{text} to {exchange.method}.") from broken

    async def _drain(self, answer: Answer, decoder: SseDecoder) -> None:
        """The response has come; the end of the stream is waited for a moment, to use its connection again."""
        assert self._receiver is not None
        with contextlib.suppress(TimeoutError, MCPError):
            async with asyncio.timeout(DRAIN):
                await read_events(answer, decoder, self._receiver)

    async def _resume(self, exchange: Exchange, decoder: SseDecoder) -> None:
        """Ask for the rest of a stream, as long as each attempt brings something."""
        assert self._receiver is not None
        fruitless = 0
        session = self._session
        while not exchange.answered and fruitless < MOST_RESUMPTIONS and session == self._session:
            await asyncio.sleep(self._pause(decoder, fruitless))
            seen = decoder.last_id
            if seen is None or not await self._resumed(exchange, decoder, seen):
                return
            fruitless = fruitless + 1 if decoder.last_id == seen else 0

    async def _resumed(self, exchange: Exchange, decoder: SseDecoder, seen: str) -> bool:
        """One attempt. False: the server does not do that."""
        assert self._receiver is not None
        decoder.restart()
        headers = {**_GET, **self._session_headers(), names.LAST_EVENT_ID: _sendable(seen)}
        try:
            answer = await self._wire.send("GET", headers)
        except ConnectionLost:
            return True
        except Refused:
            return False
        try:
            if answer.status != 200 or answer.media_type != _EVENTS:
                return answer.status >= 500
            with contextlib.suppress(ConnectionLost):
                await read_events(answer, decoder, self._receiver, exchange)
            if exchange.answered:
                await self._drain(answer, decoder)
            return True
        finally:
            answer.close()

    def _pause(self, decoder: SseDecoder, failures: int) -> float:
        if decoder.retry is not None:
            return min(decoder.retry / 1000, LONGEST_RETRY)
        return min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE)

    # -- the session of the legacy era --------------------------------------------------------------------------------

    def _agreed(self, answer: Answer, message: Message) -> None:
        """The answer to initialize is here and about to be handed on."""
        result = message.get("result")
        if not is_object(result):
            return
        said = result.get("protocolVersion")
        if isinstance(said, str) and names.encode_value(said) == said:
            self._revision = said
        session = answer.header(names.SESSION)
        if session and names.valid_session_id(session):
            self._session = session
        elif session and self._receiver is not None:
            self._receiver.on_noise(Noise("http", "the server gave a session id that no header can carry"))

    def _forget_session(self) -> None:
        self._session = None
        self._ended = False
        self._revision = None
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None

    def _listen(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
        self._listening = asyncio.get_running_loop().create_task(self._follow_session(), name="mcp http stream")

    async def _follow_session(self) -> None:
        """The stream of what belongs to no request, opened again whenever it ends; a server need not have it.

        Once it has been there, its end for good is told: it is how one learns that the server is gone.
        """
        assert self._receiver is not None
        decoder = SseDecoder(self._options.max_event)
        clock = asyncio.get_running_loop().time
        there, failures, since = False, 0, clock()
        while True:
            events = decoder.events + decoder.comments
            try:
                opened = await self._session_stream(decoder)
            except SessionEnded as error:
                if there:
                    self._receiver.on_request_failed(None, error)
                return
            except ConnectionLost as error:
                if there and clock() - since > UNREACHABLE:
                    self._receiver.on_request_failed(None, error)
                    return
                opened = False
            if opened is None or (not there and not opened and failures >= MOST_RESUMPTIONS):
                return
            there = there or opened
            if opened:
                since = clock()
            failures = 0 if decoder.events + decoder.comments > events else failures + 1
            await asyncio.sleep(self._pause(decoder, failures if opened or not there else 0))
            decoder.restart()

    async def _session_stream(self, decoder: SseDecoder) -> bool | None:
        """One connection of it. Whether there was one; None: the server has no such stream.

        Raises:
            ConnectionLost: the server cannot be reached.
            SessionEnded: it does not know the session.
        """
        assert self._receiver is not None
        headers = {**_GET, **self._session_headers()}
        if decoder.last_id is not None:
            headers[names.LAST_EVENT_ID] = _sendable(decoder.last_id)
        try:
            answer = await self._wire.send("GET", headers)
        except Refused:
            return None
        try:
            if answer.status == 404 and self._session is not None:
                raise SessionEnded("The server has ended the session.")
            if answer.status != 200 or answer.media_type != _EVENTS:
                return False if answer.status in (429, 500, 502, 503, 504) else None
            with contextlib.suppress(ConnectionLost):
                await read_events(answer, decoder, self._receiver)
            return True
        finally:
            answer.close()

    # -- the end ------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End the session, every stream and every connection; within a few seconds."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="mcp http close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        tasks = [*self._asking.values()]
        if self._listening is not None:
            tasks.append(self._listening)
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=DELETE_LIMIT)
            if self._session is not None and not self._ended:
                await self._delete()
        finally:
            await self._wire.close()
            if self._receiver is not None:
                self._receiver.on_closed(Closed("was closed"))

    async def _delete(self) -> None:
        """Tell the server that the session is over; whether it listens does not matter."""
        with contextlib.suppress(TimeoutError, MCPError, Refused):
            async with asyncio.timeout(DELETE_LIMIT):
                answer = await self._wire.send("DELETE", self._session_headers())
                answer.close()


def _sendable(event_id: str) -> str:
    """An event id as a header value; aiohttp sends UTF-8."""
    return "".join(char for char in event_id if char >= " " and char != "\x7f").strip()
