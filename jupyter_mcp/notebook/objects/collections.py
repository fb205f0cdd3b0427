"""What a server offers, as collections: iterate, `len`, `[name]`, `.python_name`, `("text")` searches.

They have no public methods, so nothing a server offers can be hidden by one. They are live: each use reads the
connection's cached list, which follows the server's list_changed notifications.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.notebook.objects.items import Item, Prompt, Resource, Template, Tool, search_text
from jupyter_mcp.notebook.objects.names import attribute_names
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from jupyter_mcp.notebook.objects.server import Server

T = TypeVar("T", bound=Item)


class Collection(Generic[T]):
    """The tools (resources, templates, prompts) of one server, or those of it that a search found."""

    _kind: ClassVar[str]
    _word: ClassVar[str]
    _make: ClassVar[Any]

    def __init__(self, server: Server, search: str = "") -> None:
        self._server = server
        self._search = search

    def __call__(self, text: str) -> Collection[T]:
        """Those whose name, title or description has every word of `text`."""
        return type(self)(self._server, f"{self._search} {text}".strip())

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._raw())

    def __contains__(self, name: object) -> bool:
        return any(raw.get(self._key) == name for raw in self._raw())

    def __getitem__(self, name: str | int) -> T:
        found = self._raw()
        if isinstance(name, int):
            return self._made(found[name])
        for key in (self._key, "name"):
            for raw in found:
                if raw.get(key) == name:
                    return self._made(raw)
        raise self._missing(name, KeyError)

    def __getattr__(self, name: str) -> T:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._raw()
        for raw in found:
            if raw.get("name") == name:
                return self._made(raw)
        names = attribute_names(str(raw.get("name") or raw.get(self._key)) for raw in found)
        if name not in names:
            raise AttributeError(name) if name.startswith("_") else self._missing(name, AttributeError)
        return next(self._made(raw) for raw in found if names[name] in (raw.get("name"), raw.get(self._key)))

    def __dir__(self) -> list[str]:
        return sorted(attribute_names(item.name for item in self._all()))

    def _ipython_key_completions_(self) -> list[str]:
        return [item.key for item in self._all()]

    def __repr__(self) -> str:
        names = [printable(item.key, 60) for item in self._all()]
        return f"<{len(names)} {self._word} of {self._server.name}: {', '.join(names[:20])}{' …' * (len(names) > 20)}>"

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.objects.views import list_view

        server = self._server
        problems: list[tuple[str, str, str]] = []
        if self._kind == "resources":
            try:
                server._items("templates")  # pyright: ignore[reportPrivateUsage] - they are shown beside the resources
            except MCPError as error:
                problems.append((server.name, "cannot list its templates", str(error)))
        rows = [(server.name, item.raw) for item in self._all()]
        return list_view([server.entry], self._kind, self._search, rows, problems)

    @property
    def _key(self) -> str:
        return self._make._key

    def _raw(self) -> Sequence[Mapping[str, Any]]:
        """The items as they were sent, narrowed by the search."""
        items = self._server._items(self._kind)  # pyright: ignore[reportPrivateUsage]
        words = self._search.lower().split()
        if not words:
            return items
        return [raw for raw in items if all(word in search_text(self._made(raw)) for word in words)]

    def _made(self, raw: Mapping[str, Any]) -> T:
        return self._make(self._server, raw)

    def _all(self) -> list[T]:
        return [self._made(raw) for raw in self._raw()]

    def _missing(self, name: str, kind: type[Exception]) -> Exception:
        keys = [item.key for item in self._all()]
        near = nearest(name, [*keys, *(item.name for item in self._all())])
        meant = f"; did you mean {near!r}?" if near else f" (there are {len(keys)})."
        message = f"{self._server.name} has no {self._word.rstrip('s')} {name!r}{meant}"
        return type(kind.__name__, (_Missing, kind), {})(message, server=self._server.name)


class _Missing(UsageError):
    """Also a KeyError or AttributeError, so that `hasattr`, `in` and `getattr` behave."""


def is_cached(collection: Collection[Any]) -> bool:
    """Whether looking at it asks the server nothing (Tab must not wait)."""
    from jupyter_mcp.notebook.objects.views import cached

    server, kind = collection._server, collection._kind  # pyright: ignore[reportPrivateUsage]
    return cached(server.entry, kind) is not None


class Tools(Collection[Tool]):
    """The tools of a server."""

    _kind, _word, _make = "tools", "tools", Tool


class Resources(Collection[Resource]):
    """The resources of a server; `[uri]` or `.name`."""

    _kind, _word, _make = "resources", "resources", Resource


class Templates(Collection[Template]):
    """The resource templates of a server; `[uri_template]` or `.name`."""

    _kind, _word, _make = "templates", "templates", Template


class Prompts(Collection[Prompt]):
    """The prompts of a server."""

    _kind, _word, _make = "prompts", "prompts", Prompt


KINDS: Mapping[str, type[Collection[Any]]] = {
    "tools": Tools,
    "resources": Resources,
    "templates": Templates,
    "prompts": Prompts,
}
