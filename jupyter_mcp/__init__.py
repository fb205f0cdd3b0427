"""The Model Context Protocol in a notebook.

    import jupyter_mcp as mcp
    time = mcp.connect("time", "mcp-server-time")
    time.tools.get_current_time(timezone="Europe/Paris").text

or, as magics, `%load_ext jupyter_mcp` and `%mcp help`.

A kernel pays for every import, so this module imports nothing but the standard library: each public name is fetched
from the room that owns it at first use.
"""

from __future__ import annotations

import importlib
import logging
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jupyter_mcp._version import __version__ as __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# Without a handler Python prints warnings to stderr, which is the cell; whoever wants to see them adds one.
logging.getLogger("jupyter_mcp").addHandler(logging.NullHandler())

_ERRORS = (
    "AuthorizationFailed",
    "Cancelled",
    "ConfigError",
    "ConnectionFailed",
    "ConnectionLost",
    "Denied",
    "InputRefused",
    "Interrupted",
    "LocalProtocolError",
    "MCPError",
    "ModelError",
    "NoModel",
    "ProtocolError",
    "ProviderError",
    "RemoteProtocolError",
    "RequestError",
    "RequestTimeout",
    "ToolError",
    "UnsupportedContent",
    "UsageError",
)
_API = (
    "allow",
    "answer",
    "ask",
    "ask_first",
    "connect",
    "connect_all",
    "deny",
    "disable",
    "disconnect",
    "discover",
    "enable",
    "host",
    "policy",
    "run",
    "save",
    "serve",
    "servers",
    "view",
)
_LOGINS = ("login", "logout", "whoami")
_FUNCTIONS = ("prompt", "resource", "tool")
_CONTEXTS = ("AsyncContext", "Context")
_WHERE = {
    **dict.fromkeys(_ERRORS, "jupyter_mcp.errors"),
    **dict.fromkeys(_API, "jupyter_mcp.notebook.api"),
    **dict.fromkeys(_LOGINS, "jupyter_mcp.notebook.loggingin"),
    **dict.fromkeys(_FUNCTIONS, "jupyter_mcp.kernel.functions"),
    **dict.fromkeys(_CONTEXTS, "jupyter_mcp.server"),
    "aio": "jupyter_mcp.notebook",
    "model": "jupyter_mcp.notebook.modelling",
}

__all__ = [*sorted(_WHERE), "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_WHERE[name])
    return importlib.import_module("jupyter_mcp.notebook.aio") if name == "aio" else getattr(module, name)


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """`mcp.host` is the host of this kernel, although a room of that name (`jupyter_mcp.host`) exists as well.

    The import system binds each subpackage it loads as an attribute of this module; that one binding is ignored.
    `from jupyter_mcp.host import …` does not look here and finds the room.
    """

    @property
    def host(self) -> Any:
        return __getattr__("host")

    @host.setter
    def host(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """`%load_ext jupyter_mcp`: register the magics, the completer and the renderers."""
    from jupyter_mcp.notebook.extension import load_ipython_extension as load

    load(ipython)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """`%unload_ext jupyter_mcp`: close all servers and take everything back."""
    from jupyter_mcp.notebook.extension import unload_ipython_extension as unload

    unload(ipython)
