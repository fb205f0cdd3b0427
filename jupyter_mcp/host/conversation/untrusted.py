"""Text of servers and models as another model may read it: visible, bounded, and cut honestly. Pure.

What a person does not see in a text, a model may still obey; so what has no shape is taken out (control characters,
direction overrides, Unicode's "tags"). Words are left as they are: they are data, and the system prompt says so.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["cut_end", "cut_middle", "one_line", "visible"]

# what is not looked at one by one, because every character of it has a shape
_SUSPECT = re.compile(
    "[^\n\t\x20-\x7e\u00a1-\u00ac\u00ae-\u024f\u0370-\u05ff\u0900-\u109f\u3001-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
)
_SELECTORS = re.compile("([\ufe00-\ufe0f])[\ufe00-\ufe0f]+")  # emoji have one; a row of them is a message
_KEPT = "\n\t\u200c\u200d"  # the joiners: Persian, Indic scripts and emoji need them
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks that show nothing
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn")
_TAIL = 4  # of a cut text, one part in so many is its end


def visible(text: str) -> str:
    """The text without characters that have no shape of their own; line ends are newlines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SELECTORS.sub(r"\1", _SUSPECT.sub(_shown, text))


def _shown(found: re.Match[str]) -> str:
    char = found[0]
    if char in _KEPT:
        return char
    if char in "\u2028\u2029\x85":
        return "\n"
    if char in _BLANK or "\U000e0100" <= char <= "\U000e01ef":  # selectors that no font of a notebook has
        return ""
    return "" if unicodedata.category(char) in _HIDDEN else char


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters."""
    flat = " ".join(visible(text[: limit * 4]).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"


def cut_end(text: str, limit: int) -> str:
    """At most about `limit` characters of a text, its end left out; says how many are missing."""
    if len(text) <= limit:
        return visible(text)
    return f"{visible(text[:limit]).rstrip()}\n[… {len(text) - limit:,} more characters are not shown]"


def cut_middle(text: str, limit: int) -> str:
    """At most about `limit` characters of a text, its middle left out: what went wrong often stands at the end."""
    if len(text) <= limit:
        return visible(text)
    end = limit // _TAIL
    begin = limit - end
    missing = len(text) - limit
    note = f"\n[… {missing:,} characters in the middle are not shown; ask for less to see them …]\n"
    return visible(text[:begin]).rstrip() + note + visible(text[-end:]).lstrip()
