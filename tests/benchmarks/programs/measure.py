"""One measurement: a client (an adapter beside this file) against a server (a command), as one JSON object on stdout.

    python measure.py ADAPTER[:ERA] WORKLOAD REPEATS -- SERVER COMMAND …

It runs in the environment of whichever client is measured, so it imports nothing of this project. An adapter is a
module with `connect(command)`, over HTTP `connect(command, era)`: an async context manager whose session has `await
call(name, arguments) -> text` and `await tools() -> count`. Every server has the tools echo(text), big(size) and
usage() -> JSON {cpu, peak}.

Times are CPU seconds of the client plus those the server reports of itself; only throughput is measured by the clock.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import resource
import sys
import time
from typing import Any

WARM = 20  # calls before anything is measured
IN_FLIGHT = 64
BIG = 10_000_000  # characters
KIB = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes on macOS, in KiB elsewhere


def cpu() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> float:
    """Largest resident size so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB / 1e6


async def usage(session: Any) -> dict[str, float]:
    return json.loads(await session.call("usage", {}))


async def sequential(session: Any, repeats: int) -> dict[str, float]:
    """CPU of one call, one after the other."""
    for number in range(WARM):
        await session.call("echo", {"text": f"warm {number}"})
    server, mine = await usage(session), cpu()
    for number in range(repeats):
        text = await session.call("echo", {"text": f"hello {number}"})
        assert text == f"hello {number}", text
    client = cpu() - mine
    after = await usage(session)
    return {"client": client / repeats, "server": (after["cpu"] - server["cpu"]) / repeats}


async def in_flight(session: Any, repeats: int) -> dict[str, float]:
    """Calls a second with 64 in flight, and the CPU of each."""
    numbers = iter(range(repeats))

    async def worker() -> None:
        for number in numbers:
            text = await session.call("echo", {"text": f"at once {number}"})
            assert text == f"at once {number}", text

    for number in range(WARM):
        await session.call("echo", {"text": f"warm {number}"})
    server, mine, clock = await usage(session), cpu(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    seconds, client = time.perf_counter() - clock, cpu() - mine
    after = await usage(session)
    return {"rate": repeats / seconds, "client": client / repeats, "server": (after["cpu"] - server["cpu"]) / repeats}


async def big(session: Any, repeats: int) -> dict[str, float]:
    """CPU of one result of 10 MB, and how much the largest resident size of each side grew by it."""
    await session.call("echo", {"text": "warm"})
    before, mine_before = await usage(session), peak()
    best: dict[str, float] = {}
    for _ in range(repeats):
        server, mine = await usage(session), cpu()
        text = await session.call("big", {"size": BIG})
        client = cpu() - mine
        assert len(text) == BIG, len(text)
        del text
        after = await usage(session)
        row = {"client": client, "server": after["cpu"] - server["cpu"]}
        if not best or sum(row.values()) < best["client"] + best["server"]:
            best = row
    return {**best, "client_growth": peak() - mine_before, "server_growth": after["peak"] - before["peak"]}


async def tools(session: Any, repeats: int) -> dict[str, float]:
    """CPU of listing all tools once, on a fresh connection."""
    del repeats
    mine = cpu()
    count = await session.tools()
    return {"client": cpu() - mine, "count": count}


WORKLOADS = {"sequential": sequential, "in_flight": in_flight, "big": big, "tools": tools}


async def main(adapter: str, workload: str, repeats: int, command: list[str]) -> None:
    module, _, era = adapter.partition(":")
    connect = importlib.import_module(module).connect
    async with connect(command, era) if era else connect(command) as session:
        measured = await WORKLOADS[workload](session, repeats)
    print(json.dumps(measured))


if __name__ == "__main__":
    split = sys.argv.index("--")
    name, load, count = sys.argv[1:split]
    asyncio.run(main(name, load, int(count), sys.argv[split + 1 :]))
