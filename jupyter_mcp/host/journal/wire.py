"""What went over the connections, in both directions: messages, and what HTTP did beside them. Bounded.

Recording is on the hot path and only keeps a reference; a message beyond 64 KiB is kept as a summary from the moment
it is recorded. What leaves this object is redacted first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.journal.entries import Direction, WireEntry
from jupyter_mcp.host.journal.pairing import Pair, id_of, method_of, paired, status_of
from jupyter_mcp.host.journal.shortening import shortened
from jupyter_mcp.protocol.methods import TABLE
from jupyter_mcp.protocol.modern import is_enveloped
from jupyter_mcp.protocol.shapes import is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.redaction import Redactor
    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["MAX_BYTES", "MAX_MESSAGE", "MAX_MESSAGES", "Record", "Wire"]

MAX_MESSAGES = 1_000
MAX_BYTES = 8 * 2**20  # on the wire; as Python objects several times that
MAX_MESSAGE = 64 * 2**10
_SHORTENED = 2_000  # bytes that a shortened message counts for
_EVENT = 300  # bytes that an event of HTTP counts for
_TARGET = 500  # characters of what a message is about
_ABOUT = {  # the parameter that says what a message is about, where the method's row names none
    "elicitation/create": "message",
    "logging/setLevel": "level",
    "notifications/cancelled": "requestId",
    "notifications/elicitation/complete": "elicitationId",
    "notifications/message": "data",
    "notifications/progress": "message",
    "notifications/resources/updated": "uri",
}
_NO_STREAM = 405  # what the specification foresees for a GET or DELETE of a server that has no stream or session


@dataclass(slots=True)
class Record:
    """One message as it came, or one thing that HTTP did; never shown as it is."""

    number: int
    time: float
    server: str
    direction: Direction
    size: int
    kept: int
    message: Mapping[str, Any]
    summary: bool = False
    era: str | None = None
    http: HttpEvent | None = None


class Wire:
    """What went over the connections last. Recorded on the runtime thread, read from any.

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
        self.count = 0

    def record(
        self, server: str, direction: Direction, message: Mapping[str, Any], size: int, era: str | None = None
    ) -> Record:
        """Keep one message. Cheap: nothing is copied or searched unless the message is big."""
        big = size > MAX_MESSAGE
        kept = _SHORTENED if big else size
        shown = shortened(message) if big else message
        return self._keep(Record(self.count + 1, self._clock(), server, direction, size, kept, shown, big, era))

    def record_http(self, server: str, event: HttpEvent, era: str | None = None) -> Record:
        """Keep what HTTP did."""
        direction: Direction = "send" if event.kind == "cancelled" else "receive"
        said = {"event": event.kind, "verb": event.verb, "status": event.status, "text": event.text[:500]}
        if event.resumed:
            said["resumed"] = True
        number, time = self.count + 1, self._clock()
        return self._keep(Record(number, time, server, direction, 0, _EVENT, {"http": said}, era=era, http=event))

    def _keep(self, record: Record) -> Record:
        self.count = record.number
        self._records.append(record)
        self._bytes += record.kept
        while len(self._records) > MAX_MESSAGES or (self._bytes > self._max_bytes and len(self._records) > 1):
            self._bytes -= self._records.popleft().kept
        return record

    def entries(self, server: str | None = None) -> list[WireEntry]:
        """What is on record, oldest first, redacted; of one server or of all."""
        records = [record for record in list(self._records) if server is None or record.server == server]
        pairs = paired(records)
        return [self._entry(record, pairs.get(record.number)) for record in records]

    def news(self, before: Sequence[WireEntry], server: str | None = None) -> list[WireEntry]:
        """The same as `entries`, for whoever looks often: what cannot be another any more is taken from the last look.

        Args:
            before: what the last look gave; [] when something else is masked now.
            server: as in `entries`.
        """
        kept = {entry.number: entry for entry in before}
        records = [record for record in list(self._records) if server is None or record.server == server]
        pairs = paired(records)
        found: list[WireEntry] = []
        for record in records:
            entry, pair = kept.get(record.number), pairs.get(record.number)
            found.append(entry if entry is not None and _settled(entry, pair) else self._entry(record, pair, entry))
        return found

    def find(self, number: int) -> Record | None:
        """One record as it came, for what is done with it in this process; None when it is not there any more."""
        return next((record for record in list(self._records) if record.number == number), None)

    def _entry(self, record: Record, pair: Pair | None, before: WireEntry | None = None) -> WireEntry:
        request = None if pair is None else pair.request
        asked = record.message if request is None else request.message
        exchange, number = (pair.round if pair is not None else None) or (None, None)
        event = record.http
        return WireEntry(
            number=record.number,
            time=record.time,
            server=record.server,
            direction=record.direction,
            method=self._redactor.known(method_of(asked) or (None if event is None else event.method)),
            id=self._redactor.known(id_of(record.message) if event is None else event.request_id),
            size=record.size,
            message=self._redactor.clean(record.message) if before is None else before.message,
            summary=record.summary,
            status=_event_status(event, pair) if event is not None else None if pair is None else pair.status,
            duration=None if pair is None else pair.duration,
            exchange=exchange,
            round=number,
            target=self._redactor.clean(_target(asked)),
            era=record.era or _era(asked),
            http=None if event is None else replace(event, text=self._redactor.clean(event.text)),
        )

    def line(self, record: Record) -> dict[str, Any]:
        """One record for the journal's file, redacted, at the moment it is recorded."""
        method, event = method_of(record.message), record.http
        status = None if method is not None else status_of(record.message)
        return {
            "kind": "message" if event is None else "http",
            "number": record.number,
            "time": record.time,
            "server": record.server,
            "direction": record.direction,
            "method": self._redactor.known(method if event is None else event.method),
            "id": self._redactor.known(id_of(record.message) if event is None else event.request_id),
            "size": record.size,
            "status": status if event is None else _event_status(event, None),
            "summary": record.summary,
            "message": self._redactor.clean(record.message),
        }


def _settled(entry: WireEntry, pair: Pair | None) -> bool:
    """Whether what was shown of it stays; an answer whose request is forgotten by now is known better from before."""
    if pair is None or pair.request is None:
        return True
    return pair.answer is not None and entry.duration == pair.duration


def _event_status(event: HttpEvent, pair: Pair | None) -> str | None:
    """What an event of HTTP says by itself; of a stream what became of its request."""
    if event.kind == "failed" or event.kind == "cancelled":
        return "error" if event.kind == "failed" else "cancelled"
    if event.kind == "answer":
        foreseen = event.verb != "POST" and event.status == _NO_STREAM
        return "ok" if foreseen or (event.status or 0) < 400 else "error"
    return None if pair is None else pair.status


def _target(asked: Mapping[str, Any]) -> str:
    """What a message is about: the parameter that its method names, else what a completion is for."""
    method = method_of(asked) or ""
    row, params = TABLE.get(method), mapping_of(asked.get("params"))
    key = (row.name_key if row is not None else None) or _ABOUT.get(method)
    about = params.get(key, "") if key is not None else mapping_of(params.get("ref"))
    if is_mapping(about) and key is None:
        about = about.get("name") or about.get("uri") or ""
    return str("" if about is None else about)[:_TARGET]


def _era(asked: Mapping[str, Any]) -> str | None:
    if is_enveloped(asked):
        return "modern"
    return "legacy" if asked.get("method") == "initialize" else None
