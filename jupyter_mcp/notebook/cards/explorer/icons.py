"""The pictures that the list shows, by the key of `lines.icon_key`: each is had once, in the background."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from jupyter_mcp.host.icons import from_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from jupyter_mcp.notebook.cards.explorer.source import Source

__all__ = ["Icons"]

Icon = tuple[str, bytes]
MOST = 2_000


class Icons:
    """The pictures of one explorer.

    Args:
        source: has those fetched that do not come along with the list.
        came: called with the key and the picture (None: there is none), on the runtime's thread.
    """

    def __init__(self, source: Source, came: Callable[[str, Icon | None], object]) -> None:
        self._source, self._came = source, came
        self._asked: dict[str, Future[Icon | None]] = {}
        self._guard = threading.Lock()

    def get(self, key: str) -> Icon | None:
        """The picture, when it came along with the list; others are asked for, once, and come later."""
        server, _, address = key.partition("\n")
        if address.startswith("data:"):
            return from_data(address)
        with self._guard:
            if key in self._asked or len(self._asked) >= MOST:
                return None
            future = self._asked[key] = self._source.icon(server, address)
        future.add_done_callback(lambda done: self._take(key, done))
        return None

    def _take(self, key: str, done: Future[Icon | None]) -> None:
        self._came(key, None if done.cancelled() or done.exception() is not None else done.result())

    def close(self) -> None:
        """Wait for none of them any more."""
        with self._guard:
            for future in self._asked.values():
                future.cancel()
