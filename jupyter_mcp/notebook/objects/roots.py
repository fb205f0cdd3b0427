"""`mcp.host.roots`: the folders that servers are told about, as a table that can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["RootsTable"]


class RootsTable(Table[dict[str, Any]]):
    """The roots: `{"uri": "file://…", "name": …}` each.

    What was said for one server alone holds for it instead of what was said for all. A server of the legacy era is told
    that they changed; one of the modern era asks when it needs them.

    Args:
        server: the roots of this server; None are those that every server is told.
    """

    kind = "roots"
    columns = ("folder",)
    empty = "none: servers are told of no folder"
    hint = "Roots inform a server, they do not hold it there: connect --sandbox does."

    def __init__(self, server: str | None = None) -> None:
        super().__init__(())
        self.server = server
        self.title = "Roots" if server is None else f"Roots of {server}"

    def add(self, folder: Any, server: str | None = None) -> RootsTable:
        """Tell servers, or one, of one more folder.

        Args:
            folder: a path, or a `file://` URI.
            server: the only one to be told.

        Raises:
            UsageError: there is no such folder, or no such server.
        """
        return self._changed(get_host().roots.add, folder, server)

    def remove(self, folder: Any, server: str | None = None) -> RootsTable:
        """Do not tell them of it any more. Raises `UsageError` when they are not told of it."""
        return self._changed(get_host().roots.remove, folder, server)

    def set(self, folders: Iterable[Any] | None, server: str | None = None) -> RootsTable:
        """Tell them of these folders only; None is what it was at first. Raises `UsageError` as `add` does."""
        return self._changed(get_host().roots.set, None if folders is None else list(folders), server)

    def of(self, server: str) -> RootsTable:
        """What one server is told. Raises `UsageError` for no such server."""
        get_host().find(server)
        return RootsTable(server)

    def row(self, record: dict[str, Any]) -> tuple[str]:
        return (str(record.get("name") or record["uri"]),)

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        return dict(record)

    def _all(self) -> list[dict[str, Any]]:
        host = get_host()
        return host.roots.get() if self.server is None else host.roots_of(self.server)

    def _changed(self, change: Any, what: Any, server: str | None) -> RootsTable:
        from jupyter_mcp.runtime.thread import get_runtime

        host, server = get_host(), server or self.server
        if server is not None:
            host.find(server)
        change(what, server)
        get_runtime().submit(host.tell_roots)
        return self if server == self.server else RootsTable(server)

    def __eq__(self, other: object) -> bool:
        return self._all() == (other._all() if isinstance(other, RootsTable) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]
