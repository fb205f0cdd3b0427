"""Text that somebody is to approve, with nothing in it that cannot be seen. Pure.

A direction override makes `gpj.exe` of `exe.jpg`, a zero-width letter makes two names of one, a tag character carries a
sentence that only a model reads. Elsewhere such characters are taken out before a text is shown; what is approved is
sent as it is, so there they are shown by their numbers (Unicode, UAX #9 and UTS #39). Stands below the cards, the
terminal and the records, which all show the same.
"""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["exact", "marked", "marked_values", "same", "unseen"]

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""


def marked(text: object, *, lines: bool = False) -> str:
    """A text in which each character that cannot be seen stands as its number: `⟨U+202E⟩`.

    Args:
        text: anybody's words; all of them are kept.
        lines: leave line ends and tabs as they are.
    """
    said = text if isinstance(text, str) else str(text)
    return said.translate(_LINES if lines else _MARKED)


def marked_values(value: Any) -> Any:
    """A JSON value with `marked` names and texts."""
    if isinstance(value, str):
        return marked(value, lines=True)
    if is_mapping(value):
        return {marked(key): marked_values(item) for key, item in value.items()}
    return [marked_values(item) for item in value] if is_list(value) else value


def exact(value: Any) -> str:
    """A JSON value as JSON that a person can read and a program reads back as the same value.

    What cannot be seen is escaped as JSON does it (`\\u202e`); nothing is left out, however long it is.

    Args:
        value: as it is sent.
    """
    text = json.dumps(value, ensure_ascii=False, default=str, indent=2)
    return text.translate(_ESCAPED)


def same(one: object, other: object) -> bool:
    """Whether both are the same JSON: 1, 1.0 and true are three values, the order of names does not count."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)


def unseen(value: Any) -> list[str]:
    """What of a JSON value cannot be seen, by number and name, each once: ["U+202E RIGHT-TO-LEFT OVERRIDE"].

    Line ends and tabs are left out: they are seen by what they do.
    """
    found: dict[str, None] = {}
    for text in _texts(value):
        found.update((one, None) for one in dict.fromkeys(text) if one not in "\n\t\r" and _is_unseen(one))
    return [f"U+{ord(one):04X} {unicodedata.name(one, 'without a name')}" for one in found]


def _is_unseen(one: str) -> bool:
    if one == " ":
        return False
    return unicodedata.category(one) in _HIDDEN or one in _BLANK or _is_variation(one)


def _is_variation(one: str) -> bool:
    """Variation selectors follow another character, and a row of them can carry a text of its own."""
    return "\ufe00" <= one <= "\ufe0f" or "\U000e0100" <= one <= "\U000e01ef" or "\u180b" <= one <= "\u180f"


class _Table(dict[int, str]):
    """How each character is shown, for `str.translate`; found out when it is first met."""

    def __init__(self, shown: Callable[[str], str], kept: str) -> None:
        self._shown = shown
        self._kept = kept

    def __missing__(self, number: int) -> str:
        one = chr(number)
        self[number] = self._shown(one) if one not in self._kept and _is_unseen(one) else one
        return self[number]


def _number(one: str) -> str:
    return f"⟨U+{ord(one):04X}⟩"


def _escaped(one: str) -> str:
    number = ord(one)
    if number < 0x10000:
        return f"\\u{number:04x}"
    high, low = divmod(number - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _texts(value: Any) -> list[str]:
    """Every text in a JSON value, names included."""
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif is_mapping(one):
            waiting.extend([*reversed(list(one.values())), *reversed([str(key) for key in one])])
        elif is_list(one):
            waiting.extend(reversed(one))
    return found


_MARKED, _LINES, _ESCAPED = _Table(_number, ""), _Table(_number, "\n\t"), _Table(_escaped, "\n")
