"""The benchmark measures what it says it does. Its numbers are looked at by people; no test depends on a time."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "benchmarks" / "programs"
PAIRS = [("raw_client", "raw_server.py"), ("ours_client", "ours_server.py"), ("ours_client", "raw_server.py")]


def bench() -> Any:
    spec = importlib.util.spec_from_file_location("bench", ROOT / "scripts" / "bench.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def measure(client: str, server: str, workload: str, *tools: str) -> dict[str, Any]:
    command = [sys.executable, "measure.py", client, workload, "3", "--", sys.executable, server, *tools]
    done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("client", "server"), PAIRS)
@pytest.mark.parametrize("workload", ["sequential", "in_flight", "big"])
def test_a_workload_runs_on_the_floor_and_on_ours(client: str, server: str, workload: str) -> None:
    measured = measure(client, server, workload)
    assert measured["client"] > 0
    assert measured["server"] >= 0


@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_all_tools_are_counted(client: str, server: str) -> None:
    assert measure(client, server, "tools", "250")["count"] == 253


def test_ratios_are_ours_by_the_others() -> None:
    row = bench().Row("x", "ms", 2.0, {"other": 8.0}, 1.0)
    assert row.ratios() == {"other": 0.25, "raw": 2.0}
    assert bench().Row("x", "ms", 2.0).ratios() == {}


def test_the_table_has_a_line_for_each_row_and_a_dash_where_nothing_was_measured() -> None:
    module = bench()
    rows = [module.Row("one", "ms", 2.0, {"other": 8.0}, 1.0), module.Row("two", "calls/s", 12345.0, better="more")]
    head, first, second = module.table(rows).splitlines()
    assert head.split()[:4] == ["what", "unit", "ours", "other"]
    assert first.split() == ["one", "ms", "2", "8", "1", "0.25×", "2×"]
    assert second.split() == ["two", "calls/s", "12,345", "-", "-", "-", "-"]


@pytest.mark.slow
def test_the_whole_benchmark_writes_its_rows(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    command = [sys.executable, str(ROOT / "scripts" / "bench.py"), "--quick", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [set(row) for row in rows] == [{"name", "unit", "better", "ours", "peers", "raw", "ratios"}] * len(rows)
    assert any("load_ext" in row["name"] for row in rows)
