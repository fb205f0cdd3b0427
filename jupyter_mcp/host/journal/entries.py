"""What the journal shows: one message, one act. Values, redacted by whoever makes them (`wire`, `Journal`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["Act", "Direction", "WireEntry"]

Direction = Literal["send", "receive"]


@dataclass(frozen=True, slots=True)
class WireEntry:
    """One message as it may be shown, or one thing that HTTP did beside messages.

    Attributes:
        number: counts all messages of this kernel from 1.
        time: seconds since the epoch (for export; not rendered in a saved document).
        server: name of the server.
        direction: "send" (ours) or "receive" (theirs).
        method: of a request or notification; of a reply the method it answers, if that is still known.
        id: JSON-RPC id, None for notifications.
        size: bytes on the wire; 0 for what is no message.
        message: the message, redacted; shortened when `summary` is true. Of what is none: `{"http": {"event": …}}`.
        summary: whether the message was too big to be kept whole.
        status: of the exchange that it belongs to, on the request and on its answer: "ok", "error" (also of a tool, and
            when HTTP brought no answer), "input_required", "cancelled" or "open" (no answer on record); of an HTTP
            answer that holds no message its own, "ok" or "error"; None for what has no answer.
        duration: seconds from the request to its answer, on both; None while there is none.
        exchange: number of the first request of the exchange; the rounds of a request that needed input share it.
        round: which of these rounds, from 1; both None for what has no answer.
        target: what a request is about, on it and on its answer: a tool, a prompt, a URI, a task; of a notification
            its text; "" for none.
        era: "legacy" or "modern", when that is known.
        http: what HTTP did, when this is no message.
    """

    number: int
    time: float
    server: str
    direction: Direction
    method: str | None
    id: int | str | None
    size: int
    message: Mapping[str, Any]
    summary: bool
    status: str | None = None
    duration: float | None = None
    exchange: int | None = None
    round: int | None = None
    target: str = ""
    era: str | None = None
    http: HttpEvent | None = None


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that was done, or asked, and how it ended.

    Attributes:
        number: counts all acts of this kernel from 1.
        time: seconds since the epoch.
        server: name of the server.
        method: MCP method ("tools/call", "elicitation/create", …) or "connect", "disconnect".
        name: tool, prompt, URI, or what a question was about.
        origin: who began it: "person", "code", "server", "model".
        rule: the rule that decided, as text, or None.
        outcome: "running", "ok", "error", "denied", "refused", "cancelled", "timeout", or an answer's action.
        remark: one line more (an error's sentence, a person's words with a decline, who answered).
        arguments: what was sent or answered, redacted.
        duration: seconds, None while it runs.
        reason: why it was let pass (a rule, a default, an approval), or None.
        result: what came back, in a line: kinds, sizes and the beginning of a text; redacted.
    """

    number: int
    time: float
    server: str
    method: str
    name: str
    origin: str
    rule: str | None = None
    outcome: str = "running"
    remark: str | None = None
    arguments: Any = None
    duration: float | None = None
    reason: str | None = None
    result: str | None = None
