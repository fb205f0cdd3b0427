"""`Offered`: what all connected servers (or some) offer of one kind, searchable; `Catalogue`: all four kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.collections import KINDS
from jupyter_mcp.notebook.objects.items import Item
from jupyter_mcp.notebook.objects.servers import server_of
from jupyter_mcp.notebook.objects.views import list_view
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from jupyter_mcp.notebook.objects.server import Server


class Offered(Sequence[Item]):
    """Items of one kind from several servers; `["server.name"]`, `("text")` searches."""

    def __init__(self, kind: str, servers: Sequence[Server] | None = None, search: str = "") -> None:
        self._kind = kind
        self._chosen = servers
        self._search = search

    @property
    def everywhere(self) -> bool:
        """Whether it is of all servers, also of those that come later."""
        return self._chosen is None

    def __call__(self, text: str) -> Offered:
        """Those whose name, title or description has every word of `text`."""
        return Offered(self._kind, self._chosen, f"{self._search} {text}".strip())

    def __iter__(self) -> Iterator[Item]:
        for server in self._servers():
            yield from KINDS[self._kind](server, self._search)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: Any) -> Any:
        items = list(self)
        if isinstance(name, (int, slice)):
            return items[name]
        named = {f"{item.server.name}.{item.key}": item for item in items}
        if name in named:
            return named[name]
        near = nearest(str(name), list(named))
        raise UsageError(f"no server offers {name!r}" + (f"; did you mean {near!r}?" if near else "."))

    def _ipython_key_completions_(self) -> list[str]:
        return [f"{item.server.name}.{item.key}" for item in self]

    def __repr__(self) -> str:
        names = [f"{item.server.name}.{printable(item.key, 60)}" for item in self]
        return f"<{len(names)} {self._kind}: {', '.join(names[:20])}{' …' * (len(names) > 20)}>"

    def __mcp_view__(self) -> Any:
        servers = self._servers()
        kinds = (self._kind, "templates") if self._kind == "resources" else (self._kind,)
        failed = {(server.name, kind): said for server in servers for kind in kinds if (said := _failure(server, kind))}
        rows = [
            (server.name, item.raw)
            for server in servers
            if (server.name, self._kind) not in failed
            for item in KINDS[self._kind](server, self._search)
        ]
        problems = [(name, f"cannot list its {kind}", said) for (name, kind), said in failed.items()]
        return list_view([server.entry for server in servers], self._kind, self._search, rows, problems)

    def _servers(self) -> Sequence[Server]:
        if self._chosen is not None:
            return self._chosen
        return [server_of(entry) for entry in list(get_host().servers.values()) if entry.ready]


class Catalogue:
    """Everything offered, by all servers."""

    @property
    def tools(self) -> Offered:
        return Offered("tools")

    @property
    def resources(self) -> Offered:
        return Offered("resources")

    @property
    def templates(self) -> Offered:
        return Offered("templates")

    @property
    def prompts(self) -> Offered:
        return Offered("prompts")

    def search(self, text: str) -> list[Item]:
        """Items of every kind that have every word of `text`."""
        return [item for kind in KINDS for item in Offered(kind)(text)]

    def __repr__(self) -> str:
        return "<Catalogue: .tools, .resources, .templates, .prompts, .search(text)>"


def _failure(server: Server, kind: str) -> str:
    """Reads a list of a server, unless that has been done; why it cannot be read, or ""."""
    try:
        server._items(kind)  # pyright: ignore[reportPrivateUsage] - fills the connection's cached list
    except MCPError as error:
        return str(error)
    return ""
