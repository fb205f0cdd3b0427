"""What happened: every message of every connection (the wire), and what was done and decided (the acts).

Everything that leaves this object is redacted first, so no secret is ever in a rendered form. Both lists are bounded;
on request everything is written to a file as well (`file`). What stands in it is in `entries`, the messages in `wire`.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.journal.again import Again, asked_again
from jupyter_mcp.host.journal.entries import Act, Direction, WireEntry
from jupyter_mcp.host.journal.wire import MAX_BYTES, MAX_MESSAGE, MAX_MESSAGES, Wire
from jupyter_mcp.host.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from jupyter_mcp.host.journal.file import JournalFile
    from jupyter_mcp.host.journal.wire import Record
    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["MAX_MESSAGE", "MAX_MESSAGES", "Act", "Direction", "Journal", "WireEntry"]

MAX_ACTS = 1_000
_OURS = "this notebook"


@dataclass
class Journal:
    """The wire and the acts of one kernel. Recorded on the runtime thread, read from any."""

    redactor: Redactor = field(default_factory=Redactor)
    clock: Callable[[], float] = time.time
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        self._wire = Wire(self.redactor, self.clock, self.max_bytes)
        self._acts: dict[int, Act] = {}
        self._act_count = 0
        self._acted = 0
        self._file: JournalFile | None = None

    # --- the wire ----------------------------------------------------------------------------------------------------

    def wire(
        self, server: str, direction: Direction, message: Mapping[str, Any], size: int, era: str | None = None
    ) -> None:
        """Record one message. Cheap.

        Args:
            server, direction, message, size: see `WireEntry`.
            era: what the connection speaks, once that is known.
        """
        self._kept(self._wire.record(server, direction, message, size, era))

    def http(self, server: str, event: HttpEvent, era: str | None = None) -> None:
        """Record what HTTP did beside messages."""
        self._kept(self._wire.record_http(server, event, era))

    def _kept(self, record: Record) -> None:
        if self._file is not None:
            self._write(self._file, self._wire.line(record))

    def entries(self, server: str | None = None) -> list[WireEntry]:
        """The recorded messages, oldest first, redacted; of one server or of all."""
        return self._wire.entries(server)

    def news(self, before: Sequence[WireEntry], server: str | None = None) -> list[WireEntry]:
        """The same as `entries`, for whoever looks often; see `Wire.news`."""
        return self._wire.news(before, server)

    @property
    def count(self) -> int:
        """How many messages there have been; it grows with each."""
        return self._wire.count

    def again(self, number: int) -> Again | None:
        """A request of ours as it was sent, with what is masked wherever it shows: only for sending it once more.

        Args:
            number: of the entry.

        Returns:
            None when it is not on record (whole) any more, or is no call, read or prompt of ours.
        """
        record = self._wire.find(number)
        return (
            None if record is None or record.summary else asked_again(record.server, record.direction, record.message)
        )

    # --- acts --------------------------------------------------------------------------------------------------------

    def begin(
        self, server: str, method: str, name: str, origin: str, *, rule: str | None = None, arguments: Any = None
    ) -> int:
        """Record that an act began; returns its number for `end`."""
        self._act_count += 1
        self._acted += 1
        number = self._act_count
        self._acts[number] = Act(number, self.clock(), server, method, name, origin, rule, arguments=arguments)
        while len(self._acts) > MAX_ACTS:
            del self._acts[next(iter(self._acts))]
        self._write_act(number)
        return number

    def end(
        self,
        number: int,
        outcome: str,
        *,
        remark: str | None = None,
        rule: str | None = None,
        arguments: Any = None,
        reason: str | None = None,
        result: str | None = None,
    ) -> None:
        """Record how an act ended."""
        act = self._acts.get(number)
        if act is None:
            return
        self._acted += 1
        self._acts[number] = replace(
            act,
            outcome=outcome,
            remark=remark,
            rule=rule or act.rule,
            arguments=act.arguments if arguments is None else arguments,
            duration=self.clock() - act.time,
            reason=reason,
            result=result,
        )
        self._write_act(number)

    @property
    def acted(self) -> int:
        """How often an act began or ended; it grows with each, so that what was read of them is known to be old."""
        return self._acted

    def acts(self, server: str | None = None) -> list[Act]:
        """The acts, oldest first, redacted; of one server or of all."""
        return [self._shown(act) for act in list(self._acts.values()) if server is None or act.server == server]

    def _shown(self, act: Act) -> Act:
        clean = self.redactor.clean
        texts = {name: clean(getattr(act, name)) for name in ("name", "remark", "arguments", "reason", "result")}
        return replace(act, **texts)

    # --- the file ----------------------------------------------------------------------------------------------------

    @property
    def file(self) -> JournalFile | None:
        """The file that was asked for last, while it is written and when it had to stop; None when it was ended."""
        return self._file

    def write_to(self, file: str | Path, limit: int | None = None) -> JournalFile:
        """Append every message and act from now on to a file as well, instead of the one that is written now.

        Args:
            file: made when it is not there, readable by its owner alone.
            limit: bytes that it may have in all; 64 MiB when None.

        Raises:
            UsageError: it cannot be written, or has no room.
        """
        from jupyter_mcp.host.journal.file import MAX_FILE, JournalFile

        new = JournalFile(file, MAX_FILE if limit is None else limit, self.clock)
        self.stop_writing()
        self._file = new
        return new

    def stop_writing(self) -> JournalFile | None:
        """End the file; returns the one that was written."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
        return file

    def _write_act(self, number: int) -> None:
        if self._file is not None and (act := self._acts.get(number)) is not None:
            self._write(self._file, {"kind": "act", **asdict(self._shown(act))})

    def _write(self, file: JournalFile, line: Mapping[str, Any]) -> None:
        """One line; the one after which nothing more can be written is told as an act, once."""
        if file.stopped:
            return
        file.write(line)
        if file.stopped:
            number = self.begin(_OURS, "journal", str(file.path), "code")
            self.end(number, "stopped", remark=file.stopped)
