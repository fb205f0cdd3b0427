"""`Policy`: the rules, approvals and switches of one kernel, kept, changed and asked. It decides by `decide` alone.

What was said here lives in memory; what is to last is in the files of `stores`, which are looked at again when a
decision comes a twentieth of a second after the last look. May be used from any thread.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.policy import edit, switches
from jupyter_mcp.host.policy import sheet as sheets
from jupyter_mcp.host.policy.decide import Approval, Decision, Presumed, decide
from jupyter_mcp.host.policy.deed import ASKED_BY_SERVERS, BY_HAND
from jupyter_mcp.host.policy.rules import HERE, SCOPES, Limits, Rule, Scope, check_pattern, make_rule
from jupyter_mcp.host.policy.sheet import Sheet
from jupyter_mcp.host.policy.switches import Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.place import NotebookPlace
    from jupyter_mcp.host.policy.deed import Deed
    from jupyter_mcp.host.policy.explain import Why
    from jupyter_mcp.host.policy.stores import Metadata, Store

__all__ = ["Policy"]

_LOOK_SECONDS = 0.05
_UNNAMED = (*ASKED_BY_SERVERS, "connect")  # what is about a server as a whole
_UNSEEN = 32  # letters of a digest that stand for a content which was not shown: of fewer, two can be made alike


class Policy:
    """The policy of one kernel.

    Args:
        place: where the notebook is and where the person's files are; None: nothing is read, and kept in memory only.
        clock: seconds, for how long the files are not looked at again (a twentieth of one).

    Attributes:
        presumed: what holds for a tool call where no rule speaks; a front end's settings say it.
    """

    def __init__(self, place: NotebookPlace | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._clock = clock
        self._look_again = 0.0
        self._said = sheets.EMPTY  # in this session
        self.presumed: Presumed = "usual"
        self._opened: list[Store | Metadata] | None = None
        self._whole: tuple[tuple[Sheet, ...], Sheet] = ((), sheets.EMPTY)
        self._shown: set[str] = set()  # contents that wait, as they were shown
        self._lock = threading.RLock()

    # --- saying ------------------------------------------------------------------------------------------------------

    def allow(self, pattern: str, **limits: Unpack[Limits]) -> Rule:
        """Do not ask about these acts, whoever begins them. Arguments and errors: see `make_rule` and `say`."""
        return self.say(make_rule("allow", pattern, **limits))

    def deny(self, pattern: str, **limits: Unpack[Limits]) -> Rule:
        """Refuse these acts, whoever begins them. Arguments and errors: see `make_rule` and `say`."""
        return self.say(make_rule("deny", pattern, **limits))

    def ask_first(self, pattern: str, **limits: Unpack[Limits]) -> Rule:
        """Ask each time, also when a line begins these acts. Arguments and errors: see `make_rule` and `say`."""
        return self.say(make_rule("ask", pattern, **limits))

    def say(self, rule: Rule) -> Rule:
        """Take a rule up, where its scope says; one about the very same there is replaced.

        Raises:
            UsageError: nothing can be kept in that scope here.
            ConfigError: its file cannot be read or written.
        """
        store = self._store(rule.scope)
        if store is None:
            with self._lock:
                rules = (*(one for one in self._said.rules if one.about != rule.about), rule)
                self._said = replace(self._said, rules=rules)
            return rule
        rule = replace(rule, source=store.source)
        self._change(store, "rule", sheets.rule_entry(rule), lambda one: one.about == rule.about)
        return rule

    def enable(self, pattern: str, scope: Scope = "session") -> Switch:
        """Switch a tool or a server on. Arguments and errors: as `disable`."""
        return self._switch(Switch(check_pattern(pattern, "enable"), True, scope))

    def disable(self, pattern: str, scope: Scope = "session") -> Switch:
        """Switch a tool or a server off: models, servers and apps neither see nor use it.

        Args:
            pattern: `server.name` with wildcards, or a whole server.
            scope: for how long: "session", "notebook", "project" or "user".

        Raises:
            UsageError: that is no pattern, or nothing can be kept in that scope here.
            ConfigError: its file cannot be read or written.
        """
        return self._switch(Switch(check_pattern(pattern, "disable"), False, scope))

    def remember(self, deed: Deed, scope: Scope = "session", *, client: str = "") -> None:
        """Keep a person's yes to a deed.

        Args:
            deed: as it was shown.
            scope: how long it holds; "once" keeps nothing.
            client: of our own server, the only client it is for; "" is any.

        Raises:
            UsageError: nothing can be kept in that scope here.
            ConfigError: its file cannot be read or written.
        """
        if scope == "once":
            return
        approval = Approval(deed.server, deed.method, deed.name, deed.origin, client, deed.fingerprint, scope)
        store = self._store(scope)
        if store is None:
            with self._lock:
                others = (one for one in self._said.approvals if not _same(one, approval))
                self._said = replace(self._said, approvals=(*others, approval))
            return
        self._change(store, "approval", sheets.approval_entry(approval), lambda one: _same(one, approval))

    def forget(self, server: str | None = None, *, keep: str = "") -> None:
        """Forget what was approved in this session, of one server or of all, but for one method."""
        with self._lock:
            approvals = self._said.approvals
            kept = tuple(one for one in approvals if server not in (None, one.server) or one.method == keep)
            self._said = replace(self._said, approvals=kept)

    def reset(self, pattern: str | None = None, *, scope: Scope = "session") -> int:
        """Take back rules, switches and approvals of one scope.

        Args:
            pattern: only those of exactly this pattern (of an approval: its `server.name`); None is all.
            scope: "session", "notebook", "project" or "user".

        Returns:
            how many there were.

        Raises:
            UsageError: nothing can be kept in that scope here.
            ConfigError: its file cannot be read or written.
        """
        store = self._store(scope)
        if store is None:
            with self._lock:
                before = self._said
                self._said = Sheet(
                    rules=tuple(one for one in before.rules if not _named(one, pattern)),
                    approvals=tuple(one for one in before.approvals if not _named(one, pattern)),
                    switches=tuple(one for one in before.switches if not _named(one, pattern)),
                )
            return before.size - self._said.size
        count = edit.remove(store, lambda one: _named(one, pattern))
        self._look_again = 0.0
        return count

    def accept(self, content: str) -> list[str]:
        """The person stands behind what a project's file, or the notebook's metadata, says now.

        Args:
            content: its digest, or the first eight or more letters of it (32 where `pending` has not shown it).

        Returns:
            what was accepted, as it is called.

        Raises:
            UsageError: no file that waits has this content (any more).
            ConfigError: that cannot be kept.
        """
        wanted = content.removeprefix("sha256:")
        found = [one for one in self._waiting() if one[1].removeprefix("sha256:").startswith(wanted)]
        if len(wanted) < 8 or not found:
            raise UsageError(f"Nothing with the content {content!r} waits to be accepted.", hint="%mcp policy accept")
        if len(wanted) < _UNSEEN and not all(digest in self._shown for _, digest in found):
            raise UsageError(f"What {content!r} stands for was not shown yet.", hint="%mcp policy accept shows it.")
        for store, digest in found:
            store.accept(digest)
        self._look_again = 0.0
        return [store.source for store, _ in found]

    # --- asking ------------------------------------------------------------------------------------------------------

    @property
    def rules(self) -> list[Rule]:
        """All rules, from the widest scope to the narrowest, in each the oldest first."""
        return list(self._all(fresh=True).rules)

    @property
    def approvals(self) -> list[Approval]:
        """What was approved for longer than once, oldest first."""
        return list(self._all(fresh=True).approvals)

    @property
    def switches(self) -> list[Switch]:
        """What was switched on or off."""
        return list(self._all(fresh=True).switches)

    @property
    def problems(self) -> list[str]:
        """What is wrong with the files, a sentence each."""
        return list(self._all(fresh=True).problems)

    @property
    def pending(self) -> list[tuple[Store | Metadata, Sheet]]:
        """The files whose content only tightens until the person accepts it."""
        found = [(store, store.sheet()) for store in self._stores()]
        waiting = [(store, sheet) for store, sheet in found if sheet.waits]
        self._shown.update(sheet.digest for _, sheet in waiting)
        return waiting

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes in which something can be kept here, from the narrowest to the widest."""
        place = self._place
        there: dict[Scope, bool] = {
            "notebook": place is not None and place.path is not None and place.data is not None,
            "project": place is not None,
            "user": place is not None and place.config is not None,
        }
        return tuple(scope for scope in SCOPES if there.get(scope, True))

    def decide(self, deed: Deed) -> Decision:
        """The decision about one deed."""
        whole = self._all()
        if whole.switches and deed.origin not in BY_HAND and not deed.on:
            found = switches.off(whole.switches, deed.server, None if deed.method in _UNNAMED else deed.name)
            deed = replace(deed, off=_switched_off(deed, found)) if found is not None else deed
        decision = decide(whole.rules, deed, whole.approvals, self.presumed)
        return replace(decision, scopes=self._offered(deed, decision.scopes)) if decision.scopes else decision

    def why(self, deed: Deed) -> Why:
        """The decision about a deed with everything that led to it."""
        from jupyter_mcp.host.policy.explain import Why

        self._all(fresh=True)
        return Why.of(deed, self.decide(deed), self.presumed)

    def disabled(self, server: str, name: str | None = None) -> Switch | None:
        """The switch by which a tool, or a whole server, is off; None: it is on."""
        found = self._all().switches
        return switches.off(found, server, name) if found else None

    # --- details -----------------------------------------------------------------------------------------------------

    def _waiting(self) -> list[tuple[Store | Metadata, str]]:
        """What waits, and the digest of its content now."""
        found = [(store, store.sheet()) for store in self._stores()]
        return [(store, sheet.digest) for store, sheet in found if sheet.waits]

    def _stores(self) -> Sequence[Store | Metadata]:
        if self._opened is None:
            with self._lock:
                if self._place is None:
                    self._opened = []
                else:
                    from jupyter_mcp.host.policy.stores import stores_for

                    self._opened = stores_for(self._place)
        return self._opened

    def _all(self, *, fresh: bool = False) -> Sheet:
        """Everything that holds now; put together again only when a part of it is another one.

        Many calls at once do not each look at the files, which may lie far away.
        """
        known, whole = self._whole
        now = self._clock()
        if not fresh and now < self._look_again and known and known[-1] is self._said:
            return whole
        self._look_again = now + _LOOK_SECONDS
        parts = (*(store.sheet() for store in self._stores()), self._said)
        if len(parts) == len(known) and all(new is old for new, old in zip(parts, known, strict=True)):
            return whole
        whole = sheets.together(parts)
        self._whole = (parts, whole)
        return whole

    def _store(self, scope: Scope) -> Store | None:
        """Where a scope is kept; None for this session. Raises `UsageError`."""
        if scope == "session":
            return None
        if scope not in self.scopes or scope == "once":
            said = [one for one in self.scopes if one != "once"]
            why = " (where it is kept is not known)" if scope == "notebook" else ""
            raise UsageError(f"Nothing can be kept for {scope!r} here{why}; there is {', '.join(said)}.")
        from jupyter_mcp.host.policy.stores import Store, project_file

        assert self._place is not None
        own = [store for store in self._stores() if isinstance(store, Store) and store.scope == scope]
        if scope == "project":
            wanted = project_file(self._place)
            own = [store for store in own if store.path == wanted]
        return own[0]

    def _switch(self, switch: Switch) -> Switch:
        store = self._store(switch.scope)
        if store is None:
            with self._lock:
                others = (one for one in self._said.switches if not switches.covers(switch, one))
                self._said = replace(self._said, switches=(*others, switch))
            return switch
        self._change(store, "switch", sheets.switch_entry(switch), lambda one: switches.covers(switch, one))
        return replace(switch, source=store.source)

    def _change(self, store: Store, kind: str, entry: Mapping[str, object], replaces: Callable[[Any], bool]) -> None:
        edit.put(store, kind, entry, replaces)
        self._look_again = 0.0

    def _offered(self, deed: Deed, scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
        """How long a yes may hold here. A project does not vouch for its own servers."""
        kept = self.scopes
        return tuple(one for one in scopes if one in kept and (one != "project" or deed.origin != "project"))


def _named(one: Rule | Switch | Approval, pattern: str | None) -> bool:
    said = f"{one.server}.{one.name}" if isinstance(one, Approval) else one.pattern
    return pattern is None or said == pattern.strip()


def _same(one: Approval, other: Approval) -> bool:
    """Whether both are for the same thing, whatever it was like then."""
    return replace(one, fingerprint=None, source=HERE) == replace(other, fingerprint=None, source=HERE)


def _switched_off(deed: Deed, switch: Switch) -> str:
    whole = switch.speaks_of(deed.server, None)
    what = deed.server if whole else deed.full_name
    return f"{what} is switched off ({switch})"
