"""What a conformance suite said, as values: scenarios, checks, rows; and the one table made of them.

Pure: it reads text and files that a suite wrote and starts nothing. `conformance.py` does the running.

A suite run with `-o DIR` writes DIR/[server-]SCENARIO-TIME/checks.json, a list of
{"id", "name", "description", "status", "errorMessage"?, "details"?}; status is SUCCESS, FAILURE, WARNING, INFO or
SKIPPED. A scenario that breaks before its end writes none.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

ALL = "all"
"""The version of a run without `--spec-version`: every scenario at the revision it defaults to."""

# What the protocol's own SDK passes. Fewer means that checks were left out somewhere, although none failed.
_OF_SDK: Mapping[tuple[str, str], int] = {
    ("0.1.16", "2025-06-18"): 26,
    ("0.1.16", "2025-11-25"): 44,
    ("0.1.16", ALL): 44,
    ("0.2.0-alpha.12", "2025-06-18"): 56,
    ("0.2.0-alpha.12", "2025-11-25"): 84,
    ("0.2.0-alpha.12", "2026-07-28"): 152,
    ("0.2.0-alpha.12", ALL): 207,
}
_OF_SDK_CLIENT: Mapping[tuple[str, str], int] = {
    ("0.2.0-alpha.12", "2025-06-18"): 60,
    ("0.2.0-alpha.12", "2025-11-25"): 247,
    ("0.2.0-alpha.12", "2026-07-28"): 405,
}
# What a kernel passes beside its cell; the rest is named in the report.
_WHILE_BUSY = {("0.2.0-alpha.12", "2025-11-25"): 70, ("0.2.0-alpha.12", "2026-07-28"): 132}
# One check more is for servers that stream what they could answer at once, which a kernel's endpoint does not.
_NO_STREAM = {("0.2.0-alpha.12", "2025-11-25"): 83}
_BEHIND_JUPYTER = {("0.2.0-alpha.12", "2025-11-25"): 83, ("0.2.0-alpha.12", "2026-07-28"): 152}

LEAST: Mapping[str, Mapping[tuple[str, str], int]] = {
    "server": _OF_SDK,
    "kernel": {**_OF_SDK, **_NO_STREAM},
    "busy-kernel": _WHILE_BUSY,
    "gateway": _BEHIND_JUPYTER,
    "client": _OF_SDK_CLIENT,
}
"""Side -> (suite, version) -> checks that have to pass."""

_SCENARIO = re.compile(r"\s+- (\S+)(?: \[([^\]]*)\])?")
_FOLDER = re.compile(r"(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_TOTAL = re.compile(r"^Total: (\d+) passed, (\d+) failed", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One thing that a scenario looked at."""

    id: str
    status: str
    what: str
    why: str = ""


@dataclass
class Ran:
    """One scenario that was run.

    Attributes:
        checks: what it looked at; empty when it broke.
        trouble: what went wrong beside the checks (it broke, the program under test failed), or "".
        again: the first run failed and this is the second, alone.
    """

    scenario: str
    checks: list[Check] = field(default_factory=list[Check])
    trouble: str = ""
    again: bool = False

    def having(self, status: str) -> list[Check]:
        return [check for check in self.checks if check.status == status]

    @property
    def empty(self) -> bool:
        """It ended well and looked at nothing."""
        return not self.checks and not self.trouble

    @property
    def failures(self) -> list[Check]:
        """What keeps the scenario from passing; warnings do (the suites let a client fail for them)."""
        broken = [Check("run", "FAILURE", self.scenario, self.trouble)] if self.trouble else []
        return broken + self.having("FAILURE") + self.having("WARNING")


@dataclass
class Row:
    """One line of the table: one side at one version of one suite.

    Attributes:
        not_run: scenario -> why.
    """

    suite: str
    side: str
    version: str
    ran: list[Ran] = field(default_factory=list[Ran])
    not_run: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0

    def count(self, status: str) -> int:
        return sum(len(one.having(status)) for one in self.ran)

    @property
    def passed(self) -> int:
        return self.count("SUCCESS")

    @property
    def failed(self) -> int:
        return sum(len(one.failures) for one in self.ran)

    @property
    def skipped(self) -> int:
        return self.count("SKIPPED")

    def as_json(self) -> dict[str, Any]:
        """The row in build/conformance.json."""
        return {
            "suite": self.suite,
            "side": self.side,
            "version": self.version,
            "scenarios": len(self.ran),
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "seconds": round(self.seconds, 1),
            "not_run": self.not_run,
            "failures": [_found(one, check) for one in self.ran for check in one.failures],
            "skipped_checks": [_found(one, check) for one in self.ran for check in one.having("SKIPPED")],
            "without_checks": [one.scenario for one in self.ran if one.empty],
            "run_twice": [one.scenario for one in self.ran if one.again],
            "checks": {one.scenario: dict(Counter(check.status for check in one.checks)) for one in self.ran},
        }


def _found(one: Ran, check: Check) -> dict[str, str]:
    return {"scenario": one.scenario, "check": check.id, "status": check.status, "what": check.what, "why": check.why}


def too_few(row: Row) -> Ran | None:
    """A whole row that passes fewer checks than it should, as one more thing that failed."""
    least = LEAST.get(row.side, {}).get((row.suite, row.version), 0)
    return Ran("(all)", trouble=f"only {row.passed} checks passed, of at least {least}") if row.passed < least else None


def scenarios(listed: str) -> dict[str, tuple[str, ...]]:
    """What `conformance list --server` (or --client) prints, as scenario -> the versions it belongs to."""
    found = (_SCENARIO.fullmatch(line.rstrip()) for line in listed.splitlines())
    return {match[1]: tuple((match[2] or "").split(",")) for match in found if match}


def versions(known: Mapping[str, Sequence[str]], extra: Sequence[str] = ()) -> list[str]:
    """The versions that the scenarios name, in order, without the words for no version (`extra`)."""
    return sorted({version for named in known.values() for version in named} - {*extra, ""})


def read_checks(text: str) -> list[Check]:
    """The checks of one checks.json; entries that are none are left out."""
    given: Any = json.loads(text)
    entries = [cast("dict[str, Any]", one) for one in cast("list[Any]", given) if isinstance(one, dict)]
    return [_check(one) for one in entries]


def _check(one: Mapping[str, Any]) -> Check:
    details: Any = one.get("details")
    said = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
    why = one.get("errorMessage") or said.get("message") or said.get("note") or ""
    what = one.get("description") or one.get("name") or ""
    return Check(str(one.get("id", "?")), str(one.get("status", "?")), str(what), str(why))


def read_results(folder: Path) -> dict[str, list[Check]]:
    """scenario -> checks, of all that a run with `-o folder` wrote; the last run of a scenario counts."""
    found: dict[str, list[Check]] = {}
    for path in sorted(folder.rglob("checks.json")):
        match = _FOLDER.fullmatch(path.parent.relative_to(folder).as_posix())
        if match:
            found[match[1]] = read_checks(path.read_text(encoding="utf-8"))
    return found


def read_total(printed: str) -> tuple[int, int] | None:
    """(passed, failed) of the summary that a suite prints at its end; None when it did not get there."""
    match = _TOTAL.search(printed)
    return (int(match[1]), int(match[2])) if match else None


def last_words(text: str, most: int = 300) -> str:
    """The end of what a program wrote, on one line."""
    return " ".join(text.split())[-most:]


HEAD = ("suite", "side", "version", "scenarios", "passed", "failed", "skipped", "not run", "seconds")


def table(rows: Sequence[Row]) -> str:
    """The one table."""
    lines = [HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(_aligned(cell, widths[i], i) for i, cell in enumerate(line)).rstrip() for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    numbers = (len(row.ran), row.passed, row.failed, row.skipped, len(row.not_run))
    return (row.suite, row.side, row.version, *map(str, numbers), f"{row.seconds:.0f}")


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column < 3 else cell.rjust(width)


def remarks(rows: Sequence[Row]) -> str:
    """Below the table: what failed, each skipped check, what was run twice, and what was not run and why."""
    parts = [
        _part("Failed", rows, lambda one: [(_named(check), check.why or check.what) for check in one.failures]),
        _part("Skipped", rows, lambda one: [(check.id, check.why or check.what) for check in one.having("SKIPPED")]),
        _part("Without a check", rows, lambda one: [("-", "")] if one.empty else []),
        _part("Run twice", rows, lambda one: [("-", "the first time it failed")] if one.again else []),
        *_not_run(rows),
    ]
    return "\n\n".join(part for part in parts if part)


def _named(check: Check) -> str:
    return f"{check.id} (a warning)" if check.status == "WARNING" else check.id


def _part(title: str, rows: Sequence[Row], of: Callable[[Ran], list[tuple[str, str]]]) -> str:
    """A paragraph. The same at several versions is one line, and so are the checks of a scenario with one reason."""
    lines: dict[tuple[str, str, str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for row in rows:
        for one in row.ran:
            for id_, why in of(one):
                at, ids = lines.setdefault((row.suite, row.side, one.scenario, why), ({}, {}))
                at[row.version] = ids[id_] = None
    return _list(title, [_line(*key, *found) for key, found in lines.items()])


def _line(suite: str, side: str, scenario: str, why: str, at: Iterable[str], ids: Iterable[str]) -> str:
    checks = ", ".join(id_ for id_ in ids if id_ != "-")
    said = [part for part in (checks, why) if part]
    return ": ".join([f"{suite} {side} {scenario} ({', '.join(at)})", *said])


def _list(title: str, lines: Sequence[str]) -> str:
    wrap = partial(textwrap.fill, width=120, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    return "\n".join([f"{title}:", *map(wrap, lines)]) if lines else ""


def _not_run(rows: Sequence[Row]) -> list[str]:
    """One paragraph for each reason: the scenarios of a side, at whatever version; the table counts them."""
    reasons: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        for name, why in row.not_run.items():
            reasons.setdefault(why, {}).setdefault(f"{row.suite} {row.side}", {})[name] = None
    return [
        _list(f"Not run, {why}", [f"{place}: {', '.join(names)}" for place, names in places.items()])
        for why, places in reasons.items()
    ]
