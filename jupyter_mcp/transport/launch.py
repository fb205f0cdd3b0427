"""How a server process is started, as plain values: what to execute, with which environment, and what may go wrong.

No process is started here; `posix` and `windows` fill these values in and `stdio` uses them.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What a program needs to run at all, to find its files and to reach the network; never a secret by its name.
_ALLOWED = frozenset(
    [
        "PATH",
        "HOME",
        "LOGNAME",
        "USER",
        "SHELL",
        "TERM",
        "LANG",
        "LANGUAGE",
        "TMPDIR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
    ]
)
_ALLOWED_WINDOWS = frozenset(
    [
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS",
        "OS",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "PROGRAMW6432",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERDOMAIN",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    ]
)

_INSTALL = {
    "npx": "It comes with Node.js: install that, or give the full path.",
    "npm": "It comes with Node.js: install that, or give the full path.",
    "node": "Install Node.js, or give the full path.",
    "uvx": "It comes with uv: install that, or give the full path.",
    "uv": "Install uv, or give the full path.",
    "docker": "Install Docker, or give the full path.",
    "deno": "Install Deno, or give the full path.",
    "bunx": "It comes with Bun: install that, or give the full path.",
}


@dataclass(frozen=True, slots=True)
class Launch:
    """What to execute: a list of arguments, or (Windows batch files only) a line for the command interpreter."""

    argv: list[str] = field(default_factory=list[str])
    line: str = ""


class LaunchError(Exception):
    """The command cannot be started; `message` says why, `hint` what to do (both for the person)."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @classmethod
    def not_found(cls, command: str, folders: Sequence[str]) -> LaunchError:
        """`command` is in none of `folders` (those of PATH)."""
        searched = [folder for folder in folders if folder]
        where = f"It is in none of the {len(searched)} folders of PATH." if searched else "PATH is empty."
        known = _INSTALL.get(command.lower())
        return cls(f"command '{command}' not found.", f"{where} {known or 'Is it installed? Else give its full path.'}")


def allowed(name: str, *, windows: bool = sys.platform == "win32") -> bool:
    """Whether a server gets this variable of ours without being told to."""
    if windows:
        name = name.upper()
        return name in _ALLOWED or name in _ALLOWED_WINDOWS or name.startswith("LC_")
    return name in _ALLOWED or name.startswith("LC_")


def environment(
    env: Mapping[str, str] | None = None,
    *,
    pass_env: Iterable[str] = (),
    inherit: bool = False,
    parent: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of a server: the allowed part of ours, then what was asked for.

    A kernel holds API keys; a server gets none of them by default (public reports of the opposite: case 11).

    Args:
        env: variables to set; they win.
        pass_env: names of our own variables to hand over (absent ones are left out).
        inherit: hand over all of ours.
        parent: our environment (default: `os.environ`).
    """
    ours = os.environ if parent is None else parent
    wanted = set(pass_env)
    chosen = {
        name: value
        for name, value in ours.items()
        # a value "() {…" is a shell function exported by bash: code, not data
        if inherit or name in wanted or (allowed(name) and not value.startswith("()"))
    }
    return {**chosen, **(env or {})}


def check_folder(cwd: str | None) -> str | None:
    """The working folder, expanded. Raises `LaunchError` when it is none."""
    if cwd is None:
        return None
    folder = os.path.expanduser(cwd)
    if not os.path.exists(folder):
        raise LaunchError(f"the working folder '{cwd}' does not exist.")
    if not os.path.isdir(folder):
        raise LaunchError(f"the working folder '{cwd}' is not a folder.")
    return folder
