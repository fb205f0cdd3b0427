"""Where the messages of a request go: its answer, and what its handler says and asks meanwhile.

On a pipe everything goes out by the one outbox. Over HTTP each request has an answer of its own (`http.streams`). The
answers to a batch (2025-03-26) are collected into one array. Whoever works on a request knows only its `Way`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.protocol import jsonrpc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.server.outbox import Outbox

    Outgoing = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Way(Protocol):
    """The way back of one request (or of a batch, or of what belongs to no request). Loop only."""

    def post(self, message: Outgoing) -> object:
        """The answer, soon."""
        ...

    async def send(self, message: Outgoing) -> None:
        """The answer. Raises LocalProtocolError when it is not JSON; nothing was sent then."""
        ...

    def note(self, message: dict[str, Any]) -> object:
        """A notification, soon; nobody waits for it."""
        ...

    async def tell(self, message: dict[str, Any]) -> None:
        """A notification or a question of ours; returns when there is room for the next. Raises LocalProtocolError."""
        ...

    def drop(self) -> None:
        """The answer will not come."""
        ...

    def close_stream(self, retry_ms: int) -> None:
        """Let the client come back for the rest after so many milliseconds, where the carrier can do that."""
        ...


class Single:
    """A pipe: everything goes out as it comes."""

    def __init__(self, outbox: Outbox) -> None:
        self.post = outbox.post
        self.send = outbox.send
        self.note = outbox.post
        self.tell = outbox.send

    def drop(self) -> None:
        """Nobody waits for it."""

    def close_stream(self, retry_ms: int) -> None:
        """A pipe stays open."""


class Batch:
    """Collects the answers to a batch; sends them as one array when the last one has come."""

    def __init__(self, way: Way, expected: int) -> None:
        self._way = way
        self._expected = expected
        self._answers: list[Mapping[str, Any]] = []
        self.note = way.note
        self.tell = way.tell
        self.close_stream = way.close_stream

    def post(self, message: Outgoing) -> None:
        """One answer."""
        assert isinstance(message, dict)
        self._answers.append(message)
        self._count()

    async def send(self, message: Outgoing) -> None:
        """One answer, checked for itself: one that is not JSON must not cost the others."""
        jsonrpc.encode(message)
        self.post(message)

    def drop(self) -> None:
        """One answer that will not come (cancelled)."""
        self._count()

    def _count(self) -> None:
        self._expected -= 1
        if self._expected == 0:
            if self._answers:
                self._way.post(self._answers)
            else:
                self._way.drop()
