"""Showing bundles in IPython: `show`, the rule that a shown object is not shown twice, and the formatters.

A magic displays its object where it stands and returns it, so that `r = %mcp call …` works and `_` is bound; if the
line is the last of its cell, IPython would display the returned object again. `quiet_once` leaves that one display out:
it holds for this object in this cell only, so `r` in a later cell shows the result as ever.
"""

from __future__ import annotations

import importlib
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.notebook.render.bundles import bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["hush", "install", "masked", "publish", "quiet_once", "show", "uninstall"]

T = TypeVar("T")
_quiet: dict[int, tuple[object, int]] = {}  # id -> (a reference that keeps the id honest, execution count)


def show(obj: T) -> T:
    """Display an object here and now, and return it; its next display in this cell is left out."""
    if _shell() is None:
        print(masked(bundle(obj))["text/plain"])  # noqa: T201 - there is nothing else to show it with
        return obj
    publish(bundle(obj))
    return quiet_once(obj)


def publish(data: dict[str, Any], *, transient: dict[str, Any] | None = None, update: bool = False) -> None:
    """A bundle as an output of the current cell, or as the new contents of an older one."""
    display_functions: Any = importlib.import_module("IPython.core.display_functions")
    more = {"update": True} if update else {}
    display_functions.publish_display_data(masked(data), transient=transient or {}, **more)


def masked(shown: T) -> T:
    """A bundle or HTML without the secrets that were given to servers, which may say them back: outputs are saved.

    The objects themselves are left as they are.
    """
    from jupyter_mcp.runtime.state import existing_host

    host = existing_host()
    return shown if host is None else host.redactor.known(shown)


def quiet_once(obj: T) -> T:
    """The next display of this object in the current cell shows nothing; its type has to be an installed one."""
    shell = _shell()
    if shell is not None and obj is not None:
        try:
            kept: object = weakref.ref(obj)
        except TypeError:
            kept = obj
        _quiet.clear()  # one magic a line: only the last shown object can be the cell's value
        _quiet[id(obj)] = (kept, shell.execution_count)
    return obj


def hush(obj: object) -> None:
    """IPython's first formatter: does nothing (and so shows nothing) once, else steps aside."""
    shell = _shell()
    marked = _quiet.pop(id(obj), None)
    if marked is not None and shell is not None and marked[1] == shell.execution_count:
        return
    raise NotImplementedError


def install(shell: InteractiveShell, classes: Iterable[type] = ()) -> None:
    """Teach a shell to draw our values: those of the host and, besides, `classes` (the objects of the notebook)."""
    formatter: Any = shell.display_formatter
    for cls in (*_host_classes(), *classes):
        formatter.ipython_display_formatter.for_type(cls, hush)
        formatter.mimebundle_formatter.for_type(cls, _bundle_for_shell)


def uninstall(shell: InteractiveShell, classes: Iterable[type] = ()) -> None:
    """Take it back."""
    formatter: Any = shell.display_formatter
    for cls in (*_host_classes(), *classes):
        for one in (formatter.ipython_display_formatter, formatter.mimebundle_formatter):
            one.pop(cls, None)
    _quiet.clear()


def _bundle_for_shell(obj: object, include: object = None, exclude: object = None) -> dict[str, Any]:
    return masked(bundle(obj))


def _host_classes() -> list[Any]:
    """The values that the host hands out: by name where importing them would cost the kernel's start something."""
    from jupyter_mcp.notebook.render import views

    own = [getattr(views, name) for name in views.__all__ if name not in ("View", "LogRow")]
    return [*own, *(f"jupyter_mcp.host.result.{name}" for name in ("Result", "Read", "PromptResult"))]


def _shell() -> InteractiveShell | None:
    from IPython.core.getipython import get_ipython

    get: Callable[[], InteractiveShell | None] = get_ipython
    return get()
