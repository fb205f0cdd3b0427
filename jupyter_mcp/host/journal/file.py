"""The journal as a file, on request: every message and act from now on, one JSON object a line, redacted, appended.

    {"kind": "message", …}   as in an exported trace, without the duration, which is not known yet
    {"kind": "http", …}      what HTTP did beside messages: an answer that holds none, a stream that began or ended
    {"kind": "act", …}       twice: when it begins (outcome "running") and when it ends, with the same number
    {"kind": "file", "event": "begun" | "full" | "ended", …}

Each line is in the file before the next thing happens, so that it is there after a crash. The file is bounded: its last
line says that it is full. A disk that is full ends it too, with one note; nothing else is disturbed by either.

What is masked is what is known to be secret when the line is written.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal.lines import json_line, open_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["MAX_FILE", "MIN_FILE", "JournalFile"]

MAX_FILE = 64 * 2**20
MIN_FILE = 4 * 2**10
_RESERVE = 512  # bytes; the last line has to fit in


class JournalFile:
    """A file that is appended to, from any thread.

    Args:
        file: where; made when it is not there, else continued.
        limit: bytes that it may have in all, with what stands in it already.
        clock: seconds since the epoch.

    Attributes:
        path: of the file.
        stopped: why nothing more is written, in a sentence; "" while it is.

    Raises:
        UsageError: it cannot be written, or has no room.
    """

    def __init__(self, file: str | Path, limit: int, clock: Callable[[], float]) -> None:
        if limit < MIN_FILE:
            raise UsageError(f"A journal file has room for at least {MIN_FILE:,} bytes, not {limit:,}.")
        self._descriptor = open_private(file, "append")
        self.path = Path(file).expanduser().absolute()
        self.stopped = ""
        self._limit = limit
        self._clock = clock
        self._lock = Lock()
        self._size = os.fstat(self._descriptor).st_size
        if self._size > limit - 2 * _RESERVE:
            os.close(self._descriptor)
            raise UsageError(f"{file} has {self._size:,} bytes, and may have {limit:,}.", hint="Name another file.")
        self._mend()
        self.write({"kind": "file", "event": "begun", "time": clock(), "limit": limit})

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one line, or stop for good: `stopped` says why. Never raises for what the file system does."""
        with self._lock:
            if self.stopped:
                return
            line = json_line(record)
            if self._size + len(line) > self._limit - _RESERVE:
                text = f"The file may have {self._limit:,} bytes; what comes now is not in it."
                self._last("full", text)
            else:
                self._append(line)

    def close(self) -> None:
        """Write the last line and close the file."""
        with self._lock:
            if not self.stopped:
                self._last("ended", "It was ended.")

    def _mend(self) -> None:
        """A line that a crash left half written is ended, so that ours can be read."""
        with contextlib.suppress(OSError), self.path.open("rb") as there:
            if self._size:
                there.seek(-1, os.SEEK_END)
                if there.read(1) != b"\n":
                    self._append(b"\n")

    def _last(self, event: str, text: str) -> None:
        self._append(json_line({"kind": "file", "event": event, "time": self._clock(), "text": text}))
        self._stop(text)

    def _append(self, line: bytes) -> None:
        if self.stopped:
            return
        written = 0
        try:
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            self._size += written
        except OSError as error:
            with contextlib.suppress(OSError):  # half a line is of no use, but another's lines may stand behind ours
                if written and os.fstat(self._descriptor).st_size == self._size + written:
                    os.ftruncate(self._descriptor, self._size)
            self._stop(f"It cannot be written any more: {error.strerror or error}.")

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
