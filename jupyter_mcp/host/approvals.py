"""Whether an act needs to be asked about, in its simplest honest form.

A line the person typed, a button they pressed, or code they ran is consent for that one call. What a server or a model
begins is asked about once per tool, with a memory for this kernel. What a server says about its own tools (read-only
hints) plays no part. Pure decisions and their memory; asking is done in `host`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from jupyter_mcp.host.policy import Policy, Rule

__all__ = ["Approvals", "Decision", "Origin"]

Origin = Literal["person", "code", "server", "model"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with an act.

    Attributes:
        verdict: "go", "ask" or "deny".
        rule: the rule that decided, or None.
        reason: why, in words for the journal.
    """

    verdict: Literal["go", "ask", "deny"]
    rule: Rule | None
    reason: str


class Approvals:
    """Decides by the policy, by who began the act, and by what was approved before in this kernel."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._approved: set[tuple[str, str, str]] = set()  # server, name, client ("" is every client)

    def decide(self, server: str, name: str, origin: Origin, *, yes: bool = False, client: str = "") -> Decision:
        """The decision about one act. A deny rule wins over everything.

        Args:
            server, name: what it goes to.
            origin: who begins it.
            yes: the person's consent was given with it (`--yes`).
            client: of our own server, the client who wants it, by the name it gives itself.
        """
        rule = self._policy.why(server, name)
        if rule is not None and rule.effect == "deny":
            return Decision("deny", rule, str(rule))
        if yes:
            return Decision("go", rule, "approved with the call")
        if rule is not None and rule.effect == "ask_first":
            return Decision("ask", rule, str(rule))
        if rule is not None:
            return Decision("go", rule, str(rule))
        if origin in ("person", "code"):
            return Decision("go", None, f"begun by the {'person' if origin == 'person' else 'code of the notebook'}")
        if (server, name, "") in self._approved:
            return Decision("go", None, "approved before in this kernel")
        if client and (server, name, client) in self._approved:
            return Decision("go", None, f"approved before for {client}")
        return Decision("ask", None, f"begun by a {origin}")

    def remember(self, server: str, name: str, client: str = "") -> None:
        """The person approved this tool for the rest of the kernel's life, for everyone or for one client."""
        self._approved.add((server, name, client))

    def forget(self, server: str | None = None) -> None:
        """Forget what was approved, of one server or of all."""
        self._approved = {one for one in self._approved if server is not None and one[0] != server}
