"""`Everything`: what `%mcp` alone returns: the servers, which show themselves with everything they offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.servers import Servers

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Everything"]


class Everything(Servers):
    """The servers by name, as `mcp.servers`; displayed, it is the explorer."""

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.objects.act import get_host
        from jupyter_mcp.notebook.objects.views import KINDS, list_view
        from jupyter_mcp.notebook.render.views import ExplorerView

        entries = list(get_host().servers.values())
        lists = [list_view(entries, kind, "", _rows(entries, kind)) for kind in KINDS if kind != "templates"]
        return ExplorerView(super().__mcp_view__(), lists)


def _rows(entries: Sequence[Any], kind: str) -> list[tuple[str, Any]]:
    """(server, item) of what is listed."""
    from jupyter_mcp.notebook.objects.views import cached

    listings = [(entry.name, cached(entry, kind)) for entry in entries]
    return [(name, item) for name, listing in listings if listing is not None for item in listing.items]
