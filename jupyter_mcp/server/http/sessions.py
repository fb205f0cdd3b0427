"""What the legacy era remembers over HTTP: sessions by their id, and in each the streams a client may come back to.

A session lives until the client ends it, nothing was heard of it for a long time, or newer ones need its place. It
belongs to whoever began it: for anybody else its id names nothing.

Above: `endpoint`, `handler`. Source: spec 2025-11-25 "Transports / Session Management", "Resumability and Redelivery".
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.jsonrpc import INVALID_REQUEST, PARSE_ERROR
from jupyter_mcp.protocol.revisions import features
from jupyter_mcp.server.http.streams import Body, Stream, parse_event_id
from jupyter_mcp.server.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from jupyter_mcp.server.server import Server

_OWN = "0"
_STATUS = {PARSE_ERROR: 400, INVALID_REQUEST: 400}
MOST_STREAMS = 64
"""Streams that a session keeps after their end, for a client that missed it."""
MOST_KEPT = 32 * 2**20
"""Bytes of the events that a session keeps in all; the oldest streams that have ended go first."""
MOST_KEPT_IN_ALL = 256 * 2**20
"""The same for all sessions; those unused for longest give up theirs first."""
KEPT_SECONDS = 300.0
"""How long a stream that has ended is kept."""
MOST_RUNNING = 1_000
"""Requests of one session that run at once. (Those of a client that went away go on in the legacy era.)"""


class HttpSession:
    """One client of the legacy era.

    Attributes:
        own: the stream of what belongs to no request.
        id: its `Mcp-Session-Id` (256 random bits).
        session: the talk itself.
        last_used: loop time of the last request.
    """

    def __init__(self, server: Server, principal: str, own: Stream | None = None) -> None:
        self.id = secrets.token_urlsafe(32)
        self.principal = principal
        self.own = own or Stream(None, name=_OWN)
        self._streams: dict[str, Stream] = {_OWN: self.own}
        self._names = itertools.count(1)
        self.session = Session(server, self.own, era="legacy", principal=principal)
        self.last_used = self.session.work.loop.time()

    @property
    def resumable(self) -> bool:
        """Whether its clients know events that are an id alone, and streams that end early."""
        revision = self.session.revision
        return revision is not None and features(revision).stream_polling

    @property
    def read(self) -> bool:
        """Whether somebody reads one of its streams."""
        return any(stream.attached for stream in self._streams.values())

    @property
    def busy(self) -> bool:
        """Whether it works on something, or somebody reads."""
        return len(self.session.work) > 0 or self.read

    @property
    def full(self) -> bool:
        """Whether it has no room for another request."""
        return len(self.session.work) >= MOST_RUNNING

    @property
    def kept(self) -> int:
        """Bytes of the events of all its streams."""
        return sum(stream.kept for stream in self._streams.values())

    def stream(self, body: Body, *, json: bool, events: bool) -> Stream:
        """The way back of a request that came with this response."""
        name = str(next(self._names))
        own = None if events else self.own
        prime = self.resumable
        stream = Stream(body, name=name, prime=prime, json=json, events=events, status=_STATUS, elsewhere=own)
        self._streams[name] = stream
        self._trim()
        return stream

    def settled(self, stream: Stream) -> None:
        """Its response is over. What was answered as JSON cannot be asked for again."""
        if stream.done and not stream.opened:
            self._streams.pop(stream.name, None)

    def attach(self, body: Body, last_event_id: str | None) -> Stream | None:
        """Let a GET carry its own stream, or the one that a last event id names; None when it names none."""
        if last_event_id is None:
            self.own.attach(body, prime=self.resumable)
            return self.own
        parsed = parse_event_id(last_event_id)
        stream = self._streams.get(parsed[0]) if parsed is not None else None
        if parsed is None or stream is None:
            return None
        stream.attach(body, parsed[1])
        return stream

    def _trim(self) -> None:
        ended = self._ended()
        kept = self.kept
        while ended and (len(ended) > MOST_STREAMS or kept > MOST_KEPT):
            kept -= self._streams.pop(ended.pop(0)).kept

    def forget(self, before: float) -> None:
        """Let go of the streams that ended before that loop time."""
        for name in self._ended():
            if self._streams[name].ended_at < before:
                del self._streams[name]

    def _ended(self) -> list[str]:
        return [name for name, stream in self._streams.items() if stream.done and not stream.attached]

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread."""
        self.session.changed(method, params)

    def watched(self) -> set[str]:
        """The URIs whose changes the client asked to hear of. Any thread."""
        return self.session.watched()

    async def finish(self, seconds: float) -> None:
        """Give what it works on so long to end by itself."""
        self.own.end()
        await self.session.work.finish(seconds)

    async def stop(self) -> None:
        """End it: what it works on is cancelled, who reads is told that no more will come."""
        self.session.lose()
        await self.session.work.stop()
        for stream in self._streams.values():
            stream.end()


class Sessions:
    """All sessions of an endpoint.

    Args:
        server: whose they are.
        most: how many there may be.
        idle: seconds without any request after which one ends.
    """

    def __init__(self, server: Server, *, most: int, idle: float) -> None:
        self._server = server
        self._most = most
        self._idle = idle
        self._sessions: dict[str, HttpSession] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[HttpSession]:
        return iter(list(self._sessions.values()))

    def begin(self, principal: str, own: Stream | None = None) -> HttpSession | None:
        """A new session (with that stream as its own); None when there is no place for it."""
        if len(self._sessions) >= self._most and not self._make_room(principal):
            return None
        session = HttpSession(self._server, principal, own)
        self._sessions[session.id] = session
        self._server.attach(session)
        return session

    def find(self, id_: str, principal: str) -> HttpSession | None:
        """The session of that id, if it is this client's."""
        session = self._sessions.get(id_)
        if session is None or session.principal != principal:
            return None
        session.last_used = session.session.work.loop.time()
        return session

    def end(self, session: HttpSession) -> None:
        """End one; its id names nothing from now on."""
        self._remove(session)
        self._later(session.stop)

    def expire(self) -> None:
        """End those that nobody used for long, whatever they still work on; let go of streams that ended long ago."""
        now = asyncio.get_running_loop().time()
        kept = 0
        for session in sorted(self, key=lambda session: -session.last_used):
            if session.read:
                session.last_used = now
            elif now - session.last_used > self._idle:
                self.end(session)
                continue
            session.forget(now - KEPT_SECONDS)
            kept += session.kept
            if kept > MOST_KEPT_IN_ALL:
                session.forget(now)

    def _make_room(self, principal: str) -> bool:
        """End a session that nobody uses: of a client that has more than this one, the most; else of its own."""
        counts = Counter(session.principal for session in self)
        resting = [session for session in self if not session.busy]
        richer = [session for session in resting if counts[session.principal] > counts[principal]]
        most = max((counts[session.principal] for session in richer), default=0)
        places = [session for session in richer if counts[session.principal] == most]
        places = places or [session for session in resting if session.principal == principal]
        if places:
            self.end(min(places, key=lambda session: session.last_used))
        return bool(places)

    async def close(self, grace: float) -> None:
        """End all: what they work on is given so many seconds."""
        sessions = list(self)
        if sessions:
            await asyncio.wait([asyncio.ensure_future(session.finish(grace)) for session in sessions])
            for session in sessions:
                self._remove(session)
            await asyncio.wait([asyncio.ensure_future(session.stop()) for session in sessions])
        if self._ending:
            await asyncio.wait(self._ending)

    def _remove(self, session: HttpSession) -> None:
        self._sessions.pop(session.id, None)
        self._server.detach(session)

    def _later(self, stop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.get_running_loop().create_task(stop())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
