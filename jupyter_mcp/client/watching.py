"""Being told of changes: watched resources, and (modern) the one stream that carries list changes too.

Legacy: resources/subscribe for each URI, list changes come unasked. Modern: one `subscriptions/listen` names all that
is wanted; when that changes a new one is opened before the old one is closed, so that nothing falls between.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, MCPError, RequestError, RequestTimeout, UsageError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.capabilities import declared
from jupyter_mcp.protocol.jsonrpc import METHOD_NOT_FOUND
from jupyter_mcp.protocol.listen import ACKNOWLEDGED, Demux, build_filter
from jupyter_mcp.protocol.probe import demands_initialize

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.listings import Kind
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.client.session import Session

log = logging.getLogger("jupyter_mcp.client")

LISTEN = "subscriptions/listen"
_PATHS: dict[Kind, str] = {"tools": "tools", "resources": "resources", "templates": "resources", "prompts": "prompts"}
_KEYS: dict[Kind, str] = {
    "tools": "toolsListChanged",
    "resources": "resourcesListChanged",
    "templates": "resourcesListChanged",
    "prompts": "promptsListChanged",
}
_PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds before a stream that the server ended is opened again; then no more
_LONG_LIFE = 30.0  # seconds after which a stream counts as having worked


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
        self._stream: _Stream | None = None

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
        self._demux = Demux()
        self._stream = None
        if session.era == "modern":
            self._reopen(session)
        else:
            for uri in self.uris:
                session.link.spawn(self._subscribe_again(uri))

    async def _subscribe_again(self, uri: str) -> None:
        try:
            await self._connection.request("resources/subscribe", {"uri": uri})
        except MCPError as error:
            self._connection.note("watch", f"{uri} is not watched any more: {error}")

    def end(self) -> None:
        """The link is gone; the watches stay for the next one."""
        self._stream = None

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
        if watch.uri in self.uris or session is None or self._connection.state != "ready":
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
        if not isinstance(uri, str):
            return
        for watch in tuple(self._watches):
            if watch.callback is not None and (uri == watch.uri or uri.startswith(watch.uri.rstrip("/") + "/")):
                try:
                    watch.callback(uri)
                except Exception:
                    log.exception("a watcher of %s failed", watch.uri)

    # -- the stream -----------------------------------------------------------------------------------------------

    def _reopen(self, session: Session) -> _Stream:
        """Open a stream for what is wanted now, then close the one before."""
        old = self._stream
        self._stream = _Stream(self._connection, session, self._demux, self.uris, old)
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


class _Stream:
    """One `subscriptions/listen` and its successors after the server ends it."""

    def __init__(
        self, connection: Connection, session: Session, demux: Demux, uris: list[str], before: _Stream | None
    ) -> None:
        self._connection = connection
        self._session = session
        self._demux = demux
        self._wanted = build_filter(session.capabilities, uris)
        self._before = before
        self._pending: Pending | None = None
        self._known = asyncio.get_running_loop().create_future()  # acknowledged (None), or why it never will be
        self.kept: dict[str, Any] | None = None
        self._task = session.link.spawn(self._run())

    async def acknowledged(self, uri: str) -> None:
        """Wait until the server says that it watches `uri`. Raises what went wrong."""
        name = self._connection.name
        try:
            async with asyncio.timeout(self._connection.options.timeout):
                await asyncio.shield(self._known)
        except TimeoutError:
            raise RequestTimeout(f"The server '{name}' did not acknowledge the watch on {uri}.", server=name) from None
        if uri not in ((self.kept or {}).get("resourceSubscriptions") or ()):
            raise UsageError(f"The server '{name}' does not watch {uri}.", server=name)

    def acknowledge(self, id: object) -> None:
        """It is ours, perhaps: take what the server keeps."""
        if self._pending is not None and self._pending.id == id:
            self.kept = self._demux.open[self._pending.id].kept
            self._session.proven.add("subscriptions/listen")
            self._settle(None)

    def torn_down(self, id: object) -> None:
        """As if the request had been answered."""
        pending = self._pending
        if pending is not None and jsonrpc.match_id({pending.id: None}, id) is not None:
            self._session.link.waiting.drop(pending)
            if not pending.future.done():
                pending.future.set_result({"jsonrpc": "2.0", "id": pending.id, "result": {}})

    def close(self) -> None:
        """Another stream took over."""
        self._take_over()
        pending, self._pending = self._pending, None
        self._task.cancel()
        self._settle(None)
        if pending is not None and self._session.link.waiting.drop(pending):
            self._demux.end(pending.id)
            self._session.link.transport.cancel(pending.id)
            if self._session.link.transport.kind not in ("http", "sse"):
                self._session.link.post(jsonrpc.notification("notifications/cancelled", {"requestId": pending.id}))

    def _settle(self, error: MCPError | None) -> None:
        if not self._known.done():
            if error is None:
                self._known.set_result(None)
            else:
                self._known.set_exception(error)
                self._known.exception()

    async def _run(self) -> None:
        """Open, wait for the end, open again; give up on an error or when it never lasts."""
        loop = asyncio.get_running_loop()
        quick = 0
        while True:
            began = loop.time()
            try:
                again = await self._once()
            except ConnectionLost as error:
                self._settle(error)
                return
            except MCPError as error:
                self._settle(error)
                self._explain(error)
                return
            if not again:
                return
            quick = 0 if loop.time() - began > _LONG_LIFE else quick + 1
            if quick > len(_PAUSES):
                self._connection.note("listen", "The server ends every subscription at once; changes are not seen.")
                return
            await asyncio.sleep(_PAUSES[max(quick, 1) - 1])

    async def _once(self) -> bool:
        """One request; True when it should be sent again."""
        link = self._session.link
        if self._wanted is None:
            self._take_over()
            self._settle(None)
            return False
        pending = self._pending = link.begin(LISTEN)
        self._demux.add(pending.id, self._wanted)
        await link.request(pending, self._session.shape({"notifications": self._wanted}))
        self._take_over()
        message = await pending.future
        self._demux.end(pending.id)
        self.kept = None
        if jsonrpc.kind(message) == "response":
            return True
        error = jsonrpc.parse_error(message)
        raise RequestError(error.message, code=error.code, data=error.data, server=self._connection.name)

    def _take_over(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            before.close()

    def _explain(self, error: MCPError) -> None:
        if isinstance(error, RequestError):
            insisted = self._connection.options.era == "modern"
            if demands_initialize(error.code, error.message) and not self._session.proven and not insisted:
                self._connection.spawn(self._fall_back())
            elif error.code != METHOD_NOT_FOUND:
                self._connection.note("listen", f"The server refused the subscription to its changes: {error.message}")
        else:
            log.debug("listen: %s", error)

    async def _fall_back(self) -> None:
        try:
            await self._connection.fall_back(self._session)
        except MCPError as error:
            self._connection.note("fall back", str(error))
