"""Newline-delimited JSON: bytes in, lines out; and what one line holds.

`LineDecoder` is incremental and linear: any split of the bytes gives the same lines, and a line is joined once.
`parse_line` never raises: what is not JSON-RPC is noise, told in words that are safe to show. Before it gives up it
looks for what careless writers do: messages without a line end between them, terminal codes or a text before one.

This module reads no stream. Above: transport.stdio, server.stdio. Below: jsonrpc.
Source: spec "Transports / stdio", all revisions.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol import jsonrpc

if TYPE_CHECKING:
    from jupyter_mcp.protocol.jsonrpc import Id

LONGEST = 256 * 2**20  # bytes of one line
_BOM = b"\xef\xbb\xbf"
_HEAD = 512  # bytes that are kept of a line that is too long, so that one can say what it was
_MOST = 1000  # messages that are looked for in one line
_MOST_KEPT, _MOST_TRIES = 4 * 2**20, 500  # bytes of a message on several lines; closing braces that may end it
_SHOWN = 200  # characters of noise that are kept
_ID = rb'"id"\s*:\s*(?:(-?\d{1,18})|"([^"\\]{1,200})")\s*'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
# only where it is a member of the message itself: an id within a result is somebody else's
_ID_FIRST = re.compile(rb"\s*\{\s*(?:%s,\s*)?%s," % (_VERSION, _ID))
_ID_LAST = re.compile(rb",\s*%s(?:,\s*%s)?\}\s*\Z" % (_ID, _VERSION))
_ANSWER = re.compile(rb'\s*\{\s*(?:%s,\s*)?"(?:result|error)"\s*:' % _VERSION)
_METHOD = re.compile(rb'"method"\s*:')
_BEGIN = re.compile(r'\{\s*"(?:jsonrpc|id|result|error)"\s*:')
# CSI and OSC sequences, then any other two-character escape
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?|\x9b[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


class Cut(bytes):
    """The beginning of a line that is longer than it may be; the rest of it is skipped."""

    __slots__ = ()


class LineDecoder:
    """Bytes in, complete lines out: without line ends, BOM and surrounding blanks; blank lines are dropped.

    Args:
        limit: bytes that a line may have; of a longer one a `Cut` comes, as soon as that is clear.
    """

    __slots__ = ("_limit", "_parts", "_size", "_skipping")

    def __init__(self, limit: int = LONGEST) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0  # bytes of the line that has no end yet
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes; return the lines they complete. Only the new bytes are searched."""
        if b"\n" not in data:
            return self._hold(data)
        lines = data.split(b"\n")
        tail = lines.pop()
        if self._skipping:
            del lines[0]
            self._skipping = False
        elif self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        found = [line for raw in lines if (line := self._line(raw))]
        return found + self._hold(tail) if tail else found

    def _hold(self, data: bytes) -> list[bytes]:
        """Keep the beginning of a line; say so at once when it is too long."""
        if not data or self._skipping:
            return []
        self._parts.append(data)
        self._size += len(data)
        if self._size <= self._limit:
            return []
        line = self._line(b"".join(self._parts))
        self._parts.clear()
        self._skipping = True
        return [line] if line else []

    def _line(self, raw: bytes) -> bytes:
        return _clean(raw) if len(raw) <= self._limit else Cut(_clean(raw[:_HEAD]))

    def whole(self) -> bytes | None:
        """What came without a line end, when it is a message: for when nothing has followed for a while."""
        line = _clean(b"".join(self._parts))
        if not line.endswith((b"}", b"]")) or not parse_line(line).messages:
            return None
        self._parts.clear()
        self._size = 0
        return line

    def eof(self) -> list[bytes]:
        """The other side closed: its last words, if it did not end them with a newline."""
        line = _clean(b"".join(self._parts))
        self._parts.clear()
        return [line] if line.strip(b"\0") else []


def _clean(line: bytes) -> bytes:
    line = line.strip()
    return line[3:].strip() if line.startswith(_BOM) else line


@dataclass(frozen=True, slots=True)
class Line:
    """What one line holds.

    Attributes:
        messages: JSON-RPC messages in order; one, unless `batch`. A dict that says `jsonrpc`, or names a method and
            an id, but is malformed is among them (its `jsonrpc.kind` is "invalid"), so that a server can answer it.
        noise: printable text about what is not a message, or None; may stand beside messages.
        batch: the line was a JSON array.
        code: for a server: the JSON-RPC error this line deserves when `noise` is all there is (else 0).
        answers: the id of the request that an unreadable line answers, when one can tell.
        why: what is wrong with an unreadable line, as a clause.
        glued: a response that stands behind the noise in the same line. It may be the very answer, after a text
            without a line end; or what a log tells of another connection: take it only when no other answer comes.
    """

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    noise: str | None = None
    batch: bool = False
    code: int = 0
    answers: Id | None = None
    why: str = ""
    glued: dict[str, Any] | None = None


def parse_line(line: bytes) -> Line:
    """Read one line. Never raises."""
    if isinstance(line, Cut):
        why = "it is longer than a line may be"
        return Line(
            noise=f"{why}: {printable(line.decode('utf-8', 'replace'))}",
            code=jsonrpc.PARSE_ERROR,
            answers=answered(line),
            why=why,
        )
    repaired: str | None = None
    try:
        value = jsonrpc.decode(line)
    except ValueError:
        text = line.decode("utf-8", "replace")
        try:
            value = jsonrpc.decode(text.encode())
        except ValueError as error:
            return _mended(line, text, str(error))
        repaired = "invalid UTF-8, replaced by \N{REPLACEMENT CHARACTER}: " + printable(text, 120)
    if type(value) is dict:
        message = cast("dict[str, Any]", value)
        if _is_rpc(message):
            return Line([message], noise=repaired)
    elif type(value) is list and value:
        return _parse_batch(cast("list[Any]", value), line, repaired)
    return Line(noise=printable(line.decode("utf-8", "replace")), code=jsonrpc.INVALID_REQUEST)


class Pieces:
    """Reads lines, and puts a message together that was written on several (indented JSON)."""

    __slots__ = ("_kept", "_size", "_tries")

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._kept: list[bytes] = []
        self._size = self._tries = 0

    def read(self, line: bytes) -> Line | None:
        """As `parse_line`; None: the line is kept, because it may be a part of a message."""
        parsed = parse_line(line)
        if parsed.messages or not (self._kept or line == b"{"):
            if self._kept:
                parsed = replace(parsed, noise=parsed.noise or printable(self._text()))
                self._reset()
            return parsed
        self._kept.append(line)
        self._size += len(line)
        if line == b"}":
            self._tries += 1
            whole = parse_line(b"\n".join(self._kept))
            if whole.messages:
                self._reset()
                return whole
        if self._size > _MOST_KEPT or self._tries == _MOST_TRIES:
            parsed = replace(parsed, noise=printable(self._text()))
            self._reset()
            return parsed
        return None

    def _text(self) -> str:
        return b" ".join(self._kept[:20]).decode("utf-8", "replace")


def _mended(line: bytes, text: str, why: str) -> Line:
    """What can still be made of a line that is not JSON."""
    if b"\0" in line:
        text = _narrow(line) or text
    bare = _bare(text)
    if messages := _sequence(bare):
        return Line(messages, noise=None if len(messages) == 1 else "several messages in one line: " + printable(text))
    glued = None
    begin = _BEGIN.search(bare)
    if begin is not None and begin.start():
        found = _sequence(bare[begin.start() :])
        if len(found) == 1 and jsonrpc.kind(found[0]) in ("response", "error"):
            glued = found[0]
    return Line(noise=printable(text), code=jsonrpc.PARSE_ERROR, answers=answered(line), why=why, glued=glued)


def _narrow(line: bytes) -> str | None:
    """A line of UTF-16 (little end first, as on Windows), cut at the byte that ends lines in UTF-8, as text."""
    even = line[1:] if line.startswith(b"\0") else line  # the other half of the line end before
    try:
        text = even[: len(even) // 2 * 2].decode("utf-16-le").strip("\ufeff\0 \r")
    except UnicodeDecodeError:
        return None
    return text if text.startswith("{") else None


def _bare(text: str) -> str:
    """Without the terminal codes and control characters at its ends."""
    if "{" not in text:
        return text
    begin, end = text.index("{"), text.rfind("}") + 1
    head, tail = (_CONTROL.sub("", _ANSI.sub("", part[:_HEAD])) for part in (text[:begin], text[end:]))
    return text[begin:end] if not head.strip() and not tail.strip() else text


def _sequence(text: str) -> list[dict[str, Any]]:
    """The messages of a text that holds messages, one behind the other, and nothing else; none otherwise."""
    found: list[dict[str, Any]] = []
    at, text = 0, text.strip()
    while at < len(text):
        try:
            value, at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        if not _is_rpc(value) or len(found) == _MOST:
            return []
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return found


_decoder = json.JSONDecoder()


def answered(data: bytes) -> Id | None:
    """The id of the request that data answers which cannot be read, or of which only the beginning is there.

    Only an id that stands where a message has it counts, so that no other request is taken for the one.
    """
    head = data[:_HEAD]
    found = _ID_FIRST.match(head)
    if found is None and _ANSWER.match(head):
        found = _ID_LAST.search(data[-_HEAD:])
    if found is None or _METHOD.search(head):
        return None
    return int(found[1]) if found[1] else found[2].decode("utf-8", "replace")


def _is_rpc(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    message = cast("dict[str, Any]", value)
    return "jsonrpc" in message or jsonrpc.kind(message) != "invalid" or ("id" in message and "method" in message)


def _parse_batch(items: list[Any], line: bytes, repaired: str | None) -> Line:
    messages = [item for item in items if _is_rpc(item)]
    text = printable(line.decode("utf-8", "replace"))
    if not messages:
        return Line(noise=text, code=jsonrpc.INVALID_REQUEST)
    return Line(messages, noise=text if len(messages) < len(items) else repaired, batch=True)


def printable(text: str, limit: int = _SHOWN) -> str:
    """Foreign text made safe to show on one line: ANSI sequences and control characters gone, shortened."""
    text = text[: limit * 8]  # before the regular expressions: a line may be megabytes
    text = _CONTROL.sub(" ", _ANSI.sub("", text)).encode("utf-8", "replace").decode().strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"
