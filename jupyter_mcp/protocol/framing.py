"""Newline-delimited JSON: bytes in, lines out; and what one line holds.

`LineDecoder` is incremental and linear: any split of the bytes gives the same lines, and a line of any length is
joined once. `parse_line` never raises: what is not JSON-RPC is noise, told in words that are safe to show.

This module reads no stream. Above: transport.stdio, server.stdio. Below: jsonrpc.
Source: spec "Transports / stdio", all revisions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.protocol import jsonrpc

_BOM = b"\xef\xbb\xbf"
_SHOWN = 200  # characters of noise that are kept
# CSI and OSC sequences, then any other two-character escape
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?|\x9b[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


class LineDecoder:
    """Bytes in, complete lines out: without line ends, BOM and surrounding blanks; blank lines are dropped."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes; return the lines they complete. Only the new bytes are searched."""
        if b"\n" not in data:
            if data:
                self._parts.append(data)
            return []
        lines = data.split(b"\n")
        if self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
        if tail := lines.pop():
            self._parts.append(tail)
        return [line for raw in lines if (line := _clean(raw))]

    def eof(self) -> list[bytes]:
        """The other side closed: its last words, if it did not end them with a newline."""
        line = _clean(b"".join(self._parts))
        self._parts.clear()
        return [line] if line else []


def _clean(line: bytes) -> bytes:
    line = line.strip()
    return line[3:].strip() if line.startswith(_BOM) else line


@dataclass(frozen=True, slots=True)
class Line:
    """What one line holds.

    Attributes:
        messages: JSON-RPC messages in order; one, unless `batch`. A dict that says `jsonrpc` but is malformed is
            among them (its `jsonrpc.kind` is "invalid"), so that a server can answer it.
        noise: printable text about what is not a message, or None; may stand beside messages.
        batch: the line was a JSON array.
        code: for a server: the JSON-RPC error this line deserves when `noise` is all there is (else 0).
    """

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    noise: str | None = None
    batch: bool = False
    code: int = 0


def parse_line(line: bytes) -> Line:
    """Read one line. Never raises."""
    repaired: str | None = None
    try:
        value = jsonrpc.decode(line)
    except ValueError:
        text = line.decode("utf-8", "replace")
        try:
            value = jsonrpc.decode(text.encode())
        except ValueError:
            return Line(noise=printable(text), code=jsonrpc.PARSE_ERROR)
        repaired = "invalid UTF-8, replaced by \N{REPLACEMENT CHARACTER}: " + printable(text, 120)
    if type(value) is dict:
        message = cast("dict[str, Any]", value)
        if _is_rpc(message):
            return Line([message], noise=repaired)
    elif type(value) is list and value:
        return _parse_batch(cast("list[Any]", value), line, repaired)
    return Line(noise=printable(line.decode("utf-8", "replace")), code=jsonrpc.INVALID_REQUEST)


def _is_rpc(value: object) -> bool:
    return isinstance(value, dict) and ("jsonrpc" in value or jsonrpc.kind(cast("object", value)) != "invalid")


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
