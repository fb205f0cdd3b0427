"""What servers are told about our folders (`roots/list`): what the person said, else where the notebook is.

A server may take its roots for all it may touch (server-filesystem forgets its own arguments then), so the folders that
were named to it in its command are among them as long as the person has not said otherwise. Nothing is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError

if TYPE_CHECKING:
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["Place", "Roots", "root"]

Place = str | Path | Mapping[str, Any]


class Roots:
    """The roots of one host.

    Args:
        places: folders, `file://` URIs or roots of the protocol; None is the current folder.
    """

    def __init__(self, places: Sequence[Place] | None = None) -> None:
        self._said: list[dict[str, Any]] | None = None
        self.set(places)

    def set(self, places: Sequence[Place] | None) -> None:
        """What every server is told from now on; None is the current folder again."""
        self._said = None if places is None else [root(one) for one in places]

    def get(self) -> list[dict[str, Any]]:
        """`{"uri": "file://…", "name": …}`, copies."""
        return [root(Path.cwd())] if self._said is None else [dict(one) for one in self._said]

    def of(self, entry: ServerEntry, filled: Callable[[ServerEntry], ServerSpec]) -> list[dict[str, Any]]:
        """What this server is told: its own roots, else what the person said, else also the folders of its command.

        Args:
            entry: the server.
            filled: gives its spec with the placeholders filled in.
        """
        if entry.spec.roots is not None:
            return [root(one) for one in entry.spec.roots]
        if self._said is not None:
            return self.get()
        try:
            folders = filled(entry).folders()
        except ConfigError:  # a variable is gone since
            folders = []
        return list({one["uri"]: one for one in (*self.get(), *map(root, folders))}.values())


def root(place: Place) -> dict[str, Any]:
    """A `Root` of the protocol from a folder, a `file://` URI, or a mapping that is one already."""
    if isinstance(place, Mapping):
        return dict(place)
    if isinstance(place, str) and place.startswith("file://"):
        return {"uri": place}
    path = Path(place).expanduser().absolute()
    return {"uri": path.as_uri(), "name": path.name or str(path)}
