"""What a server was told that we can do, when that changes: a model is set, a rule denies, somebody comes.

    modern   told with the next request
    legacy   told in a handshake only: connected anew before it is used the next time, once nothing of it runs

Both are announced in the log of the server, which its card shows. Calls in flight are never cut, and a server that is
not used any more is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import apps
from jupyter_mcp.protocol.capabilities import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from jupyter_mcp.host.entry import ServerEntry

__all__ = ["Declaring"]

_PAGES = ("extensions", apps.EXTENSION)


class Declaring:
    """Keeps servers told.

    Args:
        capabilities: ours for a server, in the shape of a revision.
        busy: whether something of a server runs.
    """

    def __init__(
        self, capabilities: Callable[[ServerEntry, str], dict[str, Any]], busy: Callable[[ServerEntry], bool]
    ) -> None:
        self._capabilities = capabilities
        self._busy = busy
        self._announced: dict[str, Mapping[str, Any]] = {}

    def renew(self, entry: ServerEntry) -> bool:
        """See to it that a server is told; True when it has to be connected anew for that, and can be now."""
        session = entry.connection.session if entry.connection is not None else None
        if session is None or not entry.ready:
            return False
        now = self._capabilities(entry, session.revision)
        if now == session.client_capabilities:
            self._announced.pop(entry.name, None)
            return False
        self._say(entry, now, session.client_capabilities, session.era == "legacy")
        if session.era == "modern":
            session.client_capabilities = now
            return False
        return not self._busy(entry)

    def announce(self, entries: Iterable[ServerEntry]) -> None:
        """Something may have changed: say what will become of it. Any thread."""
        for entry in entries:
            session = entry.connection.session if entry.connection is not None else None
            if session is not None and entry.ready:
                now = self._capabilities(entry, session.revision)
                if now != session.client_capabilities:
                    self._say(entry, now, session.client_capabilities, session.era == "legacy")

    def _say(self, entry: ServerEntry, now: Mapping[str, Any], before: Mapping[str, Any], legacy: bool) -> None:
        """Once for each change."""
        if self._announced.get(entry.name) == now:
            return
        self._announced[entry.name] = now
        changed = " and ".join(_changes(now, before))
        if not legacy:
            entry.say("note", f"With its next request {entry.name} is told of a change: {changed}.")
            return
        entry.say(
            "note",
            f"{entry.name} is connected anew before it is used the next time, as soon as nothing of it runs, "
            f"because that is how it is told of a change: {changed}.",
        )


def _changes(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for path, words in ((("sampling",), "sampling"), (("sampling", "tools"), "sampling with tools")):
        can = declared(now, path)
        if can != declared(before, path):
            found.append(f"{words} is {'answered' if can else 'not answered any more'}")
    if declared(now, _PAGES) != declared(before, _PAGES):
        found.append("pages of tools (MCP Apps) can be shown")  # never taken back
    return found or ["what this notebook can do"]
