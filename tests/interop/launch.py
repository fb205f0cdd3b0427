"""Other people's servers that listen: started on a free port, waited for, and ended with everything they started."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import psutil

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

START_LIMIT = 90.0  # seconds until it listens; a first import of much Python can take half a minute
END_LIMIT = 5.0  # seconds between asking a process to end and killing it
LOOK = 0.05  # seconds between looks at a port: nothing tells us when a foreign process listens


class NotStarted(Exception):
    """A server ended, or did not listen in time; the message holds the end of what it said."""


@dataclass(frozen=True)
class Listening:
    """A server that listens.

    Attributes:
        url: where it is reached.
        seconds: how long it took until somebody could connect.
    """

    url: str
    process: subprocess.Popen[bytes]
    seconds: float


def free_port() -> int:
    """A port that nobody listens on now. Somebody else may take it before the server does: then that one fails."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def listening(
    command: Sequence[str], url: str, *, env: Mapping[str, str], cwd: Path, limit: float = START_LIMIT
) -> Generator[Listening]:
    """Start a server and wait until its URL's port takes connections; end its whole tree in the end. It blocks.

    Args:
        command, env, cwd: how it is started; `env` is all that it sees.
        url: where it will be, with its port.
        limit: seconds it may take.

    Raises:
        NotStarted: it ended or took too long.
    """
    with tempfile.TemporaryFile() as said:  # a pipe that nobody reads would stop it one day
        began = time.monotonic()
        process = subprocess.Popen(
            command, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            wait_until_it_listens(process, url, limit, said)
            yield Listening(url, process, time.monotonic() - began)
        finally:
            end_tree(process)


def wait_until_it_listens(process: subprocess.Popen[bytes], url: str, limit: float, said: IO[bytes]) -> None:
    place = urlsplit(url)
    assert place.hostname
    assert place.port
    deadline = time.monotonic() + limit
    while True:
        if process.poll() is not None:
            raise NotStarted(f"{process.args} ended with {process.returncode}:\n{tail(said)}")
        with suppress(OSError), socket.create_connection((place.hostname, place.port), LOOK * 20):
            return
        if time.monotonic() > deadline:
            raise NotStarted(f"{process.args} did not listen within {limit:.0f} s:\n{tail(said)}")
        time.sleep(LOOK)


def tail(said: IO[bytes], size: int = 2000) -> str:
    """The end of what a process wrote into this file."""
    said.seek(max(0, os.fstat(said.fileno()).st_size - size))
    return said.read().decode(errors="replace")


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, each by its id; what does not end is killed."""
    children = descendants(process.pid)
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_LIMIT)
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.terminate()
    _, alive = psutil.wait_procs(children, END_LIMIT)
    for one in [*alive, *([process] if process.poll() is None else [])]:
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            one.kill()
    process.wait(END_LIMIT)


def descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def marked(mark: str) -> list[str]:
    """Command lines of processes that have `mark` in their environment, but for our own."""
    found: list[str] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and mark in process.environ().values():
                found.append(" ".join(process.cmdline())[:200])
    return found
