"""What a family of objects must be able to do to be shown, and the least that every one can."""

from __future__ import annotations

import threading
from typing import Any

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.base import Kind, Summary, View, ViewError, Wanted

__all__ = ["Viewer", "is_main", "must_be_main"]


class Viewer:
    """One family of objects. Nothing here runs code of a value; a library's own code runs on its own types only."""

    kind: Kind = "object"
    main_thread = False  # whether its objects may only be read on the kernel's main thread

    def summary(self, value: object) -> Summary:
        """What it is; cheap (microseconds) and safe beside a running cell."""
        return Summary(*safe.names_of(type(value)), self.kind, **self.facts(value))

    def facts(self, value: object) -> dict[str, Any]:
        """The fields of the summary that this family knows."""
        return {}

    def view(self, value: object, wanted: Wanted) -> View:
        """One bounded piece.

        Raises:
            ViewError: there is none.
        """
        raise ViewError("unsupported", f"no view of a {safe.label(type(value))}")

    def fingerprint(self, value: object) -> int | None:
        """A number that changes when a sample of the content does; None when it cannot be known."""
        return None

    def columns(self, value: object) -> list[str]:
        """Names of a table's columns."""
        return []

    def step(self, value: object, key: str | int) -> object:
        """What is at a key, an index or a name.

        Raises:
            LookupError: nothing is there.
        """
        raise LookupError(key)


def is_main() -> bool:
    """Whether this is the kernel's main thread."""
    return threading.current_thread() is threading.main_thread()


def must_be_main() -> None:
    """Refuse to go on anywhere but on the main thread.

    Raises:
        ViewError: "busy".
    """
    if not is_main():
        raise ViewError("busy", "what belongs to a connection is read on the kernel's main thread, which is busy")
