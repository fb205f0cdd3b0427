"""Being told of changes: watched resources, and (modern) the one stream that carries list changes too.

Legacy: resources/subscribe for each URI, list changes come unasked. Modern: one `subscriptions/listen` names all that
is wanted (`stream`); when that changes a new one is opened before the old one is closed, so that nothing falls between.
After a gap (the server was started again, a stream broke) whoever watches a resource is told as if it had changed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.protocol.capabilities import declared
from jupyter_mcp.protocol.listen import ACKNOWLEDGED, Demux

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.listings import Kind
    from jupyter_mcp.client.session import Session
    from jupyter_mcp.client.stream import Stream

log = logging.getLogger("jupyter_mcp.client")

LISTEN = "subscriptions/listen"
_PATHS: dict[Kind, str] = {"tools": "tools", "resources": "resources", "templates": "resources", "prompts": "prompts"}
_KEYS: dict[Kind, str] = {
    "tools": "toolsListChanged",
    "resources": "resourcesListChanged",
    "templates": "resourcesListChanged",
    "prompts": "promptsListChanged",
}


class Watch:
    """One watched resource; `await stop()` ends it."""

    def __init__(self, uri: str, callback: Callable[[str], None] | None, stop: Callable[[Watch], Any]) -> None:
        self.uri = uri
        self.callback = callback
        self._stop = stop
        self.active = True

    async def stop(self) -> None:
        """No more calls after this; the server is told when nobody else watches the resource."""
        if self.active:
            self.active = False
            await self._stop(self)


class Watching:
    """The watches and the listen stream of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._watches: list[Watch] = []
        self._demux = Demux()
        self._stream: Stream | None = None

    @property
    def uris(self) -> list[str]:
        """What is watched, without repetition."""
        return list(dict.fromkeys(watch.uri for watch in self._watches))

    def covers(self, kind: Kind) -> bool:
        """Whether the server tells when this list changes."""
        session = self._connection.session
        if session is None:
            return False
        if session.era == "legacy":
            return True  # or there is no way to know; there is no time to live either
        stream = self._stream
        return stream is not None and bool((stream.kept or {}).get(_KEYS[kind]))

    # -- life -----------------------------------------------------------------------------------------------------

    def begin(self, session: Session) -> None:
        """A server is there (again): ask for everything that is wanted."""
        self.end()
        self._demux = Demux()
        if session.era == "modern":
            self._reopen(session, again=True)
        else:
            for uri in self.uris:
                session.link.spawn(self._subscribe_again(uri))

    async def _subscribe_again(self, uri: str) -> None:
        try:
            await self._connection.request("resources/subscribe", {"uri": uri})
        except MCPError as error:
            self._connection.note(f"watch {uri}", f"{uri} is not watched any more: {error}")
        else:
            self._tell(uri)

    def end(self) -> None:
        """The link is gone, or the session; the watches stay for the next one."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abandon()

    def missed(self, uris: Iterable[str], *, lists: bool) -> None:
        """Nobody listened for a while: what is watched may have changed, and (`lists`) what is kept may be old."""
        if lists:
            self._connection.listings.renew()
            self._connection.cache = None
        for uri in uris:
            self._tell(uri)

    # -- watching -------------------------------------------------------------------------------------------------

    async def add(self, uri: str, callback: Callable[[str], None] | None) -> Watch:
        """Watch a resource.

        Raises:
            UsageError: the server does not offer that, for this resource or at all.
        """
        session = self._connection.require("resources/subscribe" if self._is_legacy() else LISTEN)
        if not declared(session.capabilities, ("resources", "subscribe")):
            raise UsageError(
                f"The server '{self._connection.name}' does not let its resources be watched.",
                server=self._connection.name,
            )
        watch = Watch(uri, callback, self._remove)
        new = uri not in self.uris
        self._watches.append(watch)
        try:
            if new and session.era == "legacy":
                await self._connection.request("resources/subscribe", {"uri": uri})
            elif new:
                await self._reopen(session).acknowledged(uri)
        except BaseException:
            watch.active = False
            self._watches.remove(watch)
            if session.era == "modern":
                self._reopen(session)
            raise
        return watch

    def _is_legacy(self) -> bool:
        return self._connection.era != "modern"

    async def _remove(self, watch: Watch) -> None:
        self._watches.remove(watch)
        session = self._connection.session
        if watch.uri in self.uris or session is None or not self._connection.ready:
            return
        if session.era == "modern":
            self._reopen(session)
        else:
            try:
                await self._connection.request("resources/unsubscribe", {"uri": watch.uri})
            except MCPError as error:
                log.debug("unsubscribe: %s", error)

    def updated(self, params: dict[str, Any]) -> None:
        """A resource changed: tell those who watch it, or something above it."""
        uri = params.get("uri")
        if isinstance(uri, str):
            self._tell(uri)

    def _tell(self, uri: str) -> None:
        for watch in tuple(self._watches):
            if watch.callback is not None and (uri == watch.uri or uri.startswith(watch.uri.rstrip("/") + "/")):
                try:
                    watch.callback(uri)
                except Exception:
                    log.exception("a watcher of %s failed", watch.uri)

    # -- the stream -----------------------------------------------------------------------------------------------

    def _reopen(self, session: Session, again: bool = False) -> Stream:
        """Open a stream for what is wanted now, then close the one before."""
        from jupyter_mcp.client.stream import Stream

        old = self._stream
        self._stream = Stream(self._connection, session, self._demux, self.uris, old, again)
        return self._stream

    def acknowledged(self, params: dict[str, Any]) -> None:
        """The server says what it will send."""
        found = self._demux.receive(ACKNOWLEDGED, params)
        if found is not None and self._stream is not None:
            self._stream.acknowledge(found.id)

    def ended(self, id: object) -> None:
        """The server tore a stream down by a cancellation (the other way is an answer to the request)."""
        if self._demux.end(id) is not None and self._stream is not None:
            self._stream.torn_down(id)
