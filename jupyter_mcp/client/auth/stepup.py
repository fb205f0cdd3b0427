"""Which scopes to ask for, and how often. Pure.

    first        what the refusal names, else all that the resource says it has, else nothing (the server chooses)
    wider        what was asked for before, and what the refusal names
    and          `offline_access` where the authorization server lists it, beside others

A server that is never content is asked a few times, then it is over. Source: spec 2026-07-28 "Authorization / Scope
Selection Strategy, Scope Challenge Handling, Refresh Tokens".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OFFLINE", "Attempts", "scopes_for"]

OFFLINE = "offline_access"
MOST = 2
"""A person is sent to the same page for the same scopes so many times …"""
SPAN = 120.0
"""… within so many seconds."""
_MOST_SCOPES = 100


def scopes_for(
    named: Sequence[str] | None,
    of_resource: Sequence[str] | None,
    of_server: Sequence[str] | None,
    earlier: Sequence[str] = (),
    chosen: Sequence[str] | None = None,
    offline: bool = True,
) -> tuple[str, ...]:
    """The scopes to ask for; empty leaves the choice to the authorization server.

    Args:
        named: by the refusal; None when it names none.
        of_resource: all that the resource says it has; None when it does not say.
        of_server: all that the authorization server says it knows; None when it does not say.
        earlier: what was asked for before, when this is about more.
        chosen: by the person, instead of what the server says.
        offline: tokens that last are wanted.
    """
    wanted = chosen if chosen is not None and not earlier else named if named is not None else chosen or of_resource
    joined = dict.fromkeys((*earlier, *(wanted or ())))
    if OFFLINE in joined and of_server is not None and OFFLINE not in of_server:
        del joined[OFFLINE]  # must not be asked of a server that does not list it
    if joined and offline and of_server is not None and OFFLINE in of_server:
        joined[OFFLINE] = None
    return tuple(joined)[:_MOST_SCOPES]


class Attempts:
    """Counts how often a person was sent to a page for the same."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, frozenset[str]], list[float]] = {}

    def may(self, issuer: str, scopes: Sequence[str], now: float) -> bool:
        """Whether once more is not too often; it counts as made."""
        key = (issuer, frozenset(scopes))
        recent = [moment for moment in self._made.get(key, ()) if now - moment < SPAN]
        if len(recent) >= MOST:
            return False
        self._made[key] = [*recent, now]
        return True

    def clear(self) -> None:
        """A person asked for it: counting begins anew."""
        self._made.clear()
