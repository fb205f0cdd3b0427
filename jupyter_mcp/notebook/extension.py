"""What `%load_ext jupyter_mcp` does: register the magic and the completer. Everything else waits for its first use.

A kernel pays for what is imported here, so it is the standard library and IPython only.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.kernel import control
from jupyter_mcp.notebook import completion
from jupyter_mcp.notebook.magics import MCPMagics
from jupyter_mcp.notebook.panel import pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Register everything. Loading twice does no more than loading once."""
    ipython.register_magics(MCPMagics)
    completion.install(ipython)
    control.install(ipython)
    pages.announce(ipython)
    control.handle("oauth", _browser_came)
    control.handle("state", _how_served)
    control.handle("mcp", _handed_on)
    serving = sys.modules.get("jupyter_mcp.kernel.serving")
    if serving is not None:
        serving.resume(ipython)  # it was served before the extension was unloaded


def _how_served(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The Jupyter Server asks where this notebook is served; it may run code here, so it may know the token.

    What stands in a file that it names shows that both are on one machine.
    """
    serving = sys.modules.get("jupyter_mcp.kernel.serving")
    found = serving.current() if serving is not None else None
    if found is None:
        return {"served": False}
    here = ""
    with suppress(OSError, ValueError, TypeError):
        here = Path(data["here"]).read_text(encoding="ascii")[:64]
    return {"served": True, "url": found.url, "token": found.token, "name": found.slug, "here": here}


async def _handed_on(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Jupyter Server on another machine hands on what a client of this notebook sends."""
    from jupyter_mcp.kernel import relay

    return await relay.answer(data)


async def _browser_came(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The Jupyter Server hands on what a browser brought that came back from a login."""
    from jupyter_mcp.runtime.state import existing_host

    host = existing_host()
    return {"delivered": False} if host is None else await host.logins.waiting.on_request(data)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Close the servers and take everything back."""
    completion.uninstall(ipython)
    pages.leave()
    control.uninstall(ipython)
    manager: Any = ipython.magics_manager
    for kind in ("line", "cell"):
        manager.magics[kind].pop("mcp", None)
    showing = sys.modules.get("jupyter_mcp.notebook.showing")
    if showing is None and "jupyter_mcp.kernel.serving" not in sys.modules:
        return  # nothing was ever used
    from jupyter_mcp.runtime import state

    if "jupyter_mcp.notebook.cards.live" in sys.modules:
        from jupyter_mcp.notebook import cards

        cards.close_all()
    if showing is not None:
        showing.forget(ipython)
    state.close()
