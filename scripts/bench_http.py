"""The benchmark's rows over HTTP, in both eras.

A client's cost is measured on the floor's server, a server's cost by the floor's client, so that nobody else's part is
in the number. The floor's client is a bare POST through httpx on aiohttp; its server a bare tornado handler that reads
a JSON body and writes one. Run by bench.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench_sides import OURS, SDK, SDK_NAME, Side, lows, python

if TYPE_CHECKING:
    from bench import Bench

ERAS = ("legacy", "modern")
SUBSCRIPTIONS = 1000
FLOOR = (OURS, "raw_http_server.py")
SERVERS = {"ours": (OURS, "ours_http_server.py"), "raw": FLOOR, SDK_NAME: (SDK, "sdk_http_server.py")}
CLIENTS = {"ours": (OURS, "ours_http_client"), "raw": (OURS, "raw_http_client"), SDK_NAME: (SDK, "sdk_http_client")}


def over_http(bench: Bench) -> None:
    """All of them."""
    for era in ERAS:
        calls(bench, era)
    at_once(bench)
    big(bench)
    subscriptions(bench)


def clients(bench: Bench, era: str, *server: str) -> list[Side]:
    """Everybody's client against one server."""
    return [Side(name, (CLIENTS[name][0], f"{CLIENTS[name][1]}:{era}"), server) for name in bench.names]


def servers(bench: Bench, era: str) -> list[Side]:
    """Everybody's server, asked by the floor's client."""
    client = (OURS, f"raw_http_client:{era}")
    return [Side(name, client, SERVERS[name]) for name in bench.names]


def calls(bench: Bench, era: str) -> None:
    bench.say(f"calls over HTTP, {era}")
    repeats = bench.count(600)
    found = bench.alternate(clients(bench, era, *FLOOR, era), "sequential", repeats)
    bench.add(f"HTTP call, client, {era}", "ms CPU", lows(milliseconds(found, "client")), raw=1.5, sdk=0.5)
    found = bench.alternate(servers(bench, era), "sequential", repeats)
    bench.add(f"HTTP call, server, {era}", "ms CPU", lows(milliseconds(found, "server")), raw=2)


def at_once(bench: Bench) -> None:
    for era in ERAS:
        bench.say(f"64 calls in flight over HTTP, {era}")
        sides = [Side(name, (CLIENTS[name][0], f"{CLIENTS[name][1]}:{era}"), SERVERS[name]) for name in bench.names]
        found = bench.alternate(sides, "in_flight", bench.count(2000))
        rates = {name: max(one["rate"] for one in rows) for name, rows in found.items()}
        bench.add(f"64 calls in flight, HTTP, {era}", "calls/s", rates, better="more", sdk=3)


def big(bench: Bench) -> None:
    bench.say("10 MB by SSE")
    found = bench.able(clients(bench, "modern", *FLOOR, "sse"), "big", 3)
    bench.add("10 MB by SSE, client", "ms CPU", lows(milliseconds(found, "client")), raw=2)
    growth = {name: [one["client_growth"] for one in rows] for name, rows in found.items()}
    bench.add("10 MB by SSE, memory of the client", "MB more at peak", lows(growth), limit=40)
    sides = [Side("ours", (OURS, "raw_http_client:modern"), (*SERVERS["ours"], "sse"))]
    sides += [Side("raw", (OURS, "raw_http_client:modern"), (*FLOOR, "sse"))]
    found = bench.alternate(sides, "big", 3)
    bench.add("10 MB by SSE, server", "ms CPU", lows(milliseconds(found, "server")), raw=2)
    growth = {name: [one["server_growth"] for one in rows] for name, rows in found.items()}
    bench.add("10 MB by SSE, memory of the server", "MB more at peak", lows(growth))


def subscriptions(bench: Bench) -> None:
    count = bench.count(SUBSCRIPTIONS)
    bench.say(f"{count:,} idle subscriptions")
    found: dict[str, list[dict[str, float]]] = {}
    for name in ("ours", SDK_NAME):
        if name in bench.names:
            rounds = range(min(bench.rounds, 2))
            found[name] = [python(OURS, "subscriptions.py", str(count), *SERVERS[name]) for _ in rounds]
    what = f"{count:,} idle subscriptions on one server"
    for key, words, unit, scale in (
        ("each", "memory of each", "KiB", 1.0),
        ("open", "to open one", "ms CPU", 1e3),
        ("idle", "all of them, idle", "ms CPU a second", 1e3),
        ("tell", "to tell one of a change", "ms CPU", 1e3),
    ):
        values = {name: [row[key] * scale for row in rows if key in row] for name, rows in found.items()}
        bench.add(f"{what}: {words}", unit, lows({name: some for name, some in values.items() if some}))


def milliseconds(found: dict[str, list[Any]], key: str) -> dict[str, list[float]]:
    return {name: [1e3 * one[key] for one in rows] for name, rows in found.items()}
