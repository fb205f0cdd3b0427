"""One HTTP response as `streams` sees it, with tornado behind it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol import sse

if TYPE_CHECKING:
    import asyncio

    from tornado.web import RequestHandler

    from jupyter_mcp.server.http.endpoint import Endpoint

_COMMENT = sse.comment()
_EVENTS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",  # nginx passes events on as they come
}


class Response:
    """A `Body`.

    Attributes:
        over: it has ended, however it did.
        good_until: when the token ends that it was opened with, in seconds since 1970; None: it does not end it.
    """

    __slots__ = ("_begun", "_endpoint", "_fresh", "_handler", "_stalled", "_writing", "good_until", "over")

    def __init__(self, handler: RequestHandler, endpoint: Endpoint) -> None:
        self._handler: Any = handler  # tornado's own annotations are loose
        self._endpoint = endpoint
        self._begun = False
        self._fresh = True
        self._stalled = 0
        self._writing: asyncio.Future[None] | None = None
        self.over = False
        self.good_until: float | None = None

    def answer(self, status: int, data: bytes) -> None:
        """The whole response, as JSON."""
        if not self.over:
            handler = self._handler
            handler.set_status(status)
            handler.set_header("Content-Type", "application/json")
            self.finish(data)

    def accept(self) -> None:
        """Taken, and there is nothing to say: 202 without a body."""
        if not self.over:
            self._handler.set_status(202)
            self._handler.clear_header("Content-Type")
            self.finish(None)

    def begin(self) -> None:
        """The head of a stream of events."""
        self._begun = True
        for name, value in _EVENTS.items():
            self._handler.set_header(name, value)
        self._endpoint.open.add(self)
        self._flush()

    def write(self, data: bytes) -> asyncio.Future[None]:
        """Events; the future ends when there is room for more."""
        self._fresh = True
        self._handler.write(data)
        return self._flush()

    def end(self) -> None:
        """The end of the stream."""
        if self.over:
            return
        if not self._begun:
            self.accept()
            return
        stream = _stream_of(self._handler) if self._handler.request.version == "HTTP/1.0" else None
        finished = self.finish(None)
        if stream is not None:  # nothing else tells such a client that this was all
            finished.add_done_callback(lambda _: stream.close())

    def abort(self) -> None:
        """Close the connection: the reader does not read."""
        stream = _stream_of(self._handler)
        if stream is not None:
            stream.close()
        self.lost()

    def lost(self) -> None:
        """The connection is closed."""
        self._endpoint.open.discard(self)
        self.over = True

    def keep_alive(self, patience: int) -> None:
        """Called at intervals: a comment where nothing was written since the last time, the end when its token ended.

        Args:
            patience: after so many intervals in which the reader took nothing, the connection is closed.
        """
        if self.good_until is not None and self.good_until <= time.time():
            self.abort()
            return
        if self._writing is not None and not self._writing.done():
            self._stalled += 1
            if self._stalled > patience:
                self.abort()
            return
        self._stalled = 0
        if self._fresh:
            self._fresh = False
        else:
            self._handler.write(_COMMENT)
            self._flush()

    def _flush(self) -> asyncio.Future[None]:
        writing: asyncio.Future[None] = self._handler.flush()
        self._writing = writing
        writing.add_done_callback(_seen)
        return writing

    def finish(self, data: bytes | None) -> asyncio.Future[None]:
        """The last part of what the handler has prepared."""
        finished: asyncio.Future[None] = self._handler.finish(data)
        finished.add_done_callback(_seen)
        self.lost()
        return finished


def _stream_of(handler: Any) -> Any:
    """The socket's stream; None where tornado serves something else than HTTP/1 on a socket."""
    return getattr(handler.request.connection, "stream", None)


def _seen(future: asyncio.Future[Any]) -> None:
    """A client that went away is no error."""
    if not future.cancelled():
        future.exception()
