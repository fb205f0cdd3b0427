"""The way back of one HTTP request: one JSON answer while that will do, a stream of events from there on.

A `Stream` outlives the HTTP response that carries it: in the legacy era events have ids and are kept (bounded), the
client may lose the connection and come back with `Last-Event-ID`. In the modern era nothing is kept. The `Body` is the
response in the eyes of a stream; tornado is behind it.

What a slow reader does not take waits here, bounded: `tell` waits for room, notes that say the same are merged, and a
reader who takes nothing at all loses the response.

Above: `handler`, `sessions`. Source: spec 2025-11-25 "Transports / Resumability"; 2026-07-28 "Streamable HTTP".
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.protocol import jsonrpc, sse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.server.ways import Outgoing

MOST_EVENTS = 1_000
MOST_BYTES = 16 * 2**20
"""What one stream keeps for a client that is away, or that reads slowly: events, and bytes of them."""


class Body(Protocol):
    """One HTTP response."""

    def answer(self, status: int, data: bytes) -> None:
        """The whole response, as JSON."""
        ...

    def begin(self) -> None:
        """The head of a stream of events."""
        ...

    def write(self, data: bytes) -> asyncio.Future[None]:
        """Events; the future ends when there is room for more."""
        ...

    def end(self) -> None:
        """The end of the stream."""
        ...

    def abort(self) -> None:
        """Close the connection: the reader does not read."""
        ...


class Stream:
    """What goes back for one request, or (legacy) what belongs to no request. It is a `Way`. Loop only.

    Args:
        body: the response that carries it; None while there is none.
        name: the first part of its event ids; None: nothing is kept, and events have no ids (modern).
        prime: the first event is an id alone, and the stream may be closed for a while (2025-11-25).
        json, events: what the client can read.
        status: error code -> HTTP status of a JSON answer.
        elsewhere: where questions and notes go when the client reads no events.

    Attributes:
        status: error code -> HTTP status of a JSON answer.
        ended_at: loop time of its end.
        opened: it has become a stream of events.
        name: the first part of its event ids.
        done: its answer was given: nothing more will come.
        on_answer: called with the answer before it goes out.
    """

    def __init__(
        self,
        body: Body | None,
        *,
        name: str | None = None,
        prime: bool = False,
        json: bool = True,
        events: bool = True,
        status: Mapping[int, int] | None = None,
        elsewhere: Stream | None = None,
    ) -> None:
        self._body = body
        self.name = name or ""
        self._name = name
        self._prime = prime
        self._json = json
        self._readable = events
        self.status = status or {}
        self._elsewhere = elsewhere
        self._events: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._number = 0  # of the last event
        self._sent = 0  # number of the last event that was given to a body
        self._writing: asyncio.Future[None] | None = None
        self.ended_at = 0.0
        self.opened = False
        self.done = False
        self.on_answer: Callable[[Outgoing], None] | None = None

    @property
    def attached(self) -> bool:
        """Whether a response carries it now."""
        return self._body is not None

    @property
    def kept(self) -> int:
        """Bytes of the events it holds."""
        return self._bytes

    # --- what a Way does

    def post(self, message: Outgoing) -> None:
        """The answer."""
        self._answer(message, jsonrpc.encode(message))

    async def send(self, message: Outgoing) -> None:
        """The answer; the same, but for whoever awaits it."""
        self._answer(message, jsonrpc.encode(message))

    def note(self, message: dict[str, Any]) -> None:
        """A notification, soon."""
        self._say(message, merge=True)

    async def tell(self, message: dict[str, Any]) -> None:
        """A notification or a question; waits while the client reads slowly."""
        self._say(message)
        await self._room()

    def drop(self) -> None:
        """The request was cancelled: the response ends without an answer."""
        self.end()

    def close_stream(self, retry_ms: int) -> None:
        """End the response; the client comes back with the id of the last event (2025-11-25)."""
        if self._prime and not self.done and self._readable and self._name is not None:
            self.open()
            body, self._body = self._body, None
            self._writing = None
            if body is not None:
                body.write(sse.encode(b"", id=f"{self._name}-{self._sent}", retry=max(0, int(retry_ms))))
                body.end()

    async def _room(self) -> None:
        if (writing := self._writing) is not None:
            await asyncio.wait([writing])

    # --- responses come and go

    def open(self) -> None:
        """Become a stream of events, if it is not one yet and the client reads them."""
        if self.opened or self._body is None or not self._readable:
            return
        self.opened = True
        self._begin(self._body)

    def attach(self, body: Body, after: int | None = None, *, prime: bool | None = None) -> None:
        """Let this response carry it, from the event after that number on (None: from where it stopped)."""
        if prime is not None:
            self._prime = prime
        before, self._body = self._body, body
        if before is not None:
            before.end()
        self._writing = None
        self.opened = True
        if after is not None:
            self._sent = min(max(after, 0), self._number)
        self._begin(body)
        self._pump()

    def carry(self, body: Body) -> None:
        """Go on with this response, whose head was sent already."""
        self._body = body
        self.opened = True
        self._pump()

    def detach(self, body: Body) -> None:
        """This response is gone. What is kept stays."""
        if self._body is body:
            self._body = None
            writing, self._writing = self._writing, None
            if writing is not None:
                writing.cancel()  # whoever waits for room waits in vain
            if self._name is None:
                self._forget()

    def end(self) -> None:
        """No more: end the response too."""
        self._finish()
        if not self.opened:
            self.open()
        if not self.opened and self._body is not None:
            body, self._body = self._body, None
            body.end()
        self._pump()

    def _finish(self) -> None:
        if not self.done:
            self.done = True
            self.ended_at = asyncio.get_running_loop().time()

    def _forget(self) -> None:
        """Nobody can come back: nothing is kept any more."""
        self._finish()
        self._events.clear()
        self._bytes = 0
        self._sent = self._number

    def _begin(self, body: Body) -> None:
        body.begin()
        if self._prime:
            self._write(body, sse.encode(b"", id=f"{self._name}-{self._sent}"))

    # --- events

    def _answer(self, message: Outgoing, data: bytes) -> None:
        if self.done:
            return
        if self.on_answer is not None:
            self.on_answer(message)
        self._finish()
        body = self._body
        if body is not None and not self.opened:
            status = self._status_of(message)
            if self._json or status != 200:  # a status is worth more than the client's preference
                self._body = None
                body.answer(status, data)
                return
        self.open()
        self._append(data)
        self._pump()

    def _status_of(self, message: Outgoing) -> int:
        if isinstance(message, Mapping) and "error" in message:
            return self.status.get(message["error"]["code"], 200)
        return 200

    def _say(self, message: dict[str, Any], *, merge: bool = False) -> None:
        if self.done:
            return
        if not self._readable:
            if self._elsewhere is not None:
                self._elsewhere._say(message, merge=merge)
            return
        data = jsonrpc.encode(message)
        self.open()
        if merge and any(data == waiting for number, waiting in self._events if number > self._sent):
            return
        self._append(data)
        self._pump()

    def _append(self, data: bytes) -> None:
        self._number += 1
        self._events.append((self._number, data))
        self._bytes += len(data)
        while len(self._events) > 1 and (len(self._events) > MOST_EVENTS or self._bytes > MOST_BYTES):
            if self._name is None:
                self._give_up()
                return
            self._let_go()

    def _let_go(self) -> None:
        number, data = self._events.popleft()
        self._bytes -= len(data)
        self._sent = max(self._sent, number)

    def _give_up(self) -> None:
        body, self._body = self._body, None
        self._forget()
        if body is not None:
            body.abort()

    def _pump(self) -> None:
        """Give the response what it has room for."""
        while self._body is not None and self._writing is None and self._sent < self._number:
            data = self._next()
            self._write(self._body, sse.encode(data, id=None if self._name is None else f"{self._name}-{self._sent}"))
        if self.done and self._body is not None and self._writing is None and self.opened:
            body, self._body = self._body, None
            body.end()

    def _next(self) -> bytes:
        """The first event that was not given to a response yet; it counts as given. Numbers have no gaps."""
        number, data = self._events[max(0, self._sent + 1 - self._events[0][0])]
        self._sent = number
        if self._name is None:
            self._events.popleft()
            self._bytes -= len(data)
        return data

    def _write(self, body: Body, data: bytes) -> None:
        writing = body.write(data)
        if not writing.done():
            self._writing = writing
            writing.add_done_callback(self._written)

    def _written(self, writing: asyncio.Future[None]) -> None:
        if self._writing is writing:
            self._writing = None
            self._pump()


class Nowhere:
    """The way back of what gets no answer. A `Way`."""

    def post(self, message: Outgoing) -> None:
        """Nobody waits for it."""

    async def send(self, message: Outgoing) -> None:
        """Nobody waits for it."""

    def note(self, message: dict[str, Any]) -> None:
        """Nobody hears it."""

    async def tell(self, message: dict[str, Any]) -> None:
        """Nobody hears it."""

    def drop(self) -> None:
        """Nobody waits for it."""

    def close_stream(self, retry_ms: int) -> None:
        """There is none."""


def parse_event_id(text: str) -> tuple[str, int] | None:
    """The stream's name and the number of an event, or None when it is no id of ours."""
    name, dash, number = text.rpartition("-")
    if not dash or not name or not number.isascii() or not number.isdigit() or len(number) > 15:
        return None
    return name, int(number)


def accepts(headers: Sequence[str]) -> tuple[bool, bool]:
    """Whether these `Accept` headers take JSON, and events. Without any, both (RFC 9110, 12.5.1)."""
    given = ",".join(headers).lower()
    if not given.strip():
        return True, True
    json = events = False
    for part in given.split(","):
        kind, *options = (piece.strip() for piece in part.split(";"))
        if any(option.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for option in options):
            continue
        json = json or kind in ("*/*", "application/*", "application/json")
        events = events or kind in ("*/*", "text/*", "text/event-stream")
    return json, events
