"""A record as one line of JSON, and files that only their owner may read. For the journal's file and for exports.

Nothing is redacted here: that is done before.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from jupyter_mcp.errors import UsageError

__all__ = ["json_line", "open_private"]


def json_line(record: Mapping[str, Any]) -> bytes:
    """One line of JSON (RFC 8259), in ASCII so that lone surrogates of a broken message can be written too."""
    try:
        text = json.dumps(record, default=str, allow_nan=False)
    except ValueError:  # NaN or an infinity, which JSON does not have
        text = json.dumps(_finite(record), default=str, allow_nan=False)
    return text.encode("ascii") + b"\n"


def open_private(file: str | Path, how: Literal["append", "replace"]) -> int:
    """Open a file for writing, readable by its owner alone, also when it was there with other rights.

    Args:
        file: `~` is the person's own folder.
        how: what becomes of what stands in it.

    Returns:
        the descriptor.

    Raises:
        UsageError: it cannot be written, or is no file.
    """
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if how == "append" else 0)
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # a pipe that nobody reads must not stop us
    descriptor = -1
    try:
        descriptor = os.open(Path(file).expanduser(), flags, 0o600)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"cannot write {file}: it is not a file")
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
        if how == "replace":
            os.ftruncate(descriptor, 0)
    except (OSError, RuntimeError, ValueError, UsageError) as error:
        if descriptor >= 0:
            os.close(descriptor)
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"cannot write {file}: {getattr(error, 'strerror', None) or error}") from None
    return descriptor


def _finite(value: Any) -> Any:
    """A copy in which NaN and the infinities are text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value
