"""Measure this project beside the official SDK and a floor written by hand; print a table, write build/bench.json.

    python scripts/bench.py [--quick] [--rounds N] [startup] [stdio] [http] [notebook]

Ours, the SDK's and the floor's runs alternate, each in processes of its own; of each the smallest is kept (for
throughput the largest), because a busy machine only ever makes things slower. Times are CPU; those of a live notebook
are clock. A row of build/bench.json is {"name", "unit", "better", "ours", "peers": {name: value}, "raw", "ratios":
{name: ours / value}, "bars": {name: wanted ratio}, "missed": [names]}; what is measured over HTTP is in bench_http.py,
of live notebooks in bench_notebook.py.

The programs measured are in tests/benchmarks/programs. The peers live in build/peers (`make bench` puts them there).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bench_http import over_http
from bench_notebook import PEER, of_notebooks
from bench_rows import Row, as_json, table
from bench_sides import OURS, ROOT, SDK, SDK_NAME, CannotMeasure, Side, lows, python

OUT = ROOT / "build" / "bench.json"
MANY = 2000  # tools
PARTS = ("startup", "stdio", "http", "notebook")

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

    def add(self, name: str, unit: str, values: dict[str, float], better: str = "less", **bars: float) -> None:
        """A row; `bars` by "raw", "sdk" and "limit"."""
        raw = values.get("raw")
        peers = {key: value for key, value in values.items() if key not in {"ours", "raw"}}
        named = {SDK_NAME if key == "sdk" else key: bar for key, bar in bars.items()}
        self.rows.append(Row(name, unit, values["ours"], peers, raw, better, named))

    def able(self, sides: list[Side], workload: str, repeats: int) -> dict[str, list[Any]]:
        """As `alternate`, without peers that cannot do it; that is said."""
        left: list[Side] = []
        for side in sides:
            try:
                if side.name in self.names[2:]:
                    side.measure(workload, 1)
                left.append(side)
            except CannotMeasure as problem:
                print(f"{side.name} cannot: {str(problem).splitlines()[-1]}", file=sys.stderr, flush=True)
        return self.alternate(left, workload, repeats)

    @property
    def names(self) -> list[str]:
        """Who is measured: "ours", "raw" and the peers that are installed."""
        return [side.name for side in self.sides]

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
        self.add("%load_ext on ipykernel + ipywidgets (SDK: import mcp)", "ms CPU", lows(found), limit=60)

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
        self.add("first connect over stdio, kernel side, imports included", "ms CPU", lows(found), limit=400)

    def calls(self) -> None:
        self.say("one call after the other")
        found = self.alternate(self.sides, "sequential", self.count(600))
        both = {name: [1e3 * (one["client"] + one["server"]) for one in rows] for name, rows in found.items()}
        self.add("stdio call, client + server", "ms CPU", lows(both), raw=2)
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
        self.add("64 calls in flight, stdio", "calls/s", rates, better="more", sdk=5)

    def big(self) -> None:
        self.say("10 MB results")
        found = self.alternate(self.sides, "big", 3)
        both = {name: [1e3 * (one["client"] + one["server"]) for one in rows] for name, rows in found.items()}
        self.add("10 MB result, client + server", "ms CPU", lows(both), raw=2)
        growth = {name: [one["client_growth"] for one in rows] for name, rows in found.items()}
        self.add("10 MB result, memory of the client", "MB more at peak", lows(growth), limit=40)

    def many(self) -> None:
        self.say(f"{MANY} tools")
        same = [replace(side, server=RAW.server) for side in self.sides]  # a client's list must not depend on the pages
        found = self.alternate(same, "tools", 1, tools=MANY)
        lists = {name: [1e3 * one["client"] for one in rows] for name, rows in found.items()}
        self.add(f"list of {MANY:,} tools, client", "ms CPU", lows(lists), raw=2)
        paints = [python(OURS, "first_paint.py", OURS, "ours_server.py", str(MANY)) for _ in range(self.rounds)]
        for key, name in (("catalogue", "catalogue and one search"), ("paint", "first paint of the tool browser")):
            self.add(f"{MANY:,} tools: {name}", "ms CPU in the kernel", {"ours": 1e3 * min(p[key] for p in paints)})

    def cards(self) -> None:
        self.say("live cards")
        found = [python(OURS, "live_cards.py") for _ in range(self.rounds)]
        self.add(
            "form of a tool with 30 arguments", "ms CPU", {"ours": 1e3 * min(one["form"] for one in found)}, limit=100
        )
        shares = {"ours": 100 * min(one["progress"] for one in found)}
        self.add("live card of a call that reports 200 times a second", "% of a core", shares, limit=5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls, one round: does it run?")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default 5)")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    options = parser.parse_args()
    if unknown := {*options.parts} - {*PARTS}:
        parser.error(f"no such part: {', '.join(unknown)}")
    bench = Bench(1 if options.quick else options.rounds, options.quick)
    if THEIRS not in bench.sides:
        print(f"no {SDK}: measuring without the SDK (make bench installs it)", file=sys.stderr)
    if not Path(PEER).exists():
        print(f"no {PEER}: measuring without datalayer's server (make bench installs it)", file=sys.stderr)
    parts = {
        "startup": (bench.imports, bench.connects),
        "stdio": (bench.calls, bench.at_once, bench.big, bench.many, bench.cards),
        "http": (partial(over_http, bench),),
        "notebook": (partial(of_notebooks, bench),),
    }
    for name in options.parts or parts:
        for part in parts[name]:
            part()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(as_json(bench.rows), indent=1) + "\n", encoding="utf-8")
    print(table(bench.rows))
    missed = sum(len(row.missed()) for row in bench.rows)
    print("\nless is better, but for calls/s; each the smallest (calls/s: the largest) of the rounds.")
    print(f"{missed} bars missed. Written to {options.out}")


if __name__ == "__main__":
    main()
