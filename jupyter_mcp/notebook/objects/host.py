"""`mcp.host` and `mcp.policy`: what the host of this kernel knows and decides, as objects of the notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.happened import Activity, Trace
from jupyter_mcp.notebook.objects.offered import Catalogue
from jupyter_mcp.notebook.objects.table import Listing, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_mcp.host.answers import AnswerBook
    from jupyter_mcp.host.policy import Rule


class PolicyRules(Table["Rule"]):
    """The rules about acts, oldest first; the most specific one decides (see `host.policy.decide`)."""

    kind = "policy"
    title = "Policy"
    columns = ("rule", "acts")
    empty = "no rules: what you begin runs, what a server begins is asked once"

    def __init__(self) -> None:
        super().__init__(())

    def _all(self) -> list[Rule]:
        return list(get_host().policy.rules)

    def row(self, record: Rule) -> tuple[str, str]:
        return (record.effect, record.pattern)

    def why(self, act: str) -> Listing:
        """Which rule decides about `server.name`, or that none does."""
        server, dot, name = act.partition(".")
        if not dot or not name:
            raise UsageError(f"{act!r} is not SERVER.TOOL.", usage="%mcp policy why SERVER.TOOL")
        from jupyter_mcp.host.policy import Deed

        rule = get_host().policy.decide(Deed(server, "tools/call", name, origin="model")).rule
        rows = [(act, str(rule))] if rule is not None else []
        return Listing("policy", f"Why {act}", ("act", "rule"), rows, empty="no rule speaks about it")

    def reset(self) -> None:
        """Forget every rule, and every approval given in this kernel."""
        get_host().policy.reset()


class NotebookHost:
    """The host of this kernel."""

    @property
    def catalogue(self) -> Catalogue:
        """Everything that is offered."""
        return Catalogue()

    @property
    def policy(self) -> PolicyRules:
        return PolicyRules()

    @property
    def activity(self) -> Activity:
        """What was done and asked."""
        return Activity.of(get_host().journal.acts())

    @property
    def trace(self) -> Trace:
        """The messages on the wire."""
        return Trace.of(get_host().journal.entries())

    @property
    def answers(self) -> AnswerBook:
        """The scripted answers."""
        return get_host().answers

    @property
    def roots(self) -> list[dict[str, Any]]:
        """What servers are told about our folders; set it to folders or file:// URIs."""
        return get_host().roots

    @roots.setter
    def roots(self, folders: Iterable[Any]) -> None:
        get_host().roots = list(folders)

    def __repr__(self) -> str:
        return "<host of this kernel: .catalogue, .policy, .activity, .trace, .roots, .answers>"
