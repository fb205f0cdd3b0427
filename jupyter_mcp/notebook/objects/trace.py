"""The messages between us and the servers as tables: one row each, or one for each request with all that came of it.

Secrets were redacted by the journal. Above: `host`, `server`, the `trace` verb and its live card.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal.exchanges import exchanges
from jupyter_mcp.host.journal.filter import parse
from jupyter_mcp.host.journal.lines import json_line, open_private
from jupyter_mcp.host.journal.repeat import METHODS, repeat_message
from jupyter_mcp.notebook.objects.happened import at
from jupyter_mcp.notebook.objects.repeated import RepeatCell
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jupyter_mcp.host.journal import WireEntry
    from jupyter_mcp.host.journal.exchanges import Exchange
    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["Exchanges", "Trace", "said"]


_ARROWS = {"send": "→", "receive": "←"}


class Trace(Table["WireEntry"]):
    """The messages between us and the servers, and what HTTP did beside them, oldest first.

    Attributes:
        server: whose they are; None for all.
        text: the filter that let them through.
    """

    kind = "trace"
    title = "Trace"
    columns = ("server", "", "message", "status", "content")
    empty = "no messages"
    hint = "[n].message holds a whole message; .export(FILE) writes them all."

    def __init__(self, entries: Sequence[WireEntry], server: str | None = None, text: str = "") -> None:
        super().__init__(entries)
        self.server = server
        self.text = text

    @classmethod
    def of(cls, entries: Iterable[WireEntry], server: str | None = None) -> Trace:
        """The messages of one server, or of all."""
        return cls(list(entries), server)

    def __call__(self, text: str) -> Trace:
        """The messages that a filter lets through; its grammar is in `host.journal.filter`. Raises `UsageError`."""
        test = parse(text)
        both = f"{self.text} {text}".strip()
        return Trace([entry for entry in self if test(entry)], self.server, both)

    def exchanges(self, text: str = "") -> Exchanges:
        """One row for each request, with its answer, its rounds and what HTTP did about it.

        Args:
            text: a filter; a row is shown when one of its messages passes.

        Raises:
            UsageError: a filter that is none.
        """
        return Exchanges(exchanges(self, parse(text)))

    def row(self, record: WireEntry) -> Sequence[str]:
        return (record.server, _ARROWS[record.direction], said(record), record.status or "", _content(record))

    def record(self, record: WireEntry) -> Mapping[str, Any]:
        names = ("number", "time", "server", "direction", "method", "id", "size", "status", "duration")
        names = (*names, "exchange", "round", "target", "era")
        return {**{name: getattr(record, name) for name in names}, "message": json.dumps(record.message, default=str)}

    def cell(self, index: int | None = None, *, python: bool = False) -> RepeatCell:
        """The cell that makes a request again; see `RepeatCell`.

        Args:
            index: of the message in this table, as in `[index]`; the last one that can be repeated unless said.
            python: as Python instead of a magic.

        Raises:
            UsageError: there is no such message, or it is no call, read or prompt of ours that was kept whole.
        """
        if index is None:
            ours = [n for n, one in enumerate(self) if one.direction == "send" and one.message.get("method") in METHODS]
            index = ours[-1] if ours else -1
        return RepeatCell(repeat_message(at(self, index)), python=python)

    def export(self, file: str) -> Path:
        """Write one JSON object a line, readable by you alone; returns the path.

        Raises:
            UsageError: it cannot be written.
        """
        try:
            with open(open_private(file, "replace"), "wb") as out:
                out.writelines(json_line({**self.record(entry), "message": entry.message}) for entry in self)
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror or error}") from None
        return Path(file).expanduser()


class Exchanges(Table["Exchange"]):
    """Requests with all that came of them, oldest first; what belongs to none is a row of its own."""

    kind = "exchanges"
    title = "Exchanges"
    columns = ("server", "", "request", "of", "era", "rounds", "status")
    empty = "no messages"
    hint = "[n].entries holds the messages; .df() has times and sizes."

    def row(self, record: Exchange) -> Sequence[str]:
        what = record.method or said(record.first)
        rounds = str(record.rounds) if record.rounds > 1 else ""
        return (
            record.server,
            _ARROWS[record.direction],
            what,
            record.target,
            record.era or "",
            rounds,
            record.status or "",
        )

    def record(self, record: Exchange) -> Mapping[str, Any]:
        names = ("number", "time", "server", "direction", "method", "target", "era", "status", "duration")
        names = (*names, "rounds", "sent", "received")
        return {**{name: getattr(record, name) for name in names}, "messages": len(record.entries)}


def said(entry: WireEntry) -> str:
    """What an entry is, in a few words."""
    if entry.http is not None:
        return _done_by_http(entry.http, entry.method)
    message = entry.message
    again = f" (round {entry.round})" if (entry.round or 1) > 1 else ""
    if "method" in message:
        return f"{message['method']}{again}"
    kind = "error" if message.get("error") is not None else "result"
    return f"{entry.method}: {kind}{again}" if entry.method else kind


def _done_by_http(event: HttpEvent, method: str | None) -> str:
    about = f" of {method}" if method else " of the session"
    match event.kind:
        case "answer":
            return f"HTTP {event.status} to {event.verb}{f' of {method}' if method else ''}"
        case "opened":
            return f"stream{about} {'resumed' if event.resumed else 'opened'}"
        case "closed":
            return f"stream{about} closed"
        case "cancelled":
            return f"stream{about} closed to cancel it"
        case "failed":
            return f"no answer to {event.verb}{f' of {method}' if method else ''}"


def _content(entry: WireEntry) -> str:
    if entry.http is not None:
        return entry.message["http"]["text"]
    message = entry.message
    part: Any = next((message[key] for key in ("params", "error", "result") if message.get(key) is not None), None)
    text = "" if part is None else json.dumps(part, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else f"{text[:200]} …"
