"""A server that floods: so many of its requests wait, the rest is refused with one line. One queue for each server.

Other servers have queues of their own, and what is refused neither fills the log of the server nor the journal: each
flood is told once, when it begins, and counted when it is over.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.errors import InputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["AT_ONCE", "WAITING", "Queue", "Queues"]

WAITING = 8
"""Requests of one server that are being answered or wait for it."""
AT_ONCE = 2
"""Model calls that run for one server at a time without anybody being asked."""


@dataclass(eq=False)
class Queue:
    """The requests of one server.

    Attributes:
        asking: held while the person is asked: one question of a server at a time.
        running: taken by model calls that nobody is asked about.
        inside: how many are in here.
        refused: how many were refused since it was last empty.
    """

    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    running: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    inside: int = 0
    refused: int = 0


class Queues:
    """The queues of one kernel; on the runtime loop only.

    Args:
        tell: takes a server and a sentence for its log.
    """

    def __init__(self, tell: Callable[[str, str], object]) -> None:
        self._tell = tell
        self._queues: dict[str, Queue] = {}

    @contextmanager
    def turn(self, server: str) -> Generator[Queue]:
        """Be in the queue of a server. Raises `InputRefused` when it is full."""
        queue = self._queues.setdefault(server, Queue())
        if queue.inside >= WAITING:
            queue.refused += 1
            text = f"{server} asks for more answers of a model than are given: {WAITING} wait, the rest is refused."
            if queue.refused == 1:
                self._tell(server, text)
            raise InputRefused(text, server=server)
        queue.inside += 1
        try:
            yield queue
        finally:
            queue.inside -= 1
            if not queue.inside:
                self._queues.pop(server, None)
                if queue.refused:
                    self._tell(server, f"{queue.refused:,} requests of {server} for sampling were refused: too many.")
