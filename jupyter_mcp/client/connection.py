"""One connection to one server: found out, kept, used and closed, the same way in both eras.

    connection = Connection("demo", lambda: StdioTransport("demo-server"), ConnectOptions(), peer)
    await connection.open()
    result = await connection.call_tool("add", {"a": 1, "b": 2})
    await connection.close()

It lives on one event loop. Nothing in it is bound to the task that opened it: the process belongs to a task of its
transport, questions and streams to tasks of the link; so it may be closed from anywhere, in any order, at any time.

Above: the host, by `ServerPeer`. Below: `transport` (bytes), `protocol` (what to say). This file is the way in; what
can be asked of a server is in `acts`, the work in `life`, `calls`, `questions`, `listings` and `watching`.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.client import diagnosis
from jupyter_mcp.client.acts import READ, Acts
from jupyter_mcp.client.calls import Calls
from jupyter_mcp.client.life import Life
from jupyter_mcp.client.listings import CHANGED, Kind, Listing, Listings
from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.client.peer import Call, OnLog, OnProgress, ServerPeer
from jupyter_mcp.client.questions import Questions
from jupyter_mcp.client.tasks import Tasks
from jupyter_mcp.client.watching import Watch, Watching
from jupyter_mcp.errors import ConnectionLost, LocalProtocolError, UsageError
from jupyter_mcp.protocol.methods import TABLE, known

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from jupyter_mcp.client.cache import Cache
    from jupyter_mcp.client.link import Link
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.client.session import Session
    from jupyter_mcp.protocol.revisions import Era
    from jupyter_mcp.transport.base import Closed, Transport

__all__ = ["Call", "ConnectOptions", "Connection", "Listing", "ServerPeer", "Watch"]

log = logging.getLogger("jupyter_mcp.client")

State = Literal["starting", "ready", "unresponsive", "lost", "reconnecting", "closed"]
_MOST_NOTES = 100


class Connection(Acts):
    """One server.

    Args:
        name: what the person calls it.
        make_transport: gives a fresh transport; called again when the server has to be started again.
        options: see `ConnectOptions`.
        peer: the host.

    Attributes:
        state: "starting" until it is open; "ready"; "unresponsive" (it answers no pings; requests are tried all the
            same); "lost" (the server went away); "reconnecting" (it is being opened again); "closed" (we closed it).
        notes: what was odd, one sentence each, every kind once.
        noise: the last lines of stdout that were no messages.
        last_closed: how the server ended, once it did.
    """

    def __init__(
        self, name: str, make_transport: Callable[[], Transport], options: ConnectOptions, peer: ServerPeer
    ) -> None:
        self.name = name
        self.options = options
        self.state: State = "starting"
        self.session: Session | None = None
        self.notes: list[str] = []
        self.noise: deque[str] = deque(maxlen=200)
        self.last_closed: Closed | None = None
        self.cache: Cache | None = None
        self.changes = 0
        self.link: Link | None = None
        self._peer = peer
        self._noted: set[str] = set()
        self.requests = Calls(self)
        self.life = Life(self, make_transport, peer)
        self.questions = Questions(self, peer, self.requests.only)
        self.tasks = Tasks(self, peer)
        self.watching = Watching(self)
        self.listings = Listings(self)

    # -- what is known --------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether requests can be sent."""
        return self.state == "ready" or self.state == "unresponsive"

    @property
    def era(self) -> Era | None:
        """Once connected."""
        return self.session.era if self.session else None

    @property
    def revision(self) -> str | None:
        """Once connected."""
        return self.session.revision if self.session else None

    @property
    def info(self) -> dict[str, Any]:
        """What the server calls itself; untrusted."""
        return self.session.info if self.session else {}

    @property
    def instructions(self) -> str | None:
        """The server's text about its use; untrusted."""
        return self.session.instructions if self.session else None

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server declared."""
        return self.session.capabilities if self.session else {}

    @property
    def stderr(self) -> Sequence[str]:
        """The last 200 lines of the server's stderr, also after its end."""
        return self.link.transport.stderr if self.link else ()

    @property
    def calls(self) -> Sequence[Call]:
        """Our requests in flight, oldest first."""
        return tuple(self.requests)

    # -- life -----------------------------------------------------------------------------------------------------

    async def open(self, on_status: Callable[[str], None] | None = None) -> None:
        """Start the server and find out how it speaks; again after it was lost or closed.

        Args:
            on_status: told what is going on, in a word or two.

        Raises:
            ConnectionFailed: it cannot be started or reached, or there is no common revision.
        """
        await self.life.open(on_status)

    async def ensure(self, on_status: Callable[[str], None] | None = None) -> None:
        """Make it usable: a lost server is opened again, one that answers no pings is asked once more first.

        Whoever needs it meanwhile shares the attempt. After failures the next attempts come more and more seldom; a
        pause of at most a second is waited out, in a longer one this raises the last failure at once.

        Raises:
            ConnectionFailed: it could not be opened again.
            ConnectionLost: it was closed, or never opened.
        """
        if self.state != "ready":
            await self.life.ensure(on_status)

    async def close(self) -> None:
        """End it. Whoever still waits gets `ConnectionLost`. Returns when nothing of the server is left."""
        self.state = "closed"
        links = self.life.links()
        for link in links:
            link.fail_all(lambda pending: self.gone("was closed", pending))
        self._end()
        self.life.end()
        for link in links:
            await link.close()

    def _end(self) -> None:
        self.questions.end()
        self.listings.end()
        self.watching.end()
        self.life.rest()
        self.changed()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside, as long as the link lives."""
        if self.link is not None:
            self.link.spawn(work)

    # -- requests -------------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_log: OnLog | None = None,
        log_level: str | None = None,
    ) -> dict[str, Any]:
        """Send one request and wait for its result, over all rounds it takes. Cancelling the waiting task cancels it.

        Args:
            method, params: as in the specification, without an envelope.
            timeout: seconds without an answer or progress; default `options.timeout`.
            on_progress: called with (progress, total, message) as the server sends them.
            on_log: called with (level, logger, data) of log messages that belong to this request.
            log_level: what log messages to ask for (modern only).

        Raises:
            UsageError: the server did not declare what the method needs; nothing was sent.
            RequestError: the server answered with an error.
            RequestTimeout, Cancelled, InputRefused, ConnectionLost, ProtocolError.
        """
        return await self.requests.run(
            method, params, timeout=timeout, on_progress=on_progress, on_log=on_log, log_level=log_level
        )

    def require(self, method: str) -> Session:
        """The session, if `method` may be sent now. Raises what `request` raises before sending."""
        session = self.session
        if session is None or self.state != "ready":
            session = self.current()
        if not session.allows(method):
            capability = TABLE[method].capability_in(session.era) or (method,)
            raise UsageError(
                f"The server '{self.name}' does not offer {'.'.join(capability)}; {method} was not sent.",
                server=self.name,
            )
        if method in TABLE and known(method, session.revision, "client") is None:
            raise LocalProtocolError(
                f"There is no {method} in {session.revision}, which '{self.name}' speaks.", server=self.name
            )
        return session

    def current(self) -> Session:
        """The session that requests belong to now. Raises `ConnectionLost` when there is none."""
        if self.session is None or not self.ready:
            raise self.gone(self._how_gone(), None)
        return self.session

    def _how_gone(self) -> str:
        if self.state == "closed":
            return "is closed"
        if self.state == "starting":
            return "is not connected yet"
        if self.state == "reconnecting":
            return "is being connected again"
        return self.last_closed.reason if self.last_closed else "is gone"

    def gone(self, reason: str, pending: Pending | None) -> ConnectionLost:
        """What whoever waits is told: why, during what, and whether it may have been run."""
        closed = self.last_closed
        during = f" during {pending.method} {pending.call.name if pending.call else ''}".rstrip() if pending else ""
        last = diagnosis.last_line(closed.stderr).rstrip(".") if closed and closed.exit_code else ""
        ran = pending is not None and pending.sent
        act = ran and pending is not None and pending.call is not None
        return ConnectionLost(
            f"The server '{self.name}' {reason}{during}{f': {last}.' if last else '.'}",
            server=self.name,
            hint="It may have been run." if act else None,
            may_have_run=ran,
            exit_code=closed.exit_code if closed else None,
            stderr=closed.stderr if closed else (),
        )

    # -- lists and watches ----------------------------------------------------------------------------------------

    async def list(self, kind: Kind, refresh: bool = False) -> Listing:
        """What the server offers; empty when it declared nothing of the kind. Read when needed, else kept.

        Args:
            kind: "tools", "resources", "templates" or "prompts".
            refresh: read it again in any case.
        """
        return await self.listings.list(kind, refresh)

    def listing(self, kind: Kind) -> Listing | None:
        """What was listed last; never waits."""
        return self.listings.get(kind)

    async def watch(self, uri: str, callback: Callable[[str], None] | None = None) -> Watch:
        """Be told when a resource changes: `callback(uri)` on the loop, and the host by its `notify`.

        Raises:
            UsageError: the server does not let this be watched.
        """
        return await self.watching.add(uri, callback)

    # -- for the parts of this room ---------------------------------------------------------------------------------

    def has_ended(self, link: Link, closed: Closed) -> None:
        """The server is gone: whoever waits is told."""
        self.last_closed = closed
        link.fail_all(lambda pending: self.gone(closed.reason, pending))
        self.has_failed()

    def has_failed(self) -> None:
        """It is gone, or could not be started again."""
        if self.ready:
            self.state = "lost"
            self._end()
            self.life.lost()

    def has_changed(self, method: str, params: dict[str, Any]) -> None:
        """The server says that a list or a resource is another now."""
        self.changes += 1
        uri = params.get("uri")
        if method in CHANGED:
            self.listings.has_changed(method)
        elif self.cache is not None and isinstance(uri, str):
            self.cache.drop_uri(READ, uri)

    def note(self, kind: str, text: str) -> None:
        """Keep a remark, each kind once."""
        if kind in self._noted or len(self.notes) >= _MOST_NOTES:
            return
        self._noted.add(kind)
        self.notes.append(text)
        self.remark(text)

    def remark(self, text: str) -> None:
        """Tell the host what happens to the connection; nothing is kept here."""
        try:
            self._peer.note(self, text)
        except Exception:
            log.exception("the host could not take a remark")

    def changed(self) -> None:
        """Tell the host that the state or a list is another now."""
        try:
            self._peer.changed(self)
        except Exception:
            log.exception("the host could not take a change")
