"""What a person set in JupyterLab for every notebook: servers to connect, a rule where there is none, a model.

Applied once in a kernel, when its page says so. What the notebook itself has said stays: a server of the same name, a
model that was chosen, every rule. All runs on the runtime's loop; nothing is loaded when nothing is set.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.policy.decide import Presumed

__all__ = ["ACTS", "POLICIES", "applied"]

POLICIES: tuple[Presumed, ...] = ("usual", "ask", "allow")

_applied: weakref.WeakSet[Host] = weakref.WeakSet()


async def applied(data: Mapping[str, Any]) -> dict[str, Any]:
    """Apply the settings: `{"connected": [names], "problems": [sentences], "done": bool}`.

    Args:
        data: `servers` (as under "mcpServers" of a configuration file), `policy` (`host.policy.decide.Presumed`),
            `model` (as in `%mcp model`), and `again`: also when they were applied in this kernel before.
    """
    servers, policy, model = mapping_of(data.get("servers")), data.get("policy"), data.get("model")
    from jupyter_mcp.runtime import state

    again = data.get("again") is True
    nothing = not (servers or model) and policy in (None, "", "usual")
    host = state.existing_host() if nothing else state.get_host()
    if host is None or (nothing and not again) or (host in _applied and not again):
        return {"connected": [], "problems": [], "done": False}
    _applied.add(host)
    problems = _policy(host, policy)
    problems += await _model(host, model)
    connected, more = await _servers(host, servers)
    return {"connected": connected, "problems": [flat(one, 500) for one in [*problems, *more]], "done": True}


ACTS = {"defaults": applied}
"""By the name that a page asks for."""


def _policy(host: Host, said: object) -> list[str]:
    if said in POLICIES:
        host.policy.presumed = said
    elif said not in (None, ""):
        return [f"The default policy is one of {', '.join(POLICIES)}, not {flat(said, 60)!r}."]
    return []


async def _model(host: Host, said: object) -> list[str]:
    if not isinstance(said, str) or not said or host.models.default is not None:
        return []
    try:
        await asyncio.to_thread(host.models.set, said)  # a provider's library takes its time to load
    except MCPError as error:
        return [f"The default model {flat(said, 100)}: {error}"]
    return []


async def _servers(host: Host, said: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    from jupyter_mcp.notebook.configuring import from_source
    from jupyter_mcp.notebook.typed import looked_through

    if not said:
        return [], []
    try:
        entries, _ = from_source({"mcpServers": dict(said)}, None)
    except (MCPError, UsageError) as error:
        return [], [f"The default servers: {error}"]
    wanted = [one for one in looked_through(entries) if getattr(one, "name", None) not in host.servers]
    found = await host.connect_many(wanted, origin="person", named=False)
    problems = [str(one) for one in found if isinstance(one, MCPError)]
    return [one.name for one in found if not isinstance(one, MCPError)], problems
