"""Leave for what a client of our own server wants to do here (run code, set a variable): rules, memory, the person.

It is the way in of `doing`, turned round: there we call others, here others call us. The person may say yes once, for
this client, for as long as this kernel lives, or never again; "never" is a rule like any other, to be seen and taken
back where rules are. A client's name is its own word: whoever holds the token could use another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Denied
from jupyter_mcp.host.questions import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.approvals import Approvals
    from jupyter_mcp.host.questioner import Questioner

__all__ = ["ask"]


async def ask(
    questioner: Questioner,
    approvals: Approvals,
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    client: str,
) -> str | None:
    """See `Host.consent`."""
    full = f"{server}.{tool}"
    decision = approvals.decide(server, tool, "server", client=client)
    rule = str(decision.rule) if decision.rule else None
    if decision.verdict == "deny":
        raise Denied(f"{full} is denied by a rule of the person at the notebook.", rule=rule, server=server)
    if decision.verdict == "go":
        return rule
    params = {
        "tool": tool,
        "arguments": dict(arguments),
        "origin": "server",
        "reason": decision.reason,
        "client": client,
    }
    question = Question(questioner.new_id(), "approval", server, f"{client} wants to run {full}.", params)
    answer = await questioner.approve(question, None)
    if answer.action != "accept":
        if answer.scope == "never":
            rule = str(questioner.policy.deny(full))
        raise Denied(_refusal(full, answer.action, answer.by, never=answer.scope == "never"), rule=rule, server=server)
    if answer.remember or answer.scope == "client":
        approvals.remember(server, tool, "" if answer.remember else client)
    return rule


def _refusal(full: str, action: str, by: str, *, never: bool) -> str:
    if by == "headless":
        return f"{full} has to be approved in the notebook, and nobody answered there."
    if never:
        return f"{full} was declined by the person at the notebook, for good."
    how = "declined" if action == "decline" else "not approved"
    return f"{full} was {how} by the person at the notebook."
