"""What there is to complete, from the connections' cached lists and the kernel's namespace. Nothing is waited for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import as_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jupyter_mcp.host.catalogue import Catalogue, Offer, OfferKind

_LARGEST_FILE = 1_000_000  # bytes


def existing_host() -> Any:
    """The host, if there is one; completion never makes one."""
    state = sys.modules.get("jupyter_mcp.runtime.state")
    return None if state is None else state.existing_host()


def variables() -> list[str]:
    """The variables that may be served."""
    from jupyter_mcp.kernel.exposure import exposed
    from jupyter_mcp.runtime import frontend

    shell = frontend.shell()
    return [] if shell is None else list(exposed(shell.user_ns, baseline=shell.user_ns_hidden).names)


def servers() -> list[str]:
    """Names of the connected servers."""
    host = existing_host()
    return [] if host is None else list(host.servers)


def models() -> list[str]:
    """Models that are configured, words for others, and the beginnings of providers' names."""
    from jupyter_mcp.models.providers import PROVIDERS
    from jupyter_mcp.models.spec import WORDS

    host = existing_host()
    configured = [] if host is None else list(host.models.configured)
    words = [f"{word}:" if word == "python" else word for word in WORDS]
    return list(dict.fromkeys((*configured, *words, *(f"{name}:" for name in PROVIDERS))))


def embedding_models() -> list[str]:
    """Providers with embedding models, each with one of its, and the words for others."""
    from jupyter_mcp.models.providers import PROVIDERS

    return ["local", "off", *(f"{one.name}:{one.vectors}" for one in PROVIDERS.values() if one.vectors)]


def in_file(file: str) -> list[str]:
    """The servers of a configuration file, those that are not wanted by themselves too; none of one that is no file."""
    from jupyter_mcp.errors import MCPError
    from jupyter_mcp.host.specs.config import read_config
    from jupyter_mcp.notebook.configuring import name_of

    host = existing_host()
    place = None if host is None else host.place
    folder = Path.cwd() if place is None or place.folder is None else place.folder
    try:
        path = folder / Path(file).expanduser()
        if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
            return []
        return [name_of(entry) for entry in read_config(path)]
    except (MCPError, OSError, ValueError, RuntimeError):  # no home for ~, a name with a zero in it
        return []


def offers(kind: OfferKind, server: str | None = None) -> list[Offer]:
    """What is offered of one kind, by one server or by all."""
    host = existing_host()
    if host is None or (server is not None and server not in host.servers):
        return []
    catalogue: Catalogue = host.catalogue
    return catalogue.offers(kind, server)


def offer_of(kind: OfferKind, words: Sequence[str]) -> Offer | None:
    """The tool or prompt that the words name so far."""
    if not words:
        return None
    known = servers()
    if len(words) > 1 and words[0] in known:
        return next((offer for offer in offers(kind, words[0]) if offer.name == words[1]), None)
    server, dot, name = words[0].partition(".")
    if dot and server in known:
        found = [offer for offer in offers(kind, server) if offer.name == name]
    else:
        found = [offer for offer in offers(kind) if offer.name == words[0]]
    return found[0] if len(found) == 1 else None


def template_of(words: Sequence[str]) -> Offer | None:
    """The template that the words name (a resource has no arguments)."""
    server = words[0] if words[0] in servers() else None
    if server is not None and len(words) == 1:
        return None
    uri = words[1] if server is not None else words[0]
    return next((offer for offer in offers("template", server) if offer.name == uri), None)


def names(kind: Any) -> Iterator[tuple[str, str]]:
    """Every name a tool, prompt or resource can be called by, bare ones where they are unique."""
    if kind == "resource":
        known = servers()
        yield from ((name, "server") for name in known if len(known) > 1)
        for one in ("resource", "template"):
            yield from ((offer.name, one) for offer in offers(one))
        return
    found = offers(kind)
    count: dict[str, int] = {}
    for offer in found:
        count[offer.name] = count.get(offer.name, 0) + 1
    yield from ((offer.full_name, kind) for offer in found)
    yield from ((offer.name, kind) for offer in found if count[offer.name] == 1)


def argument_names(offer: Offer) -> list[str]:
    """Of a tool, a prompt or a template."""
    if offer.kind == "tool":
        return list(mapping_of(mapping_of(offer.item.get("inputSchema")).get("properties")))
    if offer.kind == "template":
        from jupyter_mcp.protocol import uritemplate

        return list(uritemplate.variables(offer.name))
    found = [mapping_of(one) for one in as_list(offer.item.get("arguments"))]
    return [str(one["name"]) for one in found if "name" in one]


def running() -> Iterable[Any]:
    """The background calls under way."""
    module = sys.modules.get("jupyter_mcp.notebook.objects.call")
    return [] if module is None else module.running()


def tasks() -> Iterable[Any]:
    """The tasks of this kernel, newest first."""
    module = sys.modules.get("jupyter_mcp.notebook.objects.task")
    return [] if module is None else reversed(module.kept())
