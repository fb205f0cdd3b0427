"""One request while it is being answered: who asks, at which revision, and how notifications of it are sent.

`Peer` is the client as this request knows it; a session holds one for its lifetime, a stateless request brings its
own. What a handler asks back is `run`'s: a run belongs to one request at a time, and may outlive it.

Above: `run`, `context`, `dispatch`, `session`. No transport is known here; messages leave by `post`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.modern import LOG_LEVELS
from jupyter_mcp.protocol.revisions import Era, Features, era, features
from jupyter_mcp.server import access
from jupyter_mcp.server.values import plain

if TYPE_CHECKING:
    from jupyter_mcp.server.rounds import Ledger

AskClient = Callable[[str, "dict[str, Any] | None"], Awaitable[Mapping[str, Any]]]
Post = Callable[["dict[str, Any]"], Awaitable[None]]
_DEFAULT_LEVEL = "info"
_MOST_PAGES = 1000


@dataclass
class Peer:
    """The client, as far as it declared itself.

    Attributes:
        revision: the protocol revision spoken with it.
        capabilities: what it declared.
        info: its name and version; for display only.
        principal: who it is to the transport's authentication; "" on a pipe.
        ask: sends it a request and brings the bare result (legacy); None where the era has no such requests.
        log_level: the least level it wants (legacy `logging/setLevel`); None when it did not say.
        pages: ids of the pages it was asked to open and has not been told of since (2025-11-25), oldest first.
        notify: sends it a notification that belongs to no request (legacy); on the loop. None where there is no way.
    """

    revision: str
    capabilities: Mapping[str, Any]
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    principal: str = ""
    ask: AskClient | None = None
    log_level: str | None = None
    notify: Callable[[dict[str, Any]], object] | None = None
    pages: dict[str, bool] = field(default_factory=dict[str, bool])

    def asked_to_open(self, elicitation_id: str) -> None:
        """It was asked to open a page: it may be told when the person is done there."""
        self.pages.pop(elicitation_id, None)
        self.pages[elicitation_id] = True
        while len(self.pages) > _MOST_PAGES:
            del self.pages[next(iter(self.pages))]

    @property
    def features(self) -> Features:
        return features(self.revision)

    @property
    def era(self) -> Era:
        return era(self.revision)


class Exchange:
    """One request.

    Args:
        method, params, id: the request.
        peer: who sent it.
        post: takes a notification that belongs to this request; callable on the loop only.
        log_level: modern: the level this request asked for, None for no messages.
        progress_token: put into progress notifications; None sends none.
        ledger: what earlier rounds answered.
        ask: sends the client a question that belongs to this request (legacy); by default the peer's own way.

    Attributes:
        access: what the access token that came with it allows; None where there was none.
        cancelled: the client gave the request up, or is gone: no response will be sent.
        close_stream: lets the client come back for the answer after so many milliseconds; None where nothing can.
        over: its handler has ended, or waits without it: nothing more is reported of it.
    """

    __slots__ = (
        "_log_level",
        "_on_cancel",
        "_progress",
        "_progress_token",
        "access",
        "ask_client",
        "cancelled",
        "close_stream",
        "features",
        "id",
        "ledger",
        "loop",
        "method",
        "over",
        "params",
        "peer",
        "post",
    )

    def __init__(
        self,
        method: str,
        params: dict[str, Any],
        id: jsonrpc.Id,
        peer: Peer,
        post: Post,
        *,
        log_level: str | None = None,
        progress_token: jsonrpc.Id | None = None,
        ledger: Ledger | None = None,
        ask: AskClient | None = None,
    ) -> None:
        self.method = method
        self.params = params
        self.id = id
        self.peer = peer
        self.access = access.current.get()
        self.features = peer.features
        self.ledger = ledger
        self.cancelled = False
        self.over = False
        self.loop = asyncio.get_running_loop()
        self.post = post
        self.ask_client = ask or peer.ask
        self.close_stream: Callable[[int], None] | None = None
        self._log_level = log_level
        self._progress_token = progress_token
        self._progress = -math.inf
        self._on_cancel: list[Callable[[], object]] = []

    def detached(self, post: Post | None = None, *, progress_token: jsonrpc.Id | None = None) -> Exchange:
        """The same request for a handler that goes on after it was answered (a task): it is not cancelled with it.

        Args:
            post: takes its notifications; by default nobody does.
            progress_token: given, progress notifications carry it.
        """
        level = self._log_level if post is not None else None
        apart = Exchange(
            self.method,
            self.params,
            self.id,
            self.peer,
            post or _nowhere,
            log_level=level,
            progress_token=progress_token,
            ledger=self.ledger,
        )
        apart.access = self.access
        return apart

    # --- cancelling

    def cancel(self) -> None:
        """The client gave up: whatever waits for this request ends (on the loop)."""
        self.cancelled = True
        for callback in tuple(self._on_cancel):
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Have `callback` called when the request is cancelled (on the loop)."""
        self._on_cancel.append(callback)
        if self.cancelled:
            callback()

    def forget(self, callback: Callable[[], object]) -> None:
        """Take `callback` back."""
        if callback in self._on_cancel:
            self._on_cancel.remove(callback)

    # --- progress and log

    def progress(self, done: float, total: float | None, message: str | None) -> dict[str, Any] | None:
        """The progress notification to send, or None: nobody asked for it, or it does not go forward."""
        if self.over or self._progress_token is None or not math.isfinite(done) or done <= self._progress:
            return None
        self._progress = done
        params: dict[str, Any] = {"progressToken": self._progress_token, "progress": done}
        if total is not None and math.isfinite(total):
            params["total"] = total
        if message is not None and self.features.progress_message:
            params["message"] = message
        return jsonrpc.notification("notifications/progress", params)

    def log(self, level: str, data: Any, logger: str | None) -> dict[str, Any] | None:
        """The log notification to send, or None when the client does not want this level."""
        if level not in LOG_LEVELS:
            raise UsageError(f"There is no log level {level!r}; the levels are {', '.join(LOG_LEVELS)}.")
        if self.over:
            return None
        least = self._log_level if self.peer.era == "modern" else self.peer.log_level or _DEFAULT_LEVEL
        if least is None or LOG_LEVELS.index(level) < LOG_LEVELS.index(least):
            return None
        params = {"level": level, **({"logger": logger} if logger else {}), "data": plain(data)}
        return jsonrpc.notification("notifications/message", params)


async def _nowhere(message: dict[str, Any]) -> None:
    """Nobody is told."""
