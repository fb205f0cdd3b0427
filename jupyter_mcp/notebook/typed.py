"""Which of a server's secrets stand in the notebook itself: those that occur in the source of a cell that was run.

A value may as well come from a file, a prompt or another program by a variable; then there is nothing to advise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.host.specs.advice import written_out
from jupyter_mcp.runtime import frontend

__all__ = ["looked_through"]

if TYPE_CHECKING:
    from collections.abc import Sequence


def looked_through(entries: Sequence[Any]) -> list[Any]:
    """The specs among the entries, knowing which of their secrets do not stand in the notebook."""
    return [_looked_through(entry) if isinstance(entry, ServerSpec) else entry for entry in entries]


def _looked_through(spec: ServerSpec) -> ServerSpec:
    secrets = {} if spec.source else written_out(spec)
    if not secrets:
        return spec
    cells = _cells()
    return replace(spec, elsewhere=frozenset(name for name, value in secrets.items() if value not in cells))


def _cells() -> str:
    """The cells of this session as they were entered; nothing in a plain program."""
    manager = getattr(frontend.shell(), "history_manager", None)
    return "\n".join(getattr(manager, "input_hist_raw", ()))
