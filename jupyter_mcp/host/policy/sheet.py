"""What a policy file says: text in, rules, approvals and switches out, with what is wrong with it. Pure.

    [[rule]]                       # as many as you like
    effect = "deny"                # allow, ask or deny
    pattern = "files.write*"       # SERVER.NAME with * and ?, or a whole SERVER
    method = "tools/call"          # all of these may be left out
    where = { path = { glob = "/etc/*" } }
    annotations = { destructiveHint = true }
    origin = ["model", "app"]
    note = "why"

    [[switch]]
    pattern = "files"
    on = false

    [[approval]]                   # written when a person answers "always here"

A file that cannot be read protects no less than it did: everything is asked about until it can. A rule that cannot be
read whole asks about what it names, unless it denies: then it does, and more widely than it says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.policy.decide import Approval
from jupyter_mcp.host.policy.deed import ORIGINS
from jupyter_mcp.host.policy.rules import EFFECTS, HERE, Rule, Scope, check_pattern, described, make_rule
from jupyter_mcp.host.policy.switches import Switch
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_mcp.host.policy.rules import Effect

__all__ = ["KINDS", "LONGEST", "Sheet", "digest", "from_table", "parse", "unreadable"]

LONGEST = 256 * 2**10  # characters; longer files are not read
_MOST = 1_000  # entries of a kind
KINDS = ("rule", "switch", "approval")
_KNOWN = ("effect", "pattern", "method", "where", "annotations", "origin", "note")
_APPROVAL = ("server", "method", "name", "origin")


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one file says.

    Attributes:
        rules, approvals, switches: in the order of the file.
        problems: what is wrong with it, a sentence each.
        digest: of its content; "" when there is none.
        accepted: the person stands behind this content.
        waits: accepting it would let pass what is asked about, or refused, without it.
        waiting: approvals that count for nothing until it is accepted.
    """

    rules: tuple[Rule, ...] = ()
    approvals: tuple[Approval, ...] = ()
    switches: tuple[Switch, ...] = ()
    problems: tuple[str, ...] = ()
    digest: str = ""
    accepted: bool = True
    waits: bool = False
    waiting: tuple[Approval, ...] = ()

    @property
    def size(self) -> int:
        """How many entries it has."""
        return len(self.rules) + len(self.approvals) + len(self.switches)


EMPTY = Sheet()


def together(parts: Iterable[Sheet]) -> Sheet:
    """What several sheets say, in their order."""
    parts = list(parts)
    return Sheet(
        tuple(one for part in parts for one in part.rules),
        tuple(one for part in parts for one in part.approvals),
        tuple(one for part in parts for one in part.switches),
        tuple(one for part in parts for one in part.problems),
    )


def digest(text: str) -> str:
    """Tells a content from every other one: "sha256:…"."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parse(text: str, scope: Scope, source: str, *, accepted: bool = True) -> Sheet:
    """Read a policy file.

    Args:
        text: the file's, TOML.
        scope: where its rules hold.
        source: how the file is called towards a person.
        accepted: the person stands behind it.
    """
    import tomllib

    if len(text) > LONGEST:
        return unreadable(scope, source, f"it has more than {LONGEST:,} characters", digest(text))
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return unreadable(scope, source, str(error) or "it is nested too deeply", digest(text))
    return from_table(table, scope, source, digest(text), accepted=accepted)


def unreadable(scope: Scope, source: str, why: str, content: str = "") -> Sheet:
    """What holds as long as a file cannot be read: everything is asked about."""
    why = why[:1].lower() + why[1:].rstrip(".")
    problem = f"{source} cannot be read ({why}), so everything is asked about until it can."
    rule = Rule("ask", "*", scope=scope, source=source, note=problem)
    return Sheet((rule,), problems=(problem,), digest=content)


def from_table(table: Mapping[str, Any], scope: Scope, source: str, content: str, *, accepted: bool = True) -> Sheet:
    """The same from what a file holds, already decoded.

    Args:
        table, scope, source, accepted: see `parse`.
        content: the digest of it.
    """
    reader = _Reader(scope, source, accepted)
    for key in table:
        if key not in (*KINDS, "notebook"):
            near = nearest(key, list(KINDS))
            reader.problems.append(f"{source}: {key} means nothing here{f' (did you mean {near}?)' if near else ''}.")
    rules = [reader.rule(number, entry) for number, entry in reader.entries(table, "rule")]
    approvals = [reader.approval(number, entry) for number, entry in reader.entries(table, "approval")]
    switches = [reader.switch(number, entry) for number, entry in reader.entries(table, "switch")]
    reader.contradictions(rules)
    found = tuple(one for one in approvals if one is not None)
    sheet = Sheet(
        (*reader.besides, *rules),
        found,
        tuple(one for one in switches if one is not None),
        tuple(reader.problems),
        content,
    )
    return sheet if accepted else replace(sheet, approvals=(), waiting=found, accepted=False, waits=_loosens(sheet))


def _loosens(sheet: Sheet) -> bool:
    effects = {rule.effect for rule in sheet.rules}
    soft = "allow" in effects or effects >= {"ask", "deny"}  # an ask may overrule a deny of its scope
    return soft or bool(sheet.approvals) or any(switch.on for switch in sheet.switches)


class _Reader:
    """Reads the entries of one file and gathers what is wrong with them."""

    def __init__(self, scope: Scope, source: str, accepted: bool) -> None:
        self.scope: Scope = scope
        self.source = source
        self.accepted = accepted
        self.problems: list[str] = []
        self.besides: list[Rule] = []

    def entries(self, table: Mapping[str, Any], kind: str) -> list[tuple[int, Mapping[str, Any]]]:
        """The entries of a kind, numbered from 1. What is no list of tables is a problem; rules then ask."""
        raw: Any = table.get(kind, [])
        found = cast("list[Any]", raw) if isinstance(raw, list) else [raw]
        if len(found) > _MOST:
            self._ask_about_all(kind, f"it has more than {_MOST:,} entries [[{kind}]]")
        good: list[tuple[int, Mapping[str, Any]]] = []
        for number, entry in enumerate(found[:_MOST], 1):
            if isinstance(entry, Mapping):
                good.append((number, cast("Mapping[str, Any]", entry)))
            else:
                self._ask_about_all(kind, f"{kind} {number} is no table [[{kind}]]")
        return good

    def rule(self, number: int, entry: Mapping[str, Any]) -> Rule:
        """One rule; one that cannot be read whole still asks, or denies."""
        unknown = [key for key in entry if key not in _KNOWN]
        try:
            if unknown:
                near = nearest(unknown[0], list(_KNOWN))
                raise UsageError(f"{unknown[0]} is no part of a rule{f'; did you mean {near}?' if near else '.'}")
            rule = make_rule(
                str(entry.get("effect")),
                str(entry.get("pattern", "")),
                method=entry.get("method"),
                where=entry.get("where"),
                annotations=entry.get("annotations"),
                origin=entry.get("origin"),
                scope=self.scope,
                source=self.source,
                note=str(entry.get("note", "")),
            )
        except (UsageError, TypeError) as error:
            rule = self._half_read(number, entry, str(error))
        return replace(rule, accepted=self.accepted)

    def _half_read(self, number: int, entry: Mapping[str, Any], why: str) -> Rule:
        effect: Effect = "deny" if EFFECTS.get(str(entry.get("effect"))) == "deny" else "ask"
        try:
            pattern = check_pattern(str(entry.get("pattern", "")), effect)
        except UsageError:
            effect, pattern = "ask", "*"
        rule = Rule(effect, pattern, scope=self.scope, source=self.source)
        problem = f"{self.source}: rule {number} cannot be read ({why.rstrip('.')}); until then it is “{rule}”."
        self.problems.append(problem)
        return replace(rule, note=problem)

    def approval(self, number: int, entry: Mapping[str, Any]) -> Approval | None:
        """One approval; None for one that cannot be read, which only means that the person is asked again."""
        values = [entry.get(key) for key in _APPROVAL]
        if not all(isinstance(value, str) and value for value in values) or entry["origin"] not in ORIGINS:
            self.problems.append(f"{self.source}: approval {number} cannot be read and counts for nothing.")
            return None
        relied_on = entry.get("fingerprint")
        server, method, name = (str(value) for value in values[:3])
        return Approval(
            server,
            method,
            name,
            entry["origin"],
            str(entry.get("client", "")),
            relied_on if isinstance(relied_on, str) else None,
            self.scope,
            self.source,
        )

    def switch(self, number: int, entry: Mapping[str, Any]) -> Switch | None:
        """One switch; one that cannot be read switches off what it names."""
        on = entry.get("on")
        try:
            pattern = check_pattern(str(entry.get("pattern", "")), "enable" if on is True else "disable")
        except UsageError as error:
            self.problems.append(f"{self.source}: switch {number} cannot be read ({error}).")
            return None
        if not isinstance(on, bool) or set(entry) - {"pattern", "on"}:
            text = f"{self.source}: switch {number} is `pattern` and `on = true` or `false`; until then it is off."
            self.problems.append(text)
            on = False
        return Switch(pattern, on, self.scope, self.source, self.accepted)

    def contradictions(self, rules: list[Rule]) -> None:
        """Name the rules of one file that say two things about the very same."""
        said: dict[str, tuple[int, Rule]] = {}
        for number, rule in enumerate(rules, 1):
            earlier, other = said.setdefault(repr(rule.about), (number, rule))
            if other.effect != rule.effect:
                self.problems.append(
                    f"{self.source} contradicts itself: rule {earlier} is “{other}”, rule {number} is “{rule}”; "
                    "the stricter one holds."
                )

    def _ask_about_all(self, kind: str, why: str) -> None:
        self.problems.append(f"{self.source}: {why}.")
        if kind == "rule" and not self.besides:
            self.besides.append(replace(unreadable(self.scope, self.source, why).rules[0], accepted=self.accepted))


def entries_of(tables: Iterable[Mapping[str, Any]], kind: str, scope: Scope, source: str) -> list[Any]:
    """What each entry of a kind says, as if it were accepted; None for one that says nothing.

    Args:
        tables: the entries, decoded.
        kind: "rule", "switch" or "approval".
        scope, source: see `parse`.
    """
    reader = _Reader(scope, source, accepted=True)
    read: Any = {"rule": reader.rule, "switch": reader.switch, "approval": reader.approval}[kind]
    return [read(number, table) for number, table in enumerate(tables, 1)]


def told(sheet: Sheet) -> list[str]:
    """Everything that a sheet says, an entry a line."""
    approved = (f"{one}, begun by {one.origin}" for one in (*sheet.approvals, *sheet.waiting))
    return [*map(str, sheet.rules), *map(str, sheet.switches), *approved]


def here(rule: Rule) -> Rule:
    """A rule that was read from a text, as said in this kernel."""
    return replace(rule, source=HERE, scope="session")


# --- for writing -----------------------------------------------------------------------------------------------------


def rule_entry(rule: Rule) -> dict[str, Any]:
    """A rule as an entry of a file."""
    return described(rule) | ({"note": rule.note} if rule.note else {})


def approval_entry(approval: Approval) -> dict[str, Any]:
    """An approval as an entry of a file."""
    entry: dict[str, Any] = {key: getattr(approval, key) for key in _APPROVAL}
    entry |= {key: getattr(approval, key) for key in ("client", "fingerprint") if getattr(approval, key)}
    return entry


def switch_entry(switch: Switch) -> dict[str, Any]:
    """A switch as an entry of a file."""
    return {"pattern": switch.pattern, "on": switch.on}


def canonical(table: Mapping[str, Any]) -> str:
    """A decoded content as text that is the same for the same content."""
    return json.dumps(table, sort_keys=True, ensure_ascii=False, default=str)
