"""Who is told of hosts that are made, and of how the notebook is served. Asking to be told loads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.host.host import Host

__all__ = ["at_host", "at_serving"]

at_host: list[Callable[[Host], object]] = []
"""Called with each host before it has done anything; on whatever thread that was."""
at_serving: list[Callable[[], object]] = []
"""Called when this notebook begins or ceases to be served, or what may be seen is another; on whatever thread."""
