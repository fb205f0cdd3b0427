"""Which cell an act belongs to, so that the forms it causes appear there.

A `Place` is taken when a call begins, in the calling cell, and travels in a context variable: whatever runs in the
context of the call finds it, also on the runtime's thread. It outlives the cell: a connection's own tasks keep the
place of the connecting cell, a background call that of the cell that started it. Nothing is drawn here.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.runtime import frontend
from jupyter_mcp.runtime.cells import cells

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["Place", "current", "here"]


@dataclass(eq=False, slots=True)
class Place:
    """A cell, as far as output is concerned.

    Attributes:
        identity, message: the execute request of the cell; both None outside a kernel.
        waiting: whether the cell waits for the act right now (so that a person looks at it and no limit applies).
    """

    identity: Any = None
    message: dict[str, Any] | None = None
    waiting: bool = field(default=False)

    @property
    def gone(self) -> bool:
        """Whether the output of the cell no longer exists (it has been run again)."""
        if self.message is None:
            return False
        return cells.rerun(self.message)

    def target(self) -> tuple[Any, dict[str, Any] | None]:
        """Identity and message that output for this place belongs to: the last cell's, when this one is gone."""
        if self.gone and cells.last is not None:
            return cells.last
        return self.identity, self.message

    @contextmanager
    def entered(self) -> Generator[None]:
        """On the main thread: output made inside belongs to this cell. Restores what was before."""
        kernel = frontend.kernel()
        before = frontend.parent()
        identity, message = self.target()
        if kernel is None or message is None or before is None or before[1] is message:
            yield
            return
        flush()
        kernel.set_parent(identity, message, channel="shell")
        try:
            yield
        finally:
            flush()
            kernel.set_parent(*before, channel="shell")


current: ContextVar[Place | None] = ContextVar("jupyter_mcp_place", default=None)


def here() -> Place:
    """The place of whoever calls this: normally the running cell.

    In the callback of a widget the output belongs to a message that no page listens to, unless an Output widget
    captures it (as `interact` does); then the last cell takes its part.
    """
    parent = frontend.parent()
    if parent is None:
        return Place()
    header = parent[1]["header"]
    if header.get("msg_type") != "execute_request" and not _captured(header.get("msg_id")) and cells.last is not None:
        parent = cells.last
    return Place(*parent)


def _captured(message_id: str | None) -> bool:
    """Whether an Output widget captures what belongs to that message."""
    module = sys.modules.get("ipywidgets.widgets.widget")
    widgets: dict[str, Any] = getattr(module, "_instances", {})
    return any(getattr(widget, "msg_id", "") == message_id for widget in list(widgets.values()))


def flush() -> None:
    """Send what is in the output buffers, before the parent changes under it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the streams are the notebook's; a broken one is not our business
            stream.flush()
