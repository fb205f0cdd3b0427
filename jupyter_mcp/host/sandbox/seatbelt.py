"""The profile of macOS's seatbelt (`sandbox-exec -p`) for a sandbox: a pure function of the paths.

The last rule that matches decides, so what is narrower stands further down. Everything is allowed but writing (outside
of what may be written), reading what is hidden, and the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_mcp.host.sandbox.places import Places

__all__ = ["PROGRAM", "profile"]

PROGRAM = "/usr/bin/sandbox-exec"
_RULES = {
    "write": "allow file-read* file-write*",
    "read": "deny file-write*",
    "none": "deny file-read* file-write*",
}
_SCRATCH = ("/private/tmp", "/private/var/tmp", "/private/var/folders", "/dev")


def profile(places: Places, *, network: bool) -> str:
    """The profile's text.

    Args:
        places: see there.
        network: whether the network stays.
    """
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(allow file-write* {_path(path)})" for path in _SCRATCH]
    lines += [f"({_RULES[kind]} {_path(path)})" for kind, path in places.access]
    if not network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def _path(path: str) -> str:
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{quoted}")'
