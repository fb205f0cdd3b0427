"""What a server writes to stderr, as lines; the last of them are kept.

Bytes are cut at line feeds only and decoded line by line, so that a character split between two reads stays whole and
invalid UTF-8 costs nothing but itself. Colour codes stay in the text: who shows it strips them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_LINES = 200
_LONGEST = 64 * 1024  # a progress bar may never end its line


class Tail:
    """Feed it bytes; `lines` holds the last 200 lines.

    Args:
        on_line: called with each line as it is complete.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._on_line = on_line
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        *complete, rest = data.split(b"\n")
        for line in complete:
            self._rest += line
            self._flush()
        self._rest += rest
        if len(self._rest) > _LONGEST:
            self._flush()

    def eof(self) -> None:
        """No more will come: what has no line end is a line all the same."""
        if self._rest:
            self._flush()

    def _flush(self) -> None:
        line = self._rest.decode("utf-8", "replace").rstrip("\r")
        self._rest.clear()
        self.lines.append(line)
        self._on_line(line)
