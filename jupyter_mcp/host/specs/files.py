"""Configuration files as text: read whole, of a bounded size, in the encodings of editors. Nothing is parsed."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAX_BYTES", "folder_of", "read_text", "write_text"]

MAX_BYTES = 4 * 2**20
"""No list of servers is larger; ~/.claude.json, which holds much else, has been seen with some megabytes."""

_CONFIG_FOLDERS = (".vscode", ".cursor", ".claude", ".gemini", ".jupyter")


def read_text(path: Path, *, most: int = MAX_BYTES) -> str:
    """The text of a file, without a byte order mark.

    Args:
        path: an existing file; a link is followed.
        most: bytes; a larger file is not read.

    Raises:
        ConfigError: it is not there, cannot be read, is no file, too large, or no text (with the line).
    """
    shown = str(path)
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise ConfigError(f"{shown} is not a file.", file=shown)
        if about.st_size > most:
            size = f"{about.st_size / 2**20:.1f} MB"
            raise ConfigError(f"{shown} is too large for a configuration ({size}) and was not read.", file=shown)
        data = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"There is no file {shown}.", file=shown) from None
    except (OSError, RuntimeError, ValueError) as reason:  # no leave, links in a circle, a null character
        why = getattr(reason, "strerror", None) or str(reason)
        raise ConfigError(f"Cannot read {shown}: {why}.", file=shown) from None
    return _decoded(data, shown)


def write_text(path: Path, text: str) -> None:
    """Put a text in place of a file's, whole or not at all; its encoding, its rights and a link to it stay.

    Raises:
        ConfigError: it cannot be written.
    """
    encoding = "utf-8"
    temporary = ""
    try:
        path = path.resolve()
        head = b""
        with contextlib.suppress(FileNotFoundError), path.open("rb") as old:
            head = old.read(3)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif head == b"\xef\xbb\xbf":
            encoding = "utf-8-sig"
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as new:
            new.write(text.encode(encoding))
        os.chmod(temporary, stat.S_IMODE(path.stat().st_mode) if head else 0o644)
        os.replace(temporary, path)
    except (OSError, RuntimeError, ValueError) as reason:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        why = getattr(reason, "strerror", None) or str(reason)
        raise ConfigError(f"Cannot write {path}: {why}.", file=str(path)) from None


def _decoded(data: bytes, shown: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as reason:
        line = data.count(b"\n", 0, reason.start) + 1
        what = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise ConfigError(f"{shown} is not {what} text (line {line}).", file=shown, line=line) from None


def folder_of(path: Path) -> str:
    """The project that a configuration belongs to: its folder, or the one above `.vscode`, `.cursor` and the like."""
    parent = path.resolve().parent
    return str(parent.parent if parent.name in _CONFIG_FOLDERS else parent)
