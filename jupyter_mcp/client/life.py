"""How a connection comes to life: start, probe, agree; start again; give up and say why.

One at a time: whoever opens a connection that is being opened waits for that. What may be done with it afterwards is
`connection`; what a lost one does is `reconnect`, an idle one `heartbeat`, and a server that turns out to be of the
other era, or ends its session, is `turning`: these three are loaded when they are needed.
"""

from __future__ import annotations

import asyncio
import itertools
from math import inf
from typing import TYPE_CHECKING

from jupyter_mcp.client import diagnosis
from jupyter_mcp.client.incoming import Incoming
from jupyter_mcp.client.link import Link
from jupyter_mcp.client.opening import Opening, remember, remembered
from jupyter_mcp.client.session import Session
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError
from jupyter_mcp.protocol import legacy
from jupyter_mcp.protocol.probe import Verdict, probe
from jupyter_mcp.transport.base import Closed

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection, State
    from jupyter_mcp.client.heartbeat import Heartbeat
    from jupyter_mcp.client.options import EraChoice
    from jupyter_mcp.client.peer import ServerPeer
    from jupyter_mcp.client.reconnect import Reconnect
    from jupyter_mcp.client.turning import Turning
    from jupyter_mcp.transport.base import Transport

_BETWEEN_SESSIONS = 10.0  # seconds at least, where a server forgets them again and again
_WANTED = ("starting", "ready", "unresponsive", "reconnecting")  # the states in which nobody has closed or lost it


class Life:
    """Opens one connection, as often as it is asked to.

    Args:
        connection: gets its `link`, `session` and `state` from here.
        make_transport: gives a fresh transport for each start.
    """

    def __init__(self, connection: Connection, make_transport: Callable[[], Transport], peer: ServerPeer) -> None:
        self.turning: Turning | None = None  # once the server turned out to be other than it seemed
        self._connection = connection
        self._make_transport = make_transport
        self._peer = peer
        self._incoming = Incoming(connection, peer)
        self._ids = itertools.count(1)
        self._opening = asyncio.Lock()
        self._ending: asyncio.Future[None] | None = None
        self._left: dict[Link, asyncio.Task[None]] = {}
        self.again: Reconnect | None = None  # once it was lost
        self._renewed_at = -inf
        self._beat: asyncio.TimerHandle | Heartbeat | None = None

    async def open(self, on_status: Callable[[str], None] | None, *, again: bool = False) -> None:
        """See `Connection.open`; `again` when it was lost, and stays so if this fails."""
        connection = self._connection
        async with self._opening:
            if connection.ready:
                return
            connection.state = "reconnecting" if again else "starting"
            connection.changed()
            try:
                if on_status is not None:
                    on_status("reconnecting…" if again else "starting…")
                await self._open()
            except BaseException as error:
                await self._abort(error, "lost" if again else "closed")
                raise
            if self.again is not None:
                self.again.opened()

    async def _open(self) -> None:
        link = await self.start(None)
        key = getattr(link.transport, "key", None)
        era = self._connection.options.era
        if era == "auto" and link.transport.kind == "sse":
            era = "legacy"  # the other era never used it
        known = remembered(key) if era == "auto" else None
        try:
            link = await self._older(link) if known == "sse" else link
            verdict, link = await self.probe(link, "legacy" if known else era)
        except ConnectionFailed:
            if known is None or self._connection.state not in _WANTED:
                raise
            remember(key, None)  # it speaks otherwise now
            verdict, link = await self.probe(await self.start(link), "auto")
        if verdict.era == "legacy" and era == "auto":  # found out, not insisted on
            remember(key, "sse" if link.transport.kind == "sse" else "legacy")
        await self.begin(verdict, link)

    async def start(self, before: Link | None) -> Link:
        """A fresh server, after `before` is gone. Raises `ConnectionFailed`."""
        if before is not None:
            await before.close()
        return await self._use(self._make_transport)

    async def _older(self, link: Link) -> Link:
        """The same server over HTTP+SSE. Raises `ConnectionFailed` when there is no such thing."""
        make: Callable[[], Transport | None] | None = getattr(link.transport, "downgraded", None)
        transport = None if make is None else make()
        if transport is None:
            raise ConnectionFailed("The server cannot be asked in another way.")
        await link.close()
        return await self._use(lambda: transport)

    async def _use(self, make: Callable[[], Transport]) -> Link:
        """Open a link over such a transport, and leave the one before."""
        if self._connection.state not in _WANTED:
            raise self._given_up()
        before = self._connection.link
        if before is not None:
            self._leave(before)
        link = self._connection.link = Link(make(), self._incoming, lambda: next(self._ids))
        await link.open()
        return link

    async def probe(self, link: Link, era: EraChoice) -> tuple[Verdict, Link]:
        """Find out how the server speaks. Raises `ConnectionFailed`."""
        opening = Opening(link, self._connection.options, self.start, self._older)
        verdict = await opening.run(probe(era, self._connection.options.client_info, self._peer.capabilities))
        return verdict, opening.link

    async def begin(self, verdict: Verdict, link: Link) -> None:
        """Everything is agreed: use it. Raises `ConnectionFailed` when it is over already."""
        connection = self._connection
        session = Session(
            link,
            verdict.era,
            verdict.revision,
            verdict.info,
            verdict.instructions,
            verdict.capabilities,
            connection.options.client_info,
            self._peer.capabilities(verdict.revision),
        )
        for text in verdict.notes:
            connection.note(text, text)
        if verdict.era == "legacy":
            await self._say_initialized(link)
        self._still_wanted(link)
        connection.session = session
        connection.state = "ready"
        connection.cache = None
        connection.listings.renew()
        link.agreed.set()
        connection.watching.begin(session)
        self._listen_to_its_heart(session)
        connection.changed()

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
        except MCPError:
            raise
        except Exception as refused:  # HTTP: some servers answer this one oddly and work all the same
            self._connection.note("initialized", f"The server refused notifications/initialized: {refused}.")

    # -- an idle connection, a lost one ---------------------------------------------------------------------------

    def _listen_to_its_heart(self, session: Session) -> None:
        """One timer for an idle connection; none where the end of the other side shows by itself."""
        self.rest()
        kind, every = session.link.transport.kind, self._connection.options.heartbeat
        if every > 0 and kind != "memory" and (session.era == "legacy" or kind != "stdio"):
            self._beat = asyncio.get_running_loop().call_later(every, self._first_beat, session)

    def _first_beat(self, session: Session) -> None:
        from jupyter_mcp.client.heartbeat import Heartbeat

        self._beat = Heartbeat(self._connection, session)
        self._beat.tick()

    def rest(self) -> None:
        """No more heartbeats."""
        beat, self._beat = self._beat, None
        if beat is not None:
            beat.cancel()

    async def ensure(self, on_status: Callable[[str], None] | None) -> None:
        """See `Connection.ensure`."""
        await self._again().ensure(on_status)

    def unresponsive(self) -> None:
        """It answers no pings. While something of it is watched it is given up, else when it is needed."""
        connection = self._connection
        if connection.state == "ready":
            connection.state = "unresponsive"
            connection.remark("It does not answer any more.")
            connection.changed()
        if connection.watching.uris:
            self._ending = asyncio.ensure_future(self.give_up())

    def revived(self) -> None:
        """There is a sign of life."""
        if self._connection.state == "unresponsive":
            self._connection.state = "ready"
            self._connection.changed()

    async def give_up(self) -> None:
        """Take a server that does not answer for lost, and end it."""
        link = self._connection.link
        if link is not None and self._connection.state == "unresponsive":
            link.on_closed(Closed("did not answer any more"))
            await asyncio.shield(asyncio.ensure_future(link.close()))

    def unreachable(self) -> None:
        """HTTP: nobody listens there any more. What is in flight comes to its own end."""
        self.mark_lost(Closed("cannot be reached"))

    def mark_lost(self, closed: Closed) -> None:
        """The server is gone, though the link does not show it."""
        self._connection.last_closed = closed
        self._connection.has_failed()

    def lost(self) -> None:
        """The server went away: if something of it is watched, it is opened again at once."""
        if self._connection.watching.uris or self.again is not None:
            self._again().lost()

    def _again(self) -> Reconnect:
        if self.again is None:
            from jupyter_mcp.client.reconnect import Reconnect

            self.again = Reconnect(self._connection)
        return self.again

    # -- turning --------------------------------------------------------------------------------------------------

    def forgotten(self, session: Session) -> None:
        """The stream of the session ended because the server forgot it. A new one is begun if something is watched
        (else by the next request), at once, but not again and again.
        """
        if self._connection.watching.uris:
            session.link.spawn(self._renew(session))

    async def _renew(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._renewed_at + _BETWEEN_SESSIONS - loop.time()))
        self._renewed_at = loop.time()
        try:
            await self.turn(session, "session")
        except MCPError as error:
            self._connection.remark(str(error))

    async def turn(self, session: Session, to: str) -> None:
        """The server of `session` wants a handshake: see `turning`. Once for all who notice."""
        if self.turning is None:
            from jupyter_mcp.client.turning import Turning

            self.turning = Turning(self._connection)
        await self.turning.turn(session, to)

    # -- the end --------------------------------------------------------------------------------------------------

    def links(self) -> list[Link]:
        """All links that are not done with."""
        link = self._connection.link
        return [*self._left, *(() if link is None else (link,))]

    def end(self) -> None:
        """Nothing is opened any more, and nothing left to come to its end."""
        if self.again is not None:
            self.again.end()
        for task in self._left.values():
            task.cancel()

    def _leave(self, link: Link) -> None:
        """What is in flight on a link that is used no more comes to its end there."""
        self._left[link] = asyncio.ensure_future(self._drain(link))

    async def _drain(self, link: Link) -> None:
        try:
            waiting = [pending.future for pending in link.waiting if pending.call is not None]
            if waiting:
                await asyncio.wait(waiting, timeout=self._connection.options.max_timeout)
            link.fail_all(lambda pending: self._connection.gone("was connected anew", pending))
            await link.close()
        finally:
            self._left.pop(link, None)

    async def _abort(self, error: BaseException, state: State) -> None:
        """Opening failed, or was cancelled: nothing stays behind."""
        if self._connection.state in ("starting", "reconnecting"):
            self._connection.state = state
        link = self._connection.link
        if isinstance(error, MCPError):
            if link is not None:
                await asyncio.shield(link.close())
            self.explain(error)
        elif link is not None:
            self._ending = asyncio.ensure_future(link.close())  # an interrupt does not wait for it
        self._connection.changed()

    def explain(self, error: MCPError) -> None:
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
