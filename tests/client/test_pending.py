"""Waiting for answers: who is meant, how long, and the clock that stands still."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any

import pytest

from jupyter_mcp.client.pending import Clock, Pending, Waiting

pytestmark = pytest.mark.anyio


class FakeHandle:
    def __init__(self, timers: list[list[Any]], timer: list[Any]) -> None:
        self.timers = timers
        self.timer = timer

    def cancel(self) -> None:
        if self.timer in self.timers:
            self.timers.remove(self.timer)


class FakeLoop:
    """Just enough of a loop, with a time that we turn."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[list[Any]] = []

    def time(self) -> float:
        return self.now

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().create_future()

    def call_later(self, delay: float, callback: Any) -> Any:
        timer = [self.now + delay, callback]
        self.timers.append(timer)
        return FakeHandle(self.timers, timer)

    def run_to(self, now: float) -> None:
        while due := [timer for timer in self.timers if timer[0] <= now]:
            timer = min(due)
            self.timers.remove(timer)
            self.now = max(self.now, timer[0])
            timer[1]()
        self.now = now


def waiting() -> tuple[FakeLoop, Waiting, list[Pending]]:
    loop, late = FakeLoop(), list[Pending]()
    return loop, Waiting(loop, late.append), late  # type: ignore[arg-type]


async def test_one_timer_serves_all() -> None:
    loop, table, late = waiting()
    for id in range(1000):
        table.add(id, "m", timeout=60, limit=inf)
        table.take(id)
    assert len(loop.timers) == 1
    table.add(1000, "m", timeout=60, limit=inf)
    loop.run_to(300)
    assert [pending.id for pending in late] == [1000]
    assert loop.timers == []


async def test_each_ends_at_its_own_time() -> None:
    loop, table, late = waiting()
    for id, timeout in ((1, 60.0), (2, 1.0), (3, 10.0), (4, inf)):
        table.add(id, "m", timeout=timeout, limit=inf)
    loop.run_to(101.5)
    assert [pending.id for pending in late] == [2]
    loop.run_to(112)
    assert [pending.id for pending in late] == [2, 3]
    loop.run_to(10_000)
    assert [pending.id for pending in late] == [2, 3, 1]
    assert len(table) == 1


async def test_a_sign_of_life_begins_the_time_anew_within_the_limit() -> None:
    loop, table, late = waiting()
    pending = table.add(1, "m", timeout=10, limit=25)
    for now in (108, 116):
        loop.run_to(now)
        table.alive(pending)
    loop.run_to(124.9)
    assert late == []
    loop.run_to(125.1)
    assert late == [pending]


async def test_a_pause_is_nobodys_time_also_of_those_who_came_during_it() -> None:
    loop, table, late = waiting()
    early = table.add(1, "m", timeout=10, limit=inf)
    loop.run_to(105)
    with table.paused():
        loop.run_to(150)
        during = table.add(2, "m", timeout=10, limit=inf)
        with table.paused():
            loop.run_to(200)
        loop.run_to(1000)
    loop.run_to(1004.9)
    assert late == []
    loop.run_to(1005.1)
    assert late == [early]
    loop.run_to(1010.1)
    assert late == [early, during]


async def test_an_answer_finds_its_request_and_no_other() -> None:
    _, table, _ = waiting()
    table.add(1, "m", timeout=inf, limit=inf)
    table.add(2, "m", timeout=inf, limit=inf)
    assert table.take("7") is None
    assert table.take(None) is None  # could be either
    assert table.take(True) is None
    assert table.take([]) is None
    first = table.take("1")
    assert first is not None
    assert first.id == 1
    last = table.take(None)
    assert last is not None
    assert last.id == 2


async def test_zero_is_an_id_like_any_other() -> None:
    _, table, _ = waiting()
    table.add(0, "m", timeout=inf, limit=inf)
    assert table.take(False) is None
    assert table.take("0") is not None


async def test_the_clock_counts_stops() -> None:
    loop = FakeLoop()
    clock = Clock(loop)  # type: ignore[arg-type]
    clock.stop()
    clock.stop()
    loop.now = 110
    clock.go_on()
    assert clock.stopped
    assert clock.now() == 100
    clock.go_on()
    assert clock.now() == 100
    loop.now = 111
    assert clock.now() == 101
