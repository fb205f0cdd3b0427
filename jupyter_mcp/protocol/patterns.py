"""A foreign regular expression, run so that it can neither hang nor crash: `matches(pattern, text)`.

Schemas come from servers, and one pattern with exponential backtracking would stop the whole kernel (Python's `re`
holds the interpreter and cannot be told to stop). `regex` can: it gives up after a time. It also knows more of the
dialect that schemas are written in (ECMA 262: `\\p{L}`, `(?<name>…)`); the rest is translated here.

Above: schema, schema_clean, host.forms, host.hiding. `regex` is imported at the first pattern.
Source: JSON Schema 2020-12 Core 6.4 and Validation 6.3.3 (ECMA 262 with "u", not anchored).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

SECONDS = 0.02  # for one pattern on one text
_MAX_PATTERN = 1000  # characters
_MAX_DEPTH = 50  # groups in groups
_REPEATS = re.compile(r"[*+{|]")
_CODE_POINT = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}")
_CONTROL = re.compile(r"\\c([A-Za-z])")


def usable(pattern: object) -> bool:
    """Whether a value is a regular expression that can be run here."""
    return isinstance(pattern, str) and _compiled(pattern) is not None


def matches(pattern: str, text: str) -> bool | None:
    """Whether `pattern` is found in `text`; None when that cannot be told (not a pattern, or it took too long)."""
    compiled = _compiled(pattern)
    if compiled is None:
        return None
    try:
        return compiled.search(text, timeout=SECONDS) is not None
    except (TimeoutError, RecursionError, MemoryError):
        return None


def replaced(pattern: str, text: str, by: str) -> str | None:
    """The text with all that `pattern` finds replaced; None when that cannot be told, as for `matches`."""
    compiled = _compiled(pattern)
    if compiled is None:
        return None

    def put(found: re.Match[str]) -> str:
        return by if found[0] else ""

    try:
        return compiled.sub(put, text, timeout=SECONDS)
    except (TimeoutError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=256)
def risky(pattern: str) -> bool:
    """Whether it may take long on some text: it repeats or branches in more than one place."""
    return len(_REPEATS.findall(pattern)) > 1


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    if len(pattern) > _MAX_PATTERN or _depth(pattern) > _MAX_DEPTH:
        return None
    import regex

    # \d and \w are ASCII in ECMA 262, but \p{…} is not, and the flag would make it so
    flags = regex.VERSION0 | (regex.UNICODE if re.search(r"\\[pP]\{", pattern) else regex.ASCII)
    try:
        return regex.compile(_translated(pattern), flags)
    except (regex.error, RecursionError, OverflowError, MemoryError, ValueError):
        return None


def _depth(pattern: str) -> int:
    """The deepest nesting of parentheses, or more (those in classes and after backslashes count too)."""
    deepest = here = 0
    for character in pattern:
        here += (character == "(") - (character == ")")
        deepest = max(deepest, here)
    return deepest


def _translated(pattern: str) -> str:
    """From ECMA 262 to the library's dialect, where they differ in patterns that people write."""
    text = _CODE_POINT.sub(lambda found: re.escape(_character(int(found[1], 16))), pattern)
    text = _CONTROL.sub(lambda found: f"\\x{ord(found[1].upper()) % 32:02x}", text)
    return _anchored(text)


def _character(code: int) -> str:
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"


def _anchored(pattern: str) -> str:
    """`$` means the very end of the text, not the end before a last newline."""
    if "$" not in pattern:
        return pattern
    out: list[str] = []
    in_class = escaped = False
    for character in pattern:
        if character == "$" and not (in_class or escaped):
            out.append(r"\Z")
            continue
        if not escaped:
            in_class = character == "[" or (in_class and character != "]")
        escaped = character == "\\" and not escaped
        out.append(character)
    return "".join(out)
