"""The HTTP+SSE transport of 2024-11-05, which Streamable HTTP replaced; served only where `sse=True` asks for it.

A GET opens the one stream of a connection; its first event names the address to POST messages to; every answer comes
back on the stream. The connection is over with the stream: nothing can be resumed.

Above: `endpoint`. Source: spec 2024-11-05 "Transports / HTTP with SSE".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tornado.web import RequestHandler, stream_request_body

from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.server.http.guarded import Guarded
from jupyter_mcp.server.http.streams import Stream, accepts

if TYPE_CHECKING:
    import asyncio

    from jupyter_mcp.server.http.response import Response
    from jupyter_mcp.server.http.sessions import HttpSession
    from jupyter_mcp.server.ways import Outgoing

_SESSION = "session_id"


class OneStream(Stream):
    """The stream of a connection: answers are events among others, and none of them ends it."""

    def post(self, message: Outgoing) -> None:
        """An answer."""
        if self.done:
            return
        self._append(jsonrpc.encode(message))
        self._pump()

    async def send(self, message: Outgoing) -> None:
        """An answer; waits while the client reads slowly."""
        self.post(message)
        await self._room()

    def drop(self) -> None:
        """Nobody waits for it."""

    def close_stream(self, retry_ms: int) -> None:
        """It cannot be taken up again."""


class SseBody:
    """A response whose events say that they are messages, as 2024-11-05 wants them."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self.answer, self.begin, self.end, self.abort = response.answer, response.begin, response.end, response.abort

    def write(self, data: bytes) -> asyncio.Future[None]:
        """Events; the future ends when there is room for more."""
        return self._response.write(b"event: message\n" + data)


class OldGuarded(Guarded):
    """Both addresses."""

    def check_xsrf_cookie(self) -> None:
        """No cookie is looked at here, so none can be abused."""

    def set_default_headers(self) -> None:
        """tornado's name and version are nobody's business."""
        self.clear_header("Server")


@stream_request_body
class StreamHandler(OldGuarded, RequestHandler):
    """The stream."""

    allow = "GET"
    _connection: HttpSession | None = None

    def get(self) -> None:
        """Open a connection."""
        if self.refused():
            return
        if not accepts(self.request.headers.get_list("Accept"))[1]:
            self.plain(406, "Accept text/event-stream.")
            return
        stream = OneStream(None)
        session = self.endpoint.sessions.begin(self.principal, own=stream)
        if session is None:
            self.plain(503, "This server has no room for another session now.")
            return
        self._connection = session
        self.end_with_token()
        base = (self.request.path or "/").rstrip("/").rpartition("/")[0]
        address = f"{base}/messages?{_SESSION}={session.id}"
        self.response.begin()
        self.response.write(b"event: endpoint\ndata: " + address.encode("utf-8", "replace") + b"\n\n")
        stream.carry(SseBody(self.response))
        self.answer_later()

    def on_finish(self) -> None:
        """The stream is complete."""
        super().on_finish()
        self._close()

    def on_connection_close(self) -> None:
        """The client is gone, and with it the connection."""
        super().on_connection_close()
        self._close()

    def _close(self) -> None:
        session, self._connection = self._connection, None
        if session is not None:
            self.endpoint.sessions.end(session)


@stream_request_body
class MessagesHandler(OldGuarded, RequestHandler):
    """Where the client's messages go."""

    allow = "POST"

    def post(self) -> None:
        """One message; its answer comes on the stream."""
        if self.refused() or not self.post_media():
            return
        ids = self.request.query_arguments.get(_SESSION, [])
        session = None
        if len(ids) == 1:
            session = self.endpoint.sessions.find(ids[0].decode("latin-1"), self.principal)
        if session is None or not isinstance(session.own, OneStream):
            self.plain(404, "There is no such connection.")
            return
        if session.full:
            self.plain(503, "This connection has no room for another request now.")
            return
        message = self.read_message()
        if message is None:
            return
        if isinstance(message, list):
            session.session.take_batch(cast("list[Any]", message), session.own)
        elif jsonrpc.kind(message) == "invalid":
            self.invalid(message)
            return
        else:
            session.session.take(message, session.own)
        self.response.accept()
