"""The conformance runner reads what the suites write, and its table says all of it. No suite is started."""

from __future__ import annotations

import importlib.util
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = """Server scenarios (test against a server):
  - ping [2025-06-18,2025-11-25]
  - tools-list [2025-06-18,2025-11-25,2026-07-28]
  - tasks-lifecycle [extension]
  - nameless
"""


def load(name: str) -> Any:
    """A module of scripts/, which is no package."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up, and the script imports its report by this name
    spec.loader.exec_module(module)
    return module


report = load("conformance_report")
programs = load("conformance_programs")
script = load("conformance")


def check(id: str, status: str, why: str = "") -> Any:
    return report.Check(id, status, f"{id} does what it should", why)


def wrote(folder: Path, name: str, *checks: dict[str, Any]) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "checks.json").write_text(json.dumps(checks), encoding="utf-8")


def test_the_list_of_scenarios_is_read_with_the_versions_of_each() -> None:
    known = report.scenarios(LISTED)
    assert known == {
        "ping": ("2025-06-18", "2025-11-25"),
        "tools-list": ("2025-06-18", "2025-11-25", "2026-07-28"),
        "tasks-lifecycle": ("extension",),
        "nameless": ("",),
    }
    assert report.versions(known, ("extension",)) == ["2025-06-18", "2025-11-25", "2026-07-28"]


def test_results_are_found_by_the_folders_that_a_suite_names_after_scenario_and_time(tmp_path: Path) -> None:
    wrote(tmp_path, "server-ping-2026-01-02T03-04-05-678Z", {"id": "a", "status": "FAILURE", "name": "A"})
    wrote(tmp_path, "server-ping-2026-01-02T03-04-06-000Z", {"id": "a", "status": "SUCCESS", "name": "A"})
    wrote(tmp_path, "auth/basic-2025-2026-01-02T03-04-05-678Z", {"id": "b", "status": "SKIPPED", "description": "B"})
    wrote(tmp_path, "something else")
    found = report.read_results(tmp_path)
    assert {name: [(one.id, one.status) for one in checks] for name, checks in found.items()} == {
        "ping": [("a", "SUCCESS")],
        "auth/basic-2025": [("b", "SKIPPED")],
    }


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"errorMessage": "late"}, "late"),
        ({"details": {"message": "no session"}}, "no session"),
        ({"details": {"note": "not declared"}}, "not declared"),
        ({"details": ["odd"]}, ""),
    ],
)
def test_a_check_says_why_wherever_the_suite_put_it(entry: dict[str, Any], why: str) -> None:
    read = report.read_checks(json.dumps([{"id": "a", "status": "SKIPPED", "name": "A", **entry}, "no check"]))
    assert [(one.id, one.what, one.why) for one in read] == [("a", "A", why)]


def test_a_scenario_that_wrote_nothing_has_failed_with_what_the_suite_said() -> None:
    done = script.Done(1, "Total: 0 passed, 1 failed", "Failed to run scenario ping: TypeError: no\n  at x")
    assert script.broke(done, "ping") == "it broke: TypeError: no at x"
    assert "ended with 1" in script.broke(done, "pong")


def test_a_whole_run_is_held_against_the_total_that_the_suite_prints(tmp_path: Path) -> None:
    wrote(tmp_path, "server-ping-2026-01-02T03-04-05-678Z", {"id": "a", "status": "SUCCESS"})
    good = script.gathered(tmp_path, ["ping"], script.Done(0, "\nTotal: 1 passed, 0 failed\n", ""))
    assert [(one.scenario, one.failures) for one in good] == [("ping", [])]
    wrote(tmp_path, "server-waits-2026-01-02T03-04-05-678Z", {"id": "b", "status": "SUCCESS"})
    counted = script.gathered(tmp_path, ["ping"], script.Done(1, "\nTotal: 2 passed, 1 failed\n", ""))
    assert [one.scenario for one in counted] == ["ping"], "what is not asked for is in the total, and does not count"
    for printed in ("Total: 3 passed, 0 failed", "killed"):
        odd = script.gathered(tmp_path, ["ping"], script.Done(0, printed, ""))
        assert [one.scenario for one in odd if one.failures] == ["(the whole suite)"]


def test_a_scenario_whose_program_failed_has_failed_although_its_checks_pass(tmp_path: Path) -> None:
    wrote(tmp_path, "ping-2026-01-02T03-04-05-678Z", {"id": "a", "status": "SUCCESS"})
    assert script.single(tmp_path, "ping", script.Done(0, "", "")).failures == []
    ran = script.single(tmp_path, "ping", script.Done(1, "", "CLIENT EXITED WITH ERROR (code 7)"))
    assert "code 7" in ran.failures[0].why
    assert script.single(tmp_path, "pong", script.Done(1, "", "unknown scenario")).failures != []


def test_what_failed_is_run_once_more_alone_unless_too_much_failed() -> None:
    def broken(names: list[str]) -> Any:
        return report.Row("0.2", "client", "all", [report.Ran(name, trouble="late") for name in names])

    few, asked = broken(["a", "(the whole suite)", "b"]), list[str]()

    def run_one(name: str) -> Any:
        asked.append(name)
        return report.Ran(name, [check("x", "SUCCESS")])

    script.second_try(few, ["a", "b"], run_one)
    assert asked == ["a", "b"]
    assert [(one.again, bool(one.failures)) for one in few.ran] == [(True, False), (False, True), (True, False)]
    names = [str(number) for number in range(script.MOST_AGAIN + 1)]
    script.second_try(broken(names), names, run_one)
    assert asked == ["a", "b"]


def test_everything_is_run_unless_the_kernel_is_busy() -> None:
    names = ("ping", "tasks-lifecycle", "auth/dpop-nonce", "sse-retry", "tools-call-elicitation")
    assert not any(script.not_run(side, name) for side in ("client", "server", "kernel") for name in names)
    assert "async def" in script.not_run("busy-kernel", "tools-call-elicitation")
    assert not any(script.not_run("busy-kernel", name) for name in names[:-1])


def test_without_a_version_the_client_is_tested_by_what_no_version_has() -> None:
    known = {"ping": ("2025-11-25",), "auth/dpop": ("extension",), "odd": ("",), "new": ("2026-07-28",)}
    assert script.of_version(known, report.ALL, False) == ["auth/dpop", "odd"]
    assert script.of_version(known, report.ALL, True) == list(known)
    assert script.of_version(known, "2025-11-25", False) == ["ping"]


@pytest.mark.parametrize("side", script.FEW_ROWS)
def test_what_is_the_same_kernel_behind_is_held_against_one_version_of_each_era(side: str) -> None:
    assert [version for _, version in script.ONE_OF_EACH_ERA] == ["2025-11-25", "2026-07-28"]
    assert set(script.ONE_OF_EACH_ERA) == set(report.LEAST[side])


def test_every_side_has_a_program_or_is_the_client() -> None:
    assert set(script.SIDES) - {"client"} == set(programs.COMMANDS)


def test_a_program_is_started_once_and_ends_with_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "COMMANDS", {"echo": ("tests.conformance.server",)})
    with programs.Programs.running(tmp_path) as running:
        url = running.url("echo")
        assert url.startswith("http://127.0.0.1:")
        assert running.url("echo") == url
        assert running.url("echo", "--streams") != url
    assert running.problems == []
    assert sorted(log.name for log in tmp_path.iterdir()) == ["echo-streams.log", "echo.log"]
    with pytest.raises(OSError, match=r"(?i)refused"):
        urllib.request.urlopen(url, timeout=5)


def test_a_program_that_does_not_start_ends_the_run_and_says_where_its_words_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "COMMANDS", {"gone": ("tests.conformance.not_there",)})
    with programs.Programs.running(tmp_path) as running, pytest.raises(SystemExit, match=r"gone\.log"):
        running.url("gone")
    assert [said.split(";")[0] for said in running.problems] == ["a server under test ended with 1"]
    assert "not_there" in (tmp_path / "gone.log").read_text(encoding="utf-8")


def test_the_table_counts_and_the_remarks_name_every_skipped_and_failed_check() -> None:
    row = report.Row("0.2", "server", "2025-11-25", seconds=3.4)
    row.ran = [
        report.Ran("ping", [check("a", "SUCCESS"), check("b", "INFO")], again=True),
        report.Ran("tools", [check("c", "SUCCESS"), check("d", "SKIPPED", "not declared"), check("e", "WARNING")]),
        report.Ran("broken", trouble="it broke"),
        report.Ran("silent"),
    ]
    row.not_run = {"auth/x": "because it is not built", "auth/y": "because it is not built"}
    other = report.Row("0.2", "client", "all", [report.Ran("ping", [check("f", "FAILURE", "wrong")])])
    head, first, second = report.table([row, other]).splitlines()
    assert head.split("  ")[0] == "suite"
    assert first.split() == ["0.2", "server", "2025-11-25", "4", "2", "2", "1", "2", "3"]
    assert second.split() == ["0.2", "client", "all", "1", "0", "1", "0", "0", "0"]
    assert report.remarks([row, other]).splitlines() == [
        "Failed:",
        "  0.2 server tools (2025-11-25): e (a warning): e does what it should",
        "  0.2 server broken (2025-11-25): run: it broke",
        "  0.2 client ping (all): f: wrong",
        "",
        "Skipped:",
        "  0.2 server tools (2025-11-25): d: not declared",
        "",
        "Without a check:",
        "  0.2 server silent (2025-11-25)",
        "",
        "Run twice:",
        "  0.2 server ping (2025-11-25): the first time it failed",
        "",
        "Not run, because it is not built:",
        "  0.2 server: auth/x, auth/y",
    ]
    written = json.loads(json.dumps(row.as_json()))
    assert (written["passed"], written["failed"], written["skipped"], written["scenarios"]) == (2, 2, 1, 4)
    assert written["not_run"] == row.not_run
    assert [one["check"] for one in written["failures"]] == ["e", "run"]
    assert written["without_checks"] == ["silent"] and written["run_twice"] == ["ping"]
    assert report.remarks([]) == ""


def test_the_same_at_several_versions_and_several_checks_for_one_reason_are_one_line() -> None:
    skipped = [check("a", "SKIPPED", "no skills"), check("b", "SKIPPED", "no skills"), check("c", "SKIPPED", "late")]
    rows = [report.Row("0.2", "server", version, [report.Ran("skills", skipped)]) for version in ("2026-07-28", "all")]
    rows[1].not_run = rows[0].not_run = {"auth/x": "because"}
    assert report.remarks(rows).splitlines() == [
        "Skipped:",
        "  0.2 server skills (2026-07-28, all): a, b: no skills",
        "  0.2 server skills (2026-07-28, all): c: late",
        "",
        "Not run, because:",
        "  0.2 server: auth/x",
    ]


def test_a_row_that_passes_fewer_checks_than_the_sdk_has_failed_though_no_check_did() -> None:
    suite, version = "0.2.0-alpha.12", "2025-06-18"
    passed = [check(str(number), "SUCCESS") for number in range(56)]
    for side in ("server", "kernel"):
        assert report.too_few(report.Row(suite, side, version, [report.Ran("ping", passed)])) is None
        few = report.too_few(report.Row(suite, side, version, [report.Ran("ping", passed[1:])]))
        assert "only 55 checks passed" in few.failures[0].why
    assert report.too_few(report.Row("0.2", "client", "all")) is None
