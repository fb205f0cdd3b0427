"""The messages of every connection, in both directions, bounded in number and in bytes.

Recording is on the hot path and only keeps a reference; a message beyond 64 KiB is kept as a summary from the moment
it is recorded. What leaves this object is redacted first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.journal.entries import Direction, WireEntry
from jupyter_mcp.host.journal.pairing import Pair, id_of, method_of, paired, status_of
from jupyter_mcp.host.journal.shortening import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.redaction import Redactor

__all__ = ["MAX_BYTES", "MAX_MESSAGE", "MAX_MESSAGES", "Record", "Wire"]

MAX_MESSAGES = 1_000
MAX_BYTES = 8 * 2**20  # on the wire; as Python objects several times that
MAX_MESSAGE = 64 * 2**10
_SHORTENED = 2_000  # bytes that a shortened message counts for


@dataclass(slots=True)
class Record:
    """One message as it came; never shown as it is."""

    number: int
    time: float
    server: str
    direction: Direction
    size: int
    kept: int
    message: Mapping[str, Any]
    summary: bool


class Wire:
    """The last messages. Recorded on the runtime thread, read from any.

    Args:
        redactor: masks what is secret in what is shown.
        clock: seconds since the epoch.
        max_bytes: how much is kept, as bytes on the wire.
    """

    def __init__(self, redactor: Redactor, clock: Callable[[], float], max_bytes: int = MAX_BYTES) -> None:
        self._redactor = redactor
        self._clock = clock
        self._max_bytes = max_bytes
        self._records: deque[Record] = deque()
        self._bytes = 0
        self._count = 0

    def record(self, server: str, direction: Direction, message: Mapping[str, Any], size: int) -> Record:
        """Keep one message. Cheap: nothing is copied or searched unless the message is big."""
        self._count += 1
        big = size > MAX_MESSAGE
        kept = _SHORTENED if big else size
        shown = shortened(message) if big else message
        record = Record(self._count, self._clock(), server, direction, size, kept, shown, big)
        self._records.append(record)
        self._bytes += kept
        while len(self._records) > MAX_MESSAGES or (self._bytes > self._max_bytes and len(self._records) > 1):
            self._bytes -= self._records.popleft().kept
        return record

    def entries(self, server: str | None = None) -> list[WireEntry]:
        """The messages on record, oldest first, redacted; of one server or of all."""
        records = [record for record in list(self._records) if server is None or record.server == server]
        pairs = paired(records)
        return [self._entry(record, pairs.get(record.number)) for record in records]

    def _entry(self, record: Record, pair: Pair | None) -> WireEntry:
        asked = record if pair is None or pair.request is None else pair.request
        exchange, number = (pair.round if pair is not None else None) or (None, None)
        return WireEntry(
            number=record.number,
            time=record.time,
            server=record.server,
            direction=record.direction,
            method=method_of(asked.message),
            id=id_of(record.message),
            size=record.size,
            message=self._redactor.clean(record.message),
            summary=record.summary,
            status=None if pair is None else pair.status,
            duration=None if pair is None else pair.duration,
            exchange=exchange,
            round=number,
        )

    def line(self, record: Record) -> dict[str, Any]:
        """One message for the journal's file, redacted, at the moment it is recorded."""
        method = method_of(record.message)
        return {
            "kind": "message",
            "number": record.number,
            "time": record.time,
            "server": record.server,
            "direction": record.direction,
            "method": method,
            "id": id_of(record.message),
            "size": record.size,
            "status": None if method is not None else status_of(record.message),
            "summary": record.summary,
            "message": self._redactor.clean(record.message),
        }
