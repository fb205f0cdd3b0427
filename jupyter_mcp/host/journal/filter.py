"""The filter of a trace: `method:tools/call status:error duration>1s server:demo`, as a pure function of the entries.

    words            all must hold; a word without a key is looked for in server, method, direction and content
    method: server:  a name, `*` and `?` stand for any characters
    status:          ok, error, input_required (the server asked back), cancelled, open (no answer yet), or none (a
                 notification)
    direction:       send or receive
    text:            looked for in the content, as a plain word is; needed for a word that has a colon itself
    duration> <      seconds between request and answer, with ms, s or min
    size> <          bytes on the wire, with B, kB or MB

Quotes keep spaces as in a shell. Above: notebook.objects.happened.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from jupyter_mcp.host.journal import WireEntry

__all__ = ["parse"]

Test = Callable[["WireEntry"], bool]

_STATUSES = ("ok", "error", "input_required", "cancelled", "open", "none")
_DIRECTIONS = ("send", "receive")
_KEYS = ("method", "server", "status", "direction", "text", "duration", "size")
_UNITS = {
    "duration": {"ms": 0.001, "s": 1.0, "min": 60.0, "": 1.0},
    "size": {"b": 1.0, "kb": 1e3, "mb": 1e6, "": 1.0},
}
_WORD = re.compile(r"([A-Za-z_]+)(:(?!//)|>|<)(.*)", re.DOTALL)
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse(text: str) -> Test:
    """A test of one entry.

    Args:
        text: words of the grammar above.

    Raises:
        UsageError: a word that is not of the grammar; it is named.
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise UsageError(f"The filter {text!r} has a quote that is not closed.") from None
    tests = [_test(word) for word in words]
    return lambda entry: all(test(entry) for test in tests)


def _test(word: str) -> Test:
    found = _WORD.fullmatch(word)
    if found is None:
        return _has(word)
    key, sign, value = found[1].lower(), found[2], found[3]
    if key not in _KEYS:
        near = nearest(key, list(_KEYS))
        meant = f"Did you mean {near}?" if near else f"To look for it in the content: text:{word}"
        raise UsageError(f"The filter has no {key!r} (in {word!r}).", hint=meant)
    if not value:
        raise UsageError(f"The filter's {word!r} has nothing after it.")
    if (key in _UNITS) is (sign == ":"):
        right = f"{key}>1{'s' if key == 'duration' else 'kB'}" if key in _UNITS else f"{key}:{value}"
        raise UsageError(f"The filter's {word!r} is not understood.", hint=f"It is written {right}")
    if key in _UNITS:
        return _compared(key, sign, value, word)
    if key == "text":
        return _has(value)
    if key in ("status", "direction"):
        return _one_of(key, value, _STATUSES if key == "status" else _DIRECTIONS, word)
    pattern = value
    return lambda entry: fnmatchcase(str(getattr(entry, key) or ""), pattern)


def _one_of(key: str, value: str, choices: tuple[str, ...], word: str) -> Test:
    if value not in choices:
        raise UsageError(f"The filter's {word!r} is not understood.", hint=f"{key} is one of {', '.join(choices)}.")
    return lambda entry: (getattr(entry, key) or "none") == value


def _compared(key: str, sign: str, value: str, word: str) -> Test:
    found = _AMOUNT.fullmatch(value)
    units = _UNITS[key]
    if found is None or found[2].lower() not in units:
        names = ", ".join(unit for unit in ("ms", "s", "min") if key == "duration") or "B, kB, MB"
        raise UsageError(f"The filter's {word!r} is no amount.", hint=f"Its units are {names}.")
    limit = float(found[1]) * units[found[2].lower()]

    def test(entry: WireEntry) -> bool:
        amount = entry.duration if key == "duration" else entry.size
        return amount is not None and (amount > limit if sign == ">" else amount < limit)

    return test


def _has(word: str) -> Test:
    wanted = word.lower()
    return lambda entry: wanted in _content(entry)


def _content(entry: WireEntry) -> str:
    message = json.dumps(entry.message, ensure_ascii=False, default=str)
    return f"{entry.server} {entry.direction} {entry.method or ''} {message}".lower()
