"""The questions that wait for a person at the same time: which stands where, and whose turn it is.

Nothing is held back: each card is on its page from the beginning and can be answered at any time. Those that ask for
leave are folded while others are before them, so that one decision is looked at after the other. When one is
answered the next comes up and has the keyboard.
"""

from __future__ import annotations

import threading
from typing import NamedTuple, Protocol

__all__ = ["Queued", "Standing", "enter", "leave", "of_server"]


class Standing(NamedTuple):
    """Where a card stands.

    Attributes:
        at: 1 is next. of: how many wait. alike: how many of them ask for leave for this server.
    """

    at: int
    of: int
    alike: int


class Queued(Protocol):
    """A card in the queue."""

    @property
    def over(self) -> bool:
        """Whether it waits for nobody any more."""
        ...

    @property
    def leave_for(self) -> str:
        """The server that it asks leave for; "" when it asks something else."""
        ...

    def stand(self, standing: Standing) -> None:
        """Show it. Any thread."""
        ...

    def take_focus(self) -> None:
        """Have the keyboard. Any thread."""
        ...


_waiting: list[Queued] = []
_lock = threading.RLock()


def enter(card: Queued) -> None:
    """It waits from now on, behind the others."""
    with _lock:
        _waiting[:] = [other for other in _waiting if not other.over]  # the extension may have been unloaded meanwhile
        _waiting.append(card)
        _tell()


def leave(card: Queued, *, onwards: bool = False) -> None:
    """It waits no more; twice is once.

    Args:
        card: which.
        onwards: the person is at the keyboard there, and goes on to the next.
    """
    with _lock:
        if card not in _waiting:
            return
        _waiting.remove(card)
        _tell()
        following = _waiting[0] if _waiting else None
    if onwards and following is not None:
        following.take_focus()


def of_server(server: str) -> list[Queued]:
    """The cards that ask leave for a server, oldest first."""
    with _lock:
        return [card for card in _waiting if card.leave_for == server]


def _tell() -> None:
    for at, card in enumerate(_waiting, 1):
        mine = card.leave_for
        alike = sum(other.leave_for == mine for other in _waiting) if mine else 0
        card.stand(Standing(at, len(_waiting), alike))
