"""`mcp.policy`: the rules of this notebook, what was approved and switched, as tables; why an act runs or does not."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.table import Listing, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.policy import Approval, Deed, Origin, Rule, Scope
    from jupyter_mcp.host.policy.explain import Line, Why
    from jupyter_mcp.host.policy.switches import Switch

__all__ = ["PolicyRules", "PolicyWhy"]

_SHOWN_DIGEST = 12  # letters; enough to tell the contents of one file apart
_LONGEST = 240


@dataclass(frozen=True)
class Allowed:
    """What a server may have of models without asking, and had, in words."""

    server: str
    used: str


class PolicyRules(Table[Any]):
    """The rules, switches and approvals that hold here, from the widest scope to the narrowest.

    The most specific rule decides, but a deny of a wider scope is final (`why` tells).
    """

    kind = "policy"
    title = "Policy"
    columns = ("rule", "acts", "when", "scope", "from")
    empty = "no rules: what you begin runs, reading is free, what a model, a server or an app begins is asked about"

    def __init__(self) -> None:
        super().__init__(())

    def _all(self) -> list[Rule | Switch | Approval | Allowed]:
        policy = get_host().policy
        return [*policy.rules, *policy.switches, *_of_the_conversation(), *policy.approvals, *_allowances()]

    @property
    def hint(self) -> str:
        """What is wrong with the files, and what waits for a yes."""
        policy = get_host().policy
        waits = [
            f"{store.source} only tightens until you accept it: %mcp policy accept {_short(sheet.digest)}"
            for store, sheet in policy.pending
        ]
        return " · ".join([*policy.problems, *waits])

    @property
    def problems(self) -> list[str]:
        """What is wrong with the files, a sentence each."""
        return get_host().policy.problems

    def row(self, record: Rule | Switch | Approval | Allowed) -> tuple[str, str, str, str, str]:
        from jupyter_mcp.host.policy import Approval, Rule

        if isinstance(record, Allowed):
            return ("limit", f"{record.server}.sampling/createMessage", record.used, "session", "said here")
        if isinstance(record, Approval):
            what, acts, when = "approved", f"{record.server}.{record.name}", _asker(record)
        elif isinstance(record, Rule):
            what, acts, when = str(record).partition(" ")[0], record.pattern, record.conditions
            when += "" if record.accepted else f"{', ' if when else ''}not accepted yet"
        else:
            what, acts, when = ("enable" if record.on else "disable"), record.pattern, ""
            if record.source == "this conversation":
                return (what, acts, when, "conversation", "said here")
        return (what, acts, when, record.scope, record.source)

    def why(
        self,
        act: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        origin: Origin = "model",
        method: str | None = None,
    ) -> PolicyWhy:
        """What becomes of an act, and why: the rule that decides, those that lose to it, what holds without any.

        Args:
            act: `server.name`; a tool's bare name when only one server has it. The name is a tool, a resource's URI,
                "connect", or what a server may ask for ("sampling/createMessage", "elicitation/create", "roots/list").
            arguments: of the act, where rules look at them.
            origin: who begins it: "model", "person", "code", "server" or "app".
            method: the MCP method where the name does not tell it ("prompts/get").

        Raises:
            UsageError: that names no act.
        """
        return PolicyWhy(get_host().policy.why(_deed(act, arguments or {}, origin, method)))

    def accept(self, content: str | None = None) -> Listing:
        """Stand behind what a project's file, or this notebook's metadata, says; until then it only tightens.

        Args:
            content: the first letters of its digest, as `%mcp policy` shows them; None shows what waits, and accepts
                nothing.

        Raises:
            UsageError: nothing with this content waits (any more).
            ConfigError: the yes cannot be kept.
        """
        policy = get_host().policy
        if content is None:
            return _waiting()
        rows = [(source, f"sha256:{content.removeprefix('sha256:')}") for source in policy.accept(content)]
        return Listing("policy", "Accepted", ("file", "content"), rows)

    def reset(self, pattern: str | None = None, *, scope: Scope | Literal["conversation"] = "session") -> int:
        """Take back rules, switches and approvals.

        Args:
            pattern: only those of exactly this pattern; None is all of the scope.
            scope: "conversation" (what was switched for it), "session" (what was said in this kernel), "notebook",
                "project" or "user".

        Returns:
            how many there were.

        Raises:
            UsageError: nothing can be kept in that scope here.
            ConfigError: its file cannot be read or written.
        """
        if scope == "conversation":
            from jupyter_mcp.notebook.objects import conversation

            return conversation.reset(pattern)
        return get_host().policy.reset(pattern, scope=scope)


class PolicyWhy(Table["Line"]):
    """What becomes of one act, and everything that was looked at.

    Attributes:
        verdict: "go", "ask" or "deny".
        rule: the rule that decides, or None.
    """

    kind = "policy"
    columns = ("", "rule", "from", "why")

    def __init__(self, why: Why) -> None:
        super().__init__(why.lines)
        self.title = why.verdict
        self.verdict = why.decision.verdict
        self.rule = why.decision.rule

    def row(self, record: Line) -> Sequence[str]:
        return (record.what, record.said, record.place, record.note)


def _of_the_conversation() -> Sequence[Switch]:
    """What is switched for the present conversation; asking loads nothing of conversations."""
    loaded = sys.modules.get("jupyter_mcp.notebook.objects.conversation")
    return () if loaded is None else loaded.switches().said


def _allowances() -> list[Allowed]:
    """What servers had of models without asking, as long as they may."""
    from jupyter_mcp.host.policy import Deed

    host, method = get_host(), "sampling/createMessage"
    return [
        Allowed(server, str(meter))
        for server, meter in list(host.limits.servers.items())
        if host.policy.decide(Deed(server, method, method, {}, "server")).verdict == "go"
    ]


def _waiting() -> Listing:
    """What waits for a yes, entry by entry, and the line that says it."""
    from jupyter_mcp.host.policy import sheet as sheets

    rows: list[tuple[str, str]] = []
    lines: list[str] = []
    for store, sheet in get_host().policy.pending:
        rows += [(store.source, said) for said in sheets.told(sheet)]
        lines.append(f"%mcp policy accept {_short(sheet.digest)}")
    return Listing(
        "policy",
        "Waiting to be accepted",
        ("file", "says"),
        rows,
        empty="nothing",
        hint="Accept exactly this: " + " · ".join(lines) if lines else "",
    )


def _deed(act: str, arguments: Mapping[str, Any], origin: Origin, method: str | None) -> Deed:
    """The act that a person means, with what its server says about it."""
    from jupyter_mcp.host.policy import Deed, fingerprint
    from jupyter_mcp.host.policy.deed import ASKED_BY_SERVERS, ORIGINS

    if origin not in ORIGINS:
        raise UsageError(f"Nobody begins acts as {origin!r}; there are {', '.join(ORIGINS)}.")
    host = get_host()
    offers = [offer for offer in host.catalogue.tools() if act in (offer.full_name, offer.name)]
    offer = offers[0] if len(offers) == 1 else None
    server, dot, name = (offer.server, ".", offer.name) if offer is not None else act.partition(".")
    if not dot or not name:
        raise UsageError(f"{act!r} is not SERVER.TOOL.", usage="%mcp policy why SERVER.TOOL [key=value …]")
    asked = name == "connect" or name in ASKED_BY_SERVERS
    kind = method or (name if asked else "resources/read" if "://" in name else "tools/call")
    tool: Mapping[str, Any] | None = offer.item if offer is not None and kind == "tools/call" else None
    entry = host.servers.get(server)
    return Deed(
        server,
        kind,
        name,
        arguments,
        "server" if kind in ASKED_BY_SERVERS else origin,
        annotations=(tool or {}).get("annotations") or {},
        trusted=entry is not None and entry.trusted,
        by_hand=entry is None or entry.by_hand,
        fingerprint=fingerprint(tool) if tool is not None else None,
    )


def _asker(approval: Approval) -> str:
    whom = approval.client or {"server": "a server", "app": "an app", "project": "the project"}.get(approval.origin)
    return f"begun by {whom or 'a ' + approval.origin}"


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:_SHOWN_DIGEST]
