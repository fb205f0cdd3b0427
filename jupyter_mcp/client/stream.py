"""One `subscriptions/listen` of the modern era and its successors: opened, acknowledged, opened again when it ends.

A stream that ends (by the server, by a proxy, by the network) is opened again after a pause, for ever while resources
are watched, else a few times. What may have been missed meanwhile is `watching`'s business, which owns the streams.

Source: spec 2026-07-28 "Subscriptions".
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, MCPError, RequestError, RequestTimeout, UsageError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.jsonrpc import METHOD_NOT_FOUND
from jupyter_mcp.protocol.listen import build_filter
from jupyter_mcp.protocol.probe import demands_initialize

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.client.session import Session
    from jupyter_mcp.protocol.listen import Demux

log = logging.getLogger("jupyter_mcp.client")

LISTEN = "subscriptions/listen"
PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds before a stream that ended is opened again; then no more
LONGEST_PAUSE = 30.0  # seconds, where something is watched
_NO_STREAMS = (None, 404, 405, 501)  # the link is gone, which others tell; or there are no streams
_LONG_LIFE = 30.0  # seconds after which a stream counts as having worked


class Stream:
    """One `subscriptions/listen` and its successors after it ends.

    Args:
        before: the stream it replaces, which is closed as soon as nothing can fall between the two.
        again: the first of a new session, so that what is watched may have changed unseen.
    """

    def __init__(
        self,
        connection: Connection,
        session: Session,
        demux: Demux,
        uris: list[str],
        before: Stream | None,
        again: bool,
    ) -> None:
        self._connection = connection
        self._session = session
        self._demux = demux
        self._wanted = build_filter(session.capabilities, uris)
        self._before = before
        self._again = again  # what is watched may have changed unseen
        self._dropped = False  # the lists as well
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
            self._session.proven.add(LISTEN)
            self._take_over()
            self._settle(None)
            if self._again:
                dropped, self._again, self._dropped = self._dropped, False, False
                self._connection.watching.missed(self._uris(), lists=dropped)

    def _uris(self) -> list[str]:
        found: Any = (self._wanted or {}).get("resourceSubscriptions")
        return list(found or ())

    def torn_down(self, id: object) -> None:
        """As if the request had been answered."""
        pending = self._pending
        if pending is not None and jsonrpc.match_id({pending.id: None}, id) is not None:
            self._session.link.waiting.drop(pending)
            if not pending.future.done():
                pending.future.set_result({"jsonrpc": "2.0", "id": pending.id, "result": {}})

    def abandon(self) -> None:
        """The session is over, and with it this stream."""
        self._take_over()
        pending, self._pending = self._pending, None
        self._task.cancel()
        self._settle(self._connection.gone("went away", pending))
        if pending is not None and self._session.link.waiting.drop(pending):
            self._session.link.transport.cancel(pending.id)

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
            except MCPError as error:
                self._settle(error)
                if not self._is_a_drop(error):
                    self._explain(error)
                    return
                again = True
            if not again:
                return
            self.kept = None
            self._again = self._dropped = True
            quick = 0 if loop.time() - began > _LONG_LIFE else quick + 1
            if quick > len(PAUSES) and not self._uris():
                self._connection.note("listen", "The server ends every subscription at once; changes are not seen.")
                return
            await asyncio.sleep(_pause(quick))

    def _is_a_drop(self, error: MCPError) -> bool:
        """Whether only this stream broke (HTTP): the server is there, and may take another one."""
        if not isinstance(error, ConnectionLost) or self._session.link.closed is not None:
            return False
        if self._connection.session is not self._session or not self._connection.ready:
            return False
        return error.status is None or error.status >= 500

    async def _once(self) -> bool:
        """One request; True when it should be sent again."""
        link = self._session.link
        if self._wanted is None:
            self._take_over()
            self._settle(None)
            return False
        pending = self._pending = link.begin(LISTEN)
        self._demux.add(pending.id, self._wanted)
        try:
            await link.request(pending, self._session.shape({"notifications": self._wanted}))
            if link.transport.kind != "http":  # on one pipe what is sent first is heard first
                self._take_over()
            message = await pending.future
        except Exception as error:
            raise self._failure(error) from None
        finally:
            self._demux.end(pending.id)
        if jsonrpc.kind(message) == "response":
            return True
        error = jsonrpc.parse_error(message)
        raise RequestError(error.message, code=error.code, data=error.data, server=self._connection.name)

    def _failure(self, error: Exception) -> MCPError:
        if isinstance(error, MCPError) and error.server:
            return error
        from jupyter_mcp.client import failures

        return failures.of_request(error, self._connection.name, LISTEN)

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
        elif isinstance(error, ConnectionLost) and error.status not in _NO_STREAMS:
            self._connection.note("listen", str(error))
        else:
            log.debug("listen: %s", error)

    async def _fall_back(self) -> None:
        try:
            await self._connection.life.turn(self._session, "handshake")
        except MCPError as error:
            self._connection.note("fall back", str(error))


def _pause(quick: int) -> float:
    """Seconds before the next stream, after so many that did not last."""
    if quick <= len(PAUSES):
        return PAUSES[max(quick, 1) - 1]
    return min(LONGEST_PAUSE, PAUSES[-1] * 2.0 ** min(quick - len(PAUSES), 10))
