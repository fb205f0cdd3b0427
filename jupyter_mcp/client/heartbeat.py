"""Whether an idle server is still there: it is asked now and then, and taken for unresponsive after two misses.

Who is heard of is not asked: an answer, a notification, a comment on a stream of events is a sign of life. While
requests are in flight nobody is asked either; they have their own limits. Where the end of the other side shows by
itself (a process in the modern era, memory) there is no heartbeat at all; `life` knows.

One timer, which lives as long as the session.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConnectionLost, MCPError

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.session import Session

MISSES = 2
PATIENCE = 10.0  # seconds for an answer, or the time between two beats when that is less


class Heartbeat:
    """The heartbeat of one session.

    Args:
        later: runs a function after so many seconds; by default the loop does.
    """

    def __init__(
        self,
        connection: Connection,
        session: Session,
        later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] | None = None,
    ) -> None:
        self._connection = connection
        self._session = session
        self._later = later or asyncio.get_running_loop().call_later
        self._every = connection.options.heartbeat
        self._misses = 0
        self._timer: asyncio.TimerHandle | None = None
        self._asking: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """The session is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._asking is not None:
            self._asking.cancel()

    def tick(self) -> None:
        """Another `heartbeat` seconds have passed: ask, unless the server was heard of or is busy with us."""
        link = self._session.link
        heard, link.heard = link.heard, False
        if heard:
            self._alive()
        if heard or link.busy:
            self._timer = self._later(self._every, self.tick)
        else:
            self._asking = link.spawn(self._ask())

    async def _ask(self) -> None:
        try:
            await self._connection.ping(timeout=min(PATIENCE, self._every))
        except (TimeoutError, ConnectionLost):
            self._miss()
        except MCPError:  # an error is an answer too
            self._alive()
        else:
            self._alive()
        self._session.link.heard = False  # the answer itself; whatever else came is as good
        self._asking = None
        if self._connection.ready and self._connection.session is self._session:
            self._timer = self._later(self._every, self.tick)

    def _alive(self) -> None:
        self._misses = 0
        self._connection.life.revived()

    def _miss(self) -> None:
        self._misses += 1
        if self._misses >= MISSES and self._connection.session is self._session:
            self._connection.life.unresponsive()
