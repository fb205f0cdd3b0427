"""Leave for an act: the policy decides, and where it says so the person is asked. One way for every kind of act.

Whatever calls a tool comes through here (`doing`), and, turned round, what a client of our own server wants to do in
the notebook. The person may change the arguments, say yes once or for longer, or no with a reason that whoever began
the act gets to read. A client's name is its own word: whoever holds the token could use another.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Denied, MCPError, UsageError
from jupyter_mcp.host.policy.rules import literal
from jupyter_mcp.host.questions import Question
from jupyter_mcp.host.visible import same
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.policy import Decision, Deed, Origin, Policy
    from jupyter_mcp.host.questioner import Questioner
    from jupyter_mcp.host.questions import Answer
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["Consent", "Leave", "Offered"]


@dataclass(frozen=True, slots=True)
class Leave:
    """The act may be done.

    Attributes:
        rule: the rule that let it pass, as text, or None.
        arguments: what to send, which the person may have changed.
        reason: why it may, in words for the journal.
        asked: somebody was asked, which takes time.
    """

    rule: str | None
    arguments: Mapping[str, Any]
    reason: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Offered:
    """What the person is shown beside the deed.

    Attributes:
        title: what the server calls it.
        schema: of its arguments, untrusted; they may be changed where there is one.
        leaves: says what leaves the notebook with it, a line each.
        check: raises `UsageError` for changed arguments that do not fit.
    """

    title: str = ""
    schema: Mapping[str, Any] | None = None
    leaves: Callable[[], Sequence[str]] = tuple
    check: Callable[[Mapping[str, Any]], None] | None = None


class Consent:
    """Gets leave for deeds."""

    def __init__(self, policy: Policy, questioner: Questioner) -> None:
        self._policy = policy
        self._questioner = questioner

    async def obtain(self, deed: Deed, act: Running | None = None, offered: Offered = Offered()) -> Leave:
        """Leave for a deed, asked for where the policy says so.

        Args:
            deed: what is about to be done.
            act: the act that it is, which the question hangs on.
            offered: what the person is shown beside it.

        Raises:
            Denied: a rule or the person refused, or nobody could be asked.
        """
        decision = self._decided(deed)
        if decision.verdict == "go":
            return Leave(_rule(decision), deed.arguments, decision.reason)
        deed = replace(deed, arguments=deepcopy(dict(deed.arguments)))  # whatever becomes of them while it is asked
        question = self._question(deed, decision, act, offered)

        async def ask() -> Answer:
            return await self._questioner.approve(question, act, fits=lambda answer: self._fits(deed, offered, answer))

        answer = await (ask() if act is None else act.hang(ask))
        self._settle(deed, decision, answer, act)
        return Leave(_rule(decision), _arguments(deed, answer), _approved(decision, answer), asked=True)

    async def server(self, spec: ServerSpec, origin: Origin, *, named: bool = False) -> Leave:
        """Leave to start or reach a server.

        Args:
            spec: as written, unexpanded.
            origin: who wants it; "project" is a file that came with the project, whose content the person has to see.
            named: the person named it, so that no switch holds it back.

        Raises:
            Denied: a rule or the person refused, or nobody could be asked.
        """
        from jupyter_mcp.host.policy import servers

        deed = replace(servers.connect_deed(spec, origin), on=named)
        decision = self._decided(deed)
        if decision.verdict == "ask":
            params = {
                **servers.shown(spec, deed),
                "origin": origin,
                "reason": decision.reason,
                "scopes": list(decision.scopes),
            }
            verb = "Connect to" if spec.kind == "http" else "Start"
            question = Question(self._questioner.new_id(), "server", spec.name, f"{verb} {spec.name}?", params)
            answer = await self._questioner.approve(question, None, fits=_no_values)
            self._settle(deed, decision, answer, None)
            return Leave(_rule(decision), {}, _approved(decision, answer))
        return Leave(_rule(decision), {}, decision.reason)

    def goes_unasked(self, deed: Deed) -> bool:
        """Whether such a deed goes without a question, whatever its arguments are; those that it has do not count."""
        strict = (rule for rule in self._policy.rules if rule.effect != "allow" and rule.where)
        if any(rule.is_about(deed.server, deed.name) for rule in strict):
            return False
        return self._policy.decide(replace(deed, arguments={})).verdict == "go"

    def check(self, deed: Deed) -> None:
        """Raise `Denied` where a rule refuses a deed; nobody is asked."""
        self._decided(deed)

    def _decided(self, deed: Deed) -> Decision:
        """The decision, unless it is a no. Raises `Denied`."""
        decision = self._policy.decide(deed)
        if decision.verdict == "deny":
            raise Denied(_denied(deed, decision), rule=_rule(decision), server=deed.server)
        return decision

    def _settle(self, deed: Deed, decision: Decision, answer: Answer, act: Running | None) -> None:
        """What follows from an answer: a no is raised as `Denied`, a yes is kept for as long as the person said."""
        if answer.action == "accept":
            self._keep(deed, decision, answer, act)
            return
        rule = _rule(decision)
        if answer.scope == "never":
            rule = str(self._policy.deny(literal(deed.server, deed.name)))
        raise Denied(_refused(deed, answer), rule=rule, server=deed.server, hint=answer.note)

    def _question(self, deed: Deed, decision: Decision, act: Running | None, offered: Offered) -> Question:
        params: dict[str, Any] = {
            "tool": deed.name,
            "title": offered.title or deed.name,
            "arguments": dict(deed.arguments),
            "origin": deed.origin,
            "reason": decision.reason,
            "annotations": dict(deed.annotations),
            "trusted": deed.trusted,
            "leaves": list(offered.leaves()),
            "scopes": list(decision.scopes),
        }
        if offered.schema is not None:
            params["schema"] = offered.schema
        if deed.client:
            params["client"] = deed.client
        message = f"{deed.client} wants to run {deed.full_name}." if deed.client else f"Run {deed.full_name}?"
        cause = act.cause if act is not None else None
        return Question(self._questioner.new_id(), "approval", deed.server, message, params, cause=cause)

    def _fits(self, deed: Deed, offered: Offered, answer: Answer) -> Mapping[str, str]:
        """What is wrong with the arguments as the person changed them; rules hold for these too."""
        if answer.action != "accept":
            return {}
        if problem := _no_arguments(answer):
            return {"arguments": problem}
        arguments = _arguments(deed, answer)
        if arguments is deed.arguments:
            return {}
        if offered.check is None:
            return {"arguments": "These arguments cannot be changed."}
        try:
            offered.check(arguments)
        except UsageError as error:
            return {"arguments": str(error)}
        decision = self._policy.decide(replace(deed, arguments=arguments, yes=True))
        return {"arguments": _denied(deed, decision)} if decision.verdict == "deny" else {}

    def _keep(self, deed: Deed, decision: Decision, answer: Answer, act: Running | None) -> None:
        """A yes that cannot be kept holds for this once, and the person is told."""
        scope = answer.scope or "once"
        try:
            if scope == "client":
                self._policy.remember(deed, "session", client=deed.client)
            elif scope in decision.scopes:  # a card may be older than a rule
                self._policy.remember(deed, scope)
        except MCPError as error:
            text = f"The yes to {deed.full_name} holds for this once: {error}"
            self._questioner.note(deed.server, text)
            if act is not None:
                act.note(text)


def _rule(decision: Decision) -> str | None:
    return str(decision.rule) if decision.rule is not None else None


def _approved(decision: Decision, answer: Answer) -> str:
    return f"{decision.reason}; approved by {'the person' if answer.by == 'person' else f'a {answer.by}'}"


def _arguments(deed: Deed, answer: Answer) -> Mapping[str, Any]:
    edited = (answer.content or {}).get("arguments")
    return edited if is_mapping(edited) and not same(edited, deed.arguments) else deed.arguments


def _no_arguments(answer: Answer) -> str:
    """What is wrong with the shape of a yes that changes arguments; a yes to something else must not slip through."""
    content = answer.content or {}
    if set(content) - {"arguments"}:
        return 'Changed arguments are given whole: {"arguments": {…}}.'
    return "" if is_mapping(content.get("arguments", {})) else "The arguments have to be one JSON object."


def _no_values(answer: Answer) -> Mapping[str, str]:
    return {"server": "What is started cannot be changed here."} if answer.content else {}


def _what(deed: Deed) -> str:
    return f"Connecting {deed.server}" if deed.method == "connect" else deed.full_name


def _denied(deed: Deed, decision: Decision) -> str:
    if decision.rule is None:
        return f"{_what(deed)} is not done: {decision.reason}."
    whose = "a rule of the person at the notebook" if deed.client else f"the rule {str(decision.rule)!r}"
    return f"{_what(deed)} is denied by {whose}."


def _refused(deed: Deed, answer: Answer) -> str:
    """For whoever began it: the reason that the person gave is for them to read."""
    by_whom = " by the person at the notebook" if deed.client else ""
    if deed.client and answer.by == "headless":
        return f"{deed.full_name} has to be approved in the notebook, and nobody answered there."
    reason = f": {answer.remark}" if answer.remark else "."
    if answer.scope == "never":
        return f"{_what(deed)} was declined{by_whom}, for good{reason}"
    how = "declined" if answer.action == "decline" else "not approved"
    return f"{_what(deed)} was {how}{by_whom}{reason}"
