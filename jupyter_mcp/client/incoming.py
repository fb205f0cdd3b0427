"""What a server says on its own: sorted by kind and handed to whoever it is for.

Nothing here raises: a server may say anything, and what it says must not cost the connection.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.client.listings import CHANGED
from jupyter_mcp.errors import ConnectionLost
from jupyter_mcp.protocol.jsonrpc import kind
from jupyter_mcp.protocol.listen import ACKNOWLEDGED
from jupyter_mcp.protocol.revisions import LATEST_LEGACY, features
from jupyter_mcp.protocol.tasks import CHANGED as TASK_CHANGED
from jupyter_mcp.transport.base import SessionEnded

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.link import Link
    from jupyter_mcp.client.peer import Call, ServerPeer
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.protocol.jsonrpc import Id
    from jupyter_mcp.transport.base import Closed, Message, Noise
    from jupyter_mcp.transport.traffic import HttpEvent

log = logging.getLogger("jupyter_mcp.client")

_BEFORE_AGREED = frozenset(("ping", "roots/list"))  # what may be answered before the handshake is done


class Incoming:
    """Implements `link.Upwards` for one connection. What an earlier link still says is ignored."""

    def __init__(self, connection: Connection, peer: ServerPeer) -> None:
        self._connection = connection
        self._peer = peer

    def on_wire(self, direction: Literal["send", "receive"], message: Message, size: int) -> None:
        try:
            self._peer.wire(self._connection, direction, message, size)
        except Exception:
            log.exception("the host could not take a message")

    def on_http(self, event: HttpEvent) -> None:
        try:
            self._peer.http(self._connection, event)
        except Exception:
            log.exception("the host could not take what HTTP did")

    def on_request(self, link: Link, id: Id, method: str, params: Any) -> None:
        session = self._connection.session
        if link is not self._connection.link:
            return
        if session is not None and session.era == "modern" and session.link is link:
            self._connection.note(
                "request", f"The server sent a request ({method}), which the modern era does not have; ignored."
            )
            return
        if session is not None and session.link is link:
            self._connection.questions.asked(link, id, method, params, session.client_capabilities)
        elif method in _BEFORE_AGREED:
            self._connection.questions.asked(link, id, method, params, self._peer.capabilities(LATEST_LEGACY))
        elif not link.crowded:  # nobody is asked anything before it is clear what was agreed
            link.spawn(self._later(link, id, method, params))

    async def _later(self, link: Link, id: Id, method: str, params: Any) -> None:
        await link.agreed.wait()
        self.on_request(link, id, method, params)

    def on_notification(self, link: Link, method: str, params: dict[str, Any]) -> None:
        if link is not self._connection.link:
            return
        call: Call | None = None
        if method == "notifications/progress":
            call = self._progress(link, params)
            if call is None:
                return
        elif method == "notifications/message":
            call = self._message(params)
        elif method in CHANGED:
            self._connection.has_changed(method, params)
        elif method == "notifications/resources/updated":
            self._connection.has_changed(method, params)
            self._connection.watching.updated(params)
        elif method == "notifications/cancelled":
            self._connection.questions.withdraw(params.get("requestId"))
            self._connection.watching.ended(params.get("requestId"))
        elif method == ACKNOWLEDGED:
            self._connection.watching.acknowledged(params)
        elif method in TASK_CHANGED:
            self._connection.tasks.told(params)
        self._tell(method, params, call)

    def _progress(self, link: Link, params: dict[str, Any]) -> Call | None:
        """The call it is about; None when it is about none (any more) or is no progress at all."""
        token = params.get("progressToken")
        pending, progress = link.waiting.find(token), _number(params.get("progress"))
        call = pending.call if pending is not None else self._connection.tasks.progressing(token)
        if call is None or call.on_progress is None or progress is None:
            return None
        if pending is not None:
            link.waiting.alive(pending)
        total, message = _number(params.get("total")), params.get("message")
        try:
            call.on_progress(
                progress,
                total if total is not None and total > 0 else None,
                message if isinstance(message, str) else None,
            )
        except Exception:
            log.exception("a progress callback failed")
        return call

    def _message(self, params: dict[str, Any]) -> Call | None:
        call = self._connection.requests.only()
        if call is not None and call.on_log is not None:
            logger = params.get("logger")
            try:
                call.on_log(
                    str(params.get("level", "info")), logger if isinstance(logger, str) else None, params.get("data")
                )
            except Exception:
                log.exception("a log callback failed")
        return call

    def _tell(self, method: str, params: dict[str, Any], call: Call | None) -> None:
        try:
            self._peer.notify(self._connection, method, params, call)
        except Exception:
            log.exception("the host could not take %s", method)

    def on_batch(self, link: Link, messages: list[Message], size: int) -> None:
        if link is not self._connection.link:
            return
        revision = self._connection.session.revision if self._connection.session else LATEST_LEGACY
        if not features(revision).batches_accepted:
            self._connection.note(
                "batch", f"The server sent a batch of messages, which {revision} does not have; only answers are taken."
            )
            messages = [message for message in messages if kind(message) in ("response", "error")]
        for message in messages:
            link.on_message(message, size // max(1, len(messages)))

    def on_noise(self, link: Link, noise: Noise) -> None:
        if noise.kind == "http":
            self._connection.note("noise http", f"The server sent something odd, which was skipped: {noise.text}")
            return
        self._connection.noise.append(noise.text)
        self._connection.note(
            f"noise {noise.kind}",
            f"The server wrote something else than messages on {noise.kind}, which was skipped: {noise.text!r}",
        )

    def on_stderr(self, link: Link, line: str) -> None:
        try:
            self._peer.stderr(self._connection, line)
        except Exception:
            log.exception("the host could not take a line of stderr")

    def on_timeout(self, link: Link, pending: Pending) -> None:
        self._connection.requests.timed_out(link, pending)

    def on_trouble(self, link: Link, error: Exception, of_request: bool) -> None:
        """A request failed without an answer (who waits for it is told), or the stream of the session did."""
        session = self._connection.session
        if link is not self._connection.link or session is None or session.link is not link:
            return
        if not self._connection.ready:
            return
        if isinstance(error, ConnectionLost) and not (of_request and error.may_have_run):
            self._connection.life.unreachable()
        elif isinstance(error, SessionEnded) and not of_request:
            self._connection.life.forgotten(session)

    def on_unwanted(self, link: Link, message: Message) -> None:
        if link is self._connection.link:
            self._connection.tasks.unwanted(message)

    def on_closed(self, link: Link, closed: Closed) -> None:
        if link is self._connection.link:
            self._connection.has_ended(link, closed)


def _number(value: Any) -> float | None:
    """A number that a bar can show; None for anything else (text, true, NaN)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < 1e300 else None  # NaN compares false
