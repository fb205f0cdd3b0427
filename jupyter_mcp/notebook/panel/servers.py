"""Servers for a page: what each is, connect, connect again, stop, what it logged, what configuration files name.

A pressed button is the person's own act, and asks no less than a typed line does: a project's server asks for its exact
command, and a denied one stays denied. Nothing here holds a secret: commands name variables and not their values. All
run on the runtime's loop. An act that takes long goes on by itself, and the page sees by the state how it ends.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.panel import asked
from jupyter_mcp.notebook.render.text import clean, cut, flat

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.notebook.objects.found import Candidate

__all__ = ["ACTS", "connected", "disconnected", "found", "listed", "logged", "reconnected"]

PATIENCE = 20.0
"""Seconds that an act is waited for: a question may stand in its way, and the page is not to wait for that."""
MAX_LINES = 300
MAX_FOUND = 100

_going: set[asyncio.Task[Any]] = set()


async def listed(data: Mapping[str, Any]) -> dict[str, Any]:
    """All servers, as they were connected: `{"servers": [{"name", "state", "said", "target", "problem", "notes"}]}`."""
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    return {"servers": [_about(entry) for entry in host.servers.values()] if host is not None else []}


async def connected(data: Mapping[str, Any]) -> dict[str, Any]:
    """Connect to what was typed: `{"done": bool}`, False while it goes on.

    Args:
        data: `server` (what it shall be called), and either `target` (a command line, or an address), or `file` and
            nothing else of that name in it.

    Raises:
        MCPError: it did not go; one sentence.
    """
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.runtime import state

    host = state.get_host()
    name = asked.text(data, "server").strip()
    if data.get("file"):
        one = await _candidate(name, asked.text(data, "file"))
        if one.spec is None:
            raise UsageError(one.problem)
        return await _in_time(_opened(host.connect(one.spec, origin="person" if one.own else "project")))
    if name in host.servers and host.servers[name].ready:
        raise UsageError(f"{name} is connected already; stop it first, or take another name.")
    spec = ServerSpec.parse(name, asked.text(data, "target").strip())
    return await _in_time(_opened(host.connect(spec, origin="person")))


async def reconnected(data: Mapping[str, Any]) -> dict[str, Any]:
    """Close a server and open it again: `{"done": bool}`. Raises `MCPError`."""
    return await _in_time(_opened(_host().reconnect(asked.text(data, "server"))))


async def disconnected(data: Mapping[str, Any]) -> dict[str, Any]:
    """Close a server's connection and forget it: `{"done": bool}`. Raises `MCPError`."""
    return await _in_time(_host().disconnect(asked.text(data, "server")))


async def logged(data: Mapping[str, Any]) -> dict[str, Any]:
    """The end of its log: `{"lines": [{"level", "source", "text"}], "earlier": int}`. Raises `MCPError`."""
    entry = _host().find(asked.text(data, "server"))
    lines = list(entry.log)[-MAX_LINES:]
    rows = [{"level": one.level, "source": one.source, "text": cut(clean(one.text), 2_000)} for one in lines]
    return {"lines": rows, "earlier": max(0, entry.logged - len(rows))}


async def found(data: Mapping[str, Any]) -> dict[str, Any]:
    """What configuration files name and is not connected: `{"found": [{"server", "file", "where", "starts", "asks"}]}`.

    Looking starts nothing. `asks` says that a yes to its exact command will be asked for.
    """
    rows = [one for one in await _candidates() if one.spec is not None and not one.spec.disabled and not one.connected]
    return {
        "found": [
            {
                "server": one.name,
                "file": str(one.file),
                "where": flat(one.label, 80),
                "starts": flat(one.starts, 400),
                "asks": not one.own,
            }
            for one in rows[:MAX_FOUND]
        ]
    }


ACTS = {
    "servers": listed,
    "server_connect": connected,
    "server_reconnect": reconnected,
    "server_stop": disconnected,
    "server_log": logged,
    "servers_found": found,
}
"""By the name that a page asks for."""


def _host() -> Host:
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    if host is None:
        raise UsageError("This notebook has no servers.")
    return host


def _about(entry: ServerEntry) -> dict[str, Any]:
    from jupyter_mcp.notebook.objects.views import server_view
    from jupyter_mcp.notebook.render.servers import counts_text, era_text

    view = server_view(entry)
    named = [flat(view.info.get(key) or "", 80) for key in ("title", "version")]
    who = " ".join(part for part in (named[0] or flat(view.info.get("name") or "", 80), named[1]) if part)
    said = [who, era_text(view.era, view.revision), counts_text(view.counts)]
    return {
        "name": entry.name,
        "state": entry.state,
        "said": " · ".join(part for part in said if part),
        "target": flat(view.target, 400),
        "problem": flat(view.problem or "", 500),
        "notes": [flat(one, 300) for one in view.notes[:5]],
    }


async def _candidates() -> list[Candidate]:
    from jupyter_mcp.host.specs.places import discover
    from jupyter_mcp.notebook.configuring import here
    from jupyter_mcp.notebook.objects.found import Discovered

    folder = here()
    return list(Discovered(await asyncio.to_thread(discover, folder), folder))


async def _candidate(name: str, file: str) -> Candidate:
    """What a file names, looked up anew: a page cannot say what is started."""
    for one in await _candidates():
        if one.name == name and str(one.file) == file:
            return one
    raise UsageError(f"{flat(file, 200)} does not name a server {flat(name, 60)} any more.")


async def _opened(connecting: Coroutine[Any, Any, ServerEntry]) -> None:
    """Connect, and see what it offers."""
    from jupyter_mcp.notebook.objects.act import look_around

    await look_around([await connecting])


async def _in_time(work: Coroutine[Any, Any, Any]) -> dict[str, Any]:
    """Begin it, and wait for a while; what comes later, the state says."""
    task = asyncio.ensure_future(work)
    _going.add(task)
    task.add_done_callback(_over)
    await asyncio.wait([task], timeout=PATIENCE)
    if not task.done():
        return {"done": False}
    task.result()
    return {"done": True}


def _over(task: asyncio.Task[Any]) -> None:
    _going.discard(task)
    if not task.cancelled():
        task.exception()  # it has been told, or stands in the server's state
