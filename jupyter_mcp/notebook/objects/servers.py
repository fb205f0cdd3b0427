"""`Servers`: the servers of this notebook by name, as a live mapping that shows itself as cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.server import Server

if TYPE_CHECKING:
    from jupyter_mcp.host.entry import ServerEntry

_objects: WeakKeyDictionary[ServerEntry, Server] = WeakKeyDictionary()


def server_of(entry: ServerEntry) -> Server:
    """The one `Server` object of a host's entry."""
    found = _objects.get(entry)
    if found is None:
        found = _objects[entry] = Server(entry)
    return found


class Servers(Mapping[str, Server]):
    """Name -> `Server`.

    Args:
        names: only these (what one `connect_all` made); None is all there are at any moment.
        problems: what could not be connected or read at all.
    """

    def __init__(self, names: Sequence[str] | None = None, problems: Sequence[MCPError] = ()) -> None:
        self._names = names
        self.problems = list(problems)

    def __getitem__(self, name: str) -> Server:
        entry = get_host().servers.get(name) if self._names is None or name in self._names else None
        if entry is None:
            raise _NoServer(_missing(name, list(self)))
        return server_of(entry)

    def __iter__(self) -> Iterator[str]:
        names = list(get_host().servers)
        return iter([name for name in names if self._names is None or name in self._names])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in list(iter(self))

    def __getattr__(self, name: str) -> Server:
        if name.startswith("_") or name not in self:
            raise AttributeError(_missing(name, list(self)))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self if name.isidentifier())]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        inner = ", ".join(f"{server.name} ({server.state})" for server in self.values())
        return f"<{len(self)} servers: {inner}>" if inner else "<no servers>"

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.objects.views import server_view
        from jupyter_mcp.notebook.render.views import ServersView, ServerView

        views = [server_view(server.entry) for server in self.values()]
        known = {view.name for view in views}
        for problem in self.problems:
            name = problem.server or str(getattr(problem, "key", None) or "?")
            if name not in known:
                views.append(ServerView(name, "failed", problem=str(problem)))
        return ServersView(views)


class _NoServer(UsageError, KeyError):
    """Also a KeyError, as a mapping should raise; a cell shows it by the name people can catch."""

    __str__ = UsageError.__str__


_NoServer.__name__ = _NoServer.__qualname__ = UsageError.__name__


def _missing(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names)
    if near:
        return f"There is no server {name!r}; did you mean {near}?"
    return f"There is no server {name!r}." + (f" Connected: {', '.join(names)}." if names else " None is connected.")
