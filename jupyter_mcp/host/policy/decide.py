"""`decide`: what becomes of a deed. One pure function of the rules, the deed and what was approved before.

    1. a deny that nothing overrules                     ->  no, whoever asks, whatever was approved
    2. switched off, and no person begins it             ->  no
    3. a rule that asks                                  ->  ask (a yes that came with the deed is the answer)
    4. a rule that allows                                ->  go
    5. no rule: reading goes; what a person or the notebook's code begins goes; the rest is asked about
       unless it was approved before, with what was shown then unchanged. A front end's settings may say otherwise for
       calls of tools (`Presumed`)

Among rules that speak about one deed the most specific wins, by these bounds (ADR 21):

    - more specific is: server, name, method, conditions each at least as narrow, one of them narrower; all the same,
      the narrower scope
    - where neither of two is more specific, the stricter wins
    - what is said in a wider scope loosens nothing that a narrower one says
    - a deny is overruled by nothing but a more specific rule of its own scope: a deny of a wider scope is final
    - what nobody has accepted yet overrules nothing and allows nothing

Who asks, and how, is not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jupyter_mcp.host.policy.deed import ASKED_BY_SERVERS, BY_HAND, Origin
from jupyter_mcp.host.policy.rules import HERE, SCOPES, Rule, Scope, strictness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jupyter_mcp.host.policy.deed import Deed

__all__ = ["Approval", "Decision", "Lost", "Presumed", "contest", "decide", "usual"]

Verdict = Literal["go", "ask", "deny"]
Presumed = Literal["usual", "ask", "allow"]
"""What becomes of a tool call that no rule speaks about: as ever; asked about whoever begins it; not asked about."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A yes that was to hold longer than once.

    Attributes:
        server, method, name: of the deed, to the letter.
        origin: who had begun it; it holds for nobody else.
        client: the client of ours that it is for; "" is any.
        fingerprint: what was shown then; None where nothing can change.
        scope, source: where it is kept.
    """

    server: str
    method: str
    name: str
    origin: Origin
    client: str = ""
    fingerprint: str | None = None
    scope: Scope = "session"
    source: str = HERE

    def is_for(self, deed: Deed) -> bool:
        """Whether it was given for this deed, whatever that is like now. No project vouches for its own servers."""
        if deed.origin == "project" and self.scope == "project":
            return False
        mine = (self.server, self.method, self.name, self.origin)
        same = mine == (deed.server, deed.method, deed.name, deed.origin)
        return same and self.client in ("", deed.client)

    def __str__(self) -> str:
        whom = f" for {self.client}" if self.client else ""
        return f"approved {self.server}.{self.name}{whom} ({self.scope})"


@dataclass(frozen=True, slots=True)
class Lost:
    """A rule that speaks about a deed and does not decide, and why."""

    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a deed.

    Attributes:
        verdict: "go", "ask" or "deny".
        rule: the rule that decided, or None.
        reason: why, in words for the journal and the person.
        scopes: for "ask": how long a yes may hold.
        lost: the other rules that speak about it.
        approval: the earlier yes that let it go, or that holds no more because what it was given for has changed.
    """

    verdict: Verdict
    rule: Rule | None
    reason: str
    scopes: tuple[Scope, ...] = ()
    lost: tuple[Lost, ...] = ()
    approval: Approval | None = None


def decide(
    rules: Sequence[Rule], deed: Deed, memory: Iterable[Approval] = (), presumed: Presumed = "usual"
) -> Decision:
    """The decision about one deed.

    Args:
        rules: of all scopes, in the order in which they were said.
        deed: what is about to be done.
        memory: what was approved before.
        presumed: what holds for a tool call where no rule speaks.
    """
    rule, lost = contest(rules, deed) if rules else (None, ())
    if rule is not None and rule.effect == "deny":
        return Decision("deny", rule, str(rule), lost=lost)
    if deed.off and deed.origin not in BY_HAND:
        return Decision("deny", None, deed.off, lost=lost)
    if rule is not None and rule.effect == "allow":
        return Decision("go", rule, str(rule), lost=lost)
    verdict, reason = ("ask", str(rule)) if rule is not None else usual(deed, presumed)
    if verdict == "go":
        return Decision("go", None, reason, lost=lost)
    if deed.yes:
        return Decision("go", rule, "approved with the call", lost=lost)
    if rule is not None:  # it says: each time
        return Decision("ask", rule, reason, ("once",), lost)
    approval = _remembered(deed, memory)
    if approval is None:
        return Decision("ask", None, reason, SCOPES, lost)
    if approval.fingerprint != deed.fingerprint:
        return Decision("ask", None, _changed(deed), SCOPES, lost, approval)
    return Decision("go", None, str(approval), lost=lost, approval=approval)


def usual(deed: Deed, presumed: Presumed = "usual") -> tuple[Verdict, str]:
    """What becomes of a deed that no rule speaks about: "go" or "ask", and why."""
    if presumed != "usual" and deed.method == "tools/call":
        return ("ask" if presumed == "ask" else "go"), f"the default policy is {presumed!r} (settings)"
    if deed.method == "connect":
        if deed.origin in BY_HAND:
            return "go", f"begun by {deed.begun_by}"
        return "ask", f"{deed.server} comes from {deed.begun_by}"
    if deed.method == "roots/list":
        if deed.by_hand:
            return "go", "the person connected this server"
        return "ask", "nobody connected this server by hand"
    if deed.method in ASKED_BY_SERVERS:
        return "ask", "wanted by a server"
    if deed.method != "tools/call":
        return "go", "reading is free"
    if deed.origin in BY_HAND:
        return "go", f"begun by {deed.begun_by}"
    if deed.trusted and deed.annotations.get("readOnlyHint") is True:
        return "go", "a trusted server says that it only reads"
    return "ask", f"begun by {deed.begun_by}"


# --- among the rules -------------------------------------------------------------------------------------------------


def contest(rules: Sequence[Rule], deed: Deed) -> tuple[Rule | None, tuple[Lost, ...]]:
    """The rule that decides about a deed, if one does, and those that speak about it and do not, each with the reason.

    The order of the rules says which of two equals was said later; it makes no other difference.
    """
    lost: list[Lost] = []
    left: list[tuple[int, Rule]] = []
    for place, rule in enumerate(rules):
        if not rule.speaks_of(deed):
            continue
        if rule.effect == "allow" and not rule.accepted:
            lost.append(Lost(rule, "not accepted yet"))
        elif rule.effect == "allow" and deed.origin == "project":
            lost.append(Lost(rule, "a project's server is allowed by a yes to its exact command only"))
        else:
            left.append((place, rule))
    standing: list[tuple[int, Rule]] = []
    for place, rule in left:
        over = next((other for _, other in left if _overrules(other, rule)), None)
        if over is None:
            standing.append((place, rule))
        else:
            lost.append(Lost(rule, f"“{over}” is more specific"))
    if not standing:
        return None, tuple(lost)
    _, winner = max(standing, key=lambda one: _rank(one, standing))
    lost += [Lost(rule, _beaten(rule, winner)) for _, rule in standing if rule is not winner]
    return winner, tuple(lost)


def _overrules(rule: Rule, other: Rule) -> bool:
    """Whether a rule takes away what a stricter one says."""
    if strictness(rule.effect) >= strictness(other.effect) or not rule.accepted:
        return False
    nearer = SCOPES.index(rule.scope) <= SCOPES.index(other.scope)
    if other.effect == "deny":
        nearer = rule.scope == other.scope
    return nearer and rule.more_specific_than(other)


def _rank(one: tuple[int, Rule], standing: Sequence[tuple[int, Rule]]) -> tuple[int, int, int]:
    """The strictest first; of those the one that is more specific than most; of those the one said last."""
    place, rule = one
    same = [other for _, other in standing if other.effect == rule.effect]
    return (strictness(rule.effect), sum(rule.more_specific_than(other) for other in same), place)


def _beaten(rule: Rule, winner: Rule) -> str:
    """Why a rule that nothing overrules does not decide; the winner is told beside it."""
    if rule.effect == winner.effect:
        return "says the same"
    if not rule.more_specific_than(winner):
        return "less strict, and not more specific"
    if winner.effect == "deny":
        return f"a deny in {_scope(winner.scope)} is final"
    if not rule.accepted:
        return "loosens nothing until it is accepted"
    return f"loosens nothing that is said in {_scope(winner.scope)}"


def _scope(scope: Scope) -> str:
    return "your own rules" if scope == "user" else f"this {scope}"


# --- earlier approvals -----------------------------------------------------------------------------------------------


def _remembered(deed: Deed, memory: Iterable[Approval]) -> Approval | None:
    """The approval that holds; else one that was given for what this was before."""
    given = [approval for approval in memory if approval.is_for(deed)]
    return next((one for one in given if one.fingerprint == deed.fingerprint), given[-1] if given else None)


def _changed(deed: Deed) -> str:
    if deed.method == "connect":
        return f"{deed.server} is not started in the way that was approved before"
    return f"{deed.full_name} describes itself otherwise than when it was approved"
