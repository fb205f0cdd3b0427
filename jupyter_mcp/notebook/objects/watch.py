"""`Watch`: being told that a resource changes, until `stop()`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import Act

if TYPE_CHECKING:
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
        self._told = 0
        self._telling = False

    @classmethod
    def begin(cls, server: Server, uri: str, callback: Callable[[str], Any] | None) -> Act[Watch]:
        """The act that begins it.

        The callback gets the URI, on a thread of its own, where it may read the resource and take its time; changes
        that come meanwhile are told together.
        """
        watch = cls(server, uri, callback)

        def begun(handle: Any) -> Watch:
            watch._handle = handle
            with _lock:
                _active.setdefault((server.name, uri), []).append(watch)
            return watch

        return server._acts.watch(uri, watch._changed).then(begun)  # pyright: ignore[reportPrivateUsage]

    def stop(self) -> None:
        """Stop being told (`%mcp unwatch`)."""
        self._end().now()

    async def aio_stop(self) -> None:
        """The awaitable twin of `stop`."""
        await self._end().later()

    def on_change(self, listener: Callable[[Watch], Any]) -> None:
        """For cards: call `listener(self)` at each change, on the runtime's thread."""
        self._listeners.append(listener)

    def __repr__(self) -> str:
        state = "" if self.active else " (stopped)"
        return f"<Watch {self.server.name} {self.uri}: changed {self.changes} times{state}>"

    def _end(self) -> Act[None]:
        async def start() -> None:
            self.active = False
            with _lock:
                found = _active.get((self.server.name, self.uri), [])
                if self in found:
                    found.remove(self)
            stopped = self._handle.stop() if self._handle is not None else None
            if hasattr(stopped, "__await__"):
                await stopped

        return Act(f"unwatch {self.uri}", start)

    def _changed(self, *_: Any) -> None:
        """On the runtime's thread."""
        self.changes += 1
        for listener in list(self._listeners):
            listener(self)
        if self._callback is not None and not self._telling:
            self._telling = True
            threading.Thread(target=self._tell, name="jupyter-mcp-watch", daemon=True).start()

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
        return [watch for (name, key), found in _active.items() if name == server and uri in (None, key) for watch in found]
