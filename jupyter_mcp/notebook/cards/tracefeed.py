"""What the live trace shows at a moment: looked up when something came, a few times a second at most, never queued.

Nothing is called for a message: a look takes what the journal has by then, so that a flood costs as many looks as a
trickle. A look that takes long is followed by a longer pause: looking takes a fortieth of a core at most.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.host.journal.exchanges import exchanges
from jupyter_mcp.host.journal.filter import parse
from jupyter_mcp.notebook.cards.tracerows import row_below, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.host.journal import WireEntry
    from jupyter_mcp.host.journal.again import Again
    from jupyter_mcp.host.journal.exchanges import Exchange
    from jupyter_mcp.host.redaction import Redactor

__all__ = ["MAX_ROWS", "Feed", "Source", "Ticker"]

MAX_ROWS = 1_000
"""Exchanges in the view; the oldest go first."""
TICK_SECONDS = 0.25
_REST = 40  # a look is followed by so many times its own time

log = logging.getLogger("jupyter_mcp.cards")


class Source(Protocol):
    """The journal, as far as the trace needs it."""

    redactor: Redactor

    @property
    def count(self) -> int: ...
    def news(self, before: Sequence[WireEntry], server: str | None = None) -> list[WireEntry]: ...
    def again(self, number: int) -> Again | None: ...


class Feed:
    """The exchanges of a view, and their rows. One thread at a time.

    Args:
        source: the journal.
        server: whose messages; None for all.

    Attributes:
        shown: the exchanges in view, oldest first.
        total: how many there are, without the filter.
        newest_first: the order of the rows.
        opened: ids of the rows below which the messages show.
        since: messages up to this number are not shown.
    """

    def __init__(self, source: Source, server: str | None = None) -> None:
        self._source = source
        self._server = server
        self._entries: list[WireEntry] = []
        self._seen: tuple[int, object] | None = None
        self._all: list[Exchange] = []
        self._test: Callable[[WireEntry], bool] | None = None
        self._passed: dict[int, tuple[WireEntry, bool]] = {}
        self._rows: dict[int, tuple[WireEntry, WireEntry, int, dict[str, Any]]] = {}
        self.shown: list[Exchange] = []
        self.total = 0
        self.newest_first = True
        self.opened: set[str] = set()
        self.since = 0

    @property
    def stale(self) -> bool:
        """Whether something came, or is masked otherwise, since the last look."""
        return self._seen != (self._source.count, self._source.redactor.state)

    def look(self) -> None:
        """Take what the journal has now."""
        seen = (self._source.count, self._source.redactor.state)
        masked_alike = self._seen is not None and self._seen[1] == seen[1]
        if not masked_alike:
            self._passed.clear()
            self._rows.clear()
        self._entries = self._source.news(self._entries if masked_alike else [], self._server)
        self._seen = seen
        self._all = exchanges(self._entries)
        numbers = {entry.number for entry in self._entries}
        for known in (self._passed, self._rows):
            for number in known.keys() - numbers:
                del known[number]
        self._choose()

    def filter(self, text: str) -> None:
        """Show what passes from now on; raises `UsageError` for a text that is no filter, and keeps the last one."""
        self._test = parse(text) if text.strip() else None
        self._passed.clear()
        self._choose()

    def clear(self) -> None:
        """Leave out what has come so far."""
        self.since = self._source.count
        self._choose()

    def _choose(self) -> None:
        left = [one for one in self._all if one.entries[-1].number > self.since]
        self.total = len(left)
        self.shown = (left if self._test is None else [one for one in left if self._passes(one)])[-MAX_ROWS:]

    def _passes(self, exchange: Exchange) -> bool:
        return any(self._entry_passes(entry) for entry in exchange.entries)

    def _entry_passes(self, entry: WireEntry) -> bool:
        """Asked of each entry once, as long as it stays the same."""
        assert self._test is not None
        known = self._passed.get(entry.number)
        if known is None or known[0] is not entry:
            known = self._passed[entry.number] = (entry, self._test(entry))
        return known[1]

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the view, in its order."""
        found: list[dict[str, Any]] = []
        for exchange in reversed(self.shown) if self.newest_first else self.shown:
            row = self._row(exchange)
            found.append(row)
            if row["id"] in self.opened:
                found += [row_below(entry) for entry in exchange.entries]
        return found

    def _row(self, exchange: Exchange) -> dict[str, Any]:
        """Made anew when something of it is another: entries that can still change are others at each look."""
        first, last, many = exchange.entries[0], exchange.entries[-1], len(exchange.entries)
        known = self._rows.get(first.number)
        if known is None or known[0] is not first or known[1] is not last or known[2] != many:
            known = self._rows[first.number] = (first, last, many, row_of(exchange))
        return known[3]

    def find(self, name: str) -> tuple[Exchange, Sequence[WireEntry]] | None:
        """The exchange that a row belongs to, and the messages that the row stands for."""
        for exchange in self._all:
            if name == f"x{exchange.number}":
                return exchange, exchange.entries
            for entry in exchange.entries:
                if name == f"m{entry.number}":
                    return exchange, (entry,)
        return None


class Ticker:
    """Calls a function a few times a second, on a thread of its own, until it is stopped."""

    def __init__(self, tick: Callable[[], object]) -> None:
        self._tick = tick
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="jupyter-mcp-trace", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        pause = TICK_SECONDS
        while not self._stopped.wait(pause):
            began = time.thread_time()
            try:
                self._tick()
            except Exception:  # the next look may do, and a thread that dies prints into a cell
                log.exception("the trace could not be drawn")
            pause = max(TICK_SECONDS, _REST * (time.thread_time() - began))
