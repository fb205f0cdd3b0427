"""Messages leave a session in the order in which they were put here, whoever put them.

A sender that finds the way free sends at once, without a task; while a transport holds one message back (its peer reads
slowly), the others wait behind it. When the peer is gone, everything is dropped in silence: the session ends elsewhere.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, LocalProtocolError

if TYPE_CHECKING:
    from jupyter_mcp.transport.base import Transport

Outgoing = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Outbox:
    """The one way out of a session. Loop only."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._waiting: deque[tuple[Outgoing | None, asyncio.Future[None]]] = deque()
        self._busy = False
        self._pump: asyncio.Task[None] | None = None
        self.closed = False

    def post(self, message: Outgoing | None) -> asyncio.Future[None]:
        """Send soon. The future need not be awaited; it fails with `LocalProtocolError` when this is not JSON."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.add_done_callback(_seen)
        self._waiting.append((message, done))
        self._start()
        return done

    async def send(self, message: Outgoing) -> None:
        """Send, and wait until the transport took it.

        Raises:
            LocalProtocolError: it is not JSON; nothing was sent.
        """
        if self._busy:
            await self.post(message)
            return
        self._busy = True
        try:
            await self._give(message)
        finally:
            self._busy = False
            if self._waiting:
                self._start()

    async def flush(self) -> None:
        """Wait until all that was put here before is sent."""
        await self.post(None)

    def _start(self) -> None:
        if not self._busy:
            self._busy = True
            self._pump = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while self._waiting:
                message, done = self._waiting.popleft()
                try:
                    if message is not None:
                        await self._give(message)
                except LocalProtocolError as error:
                    if not done.done():
                        done.set_exception(error)
                if not done.done():
                    done.set_result(None)
        finally:
            self._busy = False

    async def _give(self, message: Outgoing) -> None:
        if self.closed:
            return
        try:
            await self._transport.send(message)
        except ConnectionLost:
            self.closed = True


def _seen(future: asyncio.Future[None]) -> None:
    """Nobody has to look at a failure that only concerns the message itself."""
    if not future.cancelled():
        future.exception()
