"""A server in use turns out to be other than it seemed: a handshake is done after all, or again.

    half modern     it answers server/discover and then wants `initialize` (a process is started again for that)
    session ended   HTTP, legacy: it forgot the session (404); the same link takes a new `initialize`

Once for all who notice, and it goes on when those who wait are cancelled: a connection in between is of no use to
anybody. Requests that come meanwhile wait for it (`calls`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_mcp.client.opening import remember
from jupyter_mcp.errors import ConnectionLost, MCPError

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.link import Link
    from jupyter_mcp.client.session import Session

_LAST_ANSWERS = 1.0  # seconds for answers that are on their way when the era changes


class Turning:
    """The changes of one connection while it is in use, one at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._task: asyncio.Task[None] | None = None

    async def turn(self, session: Session, to: str) -> None:
        """Do what the server of `session` wants: "handshake" (it is half modern) or "session" (it forgot ours).

        Raises:
            ConnectionFailed: that did not work; the connection is lost.
        """
        if self._task is None:
            if self._connection.session is not session or session.link.closed is not None:
                return
            self._task = asyncio.ensure_future(self._turn(session, to))
            self._task.add_done_callback(self._done)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing changes; raises what it came to."""
        if self._task is not None:
            await asyncio.shield(self._task)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled():
            task.exception()  # whoever waits raises it; there may be nobody

    async def _turn(self, session: Session, to: str) -> None:
        connection = self._connection
        try:
            link = self._renewed(session) if to == "session" else await self._handshake(session)
            await connection.life.begin(*await connection.life.probe(link, "legacy"))
        except MCPError as error:
            if connection.link is not None:
                await connection.link.close()
            connection.life.explain(error)
            connection.has_failed()
            raise

    def _renewed(self, session: Session) -> Link:
        self._connection.note("session", "The server ended the session; a new one was begun.")
        self._connection.questions.end()  # nobody will read the answers
        return session.link

    async def _handshake(self, session: Session) -> Link:
        over_http = session.link.transport.kind == "http"
        how = "it is used in the legacy era from now on" if over_http else "it was started again in the legacy era"
        self._connection.note(
            "half-modern",
            f"The server answers server/discover but wants the initialize handshake; {how}."
            " era=legacy spares the detour.",
        )
        remember(getattr(session.link.transport, "key", None), "legacy")
        return session.link if over_http else await self._restart(session.link)

    async def _restart(self, link: Link) -> Link:
        """A fresh server: one that was spoken to in the modern way may hold on to it (kglite does)."""
        answers = [pending.future for pending in link.waiting if pending.call is not None]
        if answers:
            await asyncio.wait(answers, timeout=_LAST_ANSWERS)
        link.fail_all(lambda pending: ConnectionLost(f"The server was started again during {pending.method}."))
        self._connection.link = None  # its end is not that of the connection
        return await self._connection.life.start(link)
