"""One transport with the requests that wait on it: sends, matches answers to requests, hands the rest upwards.

A link lives as long as its transport; a server that is started again gets a new one, and what an old transport may
still say reaches nobody. It knows JSON-RPC and nothing of eras, capabilities or lists.
"""

from __future__ import annotations

import asyncio
import logging
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from jupyter_mcp.client.pending import Pending, Waiting
from jupyter_mcp.errors import ConnectionLost, MCPError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.transport.base import Noise, Refused, SessionEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from jupyter_mcp.client.peer import Call
    from jupyter_mcp.protocol.jsonrpc import Id
    from jupyter_mcp.transport.base import Closed, Message, Transport
    from jupyter_mcp.transport.traffic import HttpEvent

log = logging.getLogger("jupyter_mcp.client")

CROWD = 1000  # tasks beside
GRACE = 1.0  # seconds that a message nobody waits for may take to be written


class Upwards(Protocol):
    """Who gets what a link does not settle itself; called on the loop, exceptions are logged."""

    def on_wire(self, direction: Literal["send", "receive"], message: Message, size: int) -> None: ...
    def on_http(self, event: HttpEvent) -> None: ...
    def on_request(self, link: Link, id: Id, method: str, params: Any) -> None: ...
    def on_notification(self, link: Link, method: str, params: dict[str, Any]) -> None: ...
    def on_batch(self, link: Link, messages: list[Message], size: int) -> None: ...
    def on_noise(self, link: Link, noise: Noise) -> None: ...
    def on_stderr(self, link: Link, line: str) -> None: ...
    def on_timeout(self, link: Link, pending: Pending) -> None: ...
    def on_trouble(self, link: Link, error: Exception, of_request: bool) -> None: ...
    def on_unwanted(self, link: Link, message: Message) -> None: ...
    def on_closed(self, link: Link, closed: Closed) -> None: ...


class Link:
    """Implements `transport.base.Receiver`.

    Args:
        transport: a fresh one.
        upwards: see `Upwards`.
        ids: gives the id of each request (unique over all links of a connection).

    Attributes:
        closed: why it ended, once it did.
        gone: set when it did.
        agreed: set when the handshake over it is done.
    """

    def __init__(self, transport: Transport, upwards: Upwards, ids: Callable[[], int]) -> None:
        self.transport = transport
        self.closed: Closed | None = None
        self.gone = asyncio.Event()
        self.agreed = asyncio.Event()
        self.heard = False  # something came since somebody looked
        self._upwards = upwards
        self._next_id = ids
        self._loop = asyncio.get_running_loop()
        self.waiting = Waiting(self._loop, self._timed_out)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        """Whether a request of somebody is in flight, or a question of the server open."""
        return self.waiting.stopped or any(pending.call is not None for pending in self.waiting)

    @property
    def crowded(self) -> bool:
        """Whether more is done beside than any server has reason to cause."""
        return len(self._tasks) >= CROWD

    async def open(self) -> None:
        """Start the transport. Raises `ConnectionFailed`."""
        await self.transport.open(self)

    # -- sending --------------------------------------------------------------------------------------------------

    def begin(
        self, method: str, *, timeout: float = inf, limit: float = inf, call: Call | None = None, id: Id | None = None
    ) -> Pending:
        """Make room for the answer to a request that is about to be sent."""
        return self.waiting.add(self._next_id() if id is None else id, method, timeout=timeout, limit=limit, call=call)

    async def request(self, pending: Pending, params: Mapping[str, Any] | None) -> None:
        """Send the request; its answer comes to `pending.future`. Takes it back when it could not be sent."""
        pending.sent = True  # also when we are cancelled below: the pipe is full then, and takes it later
        try:
            await self.send(jsonrpc.request(pending.id, pending.method, params))
        except Exception:
            self.waiting.drop(pending)
            raise

    async def send(self, message: Message) -> None:
        """Send any message. Raises what `Transport.send` raises, and over HTTP `Refused` and `SessionEnded`."""
        size = await self.transport.send(message)
        self._upwards.on_wire("send", message, size)

    def post(self, message: Message) -> None:
        """Send a message that nobody waits for; what goes wrong is logged."""
        if self.crowded:
            log.debug("not sent, because too much waits to be sent: %.200s", message)
        else:
            self.spawn(self._post(message))

    async def _post(self, message: Message) -> None:
        try:
            async with asyncio.timeout(GRACE):
                await self.tell(message)
        except (MCPError, TimeoutError) as error:
            log.debug("not sent: %s", error)

    async def tell(self, message: Message) -> None:
        """Send a notification or an answer; over HTTP the server may refuse even that, which is logged.

        Raises what `Transport.send` raises: `LocalProtocolError`, `ConnectionLost`.
        """
        try:
            await self.send(message)
        except (Refused, SessionEnded) as error:
            log.debug("not taken: %s", error)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something beside; it is cancelled when the link ends."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a task of a connection failed", exc_info=error)

    # -- receiving (Receiver) -------------------------------------------------------------------------------------

    def on_message(self, message: Message, size: int) -> None:
        self.heard = True
        self._upwards.on_wire("receive", message, size)
        try:
            self._handle(message)
        except Exception:  # one message must not cost those behind it
            log.exception("a message could not be handled")

    def _handle(self, message: Message) -> None:
        kind = jsonrpc.kind(message)
        if kind == "response" or kind == "error":
            pending = self.waiting.take(message.get("id"))
            if pending is None:
                log.debug("an answer to nothing: id %r", message.get("id"))
                self._upwards.on_unwanted(self, message)
            elif not pending.future.done():
                pending.future.set_result(message)
        elif kind == "notification":
            params: Any = message.get("params")
            given = cast("dict[str, Any]", params) if isinstance(params, dict) else {}  # `[]` is seen
            self._upwards.on_notification(self, message["method"], given)
        elif kind == "request":
            self._upwards.on_request(self, message["id"], message["method"], message.get("params"))
        else:
            self._upwards.on_noise(self, Noise("stdout", printable(repr(message))))

    def on_batch(self, messages: list[Message], size: int) -> None:
        self._upwards.on_batch(self, messages, size)

    def on_noise(self, noise: Noise) -> None:
        self._upwards.on_noise(self, noise)

    def on_stderr(self, line: str) -> None:
        self._upwards.on_stderr(self, line)

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None:
        pending = None if request_id is None else self.waiting.take(request_id)
        if pending is not None and not pending.future.done():
            pending.future.set_exception(error)
            pending.future.exception()  # nobody may be waiting any more: not an unretrieved exception then
        self._upwards.on_trouble(self, error, request_id is not None)

    def on_alive(self, request_id: int | str | None) -> None:
        self.heard = True

    def on_http(self, event: HttpEvent) -> None:
        self._upwards.on_http(event)

    def on_hold(self, held: bool) -> None:
        """Somebody answers the server's question who we are: nobody's time runs meanwhile."""
        if held:
            self.waiting.stop()
        else:
            self.waiting.go_on()

    def on_closed(self, closed: Closed) -> None:
        if self.closed is None:
            self.closed = closed
            self.gone.set()
            self._upwards.on_closed(self, closed)
            for task in tuple(self._tasks):
                task.cancel()

    # -- ending ---------------------------------------------------------------------------------------------------

    def _timed_out(self, pending: Pending) -> None:
        self.transport.cancel(pending.id)
        self._upwards.on_timeout(self, pending)

    def fail_all(self, error: Callable[[Pending], ConnectionLost]) -> None:
        """End everything that waits."""
        for pending in self.waiting.take_all():
            if not pending.future.done():
                pending.future.set_exception(error(pending))
                pending.future.exception()  # nobody may be waiting any more: not an unretrieved exception then

    async def close(self) -> None:
        """End the transport."""
        await self.transport.close()
