"""The variables of the notebook as values of a form: which there are, and what one is as JSON."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NotebookVariables"]

_MOST = 300  # names that are offered
_IPYTHON = frozenset(["In", "Out", "exit", "quit", "get_ipython", "open", "display"])


class NotebookVariables:
    """What a person has named in this notebook, with the meaning that `$name` has on a magic's line.

    Args:
        names: where they are; None for the running IPython's own.
    """

    def __init__(self, names: Mapping[str, Any] | None = None) -> None:
        self._given = names

    @property
    def _names(self) -> Mapping[str, Any]:
        if self._given is not None:
            return self._given
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        return cast("Mapping[str, Any]", shell.user_ns) if shell is not None else {}  # pyright: ignore[reportUnknownMemberType]

    def names(self) -> Sequence[str]:
        """Those that can be meant: no module, nothing callable, nothing hidden; the newest last."""
        found = [
            name
            for name, value in list(self._names.items())
            if not name.startswith("_")
            and name not in _IPYTHON
            and not isinstance(value, ModuleType)
            and not callable(value)
        ]
        return found[-_MOST:]

    def read(self, name: str) -> Any:
        """The JSON value of a variable. Raises `UsageError` where there is none, or it is no JSON."""
        from jupyter_mcp.host.plain import plain
        from jupyter_mcp.notebook.namespace import Namespace

        if not name.isidentifier():
            raise UsageError(f"${name} is not the name of a variable.")
        return plain(Namespace(self._names).read(f"${name}").value, f"${name}")
