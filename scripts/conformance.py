"""Run the protocol's two official conformance suites against our servers and our client, and print one table.

    python scripts/conformance.py                                   everything (what `make conformance` does)
    python scripts/conformance.py --side server --version 2025-11-25
    python scripts/conformance.py --side client --scenario sse-retry -v
    python scripts/conformance.py --side kernel                     a notebook that is served, instead of a server
    python scripts/conformance.py --side gateway                    the same at the address of its Jupyter Server

Every scenario of every version that a suite knows is run, and without a version ("all") the scenarios of extensions;
servers are tested once more as a whole there, the client too with `--version all`. A scenario that fails is run a
second time, alone, since a busy machine makes some late; the report names it. Nothing is expected to fail; what is not
run is in `NOT_RUN`. The table also goes to build/conformance.json, what the suites wrote to build/conformance/results.
Exit code: 0, or 1 when something failed.

The suites and the Node they need are pinned in tests/conformance/npm and live in build/conformance; the programs under
test are in tests/conformance (server.py, kernel.py, client.py).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from conformance_programs import Programs
from conformance_report import (
    ALL,
    Ran,
    Row,
    last_words,
    read_results,
    read_total,
    remarks,
    scenarios,
    table,
    too_few,
    versions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "build" / "conformance"
RESULTS = HOME / "results"
OUT = ROOT / "build" / "conformance.json"
OLDEST_NODE = 22
SIDES = ("server", "kernel", "busy-kernel", "gateway", "client")
NO_VERSION = ("extension",)  # what `list` writes for scenarios that belong to no version
WAITS = "because what it calls is `async def`, which has no turn in a busy kernel (that it says so is not counted)"
WAITING = (
    *("tools-call-with-logging", "tools-call-elicitation", "elicitation-sep1034-defaults", "server-sse-polling"),
    *("input-required-result-basic-elicitation", "input-required-result-basic-list-roots"),
    *("input-required-result-multiple-input-requests", "input-required-result-missing-input-response"),
    *("input-required-result-result-type", "input-required-result-tampered-state"),
    *("input-required-result-ignore-extra-params", "input-required-result-validate-input"),
)
# side -> start of a scenario's name -> why it is not run
NOT_RUN: Mapping[str, Mapping[str, str]] = {"busy-kernel": dict.fromkeys(WAITING, WAITS)}
ONE_OF_EACH_ERA = (("0.2.0-alpha.12", "2025-11-25"), ("0.2.0-alpha.12", "2026-07-28"))
FEW_ROWS = ("busy-kernel", "gateway")  # the kernel behind them is the one of "kernel"
AT_ONCE = max(2, os.cpu_count() or 2)  # client scenarios
MOST_AGAIN = 5  # failed scenarios of one row that are run a second time
SUITE_LIMIT = 600.0  # seconds for all server scenarios of one version
SCENARIO_LIMIT = 120.0  # seconds for one scenario
CLIENT_PATIENCE = 60_000  # milliseconds a client program may take
MISSING = 3  # exit code: the suites or Node are not there


@dataclass(frozen=True)
class Suite:
    """One of the two suites."""

    version: str
    folder: str

    @property
    def program(self) -> Path:
        return HOME / "node_modules" / self.folder / "dist" / "index.js"


SUITES = (Suite("0.1.16", "conformance-016"), Suite("0.2.0-alpha.12", "conformance-020"))


@dataclass(frozen=True)
class Plan:
    """What to run, by the command line."""

    node: str
    only: re.Pattern[str]
    verbose: bool
    programs: Programs
    url: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class Done:
    """How a suite's program ended."""

    code: int
    out: str
    err: str


def find_node() -> str | None:
    """A Node that runs the suites: the pinned one, or one on PATH that is new enough."""
    pinned = shutil.which("node", path=str(HOME / "node_modules" / ".bin"))
    for found in (pinned, shutil.which("node")):
        if found is None:
            continue
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
        if (match := re.match(r"v(\d+)", said)) and int(match[1]) >= OLDEST_NODE:
            return found
    return None


def run(plan: Plan, suite: Suite, *arguments: str, limit: float = SCENARIO_LIMIT) -> Done:
    """Run a suite's program; it ends with 124 when it takes too long."""
    command = [plan.node, str(suite.program), *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=limit,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "NO_COLOR": "1", "NODE_COMPILE_CACHE": str(HOME / "compiled")},
        )
    except subprocess.TimeoutExpired:
        return Done(124, "", f"stopped after {limit:.0f} s")
    if plan.verbose:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    return Done(done.returncode, done.stdout, done.stderr)


def results_folder(suite: Suite, side: str, version: str) -> Path:
    folder = RESULTS / f"{suite.version}-{side}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def at(version: str) -> tuple[str, ...]:
    """The option for a version."""
    return () if version == ALL else ("--spec-version", version)


def second_try(row: Row, names: Sequence[str], run_one: Callable[[str], Ran]) -> None:
    """Run what failed once more, alone; not when so much failed that a busy machine is no explanation."""
    failed = [index for index, one in enumerate(row.ran) if one.failures and one.scenario in names]
    for index in failed if len(failed) <= MOST_AGAIN else []:
        row.ran[index] = replace(run_one(row.ran[index].scenario), again=True)


def not_run(side: str, scenario: str) -> str | None:
    """Why a scenario is not run on a side, or None."""
    return next((why for start, why in NOT_RUN.get(side, {}).items() if scenario.startswith(start)), None)


# --- the servers under test -----------------------------------------------------------------------------------------


def server_row(plan: Plan, suite: Suite, side: str, version: str, names: Sequence[str]) -> Row:
    """All server scenarios of a version; the suite runs them one after the other, and only `names` count."""
    row = Row(suite.version, side, version)
    folder = results_folder(suite, side, version)
    started = time.monotonic()
    streams = ("--streams",) if side == "server" and version != ALL else ()  # so both shapes of an answer are tested
    url = plan.url or plan.programs.url(side, *streams)
    run_one = partial(server_scenario, plan, suite, side, version, url)
    if plan.only.pattern:
        row.ran = [run_one(name) for name in names]
    else:
        options = ("--suite", "all", *at(version), "-o", str(folder))
        done = run(plan, suite, "server", "--url", url, *options, limit=SUITE_LIMIT)
        row.ran = gathered(folder, names, done)
    second_try(row, names, run_one)
    row.seconds = time.monotonic() - started
    return row


def gathered(folder: Path, names: Sequence[str], done: Done) -> list[Ran]:
    """What a run of a whole suite came to, scenario by scenario; a scenario without a file broke."""
    (folder / "stdout.txt").write_text(done.out, encoding="utf-8")
    found = read_results(folder)
    ran = [Ran(name, found[name]) if name in found else Ran(name, trouble=broke(done, name)) for name in names]
    passed = sum(check.status == "SUCCESS" for checks in found.values() for check in checks)
    if (total := read_total(done.out)) is None or total[0] != passed:
        ran.append(Ran("(the whole suite)", trouble=f"its summary says {total}, its files {passed} passed"))
    return ran


def broke(done: Done, name: str) -> str:
    """What the suite said about a scenario that it could not finish."""
    match = re.search(rf"Failed to run scenario {re.escape(name)}:(.{{0,300}})", done.err, re.DOTALL)
    return f"it broke: {last_words(match[1])}" if match else f"it was not run; the suite ended with {done.code}"


def server_scenario(plan: Plan, suite: Suite, side: str, version: str, url: str, name: str) -> Ran:
    folder = results_folder(suite, side, version)
    done = run(plan, suite, "server", "--url", url, "--scenario", name, *at(version), "-o", str(folder))
    return single(folder, name, done)


def single(folder: Path, name: str, done: Done) -> Ran:
    """What one scenario came to. Its exit code also says that the program under test failed or was too slow."""
    ran = Ran(name, read_results(folder).get(name, []))
    if not ran.checks and done.code != 0:
        ran.trouble = last_words(done.err or done.out)
    elif done.code != 0 and not ran.failures:
        ran.trouble = f"ended with {done.code}: {last_words(done.err)}"
    return ran


# --- the client under test ------------------------------------------------------------------------------------------


def client_command() -> str:
    """How a suite starts our client. It splits the text at blanks, so a path with one would not do."""
    python = Path(sys.executable)
    named = python.relative_to(ROOT) if python.is_relative_to(ROOT) else python
    if " " in str(named):
        raise SystemExit(f"the suites cannot start a program whose path has a blank: {named}")
    return f"{named} -m tests.conformance.client"


def client_row(plan: Plan, suite: Suite, version: str, names: Sequence[str]) -> Row:
    """All client scenarios of a version, a few at once; a suite would start all of them at the same moment."""
    row = Row(suite.version, "client", version)
    started = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        row.ran = list(pool.map(partial(client_scenario, plan, suite, version), names))
    second_try(row, names, partial(client_scenario, plan, suite, version))
    row.seconds = time.monotonic() - started
    return row


def client_scenario(plan: Plan, suite: Suite, version: str, name: str) -> Ran:
    folder = results_folder(suite, "client", version) / name.replace("/", "-")
    shutil.rmtree(folder, ignore_errors=True)
    options = ("--scenario", name, *at(version), "--timeout", str(CLIENT_PATIENCE), "-o", str(folder))
    done = run(plan, suite, "client", "--command", plan.command or client_command(), *options)
    return single(folder, name, done)


# --- all of it ------------------------------------------------------------------------------------------------------


def rows(plan: Plan, options: argparse.Namespace) -> Iterator[Row]:
    """Every row asked for, as it is done."""
    for suite in (one for one in SUITES if options.suite in (None, one.version)):
        for side in (one for one in SIDES if options.side in (None, one)):
            listed = "client" if side == "client" else "server"
            known = scenarios(run(plan, suite, "list", f"--{listed}").out)
            if not known:
                raise SystemExit(f"the suite {suite.version} lists no {listed} scenarios")
            wanted = [one for one in (*versions(known, NO_VERSION), ALL) if options.version in (None, one)]
            for version in wanted:
                if side not in FEW_ROWS or (suite.version, version) in ONE_OF_EACH_ERA:
                    again = side != "client" or options.version == ALL
                    names = [name for name in of_version(known, version, again) if plan.only.search(name)]
                    yield one_row(plan, suite, side, version, names)


def of_version(known: Mapping[str, Sequence[str]], version: str, again: bool) -> list[str]:
    """The scenarios of a version; without one all of them, or those that no version has (`again` is false)."""
    if version != ALL:
        return [name for name in known if version in known[name]]
    return [name for name in known if again or not set(known[name]) - {*NO_VERSION, ""}]


def one_row(plan: Plan, suite: Suite, side: str, version: str, names: Sequence[str]) -> Row:
    built = [name for name in names if not_run(side, name) is None]
    make = client_row if side == "client" else partial(server_row, side=side)
    row = make(plan, suite, version=version, names=built) if built else Row(suite.version, side, version)
    row.not_run = {name: why for name in names if (why := not_run(side, name)) is not None}
    if not plan.only.pattern and (missing := too_few(row)):
        row.ran.append(missing)
    return row


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=[suite.version for suite in SUITES])
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--version", help=f'such as 2025-11-25, or "{ALL}"')
    parser.add_argument("--scenario", default="", metavar="REGEX", help="only scenarios whose name matches")
    parser.add_argument("--url", help="of a server that runs already, instead of ours")
    parser.add_argument("--command", help="of a client program, instead of ours")
    parser.add_argument("-v", "--verbose", action="store_true", help="what the suites print")
    options = parser.parse_args()
    if options.url and options.side is None:
        options.side = "server"
    return options


def main() -> int:
    options = read_options()
    node = find_node()
    if node is None or not all(suite.program.exists() for suite in SUITES):
        print(
            f"the conformance suites need Node {OLDEST_NODE} and build/conformance (make conformance puts them there)"
        )
        return MISSING
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    found: list[Row] = []
    with Programs.running(RESULTS) as programs:
        only = re.compile(options.scenario)
        plan = Plan(node, only, options.verbose, programs, options.url, options.command)
        for row in rows(plan, options):
            if row.ran or row.not_run:
                found.append(row)
                print(f"{row.suite} {row.side} {row.version}: {row.passed} passed, {row.failed} failed", flush=True)
    print("\n" + table(found), remarks(found), *programs.problems, sep="\n\n")
    OUT.write_text(json.dumps({"rows": [row.as_json() for row in found]}, indent=2) + "\n", encoding="utf-8")
    return 1 if not found or programs.problems or any(row.failed for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
