"""A receiver that writes down what it is told, and events to wait for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.transport.base import Closed, Message, Noise
    from jupyter_mcp.transport.traffic import HttpEvent


class Recorder:
    """Implements `Receiver`."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.batches: list[list[Message]] = []
        self.noise: list[Noise] = []
        self.stderr: list[str] = []
        self.closed: list[Closed] = []
        self.traffic: list[HttpEvent] = []
        self.sizes: list[int] = []
        self._changed = asyncio.Event()

    def on_message(self, message: Message, size: int) -> None:
        self.sizes.append(size)
        self._add(self.messages, message)

    def on_batch(self, messages: list[Message], size: int) -> None:
        self._add(self.batches, messages)

    def on_noise(self, noise: Noise) -> None:
        self._add(self.noise, noise)

    def on_alive(self, request_id: int | str | None) -> None:
        """Not kept."""

    def on_stderr(self, line: str) -> None:
        self._add(self.stderr, line)

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None:
        raise AssertionError("only HTTP knows this")

    def on_http(self, event: HttpEvent) -> None:
        self._add(self.traffic, event)

    def on_closed(self, closed: Closed) -> None:
        self._add(self.closed, closed)

    def _add(self, where: list[Any], what: Any) -> None:
        where.append(what)
        self._changed.set()

    async def until(self, condition: Callable[[], object], seconds: float = 40.0) -> None:
        """Wait until `condition` holds."""
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()
