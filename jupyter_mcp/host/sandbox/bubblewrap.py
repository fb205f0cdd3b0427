"""The command line of bubblewrap (`bwrap`) for a sandbox: a pure function of the paths, tested on Linux as it runs.

The whole file system read-only, then an empty /tmp and /run (sockets of other programs, of Docker and of the session
bus lie there), then what may be written, then what is hidden. Namespaces of its own for processes, for shared memory
and, unless it is allowed, for the network, so that neither another process nor a socket without a path is in reach.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.sandbox.places import Access, Places

__all__ = ["EMPTIED", "arguments", "too_wide"]

EMPTIED = ("/tmp", "/var/tmp", "/dev/shm", "/run")  # noqa: S108 - these are hidden, nothing is put there
_NAMES = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd")


def arguments(argv: Sequence[str], places: Places, *, network: bool, cwd: str) -> list[str]:
    """What follows `bwrap`.

    Args:
        argv: the command as it would run without a sandbox, its first word an absolute path.
        places: see there.
        network: whether the network stays.
        cwd: where it starts; seen at least read-only.
    """
    words = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in dict.fromkeys(os.path.realpath(path) for path in EMPTIED):
        if os.path.isdir(path):
            words += ["--tmpfs", path]
    if network:
        for path in _NAMES:
            words += ["--ro-bind-try", path, path]
    for path in _needed(argv, cwd, places.of("write")):
        words += ["--ro-bind-try", path, path]
    for kind, path in places.access:
        words += _mount(kind, path)
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if not network:
        words.append("--unshare-net")
    words += ["--die-with-parent", "--setenv", "TMPDIR", "/tmp", "--chdir", cwd]  # noqa: S108
    return [*words, "--", *argv]


def too_wide(places: Places) -> str | None:
    """A path that may not be written, since the emptied folders would be back with it; None when there is none."""
    wide = (*EMPTIED, "/dev", "/proc", "/sys")
    return next((path for path in places.of("write") if any(_inside(one, [path]) for one in wide)), None)


def _mount(kind: Access, path: str) -> list[str]:
    if kind != "none":
        return ["--bind" if kind == "write" else "--ro-bind", path, path]
    return ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", "/dev/null", path]


def _needed(argv: Sequence[str], cwd: str, write: Sequence[str]) -> list[str]:
    """What the command itself needs of the emptied folders: its program (with the environment around it), the files
    that are named to it, and the folder where it starts.
    """
    named = [word for word in argv[1:] if os.path.isabs(word)] + [os.path.join(cwd, word) for word in argv[1:]]
    files = [path for path in named if os.path.isfile(path)]
    program = os.path.realpath(argv[0])
    wanted = [*_around(argv[0]), *_around(program), cwd, *files]
    return [path for path in dict.fromkeys(wanted) if _emptied(path) and not _inside(path, write)]


def _around(program: str) -> list[str]:
    """The folder of a program; of one in a `bin` the environment that it belongs to."""
    folder = os.path.dirname(program)
    around = os.path.dirname(folder) if os.path.basename(folder) in ("bin", "Scripts") else folder
    return [folder if around in EMPTIED or _inside(around, ("/run",)) else around]


def _emptied(path: str) -> bool:
    return path not in EMPTIED and _inside(path, EMPTIED)


def _inside(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
