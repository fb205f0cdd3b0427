"""The one `Host` of this kernel, and the desk its questions come to.

`get_host` makes both at first use; `close` ends all connections and the thread (unload, exit). A forked child starts
with neither: the parent's connections are not its own.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from jupyter_mcp.runtime import made
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.thread import current_runtime, get_runtime

if TYPE_CHECKING:
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.runtime.desk import QuestionDesk

__all__ = ["close", "desk", "existing_host", "get_host"]

_lock = threading.RLock()
_host: Host | None = None
_desk: QuestionDesk | None = None
_abandoned: list[Host | None] = []


def get_host() -> Host:
    """The host of this kernel; made at first use, and again after `close`."""
    global _host
    with _lock:
        if _host is None:
            from jupyter_mcp.host.host import Host
            from jupyter_mcp.runtime import whereabouts

            cells.watch()
            _host = Host(ui=desk(), place=whereabouts.place())
            get_runtime().on_stop(_host.aclose)
            for told in made.at_host:
                told(_host)
        return _host


def existing_host() -> Host | None:
    """The host if there is one; makes none (completion reads its lists, a display of nothing shows nothing)."""
    return _host


def desk() -> QuestionDesk:
    """The desk of this kernel; it outlives the host, so that its mode and presenter stay."""
    global _desk
    with _lock:
        if _desk is None:
            from jupyter_mcp.runtime.desk import QuestionDesk

            _desk = QuestionDesk()
        return _desk


def close() -> None:
    """Close every connection and stop the thread, within a few seconds. Nothing happens when there is nothing."""
    global _host
    with _lock:
        _host = None
        runtime = current_runtime()
    if runtime is not None:
        runtime.stop()


def _forget_in_child() -> None:
    """A forked child has no connections; the parent's are kept from finalizers that would end them."""
    global _host, _lock
    _abandoned.append(_host)
    _host, _lock = None, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
