"""What happens while a call runs, as plain values for whoever watches it (a card, a log, a test).

The host calls `on_event` with these on the runtime thread; a receiver must be quick and thread-safe. Nothing here
renders or waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mcp.host.questions import Answer, Question
    from jupyter_mcp.host.tasks import HostTask

__all__ = ["CallEvent", "Log", "OnEvent", "Progress", "QuestionClosed", "QuestionOpened", "Status", "TaskChanged"]


@dataclass(frozen=True, slots=True)
class Progress:
    """`notifications/progress` of this call.

    Attributes:
        progress: how far, in the server's own units.
        total: how far it goes, if known (never zero or negative here: then it is None).
        message: the server's words, untrusted.
    """

    progress: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """`notifications/message` that came while the call ran.

    Attributes:
        level: one of the eight syslog words.
        logger: name the server gave, if any.
        data: what it logged, any JSON, untrusted.
    """

    level: str
    logger: str | None
    data: Any


@dataclass(frozen=True, slots=True)
class QuestionOpened:
    """The call waits for an answer."""

    question: Question


@dataclass(frozen=True, slots=True)
class QuestionClosed:
    """The question is answered (or withdrawn: `answer` is None)."""

    question: Question
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Status:
    """One line of ours about the call ("starting demo …", how to script an answer)."""

    text: str


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """The call is a task of the server now, or how the task is doing is another now."""

    task: HostTask


CallEvent = Progress | Log | QuestionOpened | QuestionClosed | Status | TaskChanged
OnEvent = Callable[[CallEvent], None]
