"""Telling those who listen: one that fails is logged, and costs neither the others nor whoever tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable

__all__ = ["tell"]


def tell(listeners: Iterable[Callable[..., object]], *told: Any, log: logging.Logger, what: str) -> None:
    """Call each that listens now; who is added or goes meanwhile counts the next time.

    Args:
        listeners: of the thing.
        told: what they are called with.
        log: takes the traceback of one that fails.
        what: of what they are listeners, for the log.
    """
    for listener in list(listeners):
        try:
            listener(*told)
        except Exception:
            log.exception("a listener of %s failed", what)
