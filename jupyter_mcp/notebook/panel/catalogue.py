"""Everything that servers offer, searched for a page, and the cell that uses one of them.

The search is the explorer's. A page gets as many rows as it shows, never the whole list, so that thousands of tools
cost it nothing. All runs on the runtime's loop, asks no server but for lists that were never read, and calls nothing.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.panel import asked
from jupyter_mcp.notebook.panel.lists import KINDS, read_lists
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.host import Host
    from jupyter_mcp.notebook.cards.explorer.index import Index, Thing

__all__ = ["ACTS", "MOST", "call_of", "searched", "written"]

MOST = 1_000
"""Rows of one answer."""


async def searched(data: Mapping[str, Any]) -> dict[str, Any]:
    """What fits some words, the better the earlier: `{"items": […], "found": int, "total": int, "servers": int}`.

    Args:
        data: `words` (all are looked for; "" finds everything), `kind` ("tool", "resource", "template", "prompt"; ""
            for all), `limit` (rows that are wanted), and `look` (read first what was never read, which may take some
            seconds).

    Returns:
        the first rows (`id`, `kind`, `server`, `name`, `detail`, `badges`), how many fit, how many there are in all,
        and of how many connected servers.
    """
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    if host is None:
        return {"items": [], "found": 0, "total": 0, "servers": 0}
    if data.get("look") is True:
        await read_lists(host)
    words, kind, limit = data.get("words"), data.get("kind"), data.get("limit")
    things = _index(host).search(words[:200] if isinstance(words, str) else "")
    found = [one for one in things if kind in (None, "", one.kind)]
    shown = min(MOST, max(0, limit)) if isinstance(limit, int) and not isinstance(limit, bool) else MOST
    return {
        "items": [_about(one) for one in found[:shown]],
        "found": len(found),
        "total": len(_index(host).things),
        "servers": sum(entry.ready for entry in host.servers.values()),
    }


async def written(data: Mapping[str, Any]) -> dict[str, Any]:
    """The cell that uses one: `{"source": str, "fill": str}`.

    Args:
        data: `id`, as a row has it.

    Returns:
        the source, and what of it is to be replaced first ("" for nothing).

    Raises:
        UsageError: it is offered no more.
    """
    from jupyter_mcp.runtime import state

    wanted, host = asked.text(data, "id"), state.existing_host()
    things = _index(host).things.values() if host is not None else ()
    thing = next((one for one in things if _id(one) == wanted), None)
    if thing is None:
        raise UsageError("Its server does not offer this any more.")
    source, names = call_of(thing)
    first = f"${next(iter(names.values()))}" if names else ""
    return {"source": source, "fill": first if first in source else ""}


ACTS = {"catalogue": searched, "catalogue_cell": written}
"""By the name that a page asks for."""


def call_of(thing: Thing) -> tuple[str, dict[str, str]]:
    """The line that uses a thing, and the notebook variables in it by JSON pointer. Pure.

    A value that is needed and that only a person can give is a variable of its argument's name: the cell cannot run
    with an invented value, and says which is missing.
    """
    from jupyter_mcp.host.forms import step
    from jupyter_mcp.host.forms.node import UNSET
    from jupyter_mcp.notebook.cards.spelling import magic_line, prompt_line, read_line

    given: dict[str, Any] = {}
    names: dict[str, str] = {}
    for node in _fields(thing):
        if node.required and node.default is not UNSET:
            given[node.name] = node.default
        elif node.required:
            given[node.name] = names[step(node.name)] = _variable(node.name, names)
    if thing.kind == "tool":
        return magic_line(thing.server, thing.key, given, names or None), names
    if thing.kind == "prompt":
        return prompt_line(thing.server, thing.key, given, names or None), names
    return read_line(thing.server, thing.key, given or None, names or None), names


def _fields(thing: Thing) -> list[Any]:
    from jupyter_mcp.host import untyped
    from jupyter_mcp.host.forms.model import fields

    if thing.kind == "tool":
        return fields(thing.item.get("inputSchema"))
    if thing.kind == "prompt":
        return fields(untyped.prompt_schema(thing.item))
    return fields(untyped.template_schema(thing.key)) if thing.kind == "template" else []


def _variable(name: str, taken: Mapping[str, str]) -> str:
    """A name of Python for an argument's, of which there is none yet."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    if found[0].isdigit() or keyword.iskeyword(found):
        found = f"_{found}"
    while found in taken.values():
        found += "_"
    return found


def _about(thing: Thing) -> dict[str, Any]:
    from jupyter_mcp.notebook.cards.explorer.index import Changes
    from jupyter_mcp.notebook.cards.explorer.lines import line

    row = line(thing, Changes())
    return {
        "id": _id(thing),
        "kind": thing.kind,
        "server": thing.server,
        "name": flat(row["name"], 200),
        "detail": flat(row["detail"], 400),
        "badges": [{"text": flat(mapping_of(one).get("text") or "", 60), "tone": one["tone"]} for one in row["badges"]],
    }


def _id(thing: Thing) -> str:
    """Short, whatever a server calls its things."""
    return hashlib.blake2b(thing.id.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


_kept: list[tuple[list[Any], Index]] = []


def _index(host: Host) -> Index:
    """All that is listed; made anew when a list is another, which takes 10 µs a thing."""
    from jupyter_mcp.notebook.cards.explorer.index import Index
    from jupyter_mcp.notebook.cards.explorer.source import HostSource

    entries = list(host.servers.values())
    lists = [
        (entry.name, kind, entry.connection.listing(kind) if entry.connection is not None else None)
        for entry in entries
        for kind in KINDS
    ]
    if not (_kept and _same(_kept[0][0], lists)):
        _kept[:] = [(lists, Index.of(HostSource().offers()))]
    return _kept[0][1]


def _same(old: list[Any], new: list[Any]) -> bool:
    return len(old) == len(new) and all(
        was[:2] == now[:2] and was[2] is now[2] for was, now in zip(old, new, strict=True)
    )
