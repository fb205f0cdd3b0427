"""`Watch`: being told that a resource changes, until `stop()`."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.objects.server import Server

_log = logging.getLogger(__name__)
_active: dict[tuple[str, str], list[Watch]] = {}
_lock = threading.Lock()


class Watch:
    """One watched resource.

    Attributes:
        server, uri: what is watched.
        changes: how often the server said that it changed.
    """

    def __init__(self, server: Server, uri: str, callback: Callable[[str], Any] | None) -> None:
        self.server = server
        self.uri = uri
        self.changes = 0
        self.active = True
        self._callback = callback
        self._listeners: list[Callable[[Watch], Any]] = []
        self._handle: Any = None
        self._connection: Any = None
        self._told = 0
        self._telling = False

    @classmethod
    def begin(cls, server: Server, uri: str, callback: Callable[[str], Any] | None) -> Act[Watch]:
        """The act that begins it.

        The callback gets the URI, on a thread of its own, where it may read the resource and take its time; changes
        that come meanwhile are told together.
        """
        watch = cls(server, uri, callback)

        async def start() -> Watch:
            await watch._subscribe()
            with _lock:
                _active.setdefault((server.name, uri), []).append(watch)
            host = get_host()
            if _renew not in host.listeners:
                host.listeners.append(_renew)
            return watch

        return Act(f"watch {uri}", start)

    def stop_soon(self) -> None:
        """Stop being told, without waiting for it (a button). Any thread."""
        from jupyter_mcp.runtime.thread import get_runtime

        get_runtime().submit(self._end().start)

    def stop(self) -> None:
        """Stop being told (`%mcp unwatch`)."""
        self._end().now()

    async def aio_stop(self) -> None:
        """The awaitable twin of `stop`."""
        await self._end().later()

    def on_change(self, listener: Callable[[Watch], Any]) -> None:
        """For cards: call `listener(self)` when it or its server is another now, on the runtime's thread."""
        self._listeners.append(listener)

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import WatchView

        return WatchView(self.server.name, self.uri, self.changes, self.active, self.server.state)

    def __repr__(self) -> str:
        state = "" if self.active else " (stopped)"
        return f"<Watch {self.server.name} {printable(self.uri)}: changed {self.changes} times{state}>"

    def _end(self) -> Act[None]:
        async def start() -> None:
            self.active = False
            with _lock:
                found = _active.get((self.server.name, self.uri), [])
                if self in found:
                    found.remove(self)
            self.tell_cards()
            if self._handle is not None:
                await self._handle.stop()

        return Act(f"unwatch {self.uri}", start)

    async def _subscribe(self) -> None:
        """Watch on the connection that there is now; one that went away is opened again."""
        connection = self._connection = await get_host().connection(self.server.name)
        get_host().permit(self.server.name, "resources/subscribe", self.uri)
        self._handle = await connection.watch(self.uri, self._changed)

    async def _resubscribe(self) -> None:
        try:
            await self._subscribe()
        except MCPError as error:
            self.server.entry.say("note", f"{self.uri} is no longer watched: {error}", level="warning")

    @property
    def stale(self) -> bool:
        """Whether the server has been started anew since, and has to be told again."""
        entry = self.server.entry
        return self.active and entry.ready and entry.connection is not self._connection

    def _changed(self, *_: Any) -> None:
        """On the runtime's thread."""
        self.changes += 1
        self.tell_cards()
        if self._callback is not None and not self._telling:
            self._telling = True
            threading.Thread(target=self._tell, name="jupyter-mcp-watch", daemon=True).start()

    def tell_cards(self) -> None:
        """On the runtime's thread: it, or its server, is another now."""
        for listener in list(self._listeners):
            try:
                listener(self)
            except Exception:
                _log.exception("the card of a watch failed")

    def _tell(self) -> None:
        while self.active and self._callback is not None and self._told < self.changes:
            self._told = self.changes
            try:
                self._callback(self.uri)
            except Exception:
                _log.exception("the callback of a watch failed")
        self._telling = False


def active(server: str, uri: str | None = None) -> list[Watch]:
    """The watches on a server (or on one resource of it) that have not been stopped."""
    with _lock:
        return [
            watch for (name, key), found in _active.items() if name == server and uri in (None, key) for watch in found
        ]


_renewals: set[asyncio.Task[None]] = set()


def _renew(server: str) -> None:
    """On the runtime's loop, when a server's state changed: a restarted one is told again what is watched.

    The connection itself sees to that when it is connected again; only what another connection took over is left here.
    """
    for watch in active(server):
        watch.tell_cards()
        if watch.stale:
            watch._connection = watch.server.entry.connection  # pyright: ignore[reportPrivateUsage] - once only
            task = asyncio.get_running_loop().create_task(watch._resubscribe())  # pyright: ignore[reportPrivateUsage]
            _renewals.add(task)
            task.add_done_callback(_renewals.discard)
