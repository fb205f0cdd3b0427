"""Which message answers which, and what became of a request. Pure, over messages as they are recorded.

Below: `rounds` (which requests are one exchange). Above: `wire`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.host.journal.rounds import Round, rounds
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Pair", "Recorded", "id_of", "method_of", "paired", "status_of"]


class Recorded(Protocol):
    """One message on record."""

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


@dataclass(slots=True)
class Pair:
    """A request and its answer, as far as they are on record.

    Attributes:
        request, answer: None when it is not on record (any more).
        round: the number of the first request of its exchange, and which round of it this is, from 1.
    """

    request: Recorded | None
    answer: Recorded | None = None
    round: Round | None = None

    @property
    def status(self) -> str:
        """ "ok", "error", "input_required" or "open"."""
        return "open" if self.answer is None else status_of(self.answer.message)

    @property
    def duration(self) -> float | None:
        """Seconds from the one to the other."""
        return None if self.request is None or self.answer is None else self.answer.time - self.request.time


def paired(records: Sequence[Recorded]) -> dict[int, Pair]:
    """The pair of each request and each answer, by their numbers; both of a pair have the same.

    An id that is used again (after a reconnect) belongs to the latest request with it.
    """
    waiting: dict[tuple[str, str, int | str], Pair] = {}
    pairs: dict[int, Pair] = {}
    for record in records:
        id = id_of(record.message)
        if id is None:
            continue
        if method_of(record.message) is not None:
            pairs[record.number] = waiting[record.server, record.direction, id] = Pair(record)
            continue
        other = "receive" if record.direction == "send" else "send"
        pair = waiting.pop((record.server, other, id), None) or Pair(None)
        pair.answer = record
        pairs[record.number] = pair
    _number_rounds(pairs.values())
    return pairs


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
