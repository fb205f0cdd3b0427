"""The seam between a connection and what carries its bytes.

A `Transport` moves whole JSON-RPC messages (dicts) and knows nothing of MCP: no ids, no eras, no methods. What arrives
is pushed into a `Receiver` by plain synchronous calls on the event loop, in order of arrival: that spares one task and
one queue for each message. Both sides of a connection use the same interface.

Above: `client` and `server`. Below: `protocol` (framing, JSON). Implementations: `stdio`, `memory`; tests use `mock`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.errors import RemoteProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.transport.traffic import HttpEvent

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Noise:
    """Something that arrived and is not a message.

    Attributes:
        kind: "stdout" (text that is not JSON-RPC) or another short word; each kind is reported once.
        text: the text, made printable and shortened to 200 characters.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Closed:
    """Why the other side is gone.

    Attributes:
        reason: a clause that completes "the server …" ("exited with code 3", "closed its output").
        exit_code: exit code of the process, if it is one and it ended; negative for a signal on POSIX.
        stderr: the last lines it wrote to stderr.
    """

    reason: str
    exit_code: int | None = None
    stderr: Sequence[str] = field(default_factory=tuple)


def unreadable(why: str) -> RemoteProtocolError:
    """The error of a request whose answer came and cannot be read; `why` is a clause."""
    return RemoteProtocolError(f"The server's answer cannot be read: {why}.")


class Refused(Exception):
    """An HTTP answer to one request that holds no JSON-RPC message (a proxy's page, a bare status).

    Attributes:
        status: the HTTP status.
        reason: its words ("Bad Gateway").
        body: the first part of the text, without markup and control characters, at most 500 characters.
        challenge: the `WWW-Authenticate` header; "" when there was none.
        authorized: the request brought an `Authorization` header.
        advised: the text is ours, and says what to do.
    """

    def __init__(
        self,
        status: int,
        reason: str = "",
        body: str = "",
        challenge: str = "",
        *,
        authorized: bool = False,
        advised: bool = False,
    ) -> None:
        super().__init__(f"HTTP {status} {reason}".rstrip())
        self.status = status
        self.reason = reason
        self.body = body
        self.challenge = challenge
        self.authorized = authorized
        self.advised = advised


class SessionEnded(Exception):
    """HTTP, legacy era: the server does not know our session any more (404); it takes a new `initialize`.

    The request was not run.
    """


class Receiver(Protocol):
    """What a transport calls, always on the event loop's thread, never re-entrantly from `send`."""

    def on_message(self, message: Message, size: int) -> None:
        """One JSON-RPC message; `size` is its length in bytes on the wire."""
        ...

    def on_batch(self, messages: list[Message], size: int) -> None:
        """A JSON-RPC batch (2025-03-26 only; the receiver decides whether it is acceptable)."""
        ...

    def on_noise(self, noise: Noise) -> None:
        """Something arrived that is not a message; the connection goes on."""
        ...

    def on_stderr(self, line: str) -> None:
        """One line the server process wrote to stderr, without its line end."""
        ...

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None:
        """The transport knows that this one request will get no answer (HTTP); the connection goes on.

        `error` is a `Refused`, a `SessionEnded`, a `ConnectionLost` (with `may_have_run`) or a `RemoteProtocolError`.
        None for what belongs to no request: the session's own stream is gone for good (`SessionEnded`, or a
        `ConnectionLost` when the server cannot be reached any more).
        """
        ...

    def on_alive(self, request_id: int | str | None) -> None:
        """A sign of life that is no message: a comment on the stream of this request (None: of the session)."""
        ...

    def on_http(self, event: HttpEvent) -> None:
        """HTTP did something that no message tells; for a trace, nothing depends on it."""
        ...

    def on_closed(self, closed: Closed) -> None:
        """No more messages will come. Called exactly once after a successful `open`, also after `close`."""
        ...


class Transport(Protocol):
    """One connection to one peer. `open` once, `close` any number of times, from any task."""

    @property
    def kind(self) -> str:
        """ "stdio", "memory", "http" or "sse"."""
        ...

    @property
    def stderr(self) -> Sequence[str]:
        """The last 200 lines of the server process's stderr (empty where there is no process)."""
        ...

    async def open(self, receiver: Receiver) -> None:
        """Start. Raises `ConnectionFailed` when the peer cannot be started or reached."""
        ...

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Send one message (or a batch answer) and return its size in bytes.

        Raises `LocalProtocolError` when it is not JSON (NaN; nothing was sent), `ConnectionLost` when the peer is gone.
        """
        ...

    def cancel(self, request_id: int | str) -> None:
        """The caller gave up on this request: free what the transport holds for it (HTTP closes the stream)."""
        ...

    async def close(self) -> None:
        """End the connection in good order, then by force; bounded in time; returns when all is gone."""
        ...
