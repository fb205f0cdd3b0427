"""The only place with calls that exist on Windows alone: PATHEXT, batch files, job objects.

Twin of `posix`: same names, same meaning. Two things are different in kind. `npx` is `npx.cmd`, a batch file that only
the command interpreter can run and whose arguments it parses a second time; and a process tree is held by a job object,
which the system ends by itself when we die, so that no guard is needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import ntpath
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from jupyter_mcp.transport.launch import Launch, LaunchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CREATE_NEW_PROCESS_GROUP = 0x00000200
CREATE_NO_WINDOW = 0x08000000
_PATHEXT = ".COM;.EXE;.BAT;.CMD"
_BATCH = (".bat", ".cmd")

is_file = os.path.isfile


# -- finding the command ------------------------------------------------------------------------------------------


def which(command: str, folders: Sequence[str], pathext: str) -> str | None:
    """The file that `command` means: each folder in turn, in each the extensions of PATHEXT in their order.

    A name that already has one of these extensions is taken as it is. A bare name is never run without an extension:
    the `npx` beside `npx.cmd` is a script for POSIX shells.
    """
    extensions = [extension.lower() for extension in pathext.split(";") if extension]
    names = [command] if command.lower().endswith(tuple(extensions)) else [command + ending for ending in extensions]
    paths = (ntpath.normpath(ntpath.join(folder, name)) for folder in folders for name in names)
    return next((path for path in paths if is_file(path)), None)


def get(env: Mapping[str, str], name: str, default: str = "") -> str:
    """A variable whatever the case of its name (Windows has `Path`)."""
    return next((value for key, value in env.items() if key.upper() == name), default)


def prepare(command: str, args: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Launch:
    """Find `command` by PATH and PATHEXT and say how to execute it.

    Raises:
        LaunchError: not found, or a batch file with an argument that the command interpreter cannot be given safely.
    """
    command = os.path.expanduser(command)
    pathext = get(env, "PATHEXT", _PATHEXT)
    path = get(env, "PATH")
    if ntpath.basename(command) != command:
        searched: list[str] = []
        found = which(command, [cwd or os.curdir], pathext)
    else:
        searched = [*path.split(";"), os.path.dirname(sys.executable)]
        found = which(command, [folder for folder in searched if folder], pathext)
    if found is None:
        raise LaunchError.not_found(command, searched[:-1])
    if found.lower().endswith(_BATCH):
        return Launch(line=batch_line(found, args))
    return Launch([found, *args])


def batch_line(path: str, args: Sequence[str]) -> str:
    """The line for `cmd /c` that runs a batch file with exactly these arguments.

    Everything is put in quotes, where only three characters keep a meaning for cmd: the quote itself is doubled, a
    percent sign is broken up by an empty expansion (`%cd:~,%`) so that no variable is read, a line end cannot be given.
    """
    return " ".join([f'"{path}"', *(_batch_argument(argument) for argument in args)])


def _batch_argument(argument: str) -> str:
    if any(character in argument for character in "\r\n\0"):
        raise LaunchError(
            "an argument holds a line end, which a batch file cannot be given.", "Start the program itself instead."
        )
    quoted = argument.replace("%", "%%cd:~,%").replace('"', '""')
    trailing = len(quoted) - len(quoted.rstrip("\\"))  # a backslash before the closing quote would escape it
    return f'"{quoted}{chr(92) * trailing}"'


def explain(error: OSError, launch: Launch) -> LaunchError:
    """What an OSError of the spawn means for the person."""
    program = (launch.argv or [launch.line])[0]
    if getattr(error, "winerror", None) == 193:
        return LaunchError(f"'{program}' is not a program.", f"If it is a script, name its interpreter: py {program}")
    if isinstance(error, PermissionError):
        return LaunchError(f"'{program}' may not be executed.")
    return LaunchError(f"'{program}' cannot start: {error.strerror or error}.")


def spawn_options() -> dict[str, Any]:
    """Own process group (our Ctrl+C is not theirs) and no console window popping up."""
    return {"creationflags": CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW}


# -- the tree of one server ---------------------------------------------------------------------------------------


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


_KILL_ON_JOB_CLOSE = 0x2000
_EXTENDED_LIMIT_INFORMATION = 9
_PROCESS_SET_QUOTA_AND_TERMINATE = 0x0101


class Tree:
    """Every process that came out of one spawn, held by a job object (else by `taskkill /T`).

    Args:
        pid: the process we spawned.
        marker: not needed here.
    """

    def __init__(self, pid: int, marker: tuple[str, str] | None = None) -> None:
        self.pid = pid
        self._job = self._make_job()

    def _kernel32(self) -> Any:
        return ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]

    def _make_job(self) -> int | None:
        """A job that ends its processes when its last handle closes, which is what happens when we die."""
        try:
            kernel32 = self._kernel32()
            kernel32.CreateJobObjectW.restype = ctypes.c_void_p
            kernel32.OpenProcess.restype = ctypes.c_void_p
            job = kernel32.CreateJobObjectW(None, None)
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            kernel32.SetInformationJobObject(
                ctypes.c_void_p(job), _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
            )
            process = kernel32.OpenProcess(_PROCESS_SET_QUOTA_AND_TERMINATE, False, self.pid)
            assigned = kernel32.AssignProcessToJobObject(ctypes.c_void_p(job), ctypes.c_void_p(process))
            kernel32.CloseHandle(ctypes.c_void_p(process))
        except (OSError, AttributeError):
            return None
        if not assigned:
            kernel32.CloseHandle(ctypes.c_void_p(job))
            return None
        return int(job)

    def alive(self) -> bool:
        """Whether the spawned process itself is; a job may be asked to end its processes whether any is left or not."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            listing = subprocess.run(  # noqa: S603
                ["tasklist", "/NH", "/FI", f"PID eq {self.pid}"],  # noqa: S607
                capture_output=True,
                timeout=5,
                check=False,
            )
            return str(self.pid).encode() in listing.stdout
        return False

    def terminate(self) -> None:
        """Ask them to end: Ctrl+Break to the process group, where there is a console to carry it."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.kill(self.pid, signal.CTRL_BREAK_EVENT)  # type: ignore[attr-defined]

    def kill(self) -> None:
        """End all of them."""
        if self._job is not None:
            self._kernel32().TerminateJobObject(ctypes.c_void_p(self._job), 1)
            return
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603
                ["taskkill", "/T", "/F", "/PID", str(self.pid)],  # noqa: S607
                capture_output=True,
                timeout=5,
                check=False,
            )

    def close(self) -> None:
        """Let go of the job object; what is still in it ends."""
        job, self._job = self._job, None
        if job is not None:
            self._kernel32().CloseHandle(ctypes.c_void_p(job))


class Guard:
    """Nothing to do: the job objects end the servers when this process dies."""

    def watch(self, group: int) -> None:
        """See the class."""

    def release(self, group: int) -> None:
        """See the class."""
