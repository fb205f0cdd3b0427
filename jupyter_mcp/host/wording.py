"""Reading what a person typed, and quoting it back in one sentence: JSON with a position, the nearest name.

Pure text, standard library only. `host.arguments` and the magics' line parser stand above it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(text: str) -> bool:
    """Whether it is an address, of whatever kind, and no command."""
    return _SCHEME.match(text) is not None


def nearest(text: str, names: Sequence[str]) -> str | None:
    """The name most like `text`, if one is at all like it."""
    import difflib

    lowered = {name.lower(): name for name in reversed(names)}
    found = difflib.get_close_matches(text.lower(), list(lowered), n=1, cutoff=0.6)
    if found:
        return lowered[found[0]]
    starts = [name for name in names if text and name.lower().startswith(text.lower())]
    return starts[0] if len(starts) == 1 else None


def decode_json(text: str, what: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value at `start` and the index behind it. Raises `UsageError` that shows the text and the position.

    Args:
        text: what was typed.
        what: its name in the error ("the arguments", "the body").
        start: where the value begins; positions in errors count from the beginning of `text`.
    """

    def constant(name: str) -> Any:
        raise UsageError(f"{name} is not valid JSON (in {what})")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))
            raise UsageError(f"{twice!r} is given twice (in {what})")
        return result

    decoder = json.JSONDecoder(parse_constant=constant, object_pairs_hook=unique)
    try:
        value, end = decoder.raw_decode(text, start)
    except RecursionError:
        raise UsageError(f"the JSON of {what} is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"cannot read {what} as JSON: {json_problem(error)}: {quote_line(error)}") from None
    return value, end


def json_problem(error: json.JSONDecodeError) -> str:
    """ "expecting property name … at line 1 column 7", lines only when there are several."""
    message = error.msg[:1].lower() + error.msg[1:]
    if "\n" in error.doc.rstrip():
        return f"{message} at line {error.lineno} column {error.colno}"
    return f"{message} at column {error.colno}"


def quote_line(error: json.JSONDecodeError) -> str:
    """The line the error is in, shortened around it."""
    lines = error.doc.splitlines() or [""]
    line = lines[min(error.lineno, len(lines)) - 1]
    return shorten(line, error.colno - 1)


def shorten(text: str, around: int = 0, limit: int = 120) -> str:
    """`text` on one line; long text is cut to the part around a position."""
    flat = " ".join(text.splitlines())
    if len(flat) <= limit:
        return flat
    start = max(0, min(around - limit // 2, len(flat) - limit))
    end = start + limit
    return ("… " if start else "") + flat[start:end] + (" …" if end < len(flat) else "")
