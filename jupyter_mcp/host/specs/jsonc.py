"""JSON as people keep it in configuration files: comments, trailing commas, a BOM, and keys written twice.

Strict JSON is read by the standard library; only what it refuses goes to `json5` (imported at first use). A key that
stands twice in one object is remembered, not silently dropped.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Table", "line_of", "parse"]


class Table(dict[str, Any]):
    """A JSON object that remembers which keys were written more than once."""

    def __init__(self, pairs: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.repeated: list[str] = []
        for key, value in pairs:
            if key in self and key not in self.repeated:
                self.repeated.append(key)
            self[key] = value


def parse(text: str, *, file: str | None = None) -> Any:
    """The value; objects are `Table`s. Raises `ConfigError` with the line (and column) of the mistake."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise ConfigError(f"{file or 'The text'} is empty.", file=file, line=1)
    try:
        return json.loads(text, object_pairs_hook=Table)
    except (ValueError, RecursionError):
        return _tolerant(text, file)


def _tolerant(text: str, file: str | None) -> Any:
    import json5

    try:
        return json5.loads(text, object_pairs_hook=Table)
    except RecursionError:
        raise ConfigError(f"{file or 'The text'} is nested too deeply.", file=file) from None
    except ValueError as reason:
        match = re.match(r"<string>:(\d+) (.*?)(?: at column (\d+))?\Z", str(reason), re.DOTALL)
        line = int(match[1]) if match else None
        what = match[2] if match else str(reason)
        place = f"line {line}" + (f", column {match[3]}" if match and match[3] else "") if line else "somewhere"
        what = what[:1].lower() + what[1:]
        raise ConfigError(f"{file or 'The text'} is not JSON: {what} ({place}).", file=file, line=line) from None


def line_of(text: str, key: str, *, nth: int = 1, of: int = 1) -> int | None:
    """1-based line of the `nth` time `key` is written as a key, if it is written exactly `of` times; else None.

    A guess would be worse than no line, so a key that also stands elsewhere (or in a comment) gets none.
    """
    found = list(re.finditer(rf"""["']?(?<![\w-]){re.escape(key)}["']?\s*:""", text))
    return text.count("\n", 0, found[nth - 1].start()) + 1 if len(found) == of else None
