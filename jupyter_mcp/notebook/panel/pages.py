"""The pages that show this notebook: they hear when something has changed, and ask what by the control channel.

    kernel -> page    a comm `jupyter_mcp.panel`, opened when the extension is loaded; a page that comes later finds it
                      in the kernel's list of comms; `{"event": "changed"}`, a few times a second at most, no more
    page -> kernel    control messages of the kind "panel" (`kernel.control`), `{"act": str, …}`

A page that is not there, or cannot use it, changes nothing here. Only this module is loaded with the extension.
"""

from __future__ import annotations

import importlib
import logging
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jupyter_mcp.kernel import control

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.auth.places import JupyterPage

__all__ = ["TARGET", "announce", "answer", "attach", "base_url", "follow", "leave", "login_page", "touch"]

log = logging.getLogger("jupyter_mcp.panel")
TARGET = "jupyter_mcp.panel"
SECONDS = 0.25
"""Between two words that something has changed."""
ROOMS = ("state", "servers", "catalogue", "running", "serving", "prompts", "drive", "defaults")
"""Modules beside this one whose `ACTS` pages may ask for."""

_comms: list[Any] = []
_pace: list[Any] = []
_asked: list[bool] = []  # a page has asked something: before that nobody listens, and no cell has messages of ours
_told: dict[str, str] = {}
_heard: list[list[Callable[[], object]]] = []  # where pages listen as long as the notebook is served


def announce(shell: Any) -> None:
    """Tell the pages of this shell's kernel that they may ask; in a terminal there are none."""
    control.handle("panel", answer)
    kernel = getattr(shell, "kernel", None)
    if getattr(kernel, "control_handlers", None) is None:
        return
    from jupyter_mcp.runtime.cells import cells

    cells.watch()  # in this cell, whose end will be seen: a page's act comes on a thread that cannot tell
    _open()


def follow() -> None:
    """Tell pages of what happens in this kernel's host from now on, also in one that is made later. Twice is once."""
    from jupyter_mcp.runtime import made, state

    if _follow not in made.at_host:
        made.at_host.append(_follow)
    host = state.existing_host()
    if host is not None:
        _follow(host)
    if _served not in made.at_serving:
        made.at_serving.append(_served)
        _served()


def leave() -> None:
    """The extension is unloaded: close what was opened."""
    for pace in _pace:
        pace.stop()
    _pace.clear()
    _asked.clear()
    _told.clear()
    _close()


def touch() -> None:
    """Something has changed; pages hear it soon. Any thread."""
    if not (_comms and _asked):
        return
    if not _pace:
        from jupyter_mcp.notebook.cards.pace import Pace

        _pace.append(Pace(_tell, SECONDS, later=_later))
    _pace[0].touch()


async def answer(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Do what a page asks. Raises `UsageError` for an act that there is not, and what the act raises."""
    from jupyter_mcp.errors import UsageError
    from jupyter_mcp.notebook import showing

    showing.prepare()  # what an act begins may ask something, before any cell has used a magic
    follow()
    _asked[:] = [True]
    act = data.get("act")
    if act == "attach":
        return await attach(data)
    for room in ROOMS:
        found = importlib.import_module(f"jupyter_mcp.notebook.panel.{room}").ACTS.get(act)
        if found is not None:
            return await found(data)
    raise UsageError(f"This kernel does not know the act {act!r}; its jupyter_mcp may be older than the page's.")


async def attach(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A page that was loaded later wants to hear what changes: `{"version": 1}`.

    Args:
        data: `base_url` (the Jupyter Server's address, as the browser sees it), `notebook` (its path there),
            `kernel_id` (by which that server knows this kernel), and `callback` (it has our page for logins).
    """
    if data.get("callback") is not True:
        _told.pop("kernel_id", None)
    for name in ("base_url", "notebook", *(("kernel_id",) if data.get("callback") is True else ())):
        value = data.get(name)
        if isinstance(value, str) and value:
            _told[name] = value
    if not _comms:
        _open()
    return {"version": 1}


def base_url() -> str | None:
    """The Jupyter Server's address as the browser sees it; None when no page has said."""
    return _told.get("base_url")


def login_page() -> JupyterPage | None:
    """Where a browser may come back to after a login; None when no page has said that it can."""
    from jupyter_mcp.host.auth.places import JupyterPage

    base, kernel = _told.get("base_url"), _told.get("kernel_id")
    return JupyterPage(base, kernel) if base and kernel else None


def _close() -> None:
    while _comms:
        with suppress(Exception):
            _comms.pop().close()


def _later(seconds: float, function: Callable[[], object]) -> None:
    """On the runtime's loop, which ends with the kernel: a timer's thread would outlive the extension."""
    from jupyter_mcp.runtime.thread import current_runtime

    runtime = current_runtime()
    if runtime is not None:
        runtime.call_soon(lambda: runtime.loop.call_later(seconds, function))


def _open() -> None:
    """Open the comm; pages that are there hear of it, others ask for the comms there are."""
    from comm import create_comm

    _close()
    try:
        comm: Any = create_comm(target_name=TARGET, data={"version": 1})
    except Exception:
        log.exception("no comm for pages")
        return
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = None  # ipykernel 7.4: not bound to the cell that opened it
    _comms.append(comm)


def _follow(host: Any) -> None:
    from jupyter_mcp.runtime import state

    desk = state.desk()
    if touch not in desk.listeners:
        desk.listeners.append(touch)
    if _changed not in host.listeners:
        host.listeners.append(_changed)
    if touch not in host.acts.listeners:
        host.acts.listeners.append(touch)
    host.logins.page = login_page


def _served() -> None:
    """The notebook is served, no more, or otherwise. Pages hear who comes, and of each cell: it may bring variables."""
    from jupyter_mcp.runtime.cells import cells

    module = sys.modules.get("jupyter_mcp.kernel.serving")
    served = module.current() if module is not None else None
    for listeners in _heard:
        with suppress(ValueError):
            listeners.remove(_visited)
    _heard[:] = [] if served is None else [served.book.visitors.on_event, cells.at_end]
    for listeners in _heard:
        listeners.append(_visited)
    _visited()


def _visited() -> None:
    from jupyter_mcp.notebook.panel import state

    state.visit()
    touch()


def _changed(_: str) -> None:
    from jupyter_mcp.notebook.panel import state

    state.turn()
    touch()


def _tell() -> None:
    for comm in list(_comms):
        try:
            comm.send({"event": "changed"})
        except Exception:  # the kernel is ending
            log.debug("a page could not be told", exc_info=True)
