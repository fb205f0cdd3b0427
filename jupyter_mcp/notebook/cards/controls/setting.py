"""What the controls of one form share: who is told, and from where values and suggestions come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["Setting", "Suggest", "Variables"]


class Variables(Protocol):
    """The variables of the notebook, as values for fields."""

    def names(self) -> Sequence[str]:
        """Those that may be meant, for completion."""
        ...

    def read(self, name: str) -> Any:
        """The JSON value of one. Raises `MCPError`."""
        ...


class Suggest(Protocol):
    """Whoever knows how a text could go on."""

    @property
    def names(self) -> Collection[str]:
        """Of the fields that it knows of."""
        ...

    def join(self, name: str, show: Callable[[Sequence[str]], object]) -> None:
        """`show` shows what is suggested for a field."""
        ...

    def typed(self, name: str, text: str) -> None:
        """Something was typed into it."""
        ...


@dataclass
class Setting:
    """What the controls of one form share.

    Attributes:
        changed: called after each change by the person.
        variables: where a field may take its value from; None where no variable can be used.
        full: a form of one's own choice (a tool's): each field can be written as JSON, and what is optional beyond the
            first few is folded. A server's question is asked plainly.
        suggest: who suggests how texts could go on; None for nobody.
    """

    changed: Callable[[], object]
    variables: Variables | None = None
    full: bool = False
    suggest: Suggest | None = None
