"""What happens while a question is answered, as plain values for whoever watches (a card, a test).

Told on the runtime thread, in order; a receiver must be quick and thread-safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mcp.host.conversation.toolbox import Changes
    from jupyter_mcp.host.conversation.turn import ModelCall
    from jupyter_mcp.host.events import CallEvent

__all__ = [
    "Attached",
    "CallEnded",
    "CallSent",
    "CallStarted",
    "CallTold",
    "CallWritten",
    "CatalogueChanged",
    "ConversationEvent",
    "Noted",
    "OnConversationEvent",
    "RoundEnded",
    "TextDelta",
]


@dataclass(frozen=True, slots=True)
class Attached:
    """Something goes along with the question, in words."""

    label: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model said a little more."""

    text: str


@dataclass(frozen=True, slots=True)
class Noted:
    """What delays the model, in a sentence for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class CallWritten:
    """The model is writing a call, and nobody would have to be asked about it whatever it comes to.

    Attributes:
        number: which call of its turn it will be; a model that is asked again may write another.
        server, tool: what it is.
        arguments: as far as they are written; what is there may still change.
    """

    number: int
    server: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallSent:
    """The call may be made, and goes to its server with these arguments now."""

    call: ModelCall
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The model wants a call; it may still have to be approved."""

    call: ModelCall


@dataclass(frozen=True, slots=True)
class CallTold:
    """Something happened during a call: progress, a log line, a question."""

    call: ModelCall
    event: CallEvent


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call is over, or was never made; its `outcome` says how."""

    call: ModelCall


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The model has been asked once more, and all its calls are over.

    Attributes:
        number: counts from 1.
        stop_reason: the model's own word ("endTurn", "toolUse", "maxTokens" …), or None.
    """

    number: int
    stop_reason: str | None


@dataclass(frozen=True, slots=True)
class CatalogueChanged:
    """The tools are others now; the model learns of it with its next round."""

    changes: Changes


ConversationEvent = (
    Attached
    | TextDelta
    | Noted
    | CallWritten
    | CallStarted
    | CallSent
    | CallTold
    | CallEnded
    | RoundEnded
    | CatalogueChanged
)
OnConversationEvent = Callable[[ConversationEvent], None]
