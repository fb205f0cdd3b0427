"""What kind of front end this is: a kernel or a terminal, somebody who can be asked or nobody.

Only questions about the present; nothing is remembered. IPython is asked only where it has already been imported, so a
plain script does not load it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["allow_stdin", "has_kernel", "headless", "kernel", "parent", "shell", "terminal"]


def shell() -> Any | None:
    """The IPython shell, or None in a plain Python process."""
    module = sys.modules.get("IPython.core.getipython")
    return None if module is None else module.get_ipython()


def kernel() -> Any | None:
    """The ipykernel kernel object, or None outside a kernel.

    A process forked from a kernel (multiprocessing) still holds the object, but its sockets are the parent's.
    """
    here = getattr(shell(), "kernel", None)
    session = getattr(here, "session", None)
    return None if getattr(session, "pid", os.getpid()) != os.getpid() else here


def has_kernel() -> bool:
    """Whether this is a Jupyter kernel."""
    return kernel() is not None


def allow_stdin() -> bool:
    """Whether `input()` reaches a person: what the front end said with the last cell, or a real terminal."""
    here = kernel()
    if here is not None:
        return bool(getattr(here, "_allow_stdin", False))
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # stdin is closed
        return False


def terminal() -> bool:
    """Whether a person sits at a terminal (IPython's or Python's own prompt)."""
    return not has_kernel() and allow_stdin()


def headless() -> bool:
    """Whether nobody can be asked (nbconvert, papermill, nbval, a script without a terminal)."""
    return not allow_stdin()


def parent() -> tuple[Any, dict[str, Any]] | None:
    """Identity and message of the request this thread's output belongs to; None outside a kernel or before any."""
    here = kernel()
    if here is None:
        return None
    try:
        message: dict[str, Any] = here.get_parent("shell") or {}
    except LookupError:  # ipykernel 7.0 on a thread that it has not seen
        return None
    if not message.get("header"):
        return None
    identities = getattr(here, "_parent_ident", {})
    return identities["shell"], message
