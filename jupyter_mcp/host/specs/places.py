"""Where configurations lie: those of the project, from the notebook's folder upwards, and the person's own.

Files are looked for and read; nothing is started, and no folder is listed. A project's files may have come with it, so
that its servers need the person's yes; what lies where only this person's own programs keep it does not.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.specs.config import read_config
from jupyter_mcp.host.specs.files import read_text
from jupyter_mcp.host.specs.registry import is_registry_file
from jupyter_mcp.host.specs.sections import parse_file, sections

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.specs.config import Entry

__all__ = ["Found", "discover", "is_own", "own_files", "project_files"]

_IN_PROJECT = (
    (".mcp.json", "project"),
    (".vscode/mcp.json", "VS Code, project"),
    (".cursor/mcp.json", "Cursor, project"),
    (".jupyter/mcp_settings.json", "Jupyter, project"),
    ("pyproject.toml", "pyproject.toml"),
    ("server.json", "registry's server.json"),
)
_PERHAPS = ("pyproject.toml", "server.json", ".claude.json")  # files that mostly are about something else


@dataclass(frozen=True)
class Found:
    """One configuration file.

    Attributes:
        file: its path.
        label: whose file it is, in a few words.
        own: it is the person's own, not the project's.
        entries: what it names, in order: specs, and what is wrong with the others.
        problem: why it could not be read at all.
    """

    file: Path
    label: str
    own: bool
    entries: Sequence[Entry] = field(default_factory=tuple)
    problem: ConfigError | None = None


def discover(
    folder: Path, *, home: Path | None = None, environ: Mapping[str, str] | None = None, system: str = sys.platform
) -> list[Found]:
    """The configurations for a notebook in `folder`: the project's, nearest first, then the person's own.

    Args:
        folder: the notebook's.
        home, environ, system: where the person's own lie; this process's by default.

    Returns:
        one item for each file that is there and names servers, or should and cannot be read.
    """
    own = own_files(home, environ, system)
    mine = {_real(path) for path, _ in own}
    found: list[Found] = []
    for path, label in project_files(folder, home):
        if _real(path) not in mine:
            found += _looked_at(path, label, False, None)
    for path, label in own:
        found += _looked_at(path, label, True, str(folder))
    return found


def project_files(folder: Path, home: Path | None = None) -> list[tuple[Path, str]]:
    """The files that a project may have, from `folder` up to its repository's (or the home) folder, nearest first."""
    home = home or Path.home()
    found: list[tuple[Path, str]] = []
    for here in (folder, *folder.parents):
        found += [(here / name, label) for name, label in _IN_PROJECT]
        if here == home or _is_there(here / ".git"):
            break
    return found


def own_files(
    home: Path | None = None, environ: Mapping[str, str] | None = None, system: str = sys.platform
) -> list[tuple[Path, str]]:
    """The files in which programs keep what the person configured for every project.

    Args:
        home: the person's folder.
        environ: for APPDATA, XDG_CONFIG_HOME and COPILOT_HOME.
        system: as `sys.platform`.
    """
    home = home or Path.home()
    around = os.environ if environ is None else environ
    if system == "darwin":
        programs = home / "Library" / "Application Support"
    elif system == "win32":
        programs = Path(around.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        programs = Path(around.get("XDG_CONFIG_HOME") or home / ".config")
    copilot = Path(around.get("COPILOT_HOME") or home / ".copilot")
    return [
        (home / ".claude.json", "Claude Code"),
        (programs / "Claude" / "claude_desktop_config.json", "Claude Desktop"),
        (home / ".cursor" / "mcp.json", "Cursor"),
        (programs / "Code" / "User" / "mcp.json", "VS Code"),
        (copilot / "mcp-config.json", "Copilot"),
        (home / ".jupyter" / "mcp_settings.json", "Jupyter"),
    ]


def is_own(path: Path) -> bool:
    """Whether a file is one of the person's own, whatever the way to it."""
    real = _real(path.expanduser())
    return any(_real(one) == real for one, _ in own_files())


def _looked_at(path: Path, label: str, own: bool, folder: str | None) -> list[Found]:
    """The file as found; nothing when it is not there or is about something else."""
    if not _is_there(path):
        return []
    try:
        if path.name in _PERHAPS and not _has_servers(path):
            return []
        entries = [one for one in read_config(path, folder=folder) if not getattr(one, "alternative", False)]
        return [Found(path, label, own, entries)]
    except ConfigError as problem:
        return [Found(path, label, own, problem=problem)]


def _has_servers(path: Path) -> bool:
    """Whether a file that may be about something else names servers. One that is no text we read is not ours."""
    try:
        data = parse_file(read_text(path), str(path))
    except ConfigError:
        return path.name == ".claude.json"
    here = [str(folder) for folder in path.parents]
    return is_registry_file(data) or bool(data.get("projects")) or any(section for _, section in sections(data, here))


def _is_there(path: Path) -> bool:
    """Whether something of that name is there, be it a link in a circle."""
    try:
        path.lstat()
    except (OSError, ValueError):
        return False
    return True


def _real(path: Path) -> str:
    try:
        return os.path.normcase(path.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return os.path.normcase(path.absolute())
