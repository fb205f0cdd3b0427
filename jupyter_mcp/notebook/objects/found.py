"""`mcp.discover()`: the servers that configuration files name, as a table; nothing of it is started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.host.specs.places import Found

__all__ = ["Candidate", "Discovered", "shown_path"]


@dataclass(frozen=True)
class Candidate:
    """A server that a file names, or what is wrong there.

    Attributes:
        name: of the server; "" for a file that could not be read.
        file: where it stands.
        label: whose file that is.
        own: it is the person's own, so that no yes to its command is needed.
        spec: how it would be connected; None when that cannot be.
        problem: why not, in a sentence, or "".
    """

    name: str
    file: Path
    label: str
    own: bool
    spec: ServerSpec | None = None
    problem: str = ""

    @property
    def connected(self) -> bool:
        """Whether exactly this one is connected."""
        entry = get_host().servers.get(self.name)
        return entry is not None and entry.ready and entry.spec == self.spec

    @property
    def state(self) -> str:
        """In words."""
        if self.spec is None:
            return "cannot be used"
        if self.connected:
            return "connected"
        if self.spec.disabled:
            return "disabled in the file"
        return "not connected" if self.own else "not connected, asks first"

    @property
    def starts(self) -> str:
        """What would be started or reached, or what is wrong; no secrets."""
        return self.problem if self.spec is None else self.spec.describe()


class Discovered(Table[Candidate]):
    """What was found, the nearest file first; a live card has a button to connect each."""

    kind = "discovered"
    title = "Servers in configuration files"
    columns = ("server", "file", "of", "state", "what it starts or reaches")
    empty = "no configuration file names a server"

    def __init__(self, found: Sequence[Found], folder: Path) -> None:
        super().__init__([one for file in found for one in _candidates(file)])
        self.folder = folder
        self.hint = "Looking starts nothing. %mcp connect --from FILE NAME connects one." if len(self) else ""

    def row(self, record: Candidate) -> Sequence[str]:
        file = shown_path(record.file, self.folder)
        return (record.name or "–", file, record.label, record.state, record.starts)

    def record(self, record: Candidate) -> dict[str, Any]:
        return {
            "server": record.name,
            "file": str(record.file),
            "of": record.label,
            "own": record.own,
            "state": record.state,
            "starts": record.starts,
        }


def shown_path(file: Path, folder: Path) -> str:
    """A path as seen from the notebook: relative where that is near, else from the home folder."""
    near = os.path.relpath(file, folder) if file.drive == folder.drive else str(file)
    if not near.startswith(os.path.join("..", "..", "..")):
        return near.replace(os.sep, "/")
    try:
        return "~/" + file.relative_to(Path.home()).as_posix()
    except ValueError:
        return near.replace(os.sep, "/")


def _candidates(found: Found) -> list[Candidate]:
    common = (found.file, found.label, found.own)
    if found.problem is not None:
        return [Candidate("", *common, problem=str(found.problem))]
    made: list[Candidate] = []
    for entry in found.entries:
        if isinstance(entry, Exception):
            made.append(Candidate(str(entry.server or entry.key or ""), *common, problem=str(entry)))
        else:
            made.append(Candidate(entry.name, *common, spec=entry))
    return made
