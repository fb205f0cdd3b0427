"""This notebook as a server, for a page: whether it is served, what may be seen, who came; and the switch.

No act's answer holds the port or the token: those are on the card of `%mcp serve`, for two minutes at a time. Switched
on here it is served as it was last in this kernel, for reading only; to let code be run, a person says so in a cell.
Looking loads nothing as long as nothing is served. All run on the runtime's loop.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.render.text import flat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.kernel.serving import Serving

__all__ = ["ACTS", "seen", "started", "stopped", "written"]

MAX_NAMES = 60
MAX_CLIENTS = 30
MAX_ACTS = 20


async def seen(data: Mapping[str, Any]) -> dict[str, Any]:
    """How it is served: `{"served": False, "again": bool}`, or with `served` as `_about` has it.

    `again` says that it was served before in this kernel, and will be as it was then.
    """
    served = _serving()
    if served is None:
        module = sys.modules.get("jupyter_mcp.kernel.serving")
        return {"served": False, "again": module is not None and module.last() is not None}
    return await asyncio.to_thread(_about, served)


async def started(data: Mapping[str, Any]) -> dict[str, Any]:
    """Serve it; what `seen` says then.

    Raises:
        UsageError: there is no notebook, or nothing is left of what was served.
        ConnectionFailed: it cannot listen.
        ConfigError: the file that others find it by cannot be written.
    """
    from jupyter_mcp.runtime import frontend

    shell = frontend.shell()
    if shell is None:
        raise UsageError("There is no notebook here to serve.")
    await asyncio.to_thread(_again, shell)  # it waits for what is done on this loop
    return await seen(data)


async def stopped(data: Mapping[str, Any]) -> dict[str, Any]:
    """Serve it no longer; port and token are given up. What `seen` says then."""
    served = _serving()
    if served is not None:
        from jupyter_mcp.notebook.objects.endpoint import Endpoint

        await asyncio.to_thread(Endpoint(served).stop)  # tells its card, too
    return await seen(data)


async def written(data: Mapping[str, Any]) -> dict[str, Any]:
    """The line that serves it so: `{"source": str}`. In a cell it shows the card with URL and token, on demand."""
    served = _serving()
    if served is None:
        return {"source": "%mcp serve"}
    choice = served.book.choice
    words = ["%mcp serve", *choice.names]
    if served.name is not None:
        words += ["--name", shlex.quote(" ".join(served.name.split()))]
    if choice.besides:
        words += ["--except", ",".join(choice.besides)]
    return {"source": " ".join([*words, *(["--allow-code"] if choice.allow_code else [])])}


ACTS = {"serving": seen, "serve_start": started, "serve_stop": stopped, "serve_cell": written}
"""By the name that a page asks for."""


def _serving() -> Serving | None:
    module = sys.modules.get("jupyter_mcp.kernel.serving")
    return None if module is None else module.current()


def _again(shell: Any) -> None:
    from jupyter_mcp.kernel import serving

    serving.again(shell)


def _about(served: Serving) -> dict[str, Any]:
    """Who may see what, and who came, the last one first; everything shortened, counted and without secrets."""
    from jupyter_mcp.notebook.objects.endpoint import Endpoint

    endpoint = Endpoint(served)
    view = endpoint.__mcp_view__()
    if not view.active:
        return {"served": False, "again": True}
    return {
        "served": True,
        "name": flat(view.name, 80),
        "names": _some(view.names),
        "variables": len(view.names),
        "hidden": view.hidden,
        "chosen": view.chosen,
        "functions": _some(view.functions),
        "allow_code": view.allow_code,
        "code": flat(view.code, 400) if view.allow_code else "",
        "outside": flat(view.outside, 400),
        "command": endpoint.config("claude-code"),
        "clients": [
            {
                "name": flat(one.name, 80),
                "version": flat(one.version, 40),
                "last": round(one.last),
                "requests": one.requests,
            }
            for one in endpoint.clients[:MAX_CLIENTS]
        ],
        "acts": [
            {"client": flat(who or "somebody", 60), "what": f"{kind} {flat(what, 200)}", "outcome": flat(said, 60)}
            for who, kind, what, said in view.acts[:MAX_ACTS]
        ],
    }


def _some(names: Sequence[str]) -> list[str]:
    return [flat(name, 60) for name in names[:MAX_NAMES]]
