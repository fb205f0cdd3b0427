"""Reads that get stuck are given up, and hold up nobody else."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from jupyter_mcp.kernel.pool import ViewPool
from jupyter_mcp.kernel.views import ViewError


class Thing:
    pass


def test_a_function_runs_on_another_thread_and_its_outcome_comes_back() -> None:
    async def main() -> None:
        pool = ViewPool()
        assert await pool.run(lambda: threading.current_thread() is threading.main_thread(), 5) is False
        with pytest.raises(ZeroDivisionError):
            await pool.run(lambda: 1 // 0, 5)

    asyncio.run(main())


def test_what_is_slow_is_given_up_and_not_tried_again_until_the_name_holds_another_object() -> None:
    go, calls = threading.Event(), list[Any]()

    def stuck() -> None:
        calls.append(1)
        go.wait(30)

    async def main() -> None:
        pool, thing = ViewPool(1), Thing()
        with pytest.raises(ViewError) as first:
            await pool.run(stuck, 0.05, name="x", value=thing)
        with pytest.raises(ViewError) as second:
            await pool.run(stuck, 5, name="x", value=thing)
        assert (first.value.reason, second.value.reason, len(calls)) == ("slow", "slow", 1)
        assert pool.stuck == ("x",)
        assert await pool.run(lambda: "another name", 5, name="y", value=thing) == "another name"
        assert await pool.run(lambda: "another object", 5, name="x", value=Thing()) == "another object"
        assert pool.stuck == ()
        go.set()

    asyncio.run(main())


def test_a_value_without_weak_references_is_tried_again_when_its_thread_has_come_back() -> None:
    go = threading.Event()

    async def main() -> None:
        pool, value = ViewPool(1), 10**40
        with pytest.raises(ViewError):
            await pool.run(lambda: go.wait(30), 0.05, name="x", value=value)
        go.set()
        while pool.stuck:  # noqa: ASYNC110 - the callback of the thread that came back
            await asyncio.sleep(0.001)
        assert await pool.run(lambda: 1, 5, name="x", value=value) == 1

    asyncio.run(main())


def test_many_stuck_reads_end_in_busy_and_recover() -> None:
    go = threading.Event()

    async def main() -> None:
        pool = ViewPool(2)
        for at in range(16):
            with pytest.raises(ViewError, match="given up"):
                await pool.run(lambda: go.wait(30), 0.01, name=f"n{at}", value=Thing())
        with pytest.raises(ViewError) as refused:
            await pool.run(lambda: 1, 5)
        assert refused.value.reason == "busy"
        go.set()
        while True:
            try:
                assert await pool.run(lambda: 1, 5) == 1
                return
            except ViewError:
                await asyncio.sleep(0.001)

    asyncio.run(main())


def test_waiting_for_a_free_thread_is_bounded_too() -> None:
    go, running = threading.Event(), threading.Event()

    def hold() -> bool:
        running.set()
        return go.wait(30)

    async def main() -> None:
        pool = ViewPool(1)
        first = asyncio.create_task(pool.run(hold, 30))
        assert await asyncio.to_thread(running.wait, 5)
        with pytest.raises(ViewError) as refused:
            await pool.run(lambda: 1, 0.05)
        assert refused.value.reason == "busy"
        go.set()
        assert await first is True

    asyncio.run(main())


def test_a_cancelled_read_frees_its_place() -> None:
    go, running = threading.Event(), threading.Event()

    def hold() -> bool:
        running.set()
        return go.wait(30)

    async def main() -> None:
        pool = ViewPool(1)
        task = asyncio.create_task(pool.run(hold, 30))
        assert await asyncio.to_thread(running.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await pool.run(lambda: 2, 5) == 2
        go.set()

    asyncio.run(main())
