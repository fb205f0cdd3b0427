"""What a server is told of our folders when it asks (`roots/list`): by rule, else freely when the person connected it,
else after the person was asked. Which folders there are is in `roots`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import InputRefused
from jupyter_mcp.host.policy import Deed
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.reasons import why

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.policy import Decision
    from jupyter_mcp.host.questioner import Questioner

__all__ = ["share_roots"]


async def share_roots(
    questioner: Questioner, server: str, act: Running | None, roots: Sequence[Mapping[str, Any]], by_hand: bool
) -> dict[str, Any]:
    """The result of `roots/list`.

    Args:
        questioner: asks the person, and knows the policy.
        server: who wants to know.
        act: the act during which it asks, if that is known.
        roots: the folders.
        by_hand: the person connected this server, no file did.

    Raises:
        InputRefused: it is told nothing.
    """
    deed = Deed(server, "roots/list", "roots/list", origin="server", by_hand=by_hand)
    decision = questioner.policy.decide(deed)
    if decision.verdict != "go":
        await _decided(questioner, deed, decision, act, roots)
    return {"roots": [dict(root) for root in roots]}


async def _decided(
    questioner: Questioner, deed: Deed, decision: Decision, act: Running | None, roots: Sequence[Mapping[str, Any]]
) -> None:
    """What is not free is an act on record. Raises `InputRefused`."""
    rule = None if decision.rule is None else str(decision.rule)
    number = questioner.journal.begin(deed.server, deed.method, "", "server", rule=rule)
    answer, outcome, remark = None, "cancelled", None
    try:
        if decision.verdict == "deny":
            raise InputRefused(f"The rule {decision.reason!r} keeps the roots from {deed.server}.", server=deed.server)
        answer = await _ask(questioner, deed, decision, act, roots)
        outcome = answer.action
        if answer.action != "accept":
            remark = answer.remark
            raise InputRefused(f"The roots were kept from {deed.server}.", server=deed.server)
    except InputRefused as error:
        outcome, remark = "refused", remark or str(error)
        raise
    finally:
        questioner.journal.end(number, outcome, remark=remark, reason=why(decision, answer))


async def _ask(
    questioner: Questioner, deed: Deed, decision: Decision, act: Running | None, roots: Sequence[Mapping[str, Any]]
) -> Answer:
    params: dict[str, Any] = {
        "tool": deed.name,
        "title": "the folders of this notebook (roots)",
        "arguments": {},
        "origin": "server",
        "reason": decision.reason,
        "annotations": {},
        "trusted": False,
        "leaves": [str(root.get("uri")) for root in roots],
        "scopes": list(decision.scopes),
    }
    cause = act.cause if act is not None else None
    message = f"May {deed.server} know the folders of this notebook?"
    question = Question(questioner.new_id(), "approval", deed.server, message, params, cause=cause)

    async def ask() -> Answer:
        return await questioner.approve(question, act, fits=lambda answer: {})

    answer = await (ask() if act is None else act.hang(ask))
    scope = answer.scope or "once"
    if answer.action == "accept" and scope in decision.scopes:
        questioner.policy.remember(deed, scope)
    return answer
