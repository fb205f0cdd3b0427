"""A request with its answer, all its rounds and what HTTP did about it, as one row. Pure, over entries of the trace.

What belongs to no request (a notification, the session's own stream) is a row by itself. As bounded as the trace is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jupyter_mcp.host.journal.entries import Direction, WireEntry

__all__ = ["Exchange", "exchanges"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked once, and everything that came of it.

    Attributes:
        entries: of the trace, oldest first; never empty.
    """

    entries: tuple[WireEntry, ...]

    @property
    def first(self) -> WireEntry:
        """The request, or what there is in its place."""
        return self.entries[0]

    @property
    def last(self) -> WireEntry:
        """The entry that says how it ended: the last request or answer, else what HTTP did."""
        return next((one for one in reversed(self.entries) if one.http is None), self.entries[-1])

    @property
    def number(self) -> int:
        """Of its first entry; it stays while others come."""
        return self.first.number

    @property
    def time(self) -> float:
        """Seconds since the epoch, of its beginning."""
        return self.first.time

    @property
    def server(self) -> str:
        """Name of the server."""
        return self.first.server

    @property
    def direction(self) -> Direction:
        """ "send": we asked; "receive": the server did."""
        answers = self.first.http is None and "method" not in self.first.message and self.first.id is not None
        if answers:  # its request is not on record any more
            return "receive" if self.first.direction == "send" else "send"
        return self.first.direction

    @property
    def method(self) -> str | None:
        """MCP method; None when that is not known (any more)."""
        return next((one.method for one in self.entries if one.method is not None), None)

    @property
    def target(self) -> str:
        """What it is about: a tool, a prompt, a URI; "" for none."""
        return self.first.target

    @property
    def status(self) -> str | None:
        """As of an entry; of several rounds that of the last."""
        return self.last.status

    @property
    def duration(self) -> float | None:
        """Seconds over all rounds, with what a person took in between; None while it is open."""
        if self.last.duration is None:
            return None
        asked = [one for one in self.entries if one.round == self.last.round]
        return asked[0].time + self.last.duration - self.time

    @property
    def era(self) -> str | None:
        """ "legacy" or "modern", when that is known."""
        return next((one.era for one in self.entries if one.era is not None), None)

    @property
    def rounds(self) -> int:
        """How many times it was sent."""
        return max(one.round or 1 for one in self.entries)

    @property
    def sent(self) -> int:
        """Bytes of ours."""
        return sum(one.size for one in self.entries if one.direction == "send")

    @property
    def received(self) -> int:
        """Bytes of theirs."""
        return sum(one.size for one in self.entries if one.direction == "receive")


def exchanges(entries: Iterable[WireEntry], test: Callable[[WireEntry], bool] | None = None) -> list[Exchange]:
    """Group the entries of a trace.

    Args:
        entries: oldest first.
        test: an exchange is taken when one of its entries passes (see `filter.parse`).
    """
    groups: dict[int, list[WireEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.exchange if entry.exchange is not None else entry.number, []).append(entry)
    return [Exchange(tuple(group)) for group in groups.values() if test is None or any(map(test, group))]
