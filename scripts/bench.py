"""Measure this project beside the official SDK and a floor written by hand; print a table, write build/bench.json.

    python scripts/bench.py [--quick] [--rounds N]

Ours, the SDK's and the floor's runs alternate, each in processes of its own; of each the smallest is kept (for
throughput the largest), because a busy machine only ever makes things slower. Times are CPU, not clock. A row of
build/bench.json is {"name", "unit", "better", "ours", "peers": {name: value}, "raw", "ratios": {name: ours / value}}.

The programs measured are in tests/benchmarks/programs. The SDK lives in build/peers/mcp2 (`make bench` puts it there).
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests" / "benchmarks" / "programs"
OURS = sys.executable
SDK = str(ROOT / "build" / "peers" / "mcp2" / "bin" / "python")
SDK_NAME = "mcp 2.3.0"
OUT = ROOT / "build" / "bench.json"
LIMIT = 300.0  # seconds for one program
MANY = 2000  # tools


@dataclass
class Row:
    """One number, ours and everybody else's."""

    name: str
    unit: str
    ours: float
    peers: dict[str, float] = field(default_factory=dict[str, float])
    raw: float | None = None
    better: str = "less"

    def ratios(self) -> dict[str, float]:
        """Ours divided by each other value that there is."""
        others = {**self.peers, **({"raw": self.raw} if self.raw is not None else {})}
        return {name: self.ours / value for name, value in others.items() if value}


def python(interpreter: str, program: str, *arguments: str) -> dict[str, Any]:
    """The JSON object that one of the programs prints."""
    command = [interpreter, program, *arguments]
    done = subprocess.run(
        command, cwd=PROGRAMS, capture_output=True, text=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(frozen=True)
class Side:
    """A client and the server it talks to, both by the same people."""

    name: str
    client: tuple[str, str]  # interpreter, adapter
    server: tuple[str, str]  # interpreter, program

    def measure(self, workload: str, repeats: int, tools: int = 0) -> dict[str, Any]:
        extra = [str(tools)] if tools else []
        return python(self.client[0], "measure.py", self.client[1], workload, str(repeats), "--", *self.server, *extra)


RAW = Side("raw", (OURS, "raw_client"), (OURS, "raw_server.py"))
MINE = Side("ours", (OURS, "ours_client"), (OURS, "ours_server.py"))
THEIRS = Side(SDK_NAME, (SDK, "sdk_client"), (SDK, "sdk_server.py"))


class Bench:
    def __init__(self, rounds: int, quick: bool) -> None:
        self.rounds = rounds
        self.scale = 0.1 if quick else 1.0
        self.rows: list[Row] = []
        self.sides = [MINE, RAW] + ([THEIRS] if Path(SDK).exists() else [])

    def count(self, full: int) -> int:
        return max(2, int(full * self.scale))

    def alternate(self, sides: list[Side], workload: str, repeats: int, tools: int = 0) -> dict[str, list[Any]]:
        """Each side's measurements, taken in turn."""
        found: dict[str, list[Any]] = {side.name: [] for side in sides}
        for _ in range(self.rounds):
            for side in sides:
                found[side.name].append(side.measure(workload, repeats, tools))
        return found

    def add(self, name: str, unit: str, values: dict[str, float], better: str = "less") -> None:
        raw = values.get("raw")
        peers = {key: value for key, value in values.items() if key not in {"ours", "raw"}}
        self.rows.append(Row(name, unit, values["ours"], peers, raw, better))

    def say(self, text: str) -> None:
        print(f"measuring: {text}", file=sys.stderr, flush=True)

    # --- what is measured ---------------------------------------------------------------------------------------------
    def imports(self) -> None:
        self.say("start-up")
        programs = {"ours": (OURS, "startup.py", "load_ext")}
        if THEIRS in self.sides:
            programs[SDK_NAME] = (SDK, "startup.py", "import_mcp")
        found: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(self.rounds * 2):
            for name, program in programs.items():
                found[name].append(python(*program)["cpu"] * 1e3)
        self.add("%load_ext on ipykernel + ipywidgets (SDK: import mcp)", "ms CPU", lows(found))

    def connects(self) -> None:
        self.say("first connect")
        programs = {
            "ours": (OURS, "startup.py", "first_connect", OURS, "ours_server.py"),
            "raw": (OURS, "startup.py", "raw_connect", OURS, "raw_server.py"),
        }
        if THEIRS in self.sides:
            programs[SDK_NAME] = (SDK, "startup.py", "sdk_connect", SDK, "sdk_server.py")
        found: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(self.rounds):
            for name, program in programs.items():
                found[name].append(python(*program)["cpu"] * 1e3)
        self.add("first connect over stdio, kernel side, imports included", "ms CPU", lows(found))

    def calls(self) -> None:
        self.say("one call after the other")
        found = self.alternate(self.sides, "sequential", self.count(600))
        both = {name: [1e3 * (one["client"] + one["server"]) for one in rows] for name, rows in found.items()}
        self.add("stdio call, client + server", "ms CPU", lows(both))
        for half in ("client", "server"):
            part = {name: [1e3 * one[half] for one in rows] for name, rows in found.items()}
            self.add(f"stdio call, {half}", "ms CPU", lows(part))
        self.say("calls through the notebook's API")
        api = [Side("ours", (OURS, "api_client"), MINE.server).measure("sequential", self.count(300))["client"]]
        self.add("stdio call from a cell (host, journal, thread), client", "ms CPU", {"ours": min(api) * 1e3})

    def at_once(self) -> None:
        self.say("64 calls in flight")
        found = self.alternate(self.sides, "in_flight", self.count(6400))
        rates = {name: max(one["rate"] for one in rows) for name, rows in found.items()}
        self.add("64 calls in flight, stdio", "calls/s", rates, better="more")

    def big(self) -> None:
        self.say("10 MB results")
        found = self.alternate(self.sides, "big", 3)
        both = {name: [1e3 * (one["client"] + one["server"]) for one in rows] for name, rows in found.items()}
        self.add("10 MB result, client + server", "ms CPU", lows(both))
        growth = {name: [one["client_growth"] for one in rows] for name, rows in found.items()}
        self.add("10 MB result, memory of the client", "MB more at peak", lows(growth))

    def many(self) -> None:
        self.say(f"{MANY} tools")
        same = [replace(side, server=RAW.server) for side in self.sides]  # a client's list must not depend on the pages
        found = self.alternate(same, "tools", 1, tools=MANY)
        lists = {name: [1e3 * one["client"] for one in rows] for name, rows in found.items()}
        self.add(f"list of {MANY:,} tools, client", "ms CPU", lows(lists))
        paints = [python(OURS, "first_paint.py", OURS, "ours_server.py", str(MANY)) for _ in range(self.rounds)]
        for key, name in (("catalogue", "catalogue and one search"), ("paint", "first paint of the tool browser")):
            self.add(f"{MANY:,} tools: {name}", "ms CPU in the kernel", {"ours": 1e3 * min(p[key] for p in paints)})


def lows(found: dict[str, list[float]]) -> dict[str, float]:
    return {name: min(values) for name, values in found.items()}


def table(rows: list[Row]) -> str:
    """The rows as text, a column for each competitor."""
    names = list(dict.fromkeys(name for row in rows for name in row.peers))
    head = ["what", "unit", "ours", *names, "raw", *(f"ours / {name}" for name in names), "ours / raw"]
    body = [head]
    for row in rows:
        ratios = row.ratios()
        values = [row.ours, *(row.peers.get(name) for name in names), row.raw]
        shown = [figure(value) for value in values]
        body.append([row.name, row.unit, *shown, *(figure(ratios.get(name), "×") for name in [*names, "raw"])])
    widths = [max(len(line[column]) for line in body) for column in range(len(head))]
    return "\n".join("  ".join(pad(cell, widths[n], n > 1) for n, cell in enumerate(line)).rstrip() for line in body)


def figure(value: float | None, suffix: str = "") -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}{suffix}" if value >= 100 else f"{value:.3g}{suffix}"


def pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def as_json(rows: list[Row]) -> dict[str, Any]:
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    keys = ("name", "unit", "better", "ours", "peers", "raw")
    return {
        "machine": machine,
        "rows": [{**{key: getattr(row, key) for key in keys}, "ratios": row.ratios()} for row in rows],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls, one round: does it run?")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default 5)")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    options = parser.parse_args()
    bench = Bench(1 if options.quick else options.rounds, options.quick)
    if THEIRS not in bench.sides:
        print(f"no {SDK}: measuring without the SDK (make bench installs it)", file=sys.stderr)
    for part in (bench.imports, bench.connects, bench.calls, bench.at_once, bench.big, bench.many):
        part()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(as_json(bench.rows), indent=1) + "\n", encoding="utf-8")
    print(table(bench.rows))
    print(f"\nless is better, but for calls/s; smallest of {bench.rounds}. Written to {options.out}")


if __name__ == "__main__":
    main()
