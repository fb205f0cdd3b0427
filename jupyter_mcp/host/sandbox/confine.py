"""How a command is started inside of a sandbox on this system, or why it cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_mcp.host.sandbox import bubblewrap, seatbelt
from jupyter_mcp.host.sandbox.places import places
from jupyter_mcp.transport.launch import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jupyter_mcp.host.sandbox.rules import Sandbox

__all__ = ["confine"]

_SECONDS = 10
_INSTALL = "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or connect without --sandbox."


def confine(
    rules: Sandbox, roots: Iterable[str], *, platform: str = sys.platform
) -> Callable[[Sequence[str], str | None], list[str]]:
    """Makes the command line that runs a command inside.

    Args:
        rules: what it may do.
        roots: the server's roots, `file://` URIs, which it may write.
        platform: as `sys.platform` says.

    Returns:
        a function of the command (first word an absolute path) and the folder where it starts (None: the current one).

    Raises:
        LaunchError: there is no sandbox to be had; says what to install. A server is never started without the one
            that was asked for.
    """
    if platform == "darwin":
        if not os.access(seatbelt.PROGRAM, os.X_OK):
            raise LaunchError(
                f"its sandbox needs {seatbelt.PROGRAM}, which is not there.", "Connect without --sandbox."
            )
        program = seatbelt.PROGRAM
    elif platform.startswith("linux"):
        program = shutil.which("bwrap") or ""
        if not program:
            raise LaunchError("its sandbox needs bubblewrap, which is not installed.", _INSTALL)
        refusal = _refusal(program)
        if refusal:
            hint = "This machine (often a container) forbids the namespaces it needs; connect without --sandbox."
            raise LaunchError(f"its sandbox cannot be set up: {refusal}", hint)
    else:
        raise LaunchError("there is no sandbox for servers on this system.", "Connect without --sandbox.")
    told = tuple(roots)

    def inside(argv: Sequence[str], cwd: str | None) -> list[str]:
        start = os.path.realpath(cwd or os.getcwd())
        meant = places(rules, told, base=start, home=str(Path.home()))
        if platform == "darwin":
            return [program, "-p", seatbelt.profile(meant, network=rules.network), *argv]
        wide = bubblewrap.too_wide(meant)
        if wide is not None:
            raise LaunchError(
                f"its sandbox would be none: it may write {wide}, which holds what a sandbox hides.",
                "Give it narrower roots: %mcp roots FOLDER --server NAME.",
            )
        return [program, *bubblewrap.arguments(argv, meant, network=rules.network, cwd=start)]

    return inside


@cache
def _refusal(program: str) -> str:
    """Why bubblewrap cannot work here, in its own words; "" when it can. Asked once."""
    words = [program, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--unshare-net"]
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            [*words, "--", "/bin/sh", "-c", ":"], capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else (said[-1][:200] if said else f"bwrap ended with {done.returncode}")
