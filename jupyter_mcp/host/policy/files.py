"""Reading and writing the few small files in which a policy is kept. Nothing here knows what is in them.

What belongs to the person alone is made readable for them alone (0600 in folders of 0700). Every write is whole or not
at all, and two kernels that change one file take turns.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["Signature", "changing", "others_may_write", "read", "signature", "write"]

Signature = tuple[int, int, int, int]
_LOCK_SECONDS = 10.0


def signature(path: Path) -> Signature | None:
    """Tells whether a file has changed since; None when there is none.

    Raises:
        OSError: that cannot be told.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns


def read(path: Path, most: int) -> str:
    """The text of a file, at most `most` bytes of it and one more.

    Raises:
        OSError: it cannot be read, or is no regular file.
        UnicodeDecodeError: it is no UTF-8.
    """
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no file")
        return file.read(most + 1).decode("utf-8-sig")


def others_may_write(path: Path) -> bool:
    """Whether somebody else than the person (and root) can change the file. Raises OSError."""
    if sys.platform == "win32":
        return False
    found = os.stat(path)
    return found.st_uid not in (os.getuid(), 0) or bool(found.st_mode & 0o022)


def write(path: Path, text: str, *, private: bool) -> None:
    """Write a file, whole or not at all. Raises OSError.

    Args:
        path: of the file; its folder is made.
        text: all of it.
        private: for the person's eyes only, and a link is followed (people keep such files elsewhere); else a file
            that exists keeps its mode, and no link of a project leads our writing out of it.
    """
    _make_folder(path.parent, private)
    path = path.resolve() if private else path
    part = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    mode = 0o600 if private else _mode(path)
    try:
        with open(
            os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8", newline="\n"
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if not private:
            os.chmod(part, mode)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def changing(path: Path, *, private: bool) -> Generator[None]:
    """One process at a time changes the file; after ten seconds it goes on without waiting. Raises OSError."""
    _make_folder(path.parent, private)
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _taken(lock)
    try:
        yield
    finally:
        if not private:  # a project's folder is to hold what belongs to it, and nothing else
            with suppress(OSError):
                lock.unlink()
        os.close(descriptor)


def _taken(lock: Path) -> int:
    """The lock, open; whoever had it may have removed it meanwhile, and then it is another file's turn."""
    end = time.monotonic() + _LOCK_SECONDS
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        while not (held := _try_lock(descriptor)) and time.monotonic() < end:
            time.sleep(0.02)
        if not held or _is_still(lock, descriptor):
            return descriptor
        os.close(descriptor)


def _is_still(lock: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(lock), os.fstat(descriptor))
    except OSError:
        return False


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o644


def _make_folder(folder: Path, private: bool) -> None:
    if not private:
        if folder.is_symlink():
            raise OSError(f"{folder} is a link")
        folder.mkdir(exist_ok=True)
        return
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32":
        for one in missing:
            one.chmod(0o700)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
