"""One line of text in a cell that has already ended, from any thread, while another cell holds the main thread.

It is display data under a display id of its own, sent with the old cell as its parent; `change` replaces it. No widget
and no IPython display machinery is involved: those belong to the cell that is running now.
"""

from __future__ import annotations

import logging
import sys
import uuid
from typing import TYPE_CHECKING, Any

from jupyter_mcp.runtime import frontend

if TYPE_CHECKING:
    from jupyter_mcp.runtime.place import Place

__all__ = ["Announcement"]

log = logging.getLogger("jupyter_mcp.runtime")


class Announcement:
    """A line in the place's cell; in a terminal a printed line, which stays."""

    def __init__(self, place: Place, text: str) -> None:
        self._place = place
        self._id = uuid.uuid4().hex
        self._send("display_data", text)

    def change(self, text: str) -> None:
        """Replace the line."""
        self._send("update_display_data", text)

    def _send(self, kind: str, text: str) -> None:
        kernel = frontend.kernel()
        message = self._place.target()[1] if kernel is not None else None
        if kernel is None and kind == "display_data" and frontend.terminal():
            sys.stdout.write(f"\n{text}\n")
        if kernel is None or message is None:
            return
        content: dict[str, Any] = {
            "data": {"text/plain": text},
            "metadata": {},
            "transient": {"display_id": self._id},
        }
        try:
            kernel.session.send(
                kernel.iopub_socket, kind, content, parent=message, ident=f"kernel.{kernel.ident}.{kind}".encode()
            )
        except Exception:
            log.exception("a line could not be shown")
