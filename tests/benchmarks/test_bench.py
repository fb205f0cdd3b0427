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
OVER_HTTP = [
    (f"{client}:{era}", server, *how)
    for era in ("legacy", "modern")
    for client, server, *how in [
        ("raw_http_client", "raw_http_server.py", era),
        ("raw_http_client", "ours_http_server.py"),
        ("raw_http_client", "ours_http_server.py", "sse"),
        ("ours_http_client", "raw_http_server.py", era),
        ("ours_http_client", "raw_http_server.py", "sse"),
        ("ours_http_client", "ours_http_server.py"),
    ]
]


def load(name: str) -> Any:
    """A module of scripts/, which is no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)  # dataclasses look their module up
        spec.loader.exec_module(module)
    return sys.modules[name]


rows = load("bench_rows")
load("bench_sides")  # the others import it
notebook = load("bench_notebook")
CELL = 3.0  # seconds of the cell beside which a variable is read


def program(*command: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *command], cwd=PROGRAMS, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def measure(client: str, workload: str, *server: str) -> dict[str, Any]:
    return program("measure.py", client, workload, "3", "--", sys.executable, *server)


@pytest.mark.parametrize(("client", "server"), PAIRS)
@pytest.mark.parametrize("workload", ["sequential", "in_flight", "big"])
def test_a_workload_runs_on_the_floor_and_on_ours(client: str, server: str, workload: str) -> None:
    measured = measure(client, workload, server)
    assert measured["client"] > 0
    assert measured["server"] >= 0


@pytest.mark.parametrize("how", OVER_HTTP, ids=" ".join)
def test_calls_over_http_run_on_the_floor_and_on_ours(how: tuple[str, ...]) -> None:
    client, *server = how
    assert measure(client, "sequential", *server)["client"] > 0


def test_a_big_answer_comes_by_an_event_stream() -> None:
    assert measure("ours_http_client:modern", "big", "ours_http_server.py", "sse")["client"] > 0


def test_live_cards_are_measured_with_a_server_of_another_process() -> None:
    measured = program("live_cards.py")
    assert measured["form"] > 0 and measured["progress"] > 0
    assert measured["rate"] > 20, "it is reported often"


@pytest.mark.parametrize(("client", "server"), PAIRS)
def test_all_tools_are_counted(client: str, server: str) -> None:
    assert measure(client, "tools", server, "250")["count"] == 253


def test_every_subscription_hears_of_a_change() -> None:
    found = program("subscriptions.py", "20", sys.executable, "ours_http_server.py")
    assert (found["count"], found["told"]) == (20, 30)  # ten were there before the memory was looked at


@pytest.mark.parametrize(
    ("workload", "found"),
    [
        ("lists", {"ours": {"first", "whole", "at_once", "count", "pages"}, "peer": set[str]()}),
        ("views", {name: {"view", "inspect", "fingerprint", "growth", "frame"} for name in ("pandas", "polars")}),
        ("bridge", {"direct": None, "bridge": None}),
        ("start", {"cpu": None}),
    ],
)
def test_a_live_notebook_is_measured_without_a_peer(workload: str, found: dict[str, set[str] | None]) -> None:
    measured = program("notebook.py", workload, "0.05")
    for name, keys in found.items():
        assert measured[name] if keys is None else set(measured[name]) == keys
    if workload == "lists":
        assert (measured["ours"]["count"], measured["ours"]["pages"]) == (500, 3)


@pytest.mark.slow
@pytest.mark.skipif(not Path(notebook.PEER).exists(), reason="the peer is not installed (make bench)")
def test_the_peer_reads_the_same_kernel_and_waits_for_its_cell() -> None:
    measured = program("notebook.py", "reads", "0.05", notebook.PEER)
    assert set(measured["ours"]) == set(measured["peer"]) == {"idle", "sleeping", "computing"}
    assert min(measured["peer"]["sleeping"], measured["peer"]["computing"]) > CELL * 0.8
    assert max(measured["ours"].values()) < CELL


def test_ratios_are_ours_by_the_others() -> None:
    row = rows.Row("x", "ms", 2.0, {"other": 8.0}, 1.0)
    assert row.ratios() == {"other": 0.25, "raw": 2.0}
    assert rows.Row("x", "ms", 2.0).ratios() == {}


@pytest.mark.parametrize(
    ("better", "bars", "missed"),
    [
        ("less", {"other": 0.25, "raw": 2.0, "limit": 2.0}, []),
        ("less", {"other": 0.2, "raw": 1.9, "limit": 1.0}, ["other", "raw", "limit"]),
        ("more", {"other": 0.25, "raw": 2.0}, []),
        ("more", {"other": 0.3, "raw": 3.0}, ["other", "raw"]),
        ("less", {"nobody": 0.1}, []),
    ],
)
def test_a_bar_is_missed_on_its_wrong_side_only(better: str, bars: dict[str, float], missed: list[str]) -> None:
    row = rows.Row("x", "ms", 2.0, {"other": 8.0}, 1.0, better, bars)
    assert row.missed() == missed
    assert row.wanted().count("MISSED") == len(missed)


def test_the_table_has_a_line_for_each_row_and_a_dash_where_nothing_was_measured() -> None:
    found = [
        rows.Row("one", "ms", 2.0, {"other": 8.0}, 1.0, bars={"raw": 1.5}),
        rows.Row("two", "calls/s", 12345.0, better="more"),
    ]
    head, first, second = rows.table(found).splitlines()
    assert head.split()[:4] == ["what", "unit", "ours", "other"]
    assert first.split() == ["one", "ms", "2", "8", "1", "0.25×", "2×", "<=", "1.5×", "raw", "MISSED"]
    assert second.split() == ["two", "calls/s", "12,345", "-", "-", "-", "-", "-"]


@pytest.mark.slow
@pytest.mark.timeout(700)
def test_the_whole_benchmark_writes_its_rows(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    command = [sys.executable, str(ROOT / "scripts" / "bench.py"), "--quick", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))["rows"]
    keys = {"name", "unit", "better", "ours", "peers", "raw", "ratios", "bars", "missed"}
    assert [set(row) for row in found] == [keys] * len(found)
    for words in ("load_ext", "HTTP call, client, modern", "idle subscriptions", "read one variable", "frame of"):
        assert any(words in row["name"] for row in found), words


def test_a_read_is_measured_at_the_endpoint_and_by_both_ways_of_the_gateway() -> None:
    found = program("gateway.py", "3", "2")
    assert set(found) == {"direct", "gateway", "control", "listeners"}
    assert all(0 < found[way] < 60 for way in ("direct", "gateway", "control"))
