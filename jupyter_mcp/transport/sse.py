"""HTTP+SSE, the transport of 2024-11-05, the client's side: one event stream down, one POST for each message up.

Opening asks for the stream and waits for its first event, `endpoint`, which names where to post. The stream is the
session: when it ends, the connection has ended. New servers speak Streamable HTTP (`transport.http`); this one is for
those that do not, found by fallback or asked for.

Source: spec 2024-11-05 "Transports / HTTP with SSE"; deprecated since 2025-03-26.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.probe_http import HINTS, who_asks
from jupyter_mcp.protocol.shapes import is_object
from jupyter_mcp.protocol.sse import SseDecoder, TooLarge
from jupyter_mcp.transport.base import Closed, Noise, Refused
from jupyter_mcp.transport.http.options import HttpOptions
from jupyter_mcp.transport.http.streams import (
    EVENTS,
    REFUSAL_LIMIT,
    Exchange,
    deliver,
    deposit,
    oversize,
    plain,
    refusal,
    take_event,
)
from jupyter_mcp.transport.http.wire import Answer, Wire, not_held
from jupyter_mcp.transport.traffic import HttpEvent, answer_event, failed_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    import yarl

    from jupyter_mcp.protocol.jsonrpc import Id
    from jupyter_mcp.transport.base import Message, Receiver

log = logging.getLogger("jupyter_mcp.transport")

# Seconds
ENDPOINT_LIMIT = 15.0  # for the first event, once connected
CLOSE_LIMIT = 2.0
_ENDPOINT_LONGEST = 4096

_POST = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_GET = {"Accept": "text/event-stream"}


class SseTransport:
    """One server at the URL of its event stream; implements `transport.base.Transport`.

    Args:
        url: used byte for byte.
        options: see there.
    """

    kind = "sse"
    stderr: Sequence[str] = ()

    def __init__(self, url: str, options: HttpOptions | None = None) -> None:
        self._url = url
        self._options = options or HttpOptions()
        self._wire = Wire(url, self._options)
        self._decoder = SseDecoder(self._options.max_event)
        self._receiver: Receiver | None = None
        self._endpoint: yarl.URL | None = None
        self._reading: asyncio.Task[None] | None = None
        self._asking: dict[Id, asyncio.Task[None]] = {}
        self._closing: asyncio.Task[None] | None = None
        self._reported = False

    @property
    def key(self) -> object:
        """What is the same for the same server; a digest, because a URL may hold secrets."""
        where = f"{self._url}\n{self._options.socket or ''}"
        return ("sse", hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest())

    async def open(self, receiver: Receiver) -> None:
        """Ask for the stream and wait for its endpoint.

        Raises:
            ConnectionFailed: it cannot be reached, is no event stream, or names no endpoint of its own origin.
        """
        self._wire.open()
        self._wire.on_hold = getattr(receiver, "on_hold", not_held)
        try:
            answer = await self._ask_for_stream(receiver)
            try:
                async with asyncio.timeout(ENDPOINT_LIMIT):
                    await self._first_event(answer, receiver)
            except BaseException:
                answer.close()
                raise
        except BaseException as error:
            await self._wire.close()
            raise _failure(error) from error
        self._receiver = receiver
        self._reading = asyncio.get_running_loop().create_task(self._read(answer, receiver), name="mcp sse stream")

    async def _ask_for_stream(self, receiver: Receiver) -> Answer:
        answer = await self._asked(receiver)
        if answer.status != 200 or answer.media_type != EVENTS:
            body = await answer.start(REFUSAL_LIMIT)
            if answer.status == 200:
                raise Refused(
                    200, answer.reason, f"no event stream but {answer.media_type or 'nothing'}: {plain(body)}"
                )
            said = refusal(answer, body, None)
            raise said if isinstance(said, Refused) else Refused(answer.status, answer.reason)
        return answer

    async def _asked(self, receiver: Receiver) -> Answer:
        try:
            answer = await self._wire.send("GET", _GET)
        except (MCPError, Refused) as error:
            receiver.on_http(failed_event(error, "GET"))
            raise
        stream = answer.status == 200 and answer.media_type == EVENTS
        receiver.on_http(answer_event(answer, "GET", kind="opened" if stream else "answer"))
        return answer

    async def _first_event(self, answer: Answer, receiver: Receiver) -> None:
        """Read until the endpoint is known; what comes with it is handed on."""
        while data := await answer.some():
            self._take(data, answer, receiver)
            if self._endpoint is not None:
                return
        raise ConnectionLost("The stream ended before it named an endpoint.", may_have_run=False)

    def _take(self, data: bytes, answer: Answer, receiver: Receiver) -> None:
        comments = self._decoder.comments
        for item in self._decoder.feed(data):
            if isinstance(item, TooLarge):
                oversize(item, receiver, None)
            elif item.event == "endpoint":
                self._endpoint = self._named(item.data, answer)
            else:
                take_event(item, receiver, None)
        if self._decoder.comments != comments:
            receiver.on_alive(None)

    def _named(self, data: bytes, answer: Answer) -> yarl.URL:
        """The endpoint, which must be of the stream's own origin: credentials go there."""
        text = data[:_ENDPOINT_LONGEST].decode("utf-8", "replace").strip()
        found = answer.resolve(text)
        if found is None:
            raise ConnectionFailed(f"The server names an endpoint of another origin: {printable(text)}.")
        return found

    async def _read(self, answer: Answer, receiver: Receiver) -> None:
        reason = "closed its event stream"
        try:
            while data := await answer.some():
                self._take(data, answer, receiver)
        except MCPError as error:
            reason = f"is gone: {error.message.rstrip('.')}"
        except Exception:
            log.exception("an event stream failed")
            reason = "sent what could not be read"
        finally:
            answer.close()
        receiver.on_http(HttpEvent("closed", "GET", text=reason))
        self._report(reason)

    def _report(self, reason: str) -> None:
        if not self._reported and self._receiver is not None:
            self._reported = True
            self._receiver.on_closed(Closed(reason))

    # -- sending ------------------------------------------------------------------------------------------------------

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Send a message. A request is under way when this returns; anything else has been accepted.

        Raises:
            LocalProtocolError: it is not JSON.
            ConnectionLost: the stream has ended, or the server cannot be reached.
        """
        data = jsonrpc.encode(message)
        if self._receiver is None or self._closing is not None or self._reported:
            raise ConnectionLost("The event stream has ended.", may_have_run=False)
        one: Mapping[str, Any] = message if isinstance(message, Mapping) else {}
        if "method" in one and "id" in one:
            exchange = Exchange(one["id"], one["method"])
            work = self._request(exchange, data, self._receiver)
            self._asking[exchange.id] = asyncio.get_running_loop().create_task(work, name="mcp sse request")
            return len(data)
        refused = await deposit(self._wire, _POST, data, one, self._receiver.on_http, self._endpoint)
        if refused:
            self._receiver.on_noise(Noise("http", refused))
        return len(data)

    async def _post(self, data: bytes) -> tuple[Answer, bytes]:
        answer = await self._wire.send("POST", _POST, data, self._endpoint)
        try:
            return answer, await answer.start(REFUSAL_LIMIT if answer.media_type != EVENTS else 0)
        finally:
            answer.close()

    async def _request(self, exchange: Exchange, data: bytes, receiver: Receiver) -> None:
        failure: Exception | Message | None = None
        body = b""
        try:
            answer, body = await self._post(data)
            if answer.status >= 300:
                failure = refusal(answer, body, exchange)
            elif answer.media_type == "application/json" and body:
                deliver(receiver, body, exchange)  # some answer at once
            if not exchange.answered and not is_object(failure):
                receiver.on_http(answer_event(answer, "POST", exchange.method, exchange.id))
        except (MCPError, Refused) as error:
            receiver.on_http(failed_event(error, "POST", exchange.method, exchange.id))
            failure = error
        finally:
            if self._asking.get(exchange.id) is asyncio.current_task():
                del self._asking[exchange.id]
        if isinstance(failure, Exception):
            receiver.on_request_failed(exchange.id, failure)
        elif failure is not None:
            receiver.on_message(failure, len(body))

    def cancel(self, request_id: Id) -> None:
        """Take back a request that is still being posted; its answer would come on the stream all the same."""
        task = self._asking.pop(request_id, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """End the stream and every connection."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="mcp sse close")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        tasks = [task for task in (self._reading, *self._asking.values()) if task is not None]
        for task in tasks:
            task.cancel()
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=CLOSE_LIMIT)
        finally:
            await self._wire.close()
            self._report("was closed")


def _failure(error: BaseException) -> BaseException:
    """What opening raises for it."""
    if isinstance(error, Refused):
        words = f"HTTP {error.status} {error.reason}".rstrip() + (f": {error.body}" if error.body else "")
        hint = who_asks(error.authorized, error.challenge) if error.status == 401 else HINTS.get(error.status)
        return ConnectionFailed(
            f"The server has no event stream at this URL ({words}).", hint=hint, status=error.status, body=error.body
        )
    if isinstance(error, ConnectionLost):
        return ConnectionFailed(error.message, hint=error.hint)
    if isinstance(error, TimeoutError):
        return ConnectionFailed(f"The event stream named no endpoint within {ENDPOINT_LIMIT:g} s.")
    return error
