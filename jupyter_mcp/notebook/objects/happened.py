"""What happened, as tables: a server's log, the acts, the messages. Secrets were redacted by the journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.entry import LEVELS
from jupyter_mcp.host.journal.filter import parse
from jupyter_mcp.host.journal.lines import json_line, open_private
from jupyter_mcp.host.journal.repeat import METHODS, repeat_act, repeat_message
from jupyter_mcp.notebook.objects.acts import ServerActs
from jupyter_mcp.notebook.objects.repeated import RepeatCell
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jupyter_mcp.host.entry import LogLine, ServerEntry
    from jupyter_mcp.host.journal import Act, WireEntry

T = TypeVar("T")


class Log(Table["LogLine"]):
    """What a server wrote to stderr, its log messages, and our notes about it, oldest first."""

    kind = "log"
    columns = ("source", "level", "text")
    empty = "nothing logged"

    def __init__(self, lines: Sequence[LogLine], entry: ServerEntry) -> None:
        super().__init__(lines)
        self.entry = entry
        self.server = entry.name
        self.title = f"Log of {entry.name}"

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.objects.views import log_view

        return log_view(self, self.server)

    @classmethod
    def of(cls, entry: ServerEntry, level: str | None = None) -> Log:
        """The log of a server, from a level on."""
        return cls(entry.lines(level), entry)

    def __call__(self, level: str) -> Log:
        """From this level on. The server is asked to send such messages, if it logs at all."""
        if level not in LEVELS:
            raise UsageError(f"{level!r} is no level; there are {', '.join(LEVELS)}.")
        if self.entry.ready and "logging" in self.entry.capabilities:
            ServerActs(self.server).log_level(level).now()
        return Log.of(self.entry, level)

    def row(self, record: LogLine) -> Sequence[str]:
        return (record.source, record.level, record.text)


_CALLABLE = ("tools/call", "prompts/get")  # what `server.name` is the name of


class Activity(Table["Act"]):
    """What was done and asked: who began it, which rule decided, how it ended."""

    kind = "activity"
    title = "Activity"
    columns = ("act", "of", "begun by", "rule", "outcome", "remark")
    empty = "nothing done yet"

    @classmethod
    def of(cls, acts: Iterable[Act]) -> Activity:
        return cls(list(acts))

    def by(self, server: str) -> Activity:
        """The acts of one server."""
        return Activity([act for act in self if act.server == server])

    def row(self, record: Act) -> Sequence[str]:
        joint = "." if record.method in _CALLABLE else ": "
        name = f"{record.server}{joint}{record.name}" if record.name else record.server
        return (record.method, name, record.origin, record.rule or "", record.outcome, record.remark or "")

    def cell(self, index: int = -1, *, python: bool = False) -> RepeatCell:
        """The cell that does an act again; see `RepeatCell`.

        Args:
            index: of the act in this table, as in `[index]`; the last one unless said.
            python: as Python instead of a magic.

        Raises:
            UsageError: there is no such act, or it is no call, read or prompt.
        """
        return RepeatCell(repeat_act(_at(self, index)), python=python)

    def record(self, record: Act) -> Mapping[str, Any]:
        names = ("number", "time", "server", "method", "name", "origin", "rule", "reason", "outcome", "remark")
        names = (*names, "duration", "result")
        arguments = None if record.arguments is None else json.dumps(record.arguments, default=str)
        return {**{name: getattr(record, name) for name in names}, "arguments": arguments}


class Trace(Table["WireEntry"]):
    """The messages between us and the servers, oldest first."""

    kind = "trace"
    title = "Trace"
    columns = ("server", "", "message", "status", "content")
    empty = "no messages"
    hint = "[n].message holds a whole message; .export(FILE) writes them all."

    @classmethod
    def of(cls, entries: Iterable[WireEntry]) -> Trace:
        return cls(list(entries))

    def __call__(self, text: str) -> Trace:
        """The messages that a filter lets through; its grammar is in `host.journal.filter`. Raises `UsageError`."""
        test = parse(text)
        return Trace([entry for entry in self if test(entry)])

    def row(self, record: WireEntry) -> Sequence[str]:
        arrow = "→" if record.direction == "send" else "←"
        return (record.server, arrow, _what(record), record.status or "", _content(record))

    def record(self, record: WireEntry) -> Mapping[str, Any]:
        names = ("number", "time", "server", "direction", "method", "id", "size", "status", "duration")
        names = (*names, "exchange", "round")
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
        return RepeatCell(repeat_message(_at(self, index)), python=python)

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


def _at(table: Table[T], index: int) -> T:
    try:
        return table[index]
    except IndexError:
        raise UsageError(f"There is no [{index}] here; there are {len(table)}, the first is [0].") from None


def _what(entry: WireEntry) -> str:
    message = entry.message
    again = f" (round {entry.round})" if (entry.round or 1) > 1 else ""
    if "method" in message:
        return f"{message['method']}{again}"
    kind = "error" if message.get("error") is not None else "result"
    return f"{entry.method}: {kind}{again}" if entry.method else kind


def _content(entry: WireEntry) -> str:
    message = entry.message
    part: Any = next((message[key] for key in ("params", "error", "result") if message.get(key) is not None), None)
    text = "" if part is None else json.dumps(part, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else f"{text[:200]} …"
