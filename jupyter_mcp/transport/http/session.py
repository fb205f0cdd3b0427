"""The session of the legacy era: its id, its own stream, and streams that go on where they stopped.

The answer to `initialize` opens it. A GET stream then brings what belongs to no request, opened again whenever it ends;
a request's stream that ended early is asked for again with `Last-Event-ID`. Both wait as long as the server says
(`retry`), and both give up. Source: spec 2025-11-25 "Transports / Streamable HTTP".
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConnectionLost, MCPError
from jupyter_mcp.protocol import headers as names
from jupyter_mcp.protocol.shapes import is_object
from jupyter_mcp.protocol.sse import SseDecoder
from jupyter_mcp.transport.base import Noise, Refused, SessionEnded
from jupyter_mcp.transport.http.streams import EVENTS, drain, read_events
from jupyter_mcp.transport.traffic import HttpEvent, answer_event, failed_event

if TYPE_CHECKING:
    from jupyter_mcp.transport.base import Message, Receiver
    from jupyter_mcp.transport.http.streams import Exchange
    from jupyter_mcp.transport.http.wire import Answer, Wire

log = logging.getLogger("jupyter_mcp.transport")

# Seconds
DELETE_LIMIT = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # before a stream is opened again, when the server names no time
LONGEST_RETRY = 3600.0
UNREACHABLE = 4.0  # since the session's stream was last there, until its loss is told

MOST_ATTEMPTS = 5  # in a row that bring nothing


class Session:
    """What is known of it; made anew by each `initialize`.

    Args:
        wire: to send with.
        receiver: gets what its streams bring.
        max_event: bytes that one event may have.

    Attributes:
        id: None before there is one, and when the server needs none.
        revision: the negotiated revision; None before.
        ended: the server says that it does not know the id any more.
    """

    def __init__(self, wire: Wire, receiver: Receiver, max_event: int) -> None:
        self.id: str | None = None
        self.revision: str | None = None
        self.ended = False
        self._wire = wire
        self._receiver = receiver
        self._max_event = max_event
        self._listening: asyncio.Task[None] | None = None

    def headers(self) -> dict[str, str]:
        """What every message of the session carries."""
        headers: dict[str, str] = {}
        if self.id is not None:
            headers[names.SESSION] = self.id
        if self.revision is not None:
            headers[names.VERSION] = self.revision
        return headers

    def agreed(self, answer: Answer, message: Message) -> None:
        """The answer to initialize is here and about to be handed on."""
        result = message.get("result")
        if not is_object(result):
            return
        said = result.get("protocolVersion")
        if isinstance(said, str) and names.encode_value(said) == said:
            self.revision = said
        session = answer.header(names.SESSION)
        if session and names.valid_session_id(session):
            self.id = session
        elif session:
            self._receiver.on_noise(Noise("http", "the server gave a session id that no header can carry"))

    def leave(self) -> None:
        """Nothing more is wanted of it; the server is not told."""
        self.ended = True
        if self._listening is not None:
            self._listening.cancel()

    async def end(self) -> None:
        """Stop listening and tell the server that the session is over; whether it hears that does not matter."""
        told = self.id is None or self.ended
        self.leave()
        if self._listening is not None:
            await asyncio.wait([self._listening], timeout=DELETE_LIMIT)
        if told:
            return
        try:
            async with asyncio.timeout(DELETE_LIMIT):
                answer = await self._wire.send("DELETE", self.headers())
        except (TimeoutError, MCPError, Refused) as error:
            self._receiver.on_http(failed_event(error, "DELETE"))
        else:
            self._receiver.on_http(answer_event(answer, "DELETE"))
            answer.close()

    # -- a request's stream that ended early --------------------------------------------------------------------------

    async def resume(self, exchange: Exchange, decoder: SseDecoder) -> None:
        """Ask for the rest of a stream, as long as the attempts bring something; the decoder knows where it stopped."""
        fruitless = 0
        while not exchange.answered and not self.ended and fruitless < MOST_ATTEMPTS:
            await asyncio.sleep(_pause(decoder, 0))
            seen = decoder.last_id
            if seen is None or not await self._resumed(exchange, decoder):
                return
            fruitless = fruitless + 1 if decoder.last_id == seen else 0

    async def _resumed(self, exchange: Exchange, decoder: SseDecoder) -> bool:
        """One attempt. False: the server does not do that."""
        decoder.restart()
        try:
            answer = await self._asked(decoder, exchange)
        except ConnectionLost:
            return True
        except Refused:
            return False
        try:
            if not _is_stream(answer):
                return answer.status >= 500
            with contextlib.suppress(ConnectionLost):
                await read_events(answer, decoder, self._receiver, exchange)
            if exchange.answered:
                await drain(answer, decoder, self._receiver)
            else:
                self._tell_closed(exchange)
            return True
        finally:
            answer.close()

    async def _asked(self, decoder: SseDecoder, exchange: Exchange | None = None) -> Answer:
        """Ask for a stream: the session's own, or the rest of a request's. Raises `ConnectionLost`, `Refused`."""
        about = (None, None) if exchange is None else (exchange.method, exchange.id)
        try:
            answer = await self._wire.send("GET", self._asking_for_events(decoder))
        except (ConnectionLost, Refused) as error:
            self._receiver.on_http(failed_event(error, "GET", *about))
            raise
        kind = "opened" if _is_stream(answer) else "answer"
        resumed = decoder.last_id is not None
        self._receiver.on_http(answer_event(answer, "GET", *about, kind=kind, resumed=resumed))
        return answer

    def _tell_closed(self, exchange: Exchange | None = None) -> None:
        about = (None, None) if exchange is None else (exchange.method, exchange.id)
        self._receiver.on_http(HttpEvent("closed", "GET", None, *about))

    def _asking_for_events(self, decoder: SseDecoder) -> dict[str, str]:
        headers = {"Accept": EVENTS, **self.headers()}
        if decoder.last_id is not None:
            headers[names.LAST_EVENT_ID] = _sendable(decoder.last_id)
        return headers

    # -- the stream of the session ------------------------------------------------------------------------------------

    def listen(self) -> None:
        """Open the stream of what belongs to no request, in a task of its own; a server need not have it."""
        if self._listening is None and not self.ended:
            self._listening = asyncio.get_running_loop().create_task(self._listen(), name="mcp http stream")

    async def _listen(self) -> None:
        try:
            await self._follow()
        except MCPError as error:
            log.debug("the stream of a session ended: %s", error)
        except Exception:
            log.exception("the stream of a session failed")

    async def _follow(self) -> None:
        """Through all its connections. Once it has been there, its end for good is told: so one learns of it."""
        decoder = SseDecoder(self._max_event)
        clock = asyncio.get_running_loop().time
        there, failures, last_there = False, 0, clock()
        while True:
            came = decoder.events + decoder.comments
            try:
                opened = await self._stream(decoder)
            except (SessionEnded, ConnectionLost) as error:
                if there and (isinstance(error, SessionEnded) or clock() - last_there > UNREACHABLE):
                    self.ended = self.ended or isinstance(error, SessionEnded)
                    self._receiver.on_request_failed(None, error)
                    return
                opened = None if isinstance(error, SessionEnded) else False
            if opened is None or (not there and not opened and failures >= MOST_ATTEMPTS):
                return
            if opened:
                there, last_there = True, clock()
            failures = 0 if decoder.events + decoder.comments > came else failures + 1
            await asyncio.sleep(_pause(decoder, failures if opened or not there else 0))
            decoder.restart()

    async def _stream(self, decoder: SseDecoder) -> bool | None:
        """One connection of it. Whether there was one; None: the server has no such stream.

        Raises:
            ConnectionLost: the server cannot be reached.
            SessionEnded: it does not know the session.
        """
        try:
            answer = await self._asked(decoder)
        except Refused:
            return None
        try:
            if answer.status == 404 and self.id is not None:
                raise SessionEnded("The server has ended the session.")
            if not _is_stream(answer):
                return False if answer.status in (429, 500, 502, 503, 504) else None
            with contextlib.suppress(ConnectionLost):
                await read_events(answer, decoder, self._receiver)
            self._tell_closed()
            return True
        finally:
            answer.close()


def _is_stream(answer: Answer) -> bool:
    return answer.status == 200 and answer.media_type == EVENTS


def _pause(decoder: SseDecoder, failures: int) -> float:
    """Seconds before the next connection: what the server says, and longer each time that it brings nothing."""
    said = FIRST_PAUSE if decoder.retry is None else min(decoder.retry / 1000, LONGEST_RETRY)
    return max(said, min(FIRST_PAUSE * 2 ** min(failures, 10), LONGEST_PAUSE)) if failures else said


def _sendable(event_id: str) -> str:
    """An event id as a header value, which may be any text but control characters (it is sent as UTF-8)."""
    return "".join(char for char in event_id if char >= " " and char != "\x7f").strip()
