"""`Why`: a decision with everything that led to it, for a person. Pure.

Which rule decided and where it stands, which others speak about the deed and why they lost, and what would have
happened without any rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from jupyter_mcp.host.policy.decide import usual
from jupyter_mcp.host.policy.rules import HERE

if TYPE_CHECKING:
    from jupyter_mcp.host.policy.decide import Decision, Presumed
    from jupyter_mcp.host.policy.deed import Deed
    from jupyter_mcp.host.policy.rules import Scope

__all__ = ["Line", "Why", "place_of"]

_VERDICTS = {"go": "runs", "ask": "is asked about", "deny": "is refused"}


class Line(NamedTuple):
    """One thing that was looked at.

    Attributes:
        what: "decides", "approved", "loses" or "without rules".
        said: the rule, approval or default in words.
        place: where it stands: a file, or said here.
        note: why it lost, what is wrong with it; "" when there is nothing to say.
    """

    what: str
    said: str
    place: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """The whole story of one decision.

    Attributes:
        deed, decision: see there.
        lines: what was looked at, the deciding one first.
    """

    deed: Deed
    decision: Decision
    lines: tuple[Line, ...]

    @staticmethod
    def of(deed: Deed, decision: Decision, presumed: Presumed = "usual") -> Why:
        """Tell a decision; `presumed` as it was for it."""
        verdict, reason = usual(deed, presumed)
        lines: list[Line] = []
        if decision.rule is not None:
            rule = decision.rule
            lines.append(Line("decides", str(rule), place_of(rule.source, rule.scope), rule.note))
        elif decision.reason != reason:
            lines.append(Line("decides", decision.reason))
        approval = decision.approval
        if approval is not None:
            holds = "" if decision.verdict == "go" else "holds no more: what it was given for has changed"
            lines.append(Line("approved", str(approval), place_of(approval.source, approval.scope), holds))
        lines += [
            Line("loses", str(lost.rule), place_of(lost.rule.source, lost.rule.scope), lost.why)
            for lost in decision.lost
        ]
        lines.append(Line("without rules", f"{_VERDICTS[verdict]}: {reason}"))
        return Why(deed, decision, tuple(lines))

    @property
    def verdict(self) -> str:
        """One sentence: "demo.delete is refused when a model begins it"."""
        who = "" if self.deed.method in ("connect", self.deed.name) else f" when {self.deed.begun_by} begins it"
        return f"{self.deed.full_name} {_VERDICTS[self.decision.verdict]}{who}"


def place_of(source: str, scope: Scope) -> str:
    """Where a rule stands, in words: "said here (session)", ".jupyter-mcp/policy.toml (project)"."""
    return f"{source} ({scope})" if source != HERE or scope != "session" else HERE
