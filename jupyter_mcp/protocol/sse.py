"""Server-sent events: bytes to events and back.

The decoder takes bytes as they come; any split of the same bytes gives the same items, each byte is looked at once, and
what it holds is bounded. Lines are cut before any decoding, because a charset-less stream read as text would be cut at
U+0085 and U+2028 too. It does not know what an event's data means.

Above: transport (client side), server (its answers). Source: WHATWG HTML "Server-sent events", 9.2.6.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMIT", "Event", "SseDecoder", "TooLarge", "comment", "encode"]

LIMIT = 64 * 2**20  # bytes of one event
_BOM = b"\xef\xbb\xbf"
_LONGEST_NAME = 4096  # bytes of an id that is remembered: it travels back in a header
_HEAD = 256  # bytes of an oversize event that are kept, so that one can say what it was


@dataclass(frozen=True, slots=True)
class Event:
    """One event with data.

    Attributes:
        data: its data lines joined by newlines; UTF-8 as it came, never blank.
        event: its type.
        id: its own id; None when it had none, "" when it takes back the last one.
        retry: milliseconds to wait before reconnecting, if it said so.
    """

    data: bytes
    event: str = "message"
    id: str | None = None
    retry: int | None = None


@dataclass(frozen=True, slots=True)
class TooLarge:
    """An event that passed the limit; the rest of it is skipped.

    Attributes:
        limit: that limit in bytes.
        head: the first 256 bytes of its data at most.
    """

    limit: int
    head: bytes


class SseDecoder:
    """Bytes in, events out; see the module.

    Args:
        limit: bytes that the lines of one event may have.

    Attributes:
        last_id: what `Last-Event-ID` would be now; None when there is none.
        retry: the last `retry` of the server in milliseconds; None when it named none.
        events: how many events with data have come.
        comments: how many comment lines have come (signs of life).
    """

    __slots__ = (
        "_after_cr",
        "_begun",
        "_cut",
        "_data",
        "_event",
        "_id",
        "_limit",
        "_parts",
        "_pending",
        "_retry",
        "_size",
        "_skipping",
        "comments",
        "events",
        "last_id",
        "retry",
    )

    def __init__(self, limit: int = LIMIT) -> None:
        self.last_id: str | None = None
        self.retry: int | None = None
        self.events = 0
        self.comments = 0
        self._limit = limit
        self.restart()

    def restart(self) -> None:
        """The stream ended and comes anew: what was incomplete is lost, the last id and `retry` stay."""
        self._begun = False  # the first three bytes have been looked at
        self._after_cr = False  # a newline now belongs to the line end before it
        self._parts: list[bytes] = []  # of the line that has no end yet
        self._pending = 0  # bytes of it
        self._cut = False  # it is not kept: a comment, or too long
        self._reset()

    def _reset(self) -> None:
        self._event = ""
        self._id: str | None = None
        self._retry: int | None = None
        self._data: list[bytes] = []
        self._size = 0  # bytes of the complete lines of this event
        self._skipping = False

    def feed(self, data: bytes) -> list[Event | TooLarge]:
        """Take the next bytes; return what they complete."""
        out: list[Event | TooLarge] = []
        if not self._begun:
            data = self._begin(data)
        if self._after_cr and data:
            self._after_cr = False
            if data.startswith(b"\n"):
                data = data[1:]
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in data:
            self._hold(data, out)
            return out
        first, *lines = data.split(b"\n")
        tail = lines.pop() if lines else b""
        self._line(self._join(first, out), out)
        for line in lines:
            self._line(line, out)
        self._hold(tail, out)
        return out

    def eof(self) -> Event | None:
        """The stream is over: the event that has begun, if it has data. `last_id` does not move.

        By the letter of the specification it is lost; whoever can tell whether it is whole may take it all the same.
        """
        out: list[Event | TooLarge] = []
        before = self.last_id
        self._line(self._join(b"", out), out)
        self._dispatch(out)
        self.last_id = before
        return next((item for item in out if isinstance(item, Event)), None)

    def _begin(self, data: bytes) -> bytes:
        """Drop the byte order mark of the stream, in however many pieces it comes."""
        data = b"".join((*self._parts, data))
        self._parts.clear()
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._parts.append(data)
            return b""
        self._begun = True
        return data.removeprefix(_BOM)

    # -- the line that has no end yet ---------------------------------------------------------------------------------

    def _hold(self, data: bytes, out: list[Event | TooLarge]) -> None:
        if not data or not self._begun:
            return
        if not self._pending and data.startswith(b":"):
            self._cut = True
            self.comments += 1
        self._pending += len(data)
        if self._cut:
            return
        self._parts.append(data)
        if self._skipping:
            if self._pending > _LONGEST_NAME:
                self._drop()
        elif self._size + self._pending > self._limit:
            self._give_up(b"".join(self._parts), out)
            if self._pending > _LONGEST_NAME:
                self._drop()

    def _drop(self) -> None:
        self._parts.clear()
        self._cut = True

    def _join(self, data: bytes, out: list[Event | TooLarge]) -> bytes | None:
        """The pending line, now complete; None when it was not kept."""
        if not self._pending:
            return data
        self._hold(data, out)
        line = None if self._cut else b"".join(self._parts) if len(self._parts) > 1 else self._parts[0]
        self._parts.clear()
        self._pending = 0
        self._cut = False
        return line

    # -- complete lines -----------------------------------------------------------------------------------------------

    def _line(self, line: bytes | None, out: list[Event | TooLarge]) -> None:
        if line is None:
            return
        if not line:
            self._dispatch(out)
        elif line.startswith(b":"):
            self.comments += 1
        else:
            if not self._skipping and self._size + len(line) > self._limit:
                self._give_up(line, out)
            self._size += len(line)
            self._field(line)

    def _field(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            if not self._skipping:
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
            return
        if len(line) > _LONGEST_NAME:
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"data":
            if not self._skipping:
                self._data.append(value)
        elif name == b"retry" and value.isdigit() and len(value) < 16:
            self.retry = self._retry = int(value)

    def _dispatch(self, out: list[Event | TooLarge]) -> None:
        if self._id is not None:
            self.last_id = self._id or None
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            if data and not data.isspace():
                self.events += 1
                out.append(Event(data, self._event or "message", self._id, self._retry))
        self._reset()

    def _give_up(self, line: bytes, out: list[Event | TooLarge]) -> None:
        """Keep of this event what stands within the limit at most, whatever pieces it came in."""
        line = line[: self._limit + 1 - self._size]
        if line.startswith(b"data:"):
            self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
        out.append(TooLarge(self._limit, b"\n".join(part[:_HEAD] for part in self._data[:_HEAD])[:_HEAD]))
        self._data.clear()
        self._skipping = True


def encode(data: bytes, *, event: str | None = None, id: str | None = None, retry: int | None = None) -> bytes:
    """One event as bytes.

    Args:
        data: UTF-8; what `jsonrpc.encode` gives is one line. Empty data with an id is a priming event.
        event: its type; None leaves it out ("message" for whoever reads it).
        id: its id.
        retry: milliseconds after which the reader is to reconnect.

    Raises:
        ValueError: a type or an id that holds a line end or a NUL.
    """
    head: list[str] = []
    for name, value in (("event", event), ("id", id)):
        if value is not None:
            if any(mark in value for mark in "\r\n\0"):
                raise ValueError(f"the {name} of a server-sent event cannot hold {value[:40]!r}")
            head.append(f"{name}: {value}\n")
    if retry is not None:
        head.append(f"retry: {retry:d}\n")
    if b"\n" in data or b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    return b"".join(("".join(head).encode(), b"data: ", data, b"\n\n"))


def comment(text: str = "") -> bytes:
    """A comment: keeps a silent stream open and means nothing. Line ends in it become blanks."""
    return f": {' '.join(text.splitlines())}".rstrip().encode() + b"\n\n"
