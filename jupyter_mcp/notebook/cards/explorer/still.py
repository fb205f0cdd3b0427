"""The explorer's static side: what is saved of it, readable without a kernel. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.views import ExplorerView, ListView, ServersView

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from jupyter_mcp.notebook.cards.explorer.index import Index, Thing
    from jupyter_mcp.notebook.render.bundles import Bundle
    from jupyter_mcp.notebook.render.views import ServerView

__all__ = ["still"]


def still(index: Index, servers: Sequence[ServerView], tab: str | None, scope: Set[str] | None, search: str) -> Bundle:
    """What is offered now.

    Args:
        index: everything.
        servers: as they are.
        tab: "tools", "resources" or "prompts" for that list alone; else all.
        scope: only what these servers offer.
        search: words that it is narrowed by.
    """
    shown = [view for view in servers if scope is None or view.name in scope]
    found = index.search(search)
    names = [view.name for view in shown]
    if tab in ("tools", "resources", "prompts"):
        return bundle(_list(tab, found, names, search))
    lists = [_list(kind, found, names, search) for kind in ("tools", "resources", "prompts")]
    return bundle(ExplorerView(ServersView(shown), lists))


def _list(kind: Any, found: Sequence[Thing], servers: Sequence[str], search: str) -> ListView:
    def rows(of: str) -> list[tuple[str, Any]]:
        return [(thing.server, thing.item) for thing in found if thing.kind == of]

    templates = rows("template") if kind == "resources" else []
    return ListView(kind, rows(kind.removesuffix("s")), templates, servers=servers, search=search)
