"""The seam to whoever stands above a connection (the host), and the handle of one request in flight.

Everything here is called on the connection's event loop and must return at once, except `question`, which may wait for
a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.transport.traffic import HttpEvent

QuestionMethod = Literal["elicitation/create", "sampling/createMessage", "roots/list"]
OnProgress = Callable[[float, float | None, str | None], None]  # progress, total, message
OnLog = Callable[[str, str | None, Any], None]  # level, logger, data


class Call:
    """One request of ours in flight, over all its rounds.

    Attributes:
        method: the MCP method.
        name: the tool, prompt or URI it acts on; "" when it names none.
        arguments: what was sent with it.
        id: the JSON-RPC id of the current round. on_id: told of each.
        cancelled: `cancel` was called.
        renewed: it has been sent again in a new session.
    """

    __slots__ = ("arguments", "cancelled", "id", "method", "name", "on_id", "on_log", "on_progress", "renewed", "stop")

    def __init__(
        self,
        method: str,
        name: str,
        arguments: Mapping[str, Any],
        on_progress: OnProgress | None = None,
        on_log: OnLog | None = None,
        on_id: Callable[[int | str], object] | None = None,
    ) -> None:
        self.method = method
        self.name = name
        self.arguments = arguments
        self.on_progress = on_progress
        self.on_log = on_log
        self.on_id = on_id
        self.id: int | str = -1
        self.cancelled = False
        self.renewed = False
        self.stop: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Give up: the server is told, and whoever waits for the request gets `Cancelled`."""
        if not self.cancelled:
            self.cancelled = True
            if self.stop is not None:
                self.stop()

    def __repr__(self) -> str:
        return f"<Call {self.method} {self.name}>"


class ServerPeer(Protocol):
    """What a connection needs of the host."""

    def capabilities(self, revision: str) -> dict[str, Any]:
        """What we declare, in the shape of `revision`."""
        ...

    async def question(
        self, connection: Connection, method: QuestionMethod, params: dict[str, Any], cause: Call | None
    ) -> dict[str, Any]:
        """Answer what the server asks; the bare result.

        `cause` is the call during which it came: certain in the modern era, in the legacy era the only one in flight
        (None when there are several; `connection.calls` has them). Cancelled when the server takes the question back.

        Raises:
            InputRefused: nobody wants to answer (legacy: error -1; modern: the call ends).
            RequestError: to answer with this code and message.
        """
        ...

    def notify(self, connection: Connection, method: str, params: dict[str, Any], call: Call | None) -> None:
        """A notification came; `call` is the one it belongs to, as far as that is known."""
        ...

    def stderr(self, connection: Connection, line: str) -> None:
        """The server wrote this line to stderr (colour codes are still in it)."""
        ...

    def note(self, connection: Connection, text: str) -> None:
        """The connection noticed something odd; the text is new in `connection.notes`."""
        ...

    def wire(
        self, connection: Connection, direction: Literal["send", "receive"], message: dict[str, Any], size: int
    ) -> None:
        """A message went over the wire; called for every one."""
        ...

    def http(self, connection: Connection, event: HttpEvent) -> None:
        """HTTP did something that no message tells (a 202, a stream that began or ended)."""
        ...

    def changed(self, connection: Connection) -> None:
        """The connection's state or one of its lists changed."""
        ...
