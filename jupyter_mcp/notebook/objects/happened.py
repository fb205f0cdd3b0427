"""What happened, as tables: a server's log and the acts. The messages are in `trace`.

Secrets were redacted by the journal.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.entry import LEVELS
from jupyter_mcp.host.journal.repeat import repeat_act
from jupyter_mcp.notebook.objects.acts import ServerActs
from jupyter_mcp.notebook.objects.repeated import RepeatCell
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jupyter_mcp.host.entry import LogLine, ServerEntry
    from jupyter_mcp.host.journal import Act

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
        return RepeatCell(repeat_act(at(self, index)), python=python)

    def record(self, record: Act) -> Mapping[str, Any]:
        names = ("number", "time", "server", "method", "name", "origin", "rule", "reason", "outcome", "remark")
        names = (*names, "duration", "result")
        arguments = None if record.arguments is None else json.dumps(record.arguments, default=str)
        return {**{name: getattr(record, name) for name in names}, "arguments": arguments}


def at(table: Table[T], index: int) -> T:
    """One record of a table. Raises `UsageError` when there is none."""
    try:
        return table[index]
    except IndexError:
        raise UsageError(f"There is no [{index}] here; there are {len(table)}, the first is [0].") from None
