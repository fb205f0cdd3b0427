"""Rules of the person about acts: `allow`, `deny`, `ask_first`, each with a pattern `server.name`.

The name is a tool, a prompt, a URI, or one of the things a server may ask for (`elicitation/create`,
`sampling/createMessage`, `roots/list`). `*` and `?` match as in file names, case matters, and a pattern without a dot
is a whole server. Deny beats ask, ask beats allow, whatever the order; saying another thing about the very same pattern
replaces what was said. Data only: who is asked, and how, is decided in `approvals`.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from jupyter_mcp.errors import UsageError

__all__ = ["Effect", "Policy", "Rule"]

Effect = Literal["allow", "deny", "ask_first"]
_ORDER: tuple[Effect, ...] = ("deny", "ask_first", "allow")
_SERVER_PART = re.compile(r"[A-Za-z0-9_*?\[\]!-]+\Z")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as said."""

    effect: Effect
    pattern: str

    def matches(self, server: str, name: str) -> bool:
        """Whether it speaks about this act. The first dot of the pattern separates, as everywhere."""
        wanted, dot, rest = self.pattern.partition(".")
        return fnmatchcase(server, wanted) and (not dot or fnmatchcase(name, rest))

    def __str__(self) -> str:
        return f"{self.effect} {self.pattern}"


class Policy:
    """The rules of one kernel. May be changed from any thread."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}
        self._lock = threading.Lock()

    def allow(self, pattern: str) -> Rule:
        """Do not ask about these acts, whoever begins them."""
        return self._say("allow", pattern)

    def deny(self, pattern: str) -> Rule:
        """Refuse these acts, whoever begins them."""
        return self._say("deny", pattern)

    def ask_first(self, pattern: str) -> Rule:
        """Ask before each of these acts, also when a line of the notebook begins them."""
        return self._say("ask_first", pattern)

    def why(self, server: str, name: str) -> Rule | None:
        """The rule that decides about an act, or None when none speaks about it."""
        with self._lock:
            rules = list(self._rules.values())
        for effect in _ORDER:
            for rule in reversed(rules):
                if rule.effect == effect and rule.matches(server, name):
                    return rule
        return None

    @property
    def rules(self) -> list[Rule]:
        """All rules, oldest first."""
        with self._lock:
            return list(self._rules.values())

    def reset(self) -> None:
        """Forget every rule."""
        with self._lock:
            self._rules.clear()

    def _say(self, effect: Effect, pattern: str) -> Rule:
        pattern = pattern.strip()
        server, dot, name = pattern.partition(".")
        if not _SERVER_PART.match(server) or (dot and not name):
            raise UsageError(
                f"{pattern!r} is not a pattern for acts.",
                usage=f"{effect} SERVER.TOOL  (with * and ?; SERVER alone means all of it)",
            )
        rule = Rule(effect, pattern)
        with self._lock:
            self._rules.pop(pattern, None)
            self._rules[pattern] = rule
        return rule
