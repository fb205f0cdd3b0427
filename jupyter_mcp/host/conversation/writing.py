"""A call that the model is still writing, for whoever shows it already (a server's page): as much of it as is JSON.

It is told only where the call would be made without a question whatever its arguments come to: what a model wants to
send is nobody's before it may be sent, and a page may talk to its server.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pydantic_core

from jupyter_mcp.host.conversation.events import CallWritten
from jupyter_mcp.protocol.shapes import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.conversation.toolbox import Toolbox
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.models.base import ToolWriting

__all__ = ["Writing", "as_far_as_written"]

PAUSE_SECONDS = 0.1
"""A call is told no more often while it grows."""


class Writing:
    """The calls of one reply while they are written.

    Args:
        host, toolbox: through whom they would be made, and which tools there are.
        first: the number that the first of them will have in its turn.
        tell: who watches.
        clock: seconds.
    """

    def __init__(
        self,
        host: Host,
        toolbox: Toolbox,
        first: int,
        tell: Callable[[CallWritten], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host = host
        self._toolbox = toolbox
        self._first = first
        self._tell = tell
        self._clock = clock
        self._due: dict[int, float] = {}
        self._free: dict[str, bool] = {}

    def __call__(self, piece: ToolWriting) -> None:
        """The model wrote a piece."""
        now = self._clock()
        if now < self._due.get(piece.place, now):
            return
        offer = self._toolbox.find(piece.name)
        if offer is None or not self._goes_unasked(offer):
            return
        arguments = as_far_as_written(piece.text)
        if arguments is not None:
            self._due[piece.place] = now + PAUSE_SECONDS
            self._tell(CallWritten(self._first + piece.place, offer.server, offer.name, arguments))

    def _goes_unasked(self, offer: Any) -> bool:
        if offer.full_name not in self._free:
            on = self._toolbox.switches.is_on(offer.server, offer.name)
            self._free[offer.full_name] = self._host.goes_unasked(
                offer.server, offer.item, origin="model", switched_on=on
            )
        return self._free[offer.full_name]


def as_far_as_written(text: str) -> Mapping[str, Any] | None:
    """The object that a text begins, as far as it goes; None while there is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = pydantic_core.from_json(text, allow_partial="trailing-strings")
    except (ValueError, RecursionError):
        return None
    return value if is_object(value) else None
