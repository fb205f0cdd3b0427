"""Pages that servers want the person to visit: which of them the servers have called done.

A server may say so before anybody waits for it (the person was quick, or had the page open already), so what it said is
remembered for a while. Nothing is opened or fetched here.

Source: spec 2025-11-25 "Elicitation / Completion notifications for URL mode" (the later era has no such notification).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Pages"]

_REMEMBERED = 256
_Key = tuple[str, str]


class Pages:
    """What `notifications/elicitation/complete` said; touched on the runtime loop only."""

    def __init__(self) -> None:
        self._done: dict[_Key, None] = {}
        self._waiting: dict[_Key, list[asyncio.Event]] = {}

    def completed(self, server: str, id: object) -> bool:
        """The server says that the page with this `elicitationId` is done; returns whether somebody waited for it."""
        if not isinstance(id, str):
            return False
        key = (server, id[:1_000])
        waiting = self._waiting.get(key, [])
        for event in waiting:
            event.set()
        if not waiting:
            self._done[key] = None
            while len(self._done) > _REMEMBERED:
                del self._done[next(iter(self._done))]
        return bool(waiting)

    async def until_done(self, server: str, params: Mapping[str, Any]) -> None:
        """Wait until the server calls the page of this request done; for ever when it has no id to say so."""
        id = params.get("elicitationId")
        if not isinstance(id, str):
            await asyncio.Event().wait()
            return
        key = (server, id[:1_000])
        if key in self._done:
            del self._done[key]
            return
        event = asyncio.Event()
        waiting = self._waiting.setdefault(key, [])
        waiting.append(event)
        try:
            await event.wait()
        finally:
            waiting.remove(event)
            if not waiting:
                del self._waiting[key]
