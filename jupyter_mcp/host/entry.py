"""One server of the host: its spec, its connection, and what it said (log lines).

A value with a small log; connecting and closing are the host's, requests the connection's.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import ConnectionFailed, MCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.host.policy import Origin
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.protocol.deprecated import Deprecated

__all__ = ["LEVELS", "LogLine", "ServerEntry", "State"]

State = Literal["starting", "ready", "unresponsive", "lost", "reconnecting", "closed", "failed"]
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_KEPT = 1_000
_LONGEST = 4_000


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line a server said, or we said about it.

    Attributes:
        time: seconds since the epoch; not rendered by default.
        level: one of `LEVELS`.
        source: "stderr", "server" (notifications/message) or "note" (ours).
        text: the line, secrets masked.
        logger: the name the server gave with it.
    """

    time: float
    level: str
    source: Literal["stderr", "server", "note"]
    text: str
    logger: str | None = None


@dataclass(eq=False)
class ServerEntry:
    """A server the host knows.

    Attributes:
        name, spec: what it is called and how it is reached (unexpanded).
        origin: who wanted it: "person", "code", or "project" (a file that came with the project).
        connection: the current connection, or None before the first.
        error: why it could not be connected, when `state` is "failed".
        advice: what should be said about how it is reached (see `specs.advice`).
        deprecated: the deprecated features that it has really used, by name, in the order in which it did.
        logged: how many lines of log there have been.
        log: the last 1,000 lines of stderr, log messages and notes, oldest first.
    """

    name: str
    spec: ServerSpec
    connection: Connection | None = None
    error: MCPError | None = None
    advice: tuple[str, ...] = ()
    deprecated: dict[str, Deprecated] = field(default_factory=lambda: dict[str, "Deprecated"]())
    logged: int = 0
    log: deque[LogLine] = field(default_factory=lambda: deque[LogLine](maxlen=_KEPT))
    clean: Callable[[str], str] = str
    origin: Origin = "person"

    @property
    def state(self) -> State:
        """Where it stands: "starting", "ready", "unresponsive" (no sign of life), "lost" (went away), "reconnecting",
        "closed" (we closed it) or "failed" (it never came up).
        """
        if self.error is not None:
            return "failed"
        return "closed" if self.connection is None else self.connection.state

    @property
    def trouble(self) -> str | None:
        """What is wrong with it, one sentence, secrets masked; None when nothing is."""
        if self.error is not None:
            return str(self.error)
        closed = self.connection.last_closed if self.connection else None
        if closed is None or self.state not in ("lost", "reconnecting"):
            return None
        return self.clean(f"The server {closed.reason}.")

    @property
    def by_hand(self) -> bool:
        """Whether the person connected it, and no file did."""
        return self.origin in ("person", "code")

    @property
    def trusted(self) -> bool:
        """Whether the person said that its word about its own tools is to be believed."""
        return self.by_hand and self.spec.trust

    @property
    def ready(self) -> bool:
        """Whether requests can be sent now."""
        return self.state == "ready"

    @property
    def transport(self) -> str:
        """What carries its messages: "stdio", "http", "sse" or "memory"; "" before the first connection."""
        link = self.connection.link if self.connection else None
        return link.transport.kind if link is not None else ""

    @property
    def era(self) -> str | None:
        """ "legacy" or "modern", once connected."""
        return self.connection.era if self.connection else None

    @property
    def revision(self) -> str | None:
        """The protocol revision spoken, once connected."""
        return self.connection.revision if self.connection else None

    @property
    def info(self) -> Mapping[str, Any]:
        """What the server calls itself (`serverInfo`), untrusted, secrets masked (it is on every card)."""
        info = self.connection.info if self.connection else {}
        return {key: self.clean(value) if isinstance(value, str) else value for key, value in info.items()}

    @property
    def instructions(self) -> str | None:
        """The server's instructions, untrusted, secrets masked."""
        said = self.connection.instructions if self.connection else None
        return None if said is None else self.clean(said)

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the server declared."""
        return self.connection.capabilities if self.connection else {}

    @property
    def stderr(self) -> list[str]:
        """The last lines of its stderr, secrets masked."""
        if self.connection is not None:
            return [self.clean(line) for line in self.connection.stderr]
        return [self.clean(line) for line in self.error.stderr] if isinstance(self.error, ConnectionFailed) else []

    def say(
        self,
        source: Literal["stderr", "server", "note"],
        text: str,
        *,
        level: str = "info",
        logger: str | None = None,
    ) -> None:
        """Append to the log; several lines become several entries, a very long one is shortened."""
        level = level if level in LEVELS else "info"
        for line in text.splitlines() or [""]:
            short = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… ({len(line):,} characters)"
            self.logged += 1
            self.log.append(LogLine(time.time(), level, source, self.clean(short), logger))

    def lines(self, level: str | None = None) -> list[LogLine]:
        """The log, from a level upwards (notes are always there), without what has become secret since."""
        lowest = LEVELS.index(level) if level in LEVELS else 0
        return [
            replace(line, text=self.clean(line.text))
            for line in list(self.log)
            if not lowest or line.source == "note" or LEVELS.index(line.level) >= lowest
        ]

    def __repr__(self) -> str:
        return f"<ServerEntry {self.name}: {self.state}>"
