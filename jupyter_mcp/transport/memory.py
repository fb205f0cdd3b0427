"""Two transports joined back to back on one event loop: a client and a server in the same process.

Messages still pass through `encode` and `decode`, so that what could not travel over a pipe cannot travel here (NaN, a
shared mutable dict), and arrive in the next turn of the loop, so that nobody is called while they are sending.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost
from jupyter_mcp.protocol.framing import parse_line
from jupyter_mcp.protocol.jsonrpc import encode
from jupyter_mcp.transport.base import Closed, Noise, Receiver

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Both ends. What one sends before the other is open waits for it."""
    left, right = MemoryTransport(), MemoryTransport()
    left.peer, right.peer = right, left
    return left, right


class MemoryTransport:
    """One end; made by `memory_pair`."""

    kind = "memory"
    stderr: Sequence[str] = ()
    peer: MemoryTransport

    def __init__(self) -> None:
        self._receiver: Receiver | None = None
        self._waiting: list[bytes | Closed] = []
        self._closed = False
        self._reported = False

    async def open(self, receiver: Receiver) -> None:
        """Begin to receive."""
        self._receiver = receiver
        waiting, self._waiting = self._waiting, []
        loop = asyncio.get_running_loop()
        for item in waiting:
            loop.call_soon(self._arrive, item)
        if self._closed:
            loop.call_soon(self._arrive, Closed("was closed"))

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Hand one message over."""
        data = encode(message)
        if self._closed or self.peer._closed:
            raise ConnectionLost("The server is closed.", may_have_run=False)
        asyncio.get_running_loop().call_soon(self.peer._arrive, data)
        return len(data)

    def cancel(self, request_id: int | str) -> None:
        """Nothing is held for one request."""

    async def close(self) -> None:
        """Both ends are closed by closing one."""
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        loop.call_soon(self.peer._arrive, Closed("closed the connection"))
        loop.call_soon(self._arrive, Closed("was closed"))
        await asyncio.sleep(0)

    def _arrive(self, item: bytes | Closed) -> None:
        receiver = self._receiver
        if receiver is None:
            self._waiting.append(item)
        elif isinstance(item, Closed):
            self._closed = True
            if not self._reported:
                self._reported = True
                receiver.on_closed(item)
        elif not self._reported:
            self._deliver(item, receiver)

    def _deliver(self, data: bytes, receiver: Receiver) -> None:
        line = parse_line(data)
        if line.batch:
            receiver.on_batch(line.messages, len(data))
            return
        for message in line.messages:
            receiver.on_message(message, len(data))
        if line.noise is not None:
            receiver.on_noise(Noise("memory", line.noise))
