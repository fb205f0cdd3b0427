"""`Rule`: one sentence of the person about acts: whether it speaks about a deed, and how precisely. A value.

A pattern is `server.name` with `*` and `?` as in file names, case matters, and a pattern without a dot is a whole
server. The name is a tool, a prompt, a URI, or what a server may ask for (`elicitation/create`, `roots/list` …). What
becomes of several rules that speak about one deed is `decide`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.policy.conditions import Condition, climbs, conditions, to_mapping
from jupyter_mcp.host.policy.deed import ASKED_BY_SERVERS, METHODS, ORIGINS, Origin
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from jupyter_mcp.host.policy.deed import Deed

__all__ = [
    "EFFECTS",
    "HERE",
    "SCOPES",
    "Effect",
    "Limits",
    "Rule",
    "Scope",
    "check_pattern",
    "described",
    "literal",
    "make_rule",
    "matches",
    "narrowness",
    "strictness",
]

Effect = Literal["allow", "ask", "deny"]
EFFECTS: Mapping[str, Effect] = {"allow": "allow", "ask": "ask", "ask_first": "ask", "deny": "deny"}
"""The words that are read, and what they mean."""
_STRICT: Mapping[Effect, int] = {"allow": 0, "ask": 1, "deny": 2}
_SAID: Mapping[Effect, str] = {"allow": "allow", "ask": "ask_first", "deny": "deny"}

Scope = Literal["once", "session", "notebook", "project", "user"]
SCOPES: tuple[Scope, ...] = ("once", "session", "notebook", "project", "user")
"""From the narrowest to the widest."""

HERE = "said here"
"""The source of what was said in this kernel."""

_HINTS: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""What a tool is taken for that says nothing (MCP 2025-06-18 and later, ToolAnnotations)."""

_ASKED = frozenset(method.partition("/")[0] for method in ASKED_BY_SERVERS)
_SERVER_PART = re.compile(r"[A-Za-z0-9_*?\[\]!-]+\Z")
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        effect: "allow", "ask" or "deny".
        pattern: the acts, `server.name` with wildcards, or a whole server.
        method: a glob over MCP methods; None is any.
        where: what the arguments have to be like (all of it).
        annotations: what the tool's own, untrusted hints have to say.
        origin: only what these begin; empty is anybody.
        scope: where it holds; see `SCOPES`.
        source: the file it is written in, or `HERE`.
        accepted: the person stands behind it; one that came with a project does only tighten until then.
        note: why it is there, or what is wrong with it, for the person.
    """

    effect: Effect
    pattern: str
    method: str | None = None
    where: tuple[Condition, ...] = ()
    annotations: Mapping[str, bool] = field(default_factory=dict[str, bool])
    origin: tuple[Origin, ...] = ()
    scope: Scope = "session"
    source: str = HERE
    accepted: bool = True
    note: str = ""

    @property
    def server(self) -> str:
        """The part of the pattern before the first dot."""
        return self.pattern.partition(".")[0]

    @property
    def name(self) -> str | None:
        """The part of the pattern after the first dot; None for a whole server."""
        _, dot, name = self.pattern.partition(".")
        return name if dot else None

    @property
    def about(self) -> tuple[Any, ...]:
        """What it speaks about: of two rules that are equal in this the later takes the place of the earlier."""
        hints = tuple(sorted(self.annotations.items()))
        return (self.pattern, self.method, self.where, hints, tuple(sorted(self.origin)))

    @property
    def conditions(self) -> str:
        """Everything beside the pattern, in words; "" when there is nothing."""
        said = [str(one) for one in self.where]
        said += [f"{key} is {str(value).lower()} (the server's own word)" for key, value in self.annotations.items()]
        if self.origin:
            said.append("begun by " + " or ".join(self.origin))
        return ", ".join(([self.method] if self.method else []) + said)

    def __str__(self) -> str:
        told = self.conditions
        return f"{_SAID[self.effect]} {self.pattern}" + (f" ({told})" if told else "")

    def is_about(self, server: str, name: str) -> bool:
        """Whether its pattern fits, whatever else it wants."""
        return matches(server, self.server) and (self.name is None or matches(name, self.name))

    # --- does it speak about a deed? ---------------------------------------------------------------------------------

    def speaks_of(self, deed: Deed) -> bool:
        """Whether it says anything about this deed. Where that cannot be told, what tightens does."""
        tightens = self.effect != "allow"
        return (
            matches(deed.server, self.server)
            and self._names(deed, tightens)
            and (self.method is None or matches(deed.method, self.method))
            and (not self.origin or deed.origin in self.origin)
            and all(condition.met(deed.arguments, doubt=tightens) for condition in self.where)
            and (not self.annotations or self._hinted(deed, tightens))
        )

    def _names(self, deed: Deed, tightens: bool) -> bool:
        """Whether the pattern covers the name.

        Letting tools run is not letting a server ask a model, and allowing what it offers is not starting it: such
        things are allowed only where they are named. `server.*` is what a server offers, so it does not keep it from
        being connected; `server` alone does.
        """
        if not tightens and self.method is None and self._mistakes(deed):
            return False
        name = self.name
        if deed.method == "connect":
            if self.method is not None or name == "connect":
                return name is None or matches("connect", name)
            return name is None and tightens
        if name is None:
            return tightens or self.method is not None or deed.method not in ASKED_BY_SERVERS
        if not tightens and self.method is None and deed.method in ASKED_BY_SERVERS and "/" not in name:
            return False
        if "://" in name and climbs(deed.name) and not climbs(name):
            return tightens
        return matches(deed.name, name)

    def _mistakes(self, deed: Deed) -> bool:
        """Whether something else is meant that only has the same name.

        A server may call a tool `sampling/notes`, and a notebook may be called like a server that it connects to.
        """
        name = self.name or ""
        if deed.client:  # of our own server: it wants to run code here
            return name.strip("*?") == ""
        wanted = name.partition("/")[0] in _ASKED and "/" in name
        return wanted and deed.method not in ASKED_BY_SERVERS

    def _hinted(self, deed: Deed, tightens: bool) -> bool:
        """What a server says of its own tools lets nothing pass, unless the person trusts it."""
        if deed.method != "tools/call" or not (tightens or deed.trusted):
            return False
        told = deed.annotations
        return all(bool(told.get(key, _HINTS.get(key, False))) is wanted for key, wanted in self.annotations.items())

    # --- how precisely does it speak? --------------------------------------------------------------------------------

    def more_specific_than(self, other: Rule) -> bool:
        """Whether it speaks of less than `other`: in no respect of more, in one of less; else by the narrower scope."""
        pairs = [(_narrow(self.server), _narrow(other.server)), (_narrow(self.name), _narrow(other.name))]
        pairs += [(_narrow(self.method), _narrow(other.method))]
        if any(mine < theirs for mine, theirs in pairs) or not self._has_all(other):
            return False
        if any(mine > theirs for mine, theirs in pairs) or not other._has_all(self):
            return True
        return SCOPES.index(self.scope) < SCOPES.index(other.scope)

    def _has_all(self, other: Rule) -> bool:
        """Whether every condition of the other one is one of ours too."""
        return (
            all(one in self.where for one in other.where)
            and other.annotations.items() <= self.annotations.items()
            and (not other.origin or (bool(self.origin) and set(self.origin) <= set(other.origin)))
        )


def literal(server: str, name: str | None) -> str:
    """The pattern that means exactly this name of a server, whatever letters it has; None is the whole server."""
    if name is None:
        return server
    return f"{server}." + "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def matches(text: str, pattern: str) -> bool:
    """Whether a name fits a pattern of file names, case and all; quick where there is nothing wild in it."""
    if pattern == "*" or (text == pattern and "[" not in pattern):
        return True
    return bool(_WILD.search(pattern)) and fnmatchcase(text, pattern)


def strictness(effect: Effect) -> int:
    """0 for allow, 1 for ask, 2 for deny."""
    return _STRICT[effect]


def narrowness(pattern: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """How little a whole pattern covers, for putting patterns in an order: first its name, then its server."""
    server, dot, name = pattern.partition(".")
    return _narrow(name if dot else None), _narrow(server)


def _narrow(pattern: str | None) -> tuple[int, int]:
    """How little a part of a pattern covers: anything, `d*` by its letters, exactly one."""
    if pattern is None or pattern.strip("*") == "":
        return (0, 0)
    return (1, len(re.sub(r"\[[^\]]*\]|[*?]", "", pattern))) if _WILD.search(pattern) else (2, 0)


# --- reading ---------------------------------------------------------------------------------------------------------


class Limits(TypedDict, total=False):
    """What a rule may be limited to; see `make_rule`."""

    method: str | None
    where: Mapping[str, object] | None
    annotations: Mapping[str, bool] | None
    origin: Origin | Iterable[Origin] | None
    scope: Scope


def make_rule(
    effect: str,
    pattern: str,
    *,
    method: str | None = None,
    where: object = None,
    annotations: object = None,
    origin: object = None,
    scope: Scope = "session",
    source: str = HERE,
    note: str = "",
) -> Rule:
    """A rule from what a person or a file says.

    Args:
        effect: "allow", "ask" (or "ask_first"), "deny".
        pattern: `server.name` with `*` and `?`, or a whole server.
        method: a glob over MCP methods ("tools/call", "resources/*", "sampling/createMessage", "connect").
        where: argument -> predicates; see `conditions`.
        annotations: hint -> true or false.
        origin: one word or several of `ORIGINS`.
        scope, source, note: see `Rule`.

    Raises:
        UsageError: any of them makes no sense, saying which and what would.
    """
    if effect not in EFFECTS:
        raise UsageError(f"{effect!r} is not allow, ask_first or deny.")
    pattern = check_pattern(pattern, effect)
    if method is not None and not any(matches(one, method) for one in METHODS):
        near = nearest(method, list(METHODS))
        raise UsageError(f"No act has the method {method!r}.", hint=f"Did you mean {near}?" if near else None)
    return Rule(
        EFFECTS[effect],
        pattern,
        method,
        conditions(where),
        _hints(annotations),
        _origins(origin),
        scope,
        source,
        note=note,
    )


def check_pattern(pattern: str, verb: str) -> str:
    """The pattern, stripped. Raises `UsageError` that says how one is written after this verb."""
    pattern = pattern.strip()
    server, dot, name = pattern.partition(".")
    if not _SERVER_PART.match(server) or (dot and not name):
        raise UsageError(
            f"{pattern!r} is not a pattern for acts.",
            usage=f"{'ask_first' if verb == 'ask' else verb} SERVER.TOOL  (with * and ?; SERVER alone means all of it)",
        )
    return pattern


def described(rule: Rule) -> dict[str, Any]:
    """The rule as plain values, as `make_rule` takes them; what says nothing is left out."""
    given: dict[str, Any] = {"effect": rule.effect, "pattern": rule.pattern}
    if rule.method is not None:
        given["method"] = rule.method
    if rule.where:
        given["where"] = to_mapping(rule.where)
    if rule.annotations:
        given["annotations"] = dict(rule.annotations)
    if rule.origin:
        given["origin"] = list(rule.origin)
    return given


def _hints(annotations: object) -> dict[str, bool]:
    if annotations is None:
        return {}
    if not isinstance(annotations, Mapping):
        raise UsageError(f"annotations is a table: {', '.join(_HINTS)} -> true or false.")
    found = {str(key): value for key, value in cast("Mapping[object, object]", annotations).items()}
    for key, value in found.items():
        if key not in _HINTS:
            near = nearest(key, list(_HINTS))
            raise UsageError(f"No tool has the annotation {key!r}.", hint=f"Did you mean {near}?" if near else None)
        if not isinstance(value, bool):
            raise UsageError(f"annotations.{key} is true or false.")
    return {key: bool(found[key]) for key in sorted(found)}


def _origins(origin: object) -> tuple[Origin, ...]:
    if origin is None:
        return ()
    words = [origin] if isinstance(origin, str) else list(cast("Iterable[object]", origin))
    for word in words:
        if word not in ORIGINS:
            raise UsageError(f"Nobody begins acts as {word!r}; there are {', '.join(ORIGINS)}.")
    return tuple(one for one in ORIGINS if one in words)
