"""Where the answers to a message go: each by itself, or all answers to a batch in one array (2025-03-26)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.protocol import jsonrpc

if TYPE_CHECKING:
    from jupyter_mcp.server.outbox import Outbox


class Way(Protocol):
    """Where the answers of a message go: the pipe, or a batch's one array."""

    def post(self, message: dict[str, Any]) -> object:
        """Send soon."""
        ...

    async def send(self, message: dict[str, Any]) -> None:
        """Send now. Raises LocalProtocolError when it is not JSON."""
        ...

    def drop(self) -> None:
        """The answer will not come."""
        ...


class Single:
    """Each answer for itself."""

    def __init__(self, outbox: Outbox) -> None:
        self.post = outbox.post
        self.send = outbox.send

    def drop(self) -> None:
        """Nobody waits for it."""


class Batch:
    """Collects the answers to a batch; sends them as one array when the last one has come."""

    def __init__(self, outbox: Outbox, expected: int) -> None:
        self._outbox = outbox
        self._expected = expected
        self._answers: list[dict[str, Any]] = []

    def post(self, message: dict[str, Any]) -> None:
        """One answer."""
        self._answers.append(message)
        self._count()

    async def send(self, message: dict[str, Any]) -> None:
        """One answer, checked for itself: one that is not JSON must not cost the others."""
        jsonrpc.encode(message)
        self.post(message)

    def drop(self) -> None:
        """One answer that will not come (cancelled)."""
        self._count()

    def _count(self) -> None:
        self._expected -= 1
        if self._expected == 0 and self._answers:
            self._outbox.post(self._answers)
