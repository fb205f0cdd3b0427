"""Which message answers which, and what became of a request. Pure, over what is recorded.

A request ends with its answer; without one when either side cancelled it, and over HTTP when what came held no message,
or nothing came. An answer that comes all the same counts more.

Below: `rounds` (which requests are one exchange). Above: `wire`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.host.journal.rounds import Round, rounds
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["Pair", "Recorded", "id_of", "method_of", "paired", "status_of"]

_Key = tuple[str, str, int | str]  # server, direction, id


class Recorded(Protocol):
    """One message on record, or one thing that HTTP did."""

    @property
    def number(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def server(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def message(self) -> Mapping[str, Any]: ...
    @property
    def http(self) -> HttpEvent | None: ...


@dataclass(slots=True)
class Pair:
    """A request and its answer, as far as they are on record.

    Attributes:
        request, answer: None when it is not on record (any more).
        ended: what ended the request without an answer.
        round: the number of the first request of its exchange, and which round of it this is, from 1.
    """

    request: Recorded | None
    answer: Recorded | None = None
    ended: Recorded | None = None
    round: Round | None = None

    @property
    def status(self) -> str:
        """ "ok", "error", "input_required", "cancelled" or "open"."""
        if self.answer is not None:
            return status_of(self.answer.message)
        if self.ended is None:
            return "open"
        event = self.ended.http
        return "cancelled" if event is None or event.kind == "cancelled" else "error"

    @property
    def duration(self) -> float | None:
        """Seconds from the request to what ended it."""
        end = self.answer or self.ended
        return None if self.request is None or end is None else end.time - self.request.time


def paired(records: Sequence[Recorded]) -> dict[int, Pair]:
    """The pair of each request, of each answer, and of what HTTP did about a request, by their numbers.

    An id that is used again (after a reconnect) belongs to the latest request with it.
    """
    asked: dict[_Key, Pair] = {}
    pairs: dict[int, Pair] = {}
    for record in records:
        pair = _http(record, asked) if record.http is not None else _message(record, asked)
        if pair is not None:
            pairs[record.number] = pair
    _number_rounds(pairs.values())
    return pairs


def _message(record: Recorded, asked: dict[_Key, Pair]) -> Pair | None:
    id = id_of(record.message)
    if id is None:
        _cancelled(record, asked)
        return None
    if method_of(record.message) is not None:
        pair = asked[record.server, record.direction, id] = Pair(record)
        return pair
    other = "receive" if record.direction == "send" else "send"
    pair = asked.get((record.server, other, id))
    if pair is None or pair.answer is not None:
        pair = Pair(None)
    pair.answer = record
    return pair


def _cancelled(record: Recorded, asked: dict[_Key, Pair]) -> None:
    """Whoever sent a request may take it back."""
    if method_of(record.message) != "notifications/cancelled":
        return
    id = mapping_of(record.message.get("params")).get("requestId")
    pair = asked.get((record.server, record.direction, id)) if isinstance(id, int | str) else None
    if pair is not None and (pair.ended is None or pair.ended.http is not None):
        pair.ended = record  # its stream may have been closed just before


def _http(record: Recorded, asked: dict[_Key, Pair]) -> Pair | None:
    event = record.http
    if event is None or event.request_id is None:
        return None
    pair = asked.get((record.server, "send", event.request_id))
    # 202 to a request: the answer comes on another stream (HTTP+SSE)
    ends = event.kind in ("closed", "cancelled", "failed") or (event.kind == "answer" and event.status != 202)
    if pair is not None and ends and (pair.ended is None or pair.ended.http is not None):
        pair.ended = record
    return pair


def _number_rounds(pairs: Iterable[Pair]) -> None:
    asked = {pair.request.number: pair for pair in pairs if pair.request is not None}
    found = rounds(
        (number, pair.request.server, pair.request.message, None if pair.answer is None else pair.answer.message)
        for number, pair in asked.items()
        if pair.request is not None
    )
    for number, pair in asked.items():
        pair.round = found.get(number)


def method_of(message: Mapping[str, Any]) -> str | None:
    """Of a request or a notification."""
    method = message.get("method")
    return method if isinstance(method, str) else None


def id_of(message: Mapping[str, Any]) -> int | str | None:
    """The JSON-RPC id; None for a notification."""
    id = message.get("id")
    return id if isinstance(id, int | str) else None


def status_of(answer: Mapping[str, Any]) -> str:
    """What an answer says became of its request."""
    if answer.get("error") is not None:
        return "error"
    result = mapping_of(answer.get("result"))
    if result.get("resultType") == "input_required":
        return "input_required"
    return "error" if result.get("isError") is True else "ok"
