"""What is allowed: rules as data, one pure decision, approvals that are remembered, and where all of it is kept.

    deed        what is about to be done, with everything that a rule may look at
    conditions  what a rule says about arguments
    rules       one rule: does it speak about a deed, and how precisely
    decide      the decision, a pure function of rules, deed and earlier approvals
    book        `Policy`: keeps them, takes up what the person says

Asking the person is `questioner`'s and its neighbours'; drawing the question is `notebook`'s.
"""

from __future__ import annotations

from jupyter_mcp.host.policy.book import Policy
from jupyter_mcp.host.policy.decide import Approval, Decision, decide
from jupyter_mcp.host.policy.deed import BY_HAND, Deed, Origin, fingerprint
from jupyter_mcp.host.policy.rules import Rule, Scope, make_rule

__all__ = [
    "BY_HAND",
    "Approval",
    "Decision",
    "Deed",
    "Origin",
    "Policy",
    "Rule",
    "Scope",
    "decide",
    "fingerprint",
    "make_rule",
]
