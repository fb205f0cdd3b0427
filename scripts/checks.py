"""Run the project's checks one after the other, all of them even when one fails, and sum up.

    python scripts/checks.py                 every check (what `make test` does)
    python scripts/checks.py lint types      only these
    python scripts/checks.py --slow          with the long matrix

The checks that leave a core idle (a type checker, a suite that waits for other programs) run beside the long ones; what
they print comes as a whole when they are done. pytest's reports go to build/reports/. When a few of a run's tests fail,
these are run once more, alone: those that pass then are named as unsteady under the summary, and fail the run all the
same, but for one of a real browser (`SECOND_TRY`). The last line is `N passed, N failed, N skipped`: tests, and one for
each check that is not a test run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv" / "bin"
REPORTS = ROOT / "build" / "reports"
NO_TESTS = 5  # pytest's exit code when it collected nothing
NO_SUITES = 3  # conformance.py's exit code when the suites are not there
LIMIT = 3000.0  # seconds for one check
SECOND_TRY = {"e2e": 1}
"""So many unsteady tests of a check are named and do not fail the run: a page on a machine that does other work can be
late by more than any test waits. It is to be looked into all the same; most such were faults of ours."""
FEW = 3  # so many failures of one check are looked at twice; more is something broken


@dataclass
class Outcome:
    """What one check came to."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    note: str = ""
    unsteady: list[str] = field(default_factory=list[str])  # of those that failed

    @property
    def is_good(self) -> bool:
        """Whether it does not fail the run."""
        return self.failed == 0 or self.failed == len(self.unsteady) <= SECOND_TRY.get(self.name, 0)


def tool(name: str, *arguments: str) -> Callable[[str, bool], Outcome]:
    """A check that passes when the program ends with 0."""

    def check(label: str, slow: bool) -> Outcome:
        del slow
        code = run([str(BIN / name), *arguments])
        return Outcome(label, passed=int(code == 0), failed=int(code != 0))

    return check


def pyright(label: str, slow: bool) -> Outcome:
    """Pyright is a Node program: without Node it is skipped, since a person may well not have it."""
    if shutil.which("node") is None:
        return Outcome(label, skipped=1, note="Node is not installed")
    return tool("pyright")(label, slow)


def labextension(label: str, slow: bool) -> Outcome:
    """The JupyterLab extension: built, its format, lint, types and tests. Without Node it is skipped."""
    del slow
    if shutil.which("node") is None:
        return Outcome(label, skipped=1, note="Node is not installed")
    code = run([str(BIN / "python"), str(ROOT / "scripts" / "labextension.py"), "--check"])
    return Outcome(label, passed=int(code == 0), failed=int(code != 0))


def suite(*arguments: str, slow_matters: bool = False) -> Callable[[str, bool], Outcome]:
    """A check that is a run of pytest; its tests are counted one by one from pytest's own report."""

    def check(label: str, slow: bool) -> Outcome:
        marks = ["-m", "not slow"] if slow_matters and not slow else []
        return tests(label, BIN / "python", [*arguments, *marks])

    return check


def elsewhere(*arguments: str) -> Callable[[str, bool], Outcome]:
    """Tests with libraries that have an environment of their own, in build/ under the check's name."""

    def check(label: str, slow: bool) -> Outcome:
        python = ROOT / "build" / label / "bin" / "python"
        if not python.exists():
            return Outcome(label, skipped=1, note=f"build/{label} is missing: make {label}")
        return tests(label, python, [*arguments, *([] if slow else ["-m", "not slow"])])

    return check


def tests(label: str, python: Path, arguments: list[str]) -> Outcome:
    """A run of pytest, and a second one of the few that failed, which tells the unsteady from the broken."""
    code, outcome, failures = pytest(label, python, arguments)
    if code == NO_TESTS:
        return Outcome(label, skipped=1, note="no tests here")
    if code != 1 or not 0 < len(failures) <= FEW or "--nbval" in arguments:  # a cell needs those before it
        return outcome
    say(f"\n=== {label}: {len(failures)} failed, once more and alone ===")
    alone = ["-n", "0"] if "-n" in arguments else []
    code, again, still = pytest(f"{label}-again", python, [*arguments, *alone, "--lf", "--lfnf=none"])
    if code in (0, 1) and again.passed + again.failed == len(failures):  # else something else was run
        outcome.unsteady = sorted(set(failures) - set(still))
    return outcome


def pytest(label: str, python: Path, arguments: list[str]) -> tuple[int, Outcome, list[str]]:
    """Exit code, totals, and the names of the tests that failed."""
    report = REPORTS / f"{label}.xml"
    report.unlink(missing_ok=True)
    code = run([str(python), "-m", "pytest", *arguments, f"--junit-xml={report}"])
    outcome, failures = count(label, report)
    if code not in (0, NO_TESTS) and outcome.failed == 0:
        outcome.failed, outcome.note = 1, f"pytest ended with {code}"
    return code, outcome, failures


def conformance(label: str, slow: bool) -> Outcome:
    """Both official suites, client and server; their checks are counted one by one."""
    del slow
    table = ROOT / "build" / "conformance.json"
    table.unlink(missing_ok=True)
    code = run([str(BIN / "python"), str(ROOT / "scripts" / "conformance.py")])
    if code == NO_SUITES:
        return Outcome(label, skipped=1, note="Node 22 or build/conformance is missing")
    rows: list[dict[str, int]] = json.loads(table.read_text(encoding="utf-8"))["rows"] if table.exists() else []
    passed, failed, skipped = (sum(row[key] for row in rows) for key in ("passed", "failed", "skipped"))
    outcome = Outcome(label, passed, failed, skipped)
    if code != 0 and outcome.failed == 0:
        outcome.failed, outcome.note = 1, f"it ended with {code}"
    return outcome


def servers(label: str, slow: bool) -> Outcome:
    """Every server of servers.toml, each counted as one."""
    del slow
    table = ROOT / "build" / "interop.json"
    table.unlink(missing_ok=True)
    code = run([str(BIN / "python"), str(ROOT / "scripts" / "interop.py")])
    rows: list[dict[str, bool]] = json.loads(table.read_text(encoding="utf-8"))["servers"] if table.exists() else []
    passed = sum(row["ok"] for row in rows)
    outcome = Outcome(label, passed=passed, failed=len(rows) - passed)
    if code != 0 and outcome.failed == 0:
        outcome.failed, outcome.note = 1, f"it ended with {code}"
    return outcome


def count(label: str, report: Path) -> tuple[Outcome, list[str]]:
    """Totals of a junit report and the names of what failed; none, when pytest did not get as far as writing it."""
    if not report.exists():
        return Outcome(label), []
    total = failed = skipped = 0
    root = ElementTree.parse(report).getroot()
    for suite in root.iter("testsuite"):
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    bad = [case for case in root.iter("testcase") if case.find("failure") is not None or case.find("error") is not None]
    names = [f"{case.get('classname')}::{case.get('name')}" for case in bad]
    return Outcome(label, passed=max(0, total - failed - skipped), failed=failed, skipped=skipped), names


_beside = threading.local()  # .file: where a check that runs beside another one writes


def run(command: list[str]) -> int:
    """Exit code of a command, run from the top of the checkout; 124 when it took too long."""
    to: IO[str] | None = getattr(_beside, "file", None)
    try:
        done = subprocess.run(
            command, cwd=ROOT, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL, stdout=to, stderr=to
        )
    except subprocess.TimeoutExpired:
        say(f"{command[0]} was stopped after {LIMIT:.0f} s")
        return 124
    return done.returncode


def say(text: str) -> None:
    """A line among what this check prints."""
    print(text, flush=True, file=getattr(_beside, "file", None) or sys.stdout)


OTHERS = ("--ignore=tests/e2e", "--ignore=tests/interop", "--ignore=tests/libraries", "--ignore=tests/packaging")
VIEWS = tuple(f"tests/kernel/test_views_{name}.py" for name in ("libraries", "odd_tables", "tables"))
NBVAL = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "-o", "timeout=300", "-p", "no:cacheprovider")
CHECKS: dict[str, Callable[[str, bool], Outcome]] = {
    "format": tool("ruff", "format", "--check", "."),
    "lint": tool("ruff", "check", "."),
    "types": pyright,
    "layers": tool("lint-imports"),
    "labextension": labextension,
    "unit": suite("tests", *OTHERS, "-n", "2", "--dist", "loadgroup", slow_matters=True),
    "interop": suite("tests/interop", "-n", "2", "--dist", "loadfile", slow_matters=True),
    "servers": servers,
    "libraries": elsewhere("tests/libraries", *VIEWS),
    "models": elsewhere("tests/models/gateway", "tests/models/local"),
    "conformance": conformance,
    "wheel": suite("tests/packaging"),
    "e2e": suite("tests/e2e", "-n", "2", "--dist", "loadfile", slow_matters=True),
    "notebooks": suite("notebooks", *NBVAL),
    "coverage": suite("tests", *OTHERS, "-n", "2", "--cov", "--cov-report=term", "--cov-report=html:build/coverage"),
}
ON_DEMAND = ("coverage",)
LONG = ("servers", "libraries")
BESIDE = ("types", "labextension", "wheel", "models", "notebooks", "conformance")
"""Run one after the other while the others are."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="CHECK", help=f"any of: {', '.join(CHECKS)}")
    parser.add_argument("--slow", action="store_true", help="with the long matrix")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in CHECKS]
    if unknown:
        parser.error(f"no such check: {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    os.environ["COVERAGE_FILE"] = str(ROOT / "build" / ".coverage")
    left_out = ON_DEMAND if options.slow else (*ON_DEMAND, *LONG)
    names = options.names or [name for name in CHECKS if name not in left_out]
    return summary(every(names, options.slow))


def every(names: list[str], slow: bool) -> list[Outcome]:
    """What each check came to, in the order of the names; in two lanes where both have something to do."""
    beside = [name for name in names if name in BESIDE]
    first = [name for name in names if name not in BESIDE]
    if not beside or not first:
        return [one(name, slow) for name in names]
    with ThreadPoolExecutor(1) as lane:
        others = {name: lane.submit(aside, name, slow) for name in beside}
        found = {name: one(name, slow) for name in first}
        for name, other in others.items():
            found[name] = other.result()
    return [found[name] for name in names]


def aside(name: str, slow: bool) -> Outcome:
    """A check whose output comes in one piece, when it is done."""
    kept = REPORTS / f"{name}.txt"
    with kept.open("w", encoding="utf-8") as _beside.file:
        outcome = one(name, slow)
    _beside.file = None
    print(f"\n{kept.read_text(encoding='utf-8', errors='replace')}", flush=True)
    return outcome


def one(name: str, slow: bool) -> Outcome:
    say(f"\n=== {name} ===")
    started = time.monotonic()
    outcome = CHECKS[name](name, slow)
    outcome.seconds = time.monotonic() - started
    return outcome


def summary(outcomes: list[Outcome]) -> int:
    print("\n=== summary ===")
    for row in outcomes:
        counts = f"{row.passed:5d} passed {row.failed:4d} failed {row.skipped:4d} skipped"
        print(f"{row.name:11s} {counts} {row.seconds:7.1f} s  {row.note}".rstrip())
    for name in (name for row in outcomes for name in row.unsteady):
        print(f"unsteady: {name} failed, though it passed when it was run again alone")
    failed = sum(row.failed for row in outcomes)
    print(
        f"{sum(row.passed for row in outcomes)} passed, {failed} failed, {sum(row.skipped for row in outcomes)} skipped"
    )
    return 0 if all(row.is_good for row in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
