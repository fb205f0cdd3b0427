"""The runner of all checks: what it makes of tests that fail, and of two lanes. Small suites of real pytest runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.test_script import load

STEADY = "def test_fine():\n    pass\n\n\ndef test_broken():\n    assert False\n"
UNSTEADY = """
from pathlib import Path


def test_only_the_first_time():
    seen = Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first


def test_fine():
    pass
"""


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with a checkout of its own."""
    script = load("checks")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "REPORTS", tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return script


def run(checks: Any, folder: Path, **files: str) -> Any:
    for name, source in files.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return checks.tests("few", Path(sys.executable), [str(folder), "-q", "-p", "no:anyio"])


def test_a_test_that_fails_twice_fails_the_check(checks: Any, tmp_path: Path) -> None:
    outcome = run(checks, tmp_path, test_steady=STEADY)
    assert (outcome.passed, outcome.failed, outcome.unsteady) == (1, 1, [])


def test_a_test_that_passes_alone_is_named_and_fails_the_run_all_the_same(
    checks: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = run(checks, tmp_path, test_unsteady=UNSTEADY)
    assert (outcome.passed, outcome.failed) == (1, 1)
    assert outcome.unsteady == ["test_unsteady::test_only_the_first_time"]
    assert checks.summary([outcome]) == 1
    assert "unsteady: test_unsteady::test_only_the_first_time" in capsys.readouterr().out


def test_one_browser_test_may_need_a_second_try_and_is_named_two_may_not(
    checks: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checks.summary([checks.Outcome("e2e", passed=9, failed=1, unsteady=["a"])]) == 0
    assert "unsteady: a failed" in capsys.readouterr().out
    assert checks.summary([checks.Outcome("e2e", passed=8, failed=2, unsteady=["a", "b"])]) == 1
    assert checks.summary([checks.Outcome("e2e", passed=8, failed=2, unsteady=["a"])]) == 1  # the other is broken
    assert checks.summary([checks.Outcome("unit", passed=9, failed=1, unsteady=["a"])]) == 1


def test_what_stays_broken_is_told_from_what_does_not(checks: Any, tmp_path: Path) -> None:
    outcome = run(checks, tmp_path, test_steady=STEADY, test_unsteady=UNSTEADY)
    assert (outcome.passed, outcome.failed) == (2, 2)
    assert outcome.unsteady == ["test_unsteady::test_only_the_first_time"]


def test_many_failures_are_not_run_again(checks: Any, tmp_path: Path) -> None:
    source = "import pytest\n\n\n@pytest.mark.parametrize('n', range(4))\ndef test_it(n):\n    assert False\n"
    outcome = run(checks, tmp_path, test_many=source)
    assert (outcome.passed, outcome.failed, outcome.unsteady) == (0, 4, [])
    assert not (tmp_path / "few-again.xml").exists()


def test_a_run_that_cannot_begin_is_a_failure(checks: Any, tmp_path: Path) -> None:
    outcome = run(checks, tmp_path, test_odd="import nothing_of_this_name\n")
    assert outcome.failed == 1


def test_two_lanes_keep_their_outputs_apart_and_the_order_of_the_names(
    checks: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def check(words: str) -> Any:
        def run(label: str, slow: bool) -> Any:
            for word in words.split():
                checks.run([sys.executable, "-c", f"print({word!r})"])
            return checks.Outcome(label, passed=1)

        return run

    monkeypatch.setattr(checks, "CHECKS", {"slow": check("a b c"), "other": check("x y z"), "last": check("e")})
    monkeypatch.setattr(checks, "BESIDE", ("other",))
    assert [outcome.name for outcome in checks.every(["slow", "other", "last"], False)] == ["slow", "other", "last"]
    assert "=== other ===\nx\ny\nz\n" in capfd.readouterr().out
