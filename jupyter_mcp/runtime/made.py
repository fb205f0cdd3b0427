"""Who is told of each host that is made. A module of its own, so that asking to be told loads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.host.host import Host

__all__ = ["at_host"]

at_host: list[Callable[[Host], object]] = []
"""Called with each host before it has done anything; on whatever thread that was."""
