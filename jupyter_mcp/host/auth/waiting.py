"""Who waits for what a browser brings back: each `state` is known to one login, for a while, and counts once.

Whatever receives the browser (the listener of this machine, a page of the Jupyter Server) hands the query on as it
came; only a `state` that somebody waits for is taken, so nobody else can end a login, or slip a code into one.

Source: RFC 6749 section 10.12; RFC 9700 section 4.7.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import AuthorizationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from jupyter_mcp.client.auth.visit import RedirectParams

__all__ = ["SECONDS", "Waiting"]

SECONDS = 1_800.0
"""So long a login is waited for."""


@dataclass(eq=False)
class _Awaited:
    """One login that is waited for."""

    state: str
    until: float
    future: asyncio.Future[RedirectParams]


class Waiting:
    """The logins of one host that are waited for. Used on one event loop.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._awaited: list[_Awaited] = []

    def __len__(self) -> int:
        self._drop_old()
        return len(self._awaited)

    @contextmanager
    def expect(self, state: str, seconds: float = SECONDS) -> Generator[asyncio.Future[RedirectParams]]:
        """Inside the block the answer that brings this state is waited for; the future gets it, once.

        Args:
            state: the whole of it; it is not guessed.
            seconds: after which it is not taken any more.
        """
        awaited = _Awaited(state, self._clock() + seconds, asyncio.get_running_loop().create_future())
        self._awaited.append(awaited)
        try:
            yield awaited.future
        finally:
            if awaited in self._awaited:
                self._awaited.remove(awaited)
            awaited.future.cancel()

    def deliver(self, query: str) -> bool:
        """Hand on what a browser brought back; False: nobody waits for it (any more).

        Args:
            query: of the address that it came to, without the question mark; untrusted.
        """
        from jupyter_mcp.client.auth.landing import state_of
        from jupyter_mcp.client.auth.visit import read_redirect

        state = state_of(query)
        self._drop_old()
        found: _Awaited | None = None
        for awaited in self._awaited:  # all of them are compared, so that no time tells how near one was
            if hmac.compare_digest(awaited.state.encode(), state.encode("utf-8", "surrogatepass")):
                found = awaited
        if not state or found is None or found.future.done():
            return False
        try:
            params = read_redirect(f"http://localhost/?{query}")
        except AuthorizationFailed:  # it says something twice, so perhaps two have written it
            return False
        self._awaited.remove(found)
        found.future.set_result(params)
        return True

    async def on_request(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What the Jupyter Server asks of this kernel when a browser has come back: `{"query"}` -> `{"delivered"}`."""
        query = data.get("query")
        return {"delivered": isinstance(query, str) and self.deliver(query)}

    def _drop_old(self) -> None:
        now = self._clock()
        self._awaited = [awaited for awaited in self._awaited if awaited.until > now]
