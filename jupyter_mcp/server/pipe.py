"""One client at the other end of a transport that carries one connection: a pipe, or memory.

It is the `Receiver` of that transport, with one session and one way out for everything. Here is what belongs to the
pipe only: lines that are no messages, the client's going away, the last answers after it closed our input, a good end.

Below: `session`, `outbox`, a transport. Above: `server`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol import inbound, jsonrpc
from jupyter_mcp.protocol.jsonrpc import INVALID_REQUEST
from jupyter_mcp.server.outbox import Outbox
from jupyter_mcp.server.session import Session
from jupyter_mcp.server.ways import Single

if TYPE_CHECKING:
    from jupyter_mcp.server.server import Server
    from jupyter_mcp.transport.base import Closed, Message, Noise, Transport
    from jupyter_mcp.transport.traffic import HttpEvent

LAST_ANSWERS = 1.0
"""Seconds for calls in flight to answer after the client closed our input (one-shot scripts: `echo … | server`)."""


class Pipe:
    """One connection. `run` opens it and returns when it is over."""

    def __init__(self, server: Server, transport: Transport) -> None:
        self._transport = transport
        self._outbox = Outbox(transport)
        self._way = Single(self._outbox)
        self._session = Session(server, self._way)
        self._over = asyncio.Event()

    # --- life

    async def run(self) -> None:
        """Serve until the client is gone or the task is cancelled."""
        await self._transport.open(self)
        try:
            await self._over.wait()
            await self._let_finish()
        except asyncio.CancelledError:
            self._session.work.end_listens()
            raise
        finally:
            await self._stop()

    async def _let_finish(self) -> None:
        """A client that closed our input may still read the answers to what it sent."""
        if getattr(self._transport, "answers_after_eof", False):
            await self._session.work.finish(LAST_ANSWERS)
            self._session.work.end_listens()

    async def _stop(self) -> None:
        self._session.lose()
        await self._session.work.stop()
        if not self._outbox.closed:
            try:
                async with asyncio.timeout(LAST_ANSWERS):
                    await self._outbox.flush()
            except TimeoutError:
                pass
        self._outbox.closed = True
        await self._transport.close()

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread."""
        self._session.changed(method, params)

    def watched(self) -> set[str]:
        """The URIs whose changes the client asked to hear of. Any thread."""
        return self._session.watched()

    # --- what a transport calls

    def on_message(self, message: Message, size: int) -> None:
        """One message."""
        self._session.take(message, self._way)

    def on_batch(self, messages: list[Message], size: int) -> None:
        """Several at once."""
        self._session.take_batch(messages, self._way)

    def on_noise(self, noise: Noise) -> None:
        """A line that is no message: told to the sender, as JSON-RPC wants it."""
        if noise.kind == "invalid":
            text = "Invalid request: this is not a JSON-RPC message"
            self._outbox.post(jsonrpc.error(None, INVALID_REQUEST, text))
        else:
            self._outbox.post(inbound.parse_failure())

    def on_stderr(self, line: str) -> None:
        """Clients have no stderr."""

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None:
        """A question of ours will get no answer."""
        if request_id is not None:
            self._session.unanswered(request_id, error)

    def on_alive(self, request_id: int | str | None) -> None:
        """Clients send no signs of life."""

    def on_http(self, event: HttpEvent) -> None:
        """Only a client's transport tells it."""

    def on_closed(self, closed: Closed) -> None:
        """The client is gone, or has closed our input."""
        if not getattr(self._transport, "answers_after_eof", False):
            self._outbox.closed = True
        self._session.lose()
        self._over.set()
