"""What this package adds to a Jupyter Server: the page that a browser comes back to after a login.

Enabled on install (`jupyter server extension list` shows it). A Jupyter Server is not a kernel: nothing here imports
the rooms of one (`notebook`, `kernel`, `runtime`, `host`); kernels are asked over their control channel (`reach`).
"""

from __future__ import annotations

from typing import Any

__all__ = ["_jupyter_server_extension_points", "_load_jupyter_server_extension"]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "jupyter_mcp.serverextension"}]


def _load_jupyter_server_extension(serverapp: Any) -> None:
    from jupyter_mcp.serverextension.app import load

    load(serverapp)
