"""What HTTP does beside messages, as values for a trace: answers that hold none, streams that come and go.

A transport tells its `Receiver.on_http`; nothing depends on whether somebody listens. On pipes there is no such thing:
there every byte belongs to a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from jupyter_mcp.transport.http.wire import Answer

__all__ = ["HttpEvent", "Verb", "answer_event", "failed_event"]

Verb = Literal["POST", "GET", "DELETE"]


@dataclass(frozen=True, slots=True)
class HttpEvent:
    """One thing that HTTP did and no message tells.

    Attributes:
        kind: "answer" (one that holds no message: 202, 404, 405, of a DELETE), "opened" (an event stream began),
            "closed" (an event stream ended and the response it was for had not come, or it was for none), "cancelled"
            (we closed a request's stream, which is how the modern era cancels), "failed" (no answer came).
        verb: of the HTTP request.
        status: of its answer; None where there was none.
        method: of the message that was sent; None for what belongs to the session.
        request_id: of the request that it is about; None for a notification, an answer of ours, and the session.
        text: the status line's words, or what went wrong; the server's words are printable and short.
        resumed: the stream was asked for where it had stopped (`Last-Event-ID`).
    """

    kind: Literal["answer", "opened", "closed", "cancelled", "failed"]
    verb: Verb
    status: int | None = None
    method: str | None = None
    request_id: int | str | None = None
    text: str = ""
    resumed: bool = False


def answer_event(
    answer: Answer,
    verb: Verb,
    method: str | None = None,
    request_id: int | str | None = None,
    *,
    kind: Literal["answer", "opened"] = "answer",
    resumed: bool = False,
) -> HttpEvent:
    """The event of an answer that came; "opened" when it is an event stream that will be read."""
    return HttpEvent(kind, verb, answer.status, method, request_id, answer.reason, resumed)


def failed_event(
    error: Exception, verb: Verb, method: str | None = None, request_id: int | str | None = None
) -> HttpEvent:
    """The event of an answer that did not come, or of one that was not followed (a redirect)."""
    return HttpEvent("failed", verb, getattr(error, "status", None), method, request_id, str(error))
