"""`Policy`: the rules, approvals and switches of one kernel, kept, changed and asked. Decides by `decide` alone.

May be used from any thread.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from jupyter_mcp.host.policy.decide import Approval, Decision, decide
from jupyter_mcp.host.policy.rules import Rule, Scope, make_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jupyter_mcp.host.policy.deed import Deed, Origin

__all__ = ["Policy"]


class Policy:
    """The policy of one kernel."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._approvals: list[Approval] = []
        self._lock = threading.RLock()

    # --- saying ------------------------------------------------------------------------------------------------------

    def allow(
        self,
        pattern: str,
        *,
        scope: Scope = "session",
        method: str | None = None,
        where: Mapping[str, object] | None = None,
        annotations: Mapping[str, bool] | None = None,
        origin: Origin | Iterable[Origin] | None = None,
    ) -> Rule:
        """Do not ask about these acts. See `make_rule` for the arguments. Raises `UsageError`."""
        return self.say(
            make_rule("allow", pattern, method=method, where=where, annotations=annotations, origin=origin, scope=scope)
        )

    def deny(
        self,
        pattern: str,
        *,
        scope: Scope = "session",
        method: str | None = None,
        where: Mapping[str, object] | None = None,
        annotations: Mapping[str, bool] | None = None,
        origin: Origin | Iterable[Origin] | None = None,
    ) -> Rule:
        """Refuse these acts, whoever begins them. See `make_rule` for the arguments. Raises `UsageError`."""
        return self.say(
            make_rule("deny", pattern, method=method, where=where, annotations=annotations, origin=origin, scope=scope)
        )

    def ask_first(
        self,
        pattern: str,
        *,
        scope: Scope = "session",
        method: str | None = None,
        where: Mapping[str, object] | None = None,
        annotations: Mapping[str, bool] | None = None,
        origin: Origin | Iterable[Origin] | None = None,
    ) -> Rule:
        """Ask before each of these acts, also when a line of the notebook begins them. Raises `UsageError`."""
        return self.say(
            make_rule("ask", pattern, method=method, where=where, annotations=annotations, origin=origin, scope=scope)
        )

    def say(self, rule: Rule) -> Rule:
        """Take a rule up; one that speaks about the very same takes the place of the earlier one."""
        with self._lock:
            self._rules = [*(one for one in self._rules if one.about != rule.about), rule]
        return rule

    def remember(self, deed: Deed, scope: Scope = "session", *, client: str = "") -> None:
        """Keep a person's yes to a deed.

        Args:
            deed: as it was shown.
            scope: how long it holds; "once" keeps nothing.
            client: of our own server, the only client it is for; "" is any.
        """
        if scope == "once":
            return
        approval = Approval(deed.server, deed.method, deed.name, deed.origin, client, deed.fingerprint, scope)
        with self._lock:
            self._approvals = [
                *(one for one in self._approvals if replace(one, fingerprint=deed.fingerprint) != approval),
                approval,
            ]

    def forget(self, server: str | None = None) -> None:
        """Forget what was approved in this session, of one server or of all."""
        with self._lock:
            self._approvals = [one for one in self._approvals if server is not None and one.server != server]

    def reset(self) -> None:
        """Forget every rule, and what was approved."""
        with self._lock:
            self._rules = []
            self._approvals = []

    # --- asking ------------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> list[Rule]:
        """All rules, oldest first."""
        with self._lock:
            return list(self._rules)

    @property
    def approvals(self) -> list[Approval]:
        """What was approved for longer than once, oldest first."""
        with self._lock:
            return list(self._approvals)

    def decide(self, deed: Deed) -> Decision:
        """The decision about one deed."""
        with self._lock:
            rules, memory = self._rules, self._approvals
        return decide(rules, deed, memory)
