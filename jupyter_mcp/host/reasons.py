"""Why something that a server wanted became what it became, in words for the journal. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_mcp.host.policy import Decision
    from jupyter_mcp.host.questions import Answer

__all__ = ["why"]

_BY = {
    "person": "answered by the person",
    "script": "answered by a script",
    "headless": "nobody was there to be asked",
    "server": "the server said that the page is done",
    "model": "answered by a model, nobody was asked",
}


def why(decision: Decision, answer: Answer | None) -> str:
    """What the policy said, and who answered then.

    Args:
        decision: about what a server wants.
        answer: None when there was none (the act ended, the model failed).
    """
    if answer is None or answer.by == "policy":
        return decision.reason
    return f"{decision.reason}; {_BY[answer.by]}"
