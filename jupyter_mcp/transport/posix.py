"""The only place with calls that exist on POSIX systems alone: finding a command, process trees, the guard.

A server is rarely one process: `npx`, `uvx` and shell scripts start the real one and stay between, real ones start
browsers and language servers, and some of these ignore SIGTERM or move into a session of their own. `Tree` finds them
all, by session, process group, parentage and (Linux) a marker in the environment, and signals them.

`windows` is the twin of this module: same names, same meaning. `stdio` uses one of the two and nothing else knows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.transport.launch import Launch, LaunchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROC = Path("/proc")
LINUX = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Process:
    """One line of the process table. `start` tells two processes apart that had the same pid one after the other."""

    pid: int
    parent: int
    group: int
    session: int
    start: str
    zombie: bool


# -- finding the command ------------------------------------------------------------------------------------------


def prepare(command: str, args: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Launch:
    """Find `command` as a shell would in `env`, else beside the running Python, and say what is wrong otherwise.

    Raises:
        LaunchError: not found, a folder, not executable.
    """
    command = os.path.expanduser(command)
    if "/" in command:
        path = os.path.join(cwd or os.curdir, command)
        _check_file(path, command)
        return Launch([os.path.abspath(path), *args])
    found = shutil.which(command, path=env.get("PATH", os.defpath)) or _beside_python(command)
    if found is None:
        raise LaunchError.not_found(command, env.get("PATH", os.defpath).split(os.pathsep))
    return Launch([found, *args])


def _beside_python(command: str) -> str | None:
    """A kernel's environment is often not activated: its scripts are not on PATH, yet are what the person installed."""
    return shutil.which(command, path=os.path.dirname(sys.executable))


def _check_file(path: str, shown: str) -> None:
    if os.path.isdir(path):
        raise LaunchError(f"'{shown}' is a folder, not a command.")
    if not os.path.exists(path):
        raise LaunchError(f"command '{shown}' not found.", f"There is no file {os.path.abspath(path)}.")
    if not os.access(path, os.X_OK):
        raise LaunchError(
            f"'{shown}' is not executable.",
            f"Run `chmod +x {shown}`, or name its interpreter: {_interpreter(path)} {shown}",
        )


def _interpreter(path: str) -> str:
    """What runs a script, by its first line (`#!/usr/bin/env node`), else by its ending."""
    try:
        with open(path, "rb") as file:
            first = file.readline(200).decode("utf-8", "replace")
    except OSError:
        first = ""
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    names = [os.path.basename(word) for word in words if not word.startswith("-")]
    named = next((name for name in names if name != "env"), None)
    return named or ("node" if path.endswith((".js", ".mjs", ".cjs")) else "python")


def explain(error: OSError, launch: Launch) -> LaunchError:
    """What an OSError of the spawn means for the person."""
    program = (launch.argv or [launch.line])[0]
    if isinstance(error, FileNotFoundError) and os.path.exists(program):
        return LaunchError(f"'{program}' cannot start: the interpreter named in its first line (#!) does not exist.")
    if isinstance(error, PermissionError):
        return LaunchError(f"'{program}' is not executable.")
    if error.strerror and "format" in error.strerror.lower():
        return LaunchError(
            f"'{program}' is not a program.", f"If it is a script, name its interpreter: python {program}"
        )
    return LaunchError(f"'{program}' cannot start: {error.strerror or error}.")


def spawn_options() -> dict[str, Any]:
    """Own session: the kernel's interrupt goes to its whole process group and must not end the servers."""
    return {"start_new_session": True}


# -- the process table --------------------------------------------------------------------------------------------


def processes() -> dict[int, Process]:
    """All processes of this machine that we may see, by pid."""
    return _from_proc() if LINUX and PROC.exists() else _from_ps()


def start_of(pid: int) -> str:
    """When a process started, in whatever form this system tells it; "" when it is gone."""
    if LINUX and PROC.exists():
        with contextlib.suppress(OSError, ValueError, IndexError):
            return parse_stat(pid, (PROC / str(pid) / "stat").read_bytes()).start
        return ""
    found = processes().get(pid)
    return found.start if found else ""


def _from_proc() -> dict[int, Process]:
    table: dict[int, Process] = {}
    for entry in os.scandir(PROC):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                process = parse_stat(int(entry.name), Path(entry.path, "stat").read_bytes())
                table[process.pid] = process
    return table


def parse_stat(pid: int, stat: bytes) -> Process:
    """One `/proc/PID/stat` line; the command in it is in parentheses and may itself hold spaces and parentheses."""
    fields = stat.rpartition(b")")[2].split()
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[19].decode(), fields[0] in (b"Z", b"X"))


def _from_ps() -> dict[int, Process]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=5,
        check=False,
    )
    return parse_ps(listing.stdout)


def parse_ps(text: str) -> dict[int, Process]:
    """The table from `ps -o pid=,ppid=,pgid=,stat=,lstart=` (macOS has no numeric session: the group stands for it)."""
    table: dict[int, Process] = {}
    for line in text.splitlines():
        fields = line.split(None, 4)
        if len(fields) == 5 and fields[0].isdigit():
            pid, parent, group = (int(field) for field in fields[:3])
            table[pid] = Process(pid, parent, group, group, fields[4], fields[3].startswith("Z"))
    return table


# -- the tree of one server ---------------------------------------------------------------------------------------


class Tree:
    """Every process that came out of one spawn.

    Args:
        pid: the process we spawned; it leads a session and a group of its own.
        marker: (name, value) of a variable in its environment, inherited by all it starts.
    """

    def __init__(self, pid: int, marker: tuple[str, str] | None = None) -> None:
        self.pid = pid
        self._marker = "=".join(marker).encode() if marker else None
        self._start = start_of(pid)
        self._seen: dict[int, str] = {}

    def members(self) -> list[Process]:
        """Those alive now (zombies are not)."""
        table = processes()
        leader = table.get(self.pid)
        reused = leader is not None and leader.start != self._start  # our group is empty, its number somebody else's
        mine = {pid for pid, process in table.items() if self._is_root(process, reused)}
        grown = True
        while grown:
            children = {pid for pid, process in table.items() if process.parent in mine and pid not in mine}
            mine |= children
            grown = bool(children)
        mine.discard(os.getpid())
        self._seen.update({pid: table[pid].start for pid in mine})
        return [table[pid] for pid in mine if not table[pid].zombie]

    def _is_root(self, process: Process, reused: bool) -> bool:
        if not reused and self.pid in (process.pid, process.group, process.session):
            return True
        if self._seen.get(process.pid) == process.start:
            return True
        return self._marker is not None and LINUX and self._has_marker(process)

    def _has_marker(self, process: Process) -> bool:
        if not process.start.isdigit() or int(process.start) < int(self._start or 0):  # older than our server
            return False
        try:
            environment = (PROC / str(process.pid) / "environ").read_bytes()
        except OSError:  # gone, or another user's
            return False
        return self._marker in environment.split(b"\0")

    def alive(self) -> bool:
        return bool(self.members())

    def terminate(self) -> None:
        """Ask all of them to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End all of them, and what they start meanwhile."""
        for _ in range(3):
            if not self._signal(signal.SIGKILL):
                return

    def _signal(self, number: signal.Signals) -> int:
        members = self.members()
        for process in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, number)
        return len(members)

    def close(self) -> None:
        """Nothing is held on POSIX (Windows holds a job object)."""


# -- the guard ----------------------------------------------------------------------------------------------------

# Reads "+ PGID" and "- PGID"; at the end of its input (we are gone, however we died) it ends what is left.
_GUARD = """
trap '' INT TERM HUP
left=
while read -r sign group; do
  case $sign in
    +) left="$left $group" ;;
    -) rest=; for g in $left; do [ "$g" = "$group" ] || rest="$rest $g"; done; left=$rest ;;
  esac
done
[ -n "$left" ] || exit 0
sleep 1
for g in $left; do kill -s TERM -- "-$g"; done
sleep 1
for g in $left; do kill -s KILL -- "-$g"; done
"""


class Guard:
    """One small shell that outlives us if we are killed, and then ends the servers we left behind.

    A kernel that is restarted while it computes is killed without a word; servers that ignore the end of their input
    would stay for ever. The guard lives in its own session and costs nothing while it waits.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._groups: set[int] = set()

    def watch(self, group: int) -> None:
        """End `group` should this process die."""
        self._groups.add(group)
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self._start()
        else:
            self._write(f"+ {group}\n")

    def release(self, group: int) -> None:
        """`group` is gone; its number may be somebody else's soon. The guard leaves with the last one."""
        self._groups.discard(group)
        if self._owner != os.getpid():  # a fork: the guard is our parent's
            return
        self._write(f"- {group}\n")
        if not self._groups:
            self._stop()

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", _GUARD],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        except OSError:  # no shell: the guard is a second line of defence only
            self._process = None
            return
        self._owner = os.getpid()
        self._write("".join(f"+ {group}\n" for group in self._groups))

    def _write(self, text: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.write(text.encode())
                self._process.stdin.flush()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)
