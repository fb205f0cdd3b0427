"""What happened: every message of every connection (the wire), and what was done and decided (the acts).

Recording is on the hot path and only keeps a reference; everything that leaves this object is redacted first, so no
secret is ever in a rendered form. Both lists are bounded: the wire by messages and by bytes, and a message beyond
64 KiB is kept as a summary from the moment it is recorded. On request everything is written to a file as well (`file`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.host.journal.rounds import Exchange, rounds
from jupyter_mcp.host.redaction import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_mcp.host.journal.file import JournalFile

__all__ = ["Act", "Direction", "Journal", "WireEntry"]

Direction = Literal["send", "receive"]

MAX_MESSAGES = 1_000
MAX_BYTES = 8 * 2**20  # on the wire; as Python objects several times that
MAX_MESSAGE = 64 * 2**10
MAX_ACTS = 1_000
_SUMMARY_TEXT = 200
_OURS = "this notebook"


@dataclass(frozen=True, slots=True)
class WireEntry:
    """One message as it may be shown.

    Attributes:
        number: counts all messages of this kernel from 1.
        time: seconds since the epoch (for export; not rendered in a saved document).
        server: name of the server.
        direction: "send" (ours) or "receive" (theirs).
        method: of a request or notification; of a reply the method it answers, if that is still known.
        id: JSON-RPC id, None for notifications.
        size: bytes on the wire.
        message: the message, redacted; shortened when `summary` is true.
        summary: whether the message was too big to be kept whole.
        status: of the exchange that it belongs to, on the request and on its answer: "ok", "error" (also of a tool),
            "input_required" or "open" (no answer on record); None for what has no answer.
        duration: seconds from the request to its answer, on both; None while there is none.
        exchange: number of the first request of the exchange; the rounds of a request that needed input share it.
        round: which of these rounds, from 1; both None for what has no answer.
    """

    number: int
    time: float
    server: str
    direction: Direction
    method: str | None
    id: int | str | None
    size: int
    message: Mapping[str, Any]
    summary: bool
    status: str | None = None
    duration: float | None = None
    exchange: int | None = None
    round: int | None = None


@dataclass(slots=True)
class _Record:
    number: int
    time: float
    server: str
    direction: Direction
    size: int
    kept: int
    message: Mapping[str, Any]
    summary: bool


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that was done, or asked, and how it ended.

    Attributes:
        number: counts all acts of this kernel from 1.
        time: seconds since the epoch.
        server: name of the server.
        method: MCP method ("tools/call", "elicitation/create", …) or "connect", "disconnect".
        name: tool, prompt, URI, or what a question was about.
        origin: who began it: "person", "code", "server", "model".
        rule: the rule that decided, as text, or None.
        outcome: "running", "ok", "error", "denied", "refused", "cancelled", "timeout", or an answer's action.
        remark: one line more (an error's sentence, a person's words with a decline, who answered).
        arguments: what was sent or answered, redacted.
        duration: seconds, None while it runs.
        reason: why it was let pass (a rule, a default, an approval), or None.
        result: what came back, in a line: kinds, sizes and the beginning of a text; redacted.
    """

    number: int
    time: float
    server: str
    method: str
    name: str
    origin: str
    rule: str | None = None
    outcome: str = "running"
    remark: str | None = None
    arguments: Any = None
    duration: float | None = None
    reason: str | None = None
    result: str | None = None


@dataclass
class Journal:
    """The wire and the acts of one kernel. Recorded on the runtime thread, read from any."""

    redactor: Redactor = field(default_factory=Redactor)
    clock: Callable[[], float] = time.time
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        self._wire: deque[_Record] = deque()
        self._bytes = 0
        self._messages = 0
        self._acts: dict[int, Act] = {}
        self._act_count = 0
        self._file: JournalFile | None = None

    # --- the wire ----------------------------------------------------------------------------------------------------

    def wire(self, server: str, direction: Direction, message: Mapping[str, Any], size: int) -> None:
        """Record one message. Cheap: nothing is copied or searched unless the message is big."""
        self._messages += 1
        big = size > MAX_MESSAGE
        kept = 2_000 if big else size
        shown = _summary(message) if big else message
        self._wire.append(_Record(self._messages, self.clock(), server, direction, size, kept, shown, big))
        self._bytes += kept
        while len(self._wire) > MAX_MESSAGES or (self._bytes > self.max_bytes and len(self._wire) > 1):
            self._bytes -= self._wire.popleft().kept
        if self._file is not None:
            self._write_message(self._file, self._wire[-1])

    def entries(self, server: str | None = None) -> list[WireEntry]:
        """The recorded messages, oldest first, redacted; of one server or of all."""
        records = [record for record in list(self._wire) if server is None or record.server == server]
        answers = _paired(records)
        exchanges = _exchanges(answers)
        found: list[WireEntry] = []
        for record in records:
            request, answer = answers.get(record.number, (None, None))
            asked = record if request is None else request
            method = asked.message.get("method")
            exchange, number = exchanges.get(asked.number, (None, None))
            found.append(
                WireEntry(
                    number=record.number,
                    time=record.time,
                    server=record.server,
                    direction=record.direction,
                    method=method if isinstance(method, str) else None,
                    id=_id(record),
                    size=record.size,
                    message=self.redactor.clean(record.message),
                    summary=record.summary,
                    status=_status(answer) if request is not None or answer is not None else None,
                    duration=None if request is None or answer is None else answer.time - request.time,
                    exchange=exchange,
                    round=number,
                )
            )
        return found

    # --- acts --------------------------------------------------------------------------------------------------------

    def begin(
        self, server: str, method: str, name: str, origin: str, *, rule: str | None = None, arguments: Any = None
    ) -> int:
        """Record that an act began; returns its number for `end`."""
        self._act_count += 1
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

    def _write_message(self, file: JournalFile, record: _Record) -> None:
        method = record.message.get("method")
        line = {
            "kind": "message",
            "number": record.number,
            "time": record.time,
            "server": record.server,
            "direction": record.direction,
            "method": method if isinstance(method, str) else None,
            "id": _id(record),
            "size": record.size,
            "status": None if isinstance(method, str) else _status(record),
            "summary": record.summary,
            "message": self.redactor.clean(record.message),
        }
        self._write(file, line)

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


def _id(record: _Record) -> int | str | None:
    id = record.message.get("id")
    return id if isinstance(id, int | str) else None


def _paired(records: list[_Record]) -> dict[int, tuple[_Record | None, _Record | None]]:
    """Of each request and each answer, by their numbers: the request and the answer, as far as they are on record.

    An id that is used again (after a reconnect) belongs to the latest request with it.
    """
    waiting: dict[tuple[str, str, int | str], _Record] = {}
    pairs: dict[int, tuple[_Record | None, _Record | None]] = {}
    for record in records:
        id = _id(record)
        if id is None:
            continue
        if isinstance(record.message.get("method"), str):
            waiting[record.server, record.direction, id] = record
            pairs[record.number] = (record, None)
            continue
        other = "receive" if record.direction == "send" else "send"
        request = waiting.pop((record.server, other, id), None)
        pairs[record.number] = (request, record)
        if request is not None:
            pairs[request.number] = (request, record)
    return pairs


def _exchanges(pairs: Mapping[int, tuple[_Record | None, _Record | None]]) -> dict[int, Exchange]:
    """The exchange of each request, by its number."""
    asked = [(request, answer) for number, (request, answer) in pairs.items() if request and request.number == number]
    return rounds((one.number, one.server, one.message, answer and answer.message) for one, answer in asked)


def _status(answer: _Record | None) -> str:
    if answer is None:
        return "open"
    if answer.message.get("error") is not None:
        return "error"
    result: Any = answer.message.get("result")
    if not isinstance(result, Mapping):
        return "ok"
    table = cast("Mapping[str, Any]", result)
    if table.get("resultType") == "input_required":
        return "input_required"
    return "error" if table.get("isError") is True else "ok"


def _summary(message: Mapping[str, Any]) -> dict[str, Any]:
    """The frame of a big message and the shape of what is in it; holds no reference to the message's parts."""
    return {key: _short(value, 0) for key, value in message.items()}


def _short(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _SUMMARY_TEXT else f"{value[:_SUMMARY_TEXT]}… ({len(value):,} characters)"
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        if depth >= 3:
            return f"{{… {len(table)} keys}}"
        short = {key: _short(table[key], depth + 1) for key in list(table)[:10]}
        return short if len(table) <= 10 else {**short, "…": f"{len(table) - 10} more keys"}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if depth >= 3:
            return f"[… {len(items)} items]"
        short_items = [_short(item, depth + 1) for item in items[:5]]
        return short_items if len(items) <= 5 else [*short_items, f"… {len(items) - 5} more items"]
    return value
