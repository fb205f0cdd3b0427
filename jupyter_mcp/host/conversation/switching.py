"""What a person switched on or off for one conversation, which goes before what is switched anywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host.policy.rules import check_pattern
from jupyter_mcp.host.policy.switches import Switch, covers, off

if TYPE_CHECKING:
    from jupyter_mcp.host.policy import Policy

__all__ = ["CONVERSATION", "ConversationSwitches"]

CONVERSATION = "this conversation"
"""Where such a switch comes from, in words."""


class ConversationSwitches:
    """The switches of one conversation, over those of the policy. May be set from any thread.

    Args:
        policy: what is switched beyond this conversation.

    Attributes:
        said: oldest first.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.said: tuple[Switch, ...] = ()

    def set(self, pattern: str, *, on: bool) -> Switch:
        """Switch tools or servers on or off for this conversation; raises `UsageError` for what is no pattern."""
        switch = Switch(check_pattern(pattern, "enable" if on else "disable"), on, source=CONVERSATION)
        self.said = (*(one for one in self.said if not covers(switch, one)), switch)
        return switch

    def reset(self, pattern: str | None = None) -> int:
        """Take back those of exactly this pattern, or all; returns how many there were."""
        before = self.said
        self.said = tuple(one for one in before if pattern is not None and one.pattern != pattern.strip())
        return len(before) - len(self.said)

    def is_off(self, server: str, name: str | None = None) -> bool:
        """Whether a tool, prompt or resource, or with no name the whole server, is off in this conversation."""
        if any(one.speaks_of(server, name) for one in self.said):
            return off(self.said, server, name) is not None
        return self._policy.disabled(server, name) is not None

    def takes_part(self, server: str) -> bool:
        """Whether a server is not off, or something of it was switched on by itself."""
        if not self.is_off(server):
            return True
        said = (*self._policy.switches, *self.said)
        return any(one.on and one.speaks_of_some(server) for one in said)

    def is_on(self, server: str, name: str) -> bool:
        """Whether it was switched on for this conversation, so that no switch elsewhere holds."""
        return any(one.speaks_of(server, name) for one in self.said) and off(self.said, server, name) is None
