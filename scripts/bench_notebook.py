"""The benchmark's rows of the kernel server: what waits for a live notebook waits so long, by the clock.

The peer is datalayer's jupyter-mcp-server in an environment of its own (build/peers/datalayer; `make bench` puts it
there), attached to the same kernel; it reads as its users do, by its tool `execute_code`. It polls once a second, so
it takes part in the first round only. A row's number is the smallest of the rounds' medians. Run by bench.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_sides import OURS, ROOT, lows, python

if TYPE_CHECKING:
    from bench import Bench

PEER = str(ROOT / "build" / "peers" / "datalayer" / "bin" / "python")
PEER_NAME = "jupyter-mcp-server 2.2.4"
MOST_ROUNDS = 3  # each starts a kernel


def of_notebooks(bench: Bench) -> None:
    """All of them."""
    reads(bench)
    lists(bench)
    views(bench)
    changes(bench)
    bridge(bench)
    gateway(bench)


def measured(bench: Bench, workload: str, what: str, *, beside_peer: bool = False) -> list[dict[str, Any]]:
    """What notebook.py printed, once for each round."""
    bench.say(f"a live notebook: {what}")
    command = (OURS, "notebook.py", workload, str(bench.scale))
    peer = (PEER,) if beside_peer and Path(PEER).exists() else ()
    first = python(*command, *peer)
    return [first, *(python(*command) for _ in range(min(bench.rounds, MOST_ROUNDS) - 1))]


def add(
    bench: Bench, name: str, ours: list[float], limit: float | None = None, peer: float | None = None, unit: str = "ms"
) -> None:
    """A row; seconds become milliseconds."""
    scale = 1e3 if unit.startswith("ms") else 1.0
    found = {"ours": [scale * one for one in ours], **({PEER_NAME: [scale * peer]} if peer is not None else {})}
    bars = {"limit": limit} if limit is not None else {}
    bench.add(f"notebook: {name}", unit, lows(found), "less", **bars)


def reads(bench: Bench) -> None:
    rows = measured(bench, "reads", "reads beside cells", beside_peer=True)
    for key, words, limit in (
        ("idle", "idle", 5.0),
        ("sleeping", "while a cell of 3 s sleeps", 20.0),
        ("computing", "while a cell of 3 s computes in Python", 20.0),
    ):
        ours = [row["ours"][key] for row in rows]
        add(bench, f"read one variable, {words}", ours, limit, rows[0]["peer"].get(key))


def lists(bench: Bench) -> None:
    rows = measured(bench, "lists", "lists", beside_peer=True)
    count, pages = rows[0]["ours"]["count"], rows[0]["ours"]["pages"]
    add(bench, f"list of {count:,} variables, its first page", [row["ours"]["first"] for row in rows], 50)
    add(bench, f"list of {count:,} variables, all in one call of the tool", [row["ours"]["at_once"] for row in rows])
    whole = [row["ours"]["whole"] for row in rows]
    add(
        bench, f"list of {count:,} variables, all {pages} pages (peer: %whos)", whole, peer=rows[0]["peer"].get("whole")
    )


def views(bench: Bench) -> None:
    rows = measured(bench, "views", "large frames", beside_peer=True)
    for library in ("pandas", "polars"):
        found = [row[library] for row in rows]
        what = f"{library} frame of {found[0]['frame']:,.0f} MB, 100 columns"
        view = [row["view"] for row in found]
        add(bench, f"{what}: 50 rows (peer: its repr)", view, 20, rows[0]["peer"].get(library))
        add(bench, f"{what}: its schema", [row["inspect"] for row in found], 20)
        add(bench, f"{what}: memory of views", [row["growth"] for row in found], 50, unit="MB more at peak")
        add(bench, f"{what}: fingerprint, not on the main thread", [row["fingerprint"] for row in found])


def changes(bench: Bench) -> None:
    rows = measured(bench, "changes", "after cells")
    for key, words in (("quiet", "nobody watches"), ("watched", "a list, a name and a frame are watched")):
        name = f"detection of changes after a cell at 1,000 names, {words}"
        add(bench, name, [row[key] for row in rows], 2, unit="ms of the main thread")


def bridge(bench: Bench) -> None:
    rows = measured(bench, "bridge", "the bridge")
    add(bench, "read one variable by a bare client", [row["direct"] for row in rows])
    add(bench, "read one variable by the bridge, more than that", [row["bridge"] - row["direct"] for row in rows], 3)
    rows = measured(bench, "start", "the bridge's start")
    name = "bridge, from its start to the notebook's tools and its end"
    add(bench, name, [row["cpu"] for row in rows], 350, unit="ms CPU")


def gateway(bench: Bench) -> None:
    bench.say("a live notebook: behind a Jupyter Server")
    listeners = 200
    rounds = min(bench.rounds, MOST_ROUNDS)
    rows = [python(OURS, "gateway.py", str(bench.count(300)), str(listeners)) for _ in range(rounds)]
    over = [row["gateway"] - row["direct"] for row in rows]
    add(bench, "read through a Jupyter Server, more than at the endpoint", over, 3)
    over = [row["control"] - row["direct"] for row in rows]
    add(bench, "the same by the kernel's control channel", over)
    grown = [row["listeners"] / 2**20 for row in rows]
    add(bench, f"{listeners} idle listeners, memory of the Jupyter Server", grown, 100, unit="MB more")
