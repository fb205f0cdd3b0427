"""How a connection comes to life: start, probe, agree; start again; give up and say why.

One at a time: whoever opens a connection that is being opened waits for that. What may be done with it afterwards is
`connection`.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from jupyter_mcp.client import diagnosis
from jupyter_mcp.client.incoming import Incoming
from jupyter_mcp.client.link import Link
from jupyter_mcp.client.opening import Opening, remember, remembered
from jupyter_mcp.client.session import Session
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError
from jupyter_mcp.protocol import legacy
from jupyter_mcp.protocol.probe import Verdict, probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.options import EraChoice
    from jupyter_mcp.client.peer import ServerPeer
    from jupyter_mcp.transport.base import Transport

_WANTED = ("starting", "ready")  # the states in which nobody has closed or lost it
_LAST_ANSWERS = 1.0  # seconds for answers that are on their way when the era changes


class Life:
    """Opens one connection, as often as it is asked to.

    Args:
        connection: gets its `link`, `session` and `state` from here.
        make_transport: gives a fresh transport for each start.
    """

    def __init__(self, connection: Connection, make_transport: Callable[[], Transport], peer: ServerPeer) -> None:
        self._connection = connection
        self._make_transport = make_transport
        self._peer = peer
        self._incoming = Incoming(connection, peer)
        self._ids = itertools.count(1)
        self._opening = asyncio.Lock()
        self._falling: asyncio.Task[None] | None = None
        self._ending: asyncio.Future[None] | None = None

    async def open(self, on_status: Callable[[str], None] | None) -> None:
        """See `Connection.open`."""
        async with self._opening:
            if self._connection.state == "ready":
                return
            self._connection.state = "starting"
            self._connection.changed()
            try:
                if on_status is not None:
                    on_status("starting…")
                await self._open()
            except BaseException as error:
                await self._abort(error)
                raise

    async def _open(self) -> None:
        link = await self._start(None)
        key = getattr(link.transport, "key", None)
        known_era = remembered(key) if self._connection.options.era == "auto" else None
        try:
            verdict, link = await self._probe(link, known_era or self._connection.options.era)
        except ConnectionFailed:
            if known_era is None or self._connection.state != "starting":
                raise
            remember(key, None)  # it speaks otherwise now
            verdict, link = await self._probe(await self._start(link), "auto")
        if verdict.era == "legacy" and self._connection.options.era == "auto":
            remember(key, "legacy")  # found out, not insisted on
        await self._begin(verdict, link)

    async def _start(self, before: Link | None) -> Link:
        """A fresh server, after `before` is gone."""
        if before is not None:
            await before.close()
        if self._connection.state not in _WANTED:
            raise self._given_up()
        link = self._connection.link = Link(self._make_transport(), self._incoming, lambda: next(self._ids))
        await link.open()
        return link

    async def _probe(self, link: Link, era: EraChoice) -> tuple[Verdict, Link]:
        opening = Opening(link, self._connection.options, self._start)
        verdict = await opening.run(probe(era, self._connection.options.client_info, self._peer.capabilities))
        return verdict, opening.link

    async def _begin(self, verdict: Verdict, link: Link) -> None:
        """Everything is agreed: use it."""
        session = Session(
            link,
            verdict.era,
            verdict.revision,
            verdict.info,
            verdict.instructions,
            verdict.capabilities,
            self._connection.options.client_info,
            self._peer.capabilities(verdict.revision),
        )
        for text in verdict.notes:
            self._connection.note(text, text)
        if verdict.era == "legacy":
            await self._say_initialized(link)
        self._still_wanted(link)
        self._connection.listings.forget()
        self._connection.session = session
        self._connection.state = "ready"
        link.agreed.set()
        self._connection.watching.begin(session)
        self._connection.changed()

    def _still_wanted(self, link: Link) -> None:
        """While the last message was on its way, we may have been closed, or the server may have died."""
        if self._connection.state not in _WANTED:
            raise self._given_up()
        if link.closed is not None:
            raise ConnectionFailed(f"The server {link.closed.reason} right after the handshake.")

    def _given_up(self) -> ConnectionFailed:
        return ConnectionFailed(f"The connection to '{self._connection.name}' was closed while it was opened.")

    async def _say_initialized(self, link: Link) -> None:
        try:
            await link.send(legacy.initialized())
        except ConnectionLost as lost:
            raise ConnectionFailed(f"{lost.message.rstrip('.')} right after the handshake.") from None

    async def settled(self) -> None:
        """Wait until no change of the era is under way; raises what it came to."""
        if self._falling is not None:
            await asyncio.shield(self._falling)

    async def fall_back(self, session: Session) -> None:
        """The server of `session` is only half modern: do the handshake after all, once for all who notice.

        It goes on when those who wait are cancelled: a connection between two eras is of no use to anybody.
        """
        if self._falling is None:
            if self._connection.session is not session or session.link.closed is not None:
                return
            self._falling = asyncio.ensure_future(self._fall_back(session))
            self._falling.add_done_callback(self._fallen)
        await self.settled()

    def _fallen(self, task: asyncio.Task[None]) -> None:
        self._falling = None
        if not task.cancelled():
            task.exception()  # whoever waits raises it; there may be nobody

    async def _fall_back(self, session: Session) -> None:
        self._connection.note(
            "half-modern",
            "The server answers server/discover but wants the initialize handshake; it was started again in the"
            " legacy era. era=legacy spares the detour.",
        )
        remember(getattr(session.link.transport, "key", None), "legacy")
        try:
            verdict, link = await self._probe(await self._restart(session.link), "legacy")
            await self._begin(verdict, link)
        except MCPError as error:
            if self._connection.link is not None:
                await self._connection.link.close()
            self._explain(error)
            self._connection.has_failed()
            raise

    async def _restart(self, link: Link) -> Link:
        """A fresh server: one that was spoken to in the modern way may hold on to it (kglite does)."""
        answers = [pending.future for pending in link.waiting if pending.call is not None]
        if answers:
            await asyncio.wait(answers, timeout=_LAST_ANSWERS)
        link.fail_all(lambda pending: ConnectionLost(f"The server was started again during {pending.method}."))
        self._connection.link = None  # its end is not that of the connection
        return await self._start(link)

    async def _abort(self, error: BaseException) -> None:
        """Opening failed, or was cancelled: nothing stays behind."""
        if self._connection.state == "starting":
            self._connection.state = "closed"
        link = self._connection.link
        if isinstance(error, MCPError):
            if link is not None:
                await asyncio.shield(link.close())
            self._explain(error)
        elif link is not None:
            self._ending = asyncio.ensure_future(link.close())  # an interrupt does not wait for it
        self._connection.changed()

    def _explain(self, error: MCPError) -> None:
        """Add what is known about the server to the error: its name, its last words, what to do."""
        error.server = self._connection.name
        error.message = error.message.replace("The server ", f"The server '{self._connection.name}' ", 1)
        if isinstance(error, ConnectionFailed):
            closed = self._connection.link.closed if self._connection.link else None
            error.stderr = error.stderr or list(self._connection.stderr)
            if error.exit_code is None and closed is not None:
                error.exit_code = closed.exit_code
            error.hint = error.hint or diagnosis.hint(error.stderr, tuple(self._connection.noise), error.exit_code)
        if error.hint and error.message[-1:] not in ".!?":
            error.message += "."
