"""The kernel server, measured by the clock of who waits: `python notebook.py WORKLOAD SCALE [PEER INTERPRETER]` prints

    reads    {"ours", "peer": {"idle", "sleeping", "computing"}}: seconds to read one variable
    lists    {"ours": {"first", "whole", "at_once", "count", "pages"}, "peer": {"whole"}}: seconds to list 10,000
             variables: the first page, all pages, all in one call of the tool
    views    {"pandas", "polars": {"view", "inspect", "fingerprint", "growth", "frame"}, "peer": {"pandas"}}: seconds
             to look at a frame of 1 GB; MB that the kernel's peak grew by meanwhile; MB of the frame
    changes  {"quiet", "watched"}: seconds of the main thread after a cell at 1,000 names
    bridge   {"direct", "bridge"}: seconds to read one variable;  start {"cpu"}: CPU seconds of the bridge

Medians. The kernel is a real one; with a peer it is one of the peer's Jupyter Server, and both read the same. SCALE is
1 for the sizes above.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import raw_client
from notebook_client import Served, median
from notebook_kernel import folder, own_kernel
from notebook_peer import peer

if TYPE_CHECKING:
    from pathlib import Path

CELL = 3.0  # seconds of the cell that runs beside the reads
WARM, TIMES, PEER_TIMES = 10, 100, 3
VARIABLES, NAMES, CELLS = 10_000, 1_000, 40
ROWS, COLUMNS = 1_250_000, 100
FRAMES = {  # made in place: a peak of the making would be taken for the view's
    "pandas": "import numpy as np, pandas as pd\n"
    "df = pd.DataFrame(np.full(({rows}, {columns}), 1.5), columns=[f'c{{n}}' for n in range({columns})], copy=False)\n"
    "print(df.memory_usage().sum() / 1e6)",
    "polars": "import polars as pl\n"
    "df = pl.DataFrame([pl.repeat(1.5, {rows}, eager=True).alias(f'c{{n}}') for n in range({columns})])\n"
    "print(df.estimated_size() / 1e6)",
}
MEMORY = """
import psutil as _psutil, resource as _resource, sys as _sys
def memory():
    peak = _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss * (1 if _sys.platform == "darwin" else 1024)
    return {"now": _psutil.Process().memory_info().rss / 1e6, "peak": peak / 1e6}
"""
TIME_FINGERPRINT = """
import json, time, statistics
from jupyter_mcp.kernel import views as _views
def fingerprint():
    begun = time.perf_counter()
    assert _views.fingerprint(df) is not None
    return time.perf_counter() - begun
print(statistics.median(fingerprint() for _ in range(11)))
"""


async def reads(served: Served, scale: float) -> dict[str, Any]:
    """One variable: idle, beside a cell that sleeps, beside one that computes in Python."""
    times = max(5, int(TIMES * scale))
    served.kernel.run("x = 42")
    await median(served.read, WARM)
    ours = {"idle": await median(served.read, times)}
    theirs: dict[str, float] = {}
    if served.peer is not None:
        await median(served.peer_read, 1)
        theirs["idle"] = await median(served.peer_read, PEER_TIMES)
    for how in ("sleeping", "computing"):
        with served.kernel.busy(how, CELL):
            ours[how] = await median(served.read, times, until=time.perf_counter() + CELL * 0.7)
        if served.peer is not None:
            with served.kernel.busy(how, CELL):
                theirs[how] = await median(served.peer_read, 1)
    return {"ours": ours, "peer": theirs}


async def lists(served: Served, scale: float) -> dict[str, Any]:
    """All variables: the first page, and every page after it."""
    count = int(VARIABLES * scale)
    served.kernel.run(f"globals().update({{f'v{{n}}': n for n in range({count})}})")

    async def first() -> dict[str, Any]:
        return json.loads(await served.resource("variables"))

    async def whole() -> tuple[int, int]:
        page = await first()
        seen, pages = len(page["variables"]), 1
        while cursor := page.get("cursor"):
            page = json.loads(await served.resource(f"variables?cursor={cursor}"))
            seen, pages = seen + len(page["variables"]), pages + 1
        return seen, pages

    async def at_once() -> None:
        assert len((await served.tool("list_variables", limit=VARIABLES))["variables"]) == seen

    seen, pages = await whole()
    ours = {"first": await median(first, 20), "whole": await median(whole, 3), "count": seen, "pages": pages}
    ours["at_once"] = await median(at_once, 5)
    if served.peer is None:
        return {"ours": ours, "peer": {}}
    other = served.peer
    return {"ours": ours, "peer": {"whole": await median(lambda: other.execute("%whos"), PEER_TIMES)}}


async def views(served: Served, scale: float) -> dict[str, Any]:
    """Fifty rows of a large frame, and what they cost in memory: the peak afterwards above what was there before."""
    found: dict[str, Any] = {"peer": {}}
    size = {"rows": max(10_000, int(ROWS * scale)), "columns": COLUMNS}
    served.kernel.run(MEMORY)

    async def look() -> None:
        assert (await served.resource("variables/df?rows=0:50")).count("\n") == 51

    for library, make in FRAMES.items():
        served.kernel.run("df = None")
        frame = float(served.kernel.run(make.format(**size)))
        await look()  # what is loaded at first use
        before = served.kernel.data("import json; print(json.dumps(memory()))")["now"]
        row = {"frame": frame, "view": await median(look, 20)}
        row["inspect"] = await median(lambda: served.tool("inspect_variable", name="df"), 20)
        row["fingerprint"] = served.kernel.data(TIME_FINGERPRINT)
        row["growth"] = max(0.0, served.kernel.data("print(json.dumps(memory()))")["peak"] - before)
        found[library] = row
        if served.peer is not None:
            other = served.peer
            found["peer"][library] = await median(lambda other=other: other.execute("df"), PEER_TIMES)
    return found


async def changes(served: Served, scale: float) -> dict[str, float]:
    """What the end of a cell costs the main thread: nobody watches; then the list and a frame are watched."""
    size = {"rows": max(10_000, int(ROWS * scale)), "columns": COLUMNS}
    served.kernel.run(FRAMES["pandas"].format(**size))
    served.kernel.run(f"globals().update({{f'v{{n}}': n for n in range({NAMES})}})")

    def cells() -> float:
        found: list[float] = []
        for number in range(max(5, int(CELLS * scale))):
            served.kernel.run(f"v7 = {number} + 10**6")
            found.append(served.kernel.data("print(S._changes.seconds)"))
        return statistics.median(found)

    quiet = cells()
    with served.listening("variables", "variables/v7", "variables/df"):
        return {"quiet": quiet, "watched": cells()}


async def bridge(served: Served, scale: float) -> dict[str, float]:
    """The same read by the bridge and without it, in turn."""
    served.kernel.run("x = 42")
    async with raw_client.connect(BRIDGE, cwd=served.place) as session:
        given = {"name": "read_variable", "arguments": {"notebook": served.slug, "name": "x"}}

        async def by_bridge() -> None:
            assert (await session.request("tools/call", given))["structuredContent"]["text"] == "42"

        found: dict[str, list[float]] = {"direct": [], "bridge": []}
        for number in range(WARM + max(5, int(TIMES * scale))):
            for name, act in (("direct", served.read), ("bridge", by_bridge)):
                begun = time.perf_counter()
                await act()
                found[name] += [time.perf_counter() - begun] if number >= WARM else []
    return {name: statistics.median(times) for name, times in found.items()}


BRIDGE = [sys.executable, "-m", "jupyter_mcp.cli", "stdio"]


async def start(served: Served, scale: float) -> dict[str, float]:
    """The bridge from nothing to the notebook's tools, and to its end."""
    del scale
    return {"cpu": await asyncio.to_thread(whole_life, served.place)}


def whole_life(place: Path) -> float:
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, **CLIENT}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    ]
    process = subprocess.Popen(BRIDGE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place)
    assert process.stdin is not None
    assert process.stdout is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert any("list_variables" in json.dumps(answer) for answer in answers), answers
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, status
    process.returncode = status
    return used.ru_utime + used.ru_stime


CLIENT = {"clientInfo": {"name": "bench", "version": "0"}}
WORKLOADS = {"reads": reads, "lists": lists, "views": views, "changes": changes, "bridge": bridge, "start": start}


async def main(workload: str, scale: float, interpreter: str = "") -> None:
    async with AsyncExitStack() as stack:
        place = stack.enter_context(folder())
        other = None
        if interpreter:
            kernel, other = await stack.enter_async_context(peer(interpreter, place))
        else:
            kernel = stack.enter_context(own_kernel(place))
        measured = await WORKLOADS[workload](Served(kernel, place, other), scale)
    print(json.dumps(measured))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), *sys.argv[3:]))
