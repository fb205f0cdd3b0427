"""Which notebook this is, and where others find it: its slug, its runtime file, the file's life.

A slug names one notebook on this machine and stays its name: a notebook that was here first keeps it while its file is
kept, another of the same name gets a suffix made of its path. The file (0600, in a folder 0700 below Jupyter's runtime
folder) holds the URL and the token, so that whoever is the same user needs neither; a restarted kernel takes both over.
RULES

- A file counts only if it is a plain file of this user that nobody else may read.
- A process counts as alive only if it is the one that wrote the file: its number may have been given away since.
- A port that somebody else has taken meanwhile may have been shown the token: then there is a new one.
- Nothing that looks like a secret becomes part of a name.

It imports the standard library only (and `jupyter_core`, a function's first use): the command line reads it too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
import time
import unicodedata
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.protocol import secrets

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["Claim", "Identity", "Live", "claim", "folder", "identify", "live", "slug_of"]

KEPT_SECONDS = 30 * 24 * 3600.0
_LOCK_SECONDS = 2.0
_MOST_BYTES = 65_536
_LONGEST_SLUG = 40
PLOTS_AHEAD = 100
"""Numbers of plots that a killed kernel may have used without having written so."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One notebook.

    Attributes:
        notebook: what people call it (the file's name).
        wanted: the slug it would have if it were alone.
        folder: where it lies.
        key: tells it from every other notebook; a digest, no path.
    """

    notebook: str
    wanted: str
    folder: str
    key: str


@dataclass(frozen=True, slots=True)
class Live:
    """What a runtime file says.

    Attributes:
        notebook, slug, folder, key: see `Identity`.
        url: where it listens; "" while it does not.
        token: what clients must bring.
        pid, born: the process, and when that began (as the system writes it; "" where it does not say).
        started: when it began to serve, in seconds since 1970.
        plots: no plot has had a number above this one.
    """

    notebook: str
    slug: str
    folder: str
    url: str
    token: str = field(repr=False)
    pid: int
    started: float
    key: str = ""
    born: str = ""
    plots: int = 0

    @property
    def alive(self) -> bool:
        """Whether the process that wrote this is still there."""
        return _alive(self.pid) and self.born in ("", _born(self.pid))

    @property
    def port(self) -> int:
        """The port of its URL; 0 when it has none."""
        try:
            return urlsplit(self.url).port or 0
        except ValueError:
            return 0


# --- who it is -------------------------------------------------------------------------------------------------------


def identify(shell: Any, name: str | None = None) -> Identity:
    """The notebook that this shell runs: Jupyter's name for the session, VS Code's, or just its folder.

    Args:
        shell: IPython's; only its namespace is looked at.
        name: what the person calls it, instead.
    """
    from jupyter_mcp.runtime import whereabouts  # whoever only looks for notebooks does not need it

    path = whereabouts.notebook(shell) or whereabouts.began_in(shell) / "notebook"
    digest = hashlib.sha256(f"{path}\0{name or ''}".encode("utf-8", "surrogatepass")).hexdigest()
    shown = name or path.name
    plain = secrets.redact_text(shown) == shown
    wanted = slug_of(name or path.stem) if plain else ""
    return Identity(
        notebook=shown if plain else secrets.MASK,
        wanted=wanted or f"notebook-{digest[:6]}",
        folder=str(path.parent),
        key=digest[:32],
    )


def slug_of(text: str) -> str:
    """A name as lower-case letters, digits and hyphens; "" when nothing of it can be kept."""
    ascii_ = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_.lower())[:_LONGEST_SLUG].strip("-")


# --- the files -------------------------------------------------------------------------------------------------------


def folder() -> Path:
    """Where the runtime files lie (it need not exist)."""
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir()) / "jupyter_mcp"


def live() -> list[Live]:
    """The notebooks of this user that are served right now, the one begun last first."""
    found = [record for record in _records() if record.url and record.alive]
    return sorted(found, key=lambda record: -record.started)


class Claim:
    """A slug that is this process's, with what its runtime file holds.

    Attributes:
        record: what the file says now.
        port: where to listen if that is possible; 0: anywhere.
        token: what was the token; "" when there was none.
        plots: the number of the last plot.
    """

    def __init__(self, record: Live, port: int, token: str) -> None:
        self.record = record
        self.port = port
        self.token = token
        self.plots = record.plots

    @property
    def slug(self) -> str:
        return self.record.slug

    def publish(self, url: str, token: str) -> None:
        """It listens there now."""
        self.record = replace(self.record, url=url, token=token, plots=self.plots + PLOTS_AHEAD)
        _write(self.record)

    def count_plots(self, number: int) -> None:
        """The last plot's number; now and then it is written down."""
        self.plots = number
        if number > self.record.plots:
            self.record = replace(self.record, plots=number + PLOTS_AHEAD)
            _write(self.record)

    def release(self, *, forget: bool) -> None:
        """It listens no more. Does nothing in a forked child, or when the file is another process's by now.

        Args:
            forget: the person stopped it: port and token are given up. Else they are kept for the next kernel.
        """
        if self.record.pid != os.getpid():
            return
        path = _path(self.slug)
        if not forget:
            self.record = replace(self.record, pid=0, born="", plots=self.plots)
            _write(self.record)
            return
        with suppress(OSError):
            path.unlink()


def claim(identity: Identity) -> Claim:
    """Take a slug for this process: the notebook's own of last time, or a new one.

    Raises:
        ConfigError: Jupyter's runtime folder cannot hold secrets (it is somebody else's, or cannot be written).
    """
    try:
        _make_folder()
        with _locked():
            return _claim(identity)
    except OSError as error:
        raise ConfigError(f"The runtime file cannot be written in {folder()}: {error.strerror or error}.") from None


def _claim(identity: Identity) -> Claim:
    records = [record for record in _records() if not _is_stale(record)]
    ours = [record for record in records if record.key == identity.key and not _held(record)]
    before = max(ours, key=lambda record: record.started, default=None)
    slug = before.slug if before is not None else _free_slug(identity, {record.slug for record in records})
    record = Live(
        notebook=identity.notebook,
        slug=slug,
        folder=identity.folder,
        url="",
        token="",
        pid=os.getpid(),
        started=time.time(),
        key=identity.key,
        born=_born(os.getpid()),
        plots=before.plots if before is not None else 0,
    )
    _write(record if before is None else replace(record, token=before.token))
    return Claim(record, before.port if before is not None else 0, before.token if before is not None else "")


def _held(record: Live) -> bool:
    return record.pid != os.getpid() and record.alive


def _free_slug(identity: Identity, taken: set[str]) -> str:
    base = identity.wanted
    candidates = [base, f"{base}-{identity.key[:6]}"]
    number = 2
    while True:
        for slug in candidates:
            if slug not in taken:
                return slug
        candidates = [f"{base}-{number}"]
        number += 1


def _is_stale(record: Live) -> bool:
    """Whether nobody has used it for so long that its name may be given away; then it is removed."""
    if time.time() - record.started < KEPT_SECONDS or record.alive:
        return False
    with suppress(OSError):
        _path(record.slug).unlink()
    return True


def _path(slug: str) -> Path:
    return folder() / f"{slug}.json"


def _records() -> list[Live]:
    try:
        names = sorted(os.listdir(folder()))
    except OSError:
        return []
    found = (_read(folder() / name) for name in names if name.endswith(".json") and not name.startswith("."))
    return [record for record in found if record is not None]


def _read(path: Path) -> Live | None:
    """What a file says; None when it is not to be trusted or not one of ours."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), encoding="utf-8") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            data = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return _record(cast("dict[str, Any]", data), path.stem) if isinstance(data, dict) else None


def _record(data: dict[str, Any], slug: str) -> Live | None:
    kinds: dict[str, type | tuple[type, ...]] = {
        **dict.fromkeys(("notebook", "slug", "folder", "url", "token"), str),
        "pid": int,
        "started": (int, float),
    }
    if not all(isinstance(data.get(name), kind) for name, kind in kinds.items()) or data["slug"] != slug:
        return None
    further = {"key": str, "born": str, "plots": int}
    given = {name: data[name] for name, kind in further.items() if isinstance(data.get(name), kind)}
    return Live(**{name: data[name] for name in kinds}, **given)


def _is_private(found: os.stat_result) -> bool:
    if not stat.S_ISREG(found.st_mode):
        return False
    return sys.platform == "win32" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)


def _make_folder() -> None:
    """Raises OSError, ConfigError."""
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or (sys.platform != "win32" and found.st_uid != os.getuid()):
        raise ConfigError(f"{place} is no folder of this user; runtime files hold a token and cannot lie there.")
    if sys.platform != "win32" and found.st_mode & 0o077:
        place.chmod(0o700)


def _write(record: Live) -> None:
    """Whole or not at all. Raises OSError."""
    path = _path(record.slug)
    part = path.with_name(f".{record.slug}.{os.getpid()}.{time.monotonic_ns()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(part, flags, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(record), file)
    try:
        os.replace(part, path)
    except OSError:
        part.unlink()
        raise


@contextmanager
def _locked() -> Generator[None]:
    """One process at a time decides about slugs; after two seconds it goes on without the lock."""
    with open(os.open(folder() / ".lock", os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        end = time.monotonic() + _LOCK_SECONDS
        while not _try_lock(file.fileno()) and time.monotonic() < end:
            time.sleep(0.02)
        yield  # closing the file ends the lock


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


# --- processes -------------------------------------------------------------------------------------------------------


def _alive(pid: int) -> bool:
    """Whether there is such a process of this user."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def _alive_on_windows(pid: int) -> bool:
    import ctypes

    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009
    handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
    if not handle:
        return False
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return bool(known) and code.value == 259  # STILL_ACTIVE


def _born(pid: int) -> str:
    """When a process began, in the system's own words; "" where they cannot be read."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]
