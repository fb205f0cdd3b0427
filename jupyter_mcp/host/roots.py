"""What servers are told about our folders (`roots/list`): what the person said, else where the notebook is.

A server may take its roots for all it may touch (server-filesystem forgets its own arguments then), so the folders that
were named to it in its command are among them as long as the person has not said otherwise. Roots inform; what holds a
server to them is a sandbox. Only `file://` and only what is there: that is checked where a person says it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from jupyter_mcp.errors import ConfigError, UsageError
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["Place", "Roots", "existing", "root"]

Place = str | Path | Mapping[str, Any]


class Roots:
    """The roots of one host. Read and changed from any thread: a list is replaced, never changed.

    Args:
        places: folders, `file://` URIs or roots of the protocol; None is where the notebook is.
        notebook: the folder of the notebook, asked each time, since a notebook may be moved.
    """

    def __init__(self, places: Sequence[Place] | None = None, notebook: Callable[[], Path] = Path.cwd) -> None:
        self._notebook = notebook
        self._said: list[dict[str, Any]] | None = None if places is None else [root(one) for one in places]
        self._own: dict[str, list[dict[str, Any]]] = {}

    def set(self, places: Sequence[Place] | None, server: str | None = None) -> None:
        """What every server, or one, is told from now on; None is what it was before the person said anything.

        Raises:
            UsageError: a place that is no folder or file of this machine.
        """
        self._put(None if places is None else _once([existing(one) for one in places]), server)

    def add(self, place: Place, server: str | None = None) -> dict[str, Any]:
        """Tell every server, or one, of one more folder. Raises `UsageError` when there is none."""
        added = existing(place)
        self._put(_once([*self.get(server), added]), server)
        return added

    def remove(self, place: Place, server: str | None = None) -> None:
        """Tell no server, or not this one, of a folder any more. Raises `UsageError` when they are not told of it."""
        uri, told = root(place)["uri"], self.get(server)
        left = [one for one in told if one["uri"] != uri]
        if len(left) == len(told):
            near = nearest(uri, [str(one["uri"]) for one in told])
            there = f"Roots: {', '.join(str(one['uri']) for one in told)}." if told else "There are no roots."
            raise UsageError(f"{uri} is no root.", hint=f"Did you mean {near}?" if near else there)
        self._put(left, server)

    def get(self, server: str | None = None) -> list[dict[str, Any]]:
        """`{"uri": "file://…", "name": …}`, copies: what every server is told, or what was said for one."""
        said = self._own.get(server) if server is not None else None
        said = self._said if said is None else said
        return [root(self._notebook())] if said is None else [dict(one) for one in said]

    def own(self, server: str) -> bool:
        """Whether something was said for this server alone."""
        return server in self._own

    def of(self, entry: ServerEntry, filled: Callable[[ServerEntry], ServerSpec]) -> list[dict[str, Any]]:
        """What this server is told: what was said for it, else its spec's roots, else what the person said for all,
        else the notebook's folder and those of its command.

        Args:
            entry: the server.
            filled: gives its spec with the placeholders filled in.
        """
        if entry.name in self._own:
            return self.get(entry.name)
        if entry.spec.roots is not None:
            return [root(one) for one in entry.spec.roots]
        if self._said is not None:
            return self.get()
        try:
            folders = filled(entry).folders()
        except ConfigError:  # a variable is gone since
            folders = []
        return _once([*self.get(), *map(root, folders)])

    def _put(self, roots: list[dict[str, Any]] | None, server: str | None) -> None:
        if server is None:
            self._said = roots
        elif roots is None:
            self._own.pop(server, None)
        else:
            self._own[server] = roots


def root(place: Place) -> dict[str, Any]:
    """A `Root` of the protocol from a folder, a `file://` URI, or a mapping that is one already."""
    if isinstance(place, Mapping):
        return dict(place)
    if isinstance(place, str) and place.startswith("file:"):
        return {"uri": place}
    path = Path(os.path.normpath(Path(place).expanduser().absolute()))
    return {"uri": path.as_uri(), "name": path.name or str(path)}


def existing(place: Place) -> dict[str, Any]:
    """A root that a person names: on this machine, there, and as it is really called (links followed).

    Raises:
        UsageError: another scheme, another machine, or nothing there.
    """
    said = str(place.get("uri") if isinstance(place, Mapping) else place)
    if "://" in said or said.startswith("file:"):
        parts = urlsplit(said)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            raise UsageError(f"{said} cannot be a root: roots are folders of this machine (file://…).")
        path = Path(_path(parts.path))
    else:
        path = Path(said).expanduser()
    try:
        path = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise UsageError(f"There is no folder {said}, so it cannot be a root.") from None
    name = place.get("name") if isinstance(place, Mapping) else None
    return {"uri": path.as_uri(), "name": str(name or path.name or path)}


def _path(path: str, *, windows: bool = os.name == "nt") -> str:
    """The path of a `file://` URI as this system writes it: on Windows `/C:/data` is `C:/data`."""
    path = unquote(path)
    return path[1:] if windows and len(path) > 2 and path[0] == "/" and path[2] == ":" else path


def _once(roots: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each URI once, in the order in which they were said."""
    return list({str(one["uri"]): one for one in roots}.values())
