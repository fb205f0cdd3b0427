"""Untrusted text made fit to be shown: no control characters, no escape sequences, no endless lines, honest cuts.

Everything a server sends passes here before it reaches HTML or a terminal. Pure.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from jupyter_mcp.protocol.shapes import is_list, is_mapping

__all__ = ["clean", "count", "cut", "flat", "portable", "pretty", "size"]

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # titles, links (OSC and its kin)
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 but tab and newline, C1
    "\u202a-\u202e\u2066-\u2069"  # direction overrides: they make a text read as what it is not
    "\u2028\u2029\ufeff\ud800-\udfff]"
)
_POSIX = re.compile(r"(?<![\w.:/~<\-])(?:~|(?=/))(?:/[^\s/'\":;,]+)+/(?=[^\s/'\":;,]+)")
_WINDOWS = re.compile(r"(?<![\w/])[A-Za-z]:\\(?:[^\s\\'\"]+\\)+")
_ODD = {"\u2028": "\n", "\u2029": "\n"}


def clean(value: object) -> str:
    """Text without escape sequences and control characters; line ends are newlines."""
    text = value if isinstance(value, str) else str(value)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROLS.sub(lambda hit: _ODD.get(hit[0], "�" if "\ud800" <= hit[0] <= "\udfff" else ""), text)


def flat(value: object, limit: int = 200) -> str:
    """One line: runs of white space are one blank, and what is too long ends in an ellipsis."""
    text = value if isinstance(value, str) else str(value)
    text = " ".join(clean(text[: limit * 4 + 400]).split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def cut(text: str, limit: int, whole: str = "") -> str:
    """At most `limit` characters, with the number of those left out and where the whole is."""
    if len(text) <= limit:
        return text
    kept = text[:limit]
    newline = kept.rfind("\n")
    if newline > limit // 2:
        kept = kept[:newline]
    more = f"… {count(len(text) - len(kept), 'more character')}"
    return f"{kept}\n{more}{f'; {whole} holds all' if whole else ''}"


def pretty(value: object) -> str:
    """JSON for a reader: short values on one line, others indented; never an exception."""
    try:
        line = json.dumps(value, ensure_ascii=False, default=str)
        if len(line) <= 80:
            return clean(line)
        return clean(json.dumps(value, ensure_ascii=False, default=str, indent=2))
    except (TypeError, ValueError, RecursionError):
        return clean(str(value))


def portable(text: str) -> str:
    """A command line or message without the folders of this machine: `/opt/venv/bin/python` is `…/python`."""
    return _WINDOWS.sub("…\\\\", _POSIX.sub("…/", clean(text)))


def size(octets: int) -> str:
    """Bytes in words: "812 bytes", "12 kB", "3.4 MB"."""
    if octets < 1000:
        return count(octets, "byte")
    return f"{octets / 1000:.0f} kB" if octets < 1_000_000 else f"{octets / 1_000_000:.1f} MB"


def count(number: int, word: str) -> str:
    """ "1 tool", "2,000 tools"."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def bounded(value: Any, limit: int = 16_000) -> Any:
    """The value when its JSON is short, else a remark that it was left out (for the structured part of a bundle).

    What the kernel's messages cannot carry, though servers send it, becomes text: NaN and infinities, halves of
    surrogate pairs.
    """
    try:
        length = _length(value)
    except ValueError:
        try:
            value = _carried(value)
            length = _length(value)
        except (TypeError, ValueError, RecursionError):
            return {"omitted": "not JSON"}
    except (TypeError, RecursionError):
        return {"omitted": "not JSON"}
    return value if length <= limit else {"omitted": count(length, "character")}


def _length(value: Any) -> int:
    """Characters of its JSON. Raises ValueError when a message cannot carry it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text.encode()
    return len(text)


def _carried(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if is_mapping(value):
        return {_carried(key): _carried(item) for key, item in value.items()}
    return [_carried(item) for item in value] if is_list(value) else value
