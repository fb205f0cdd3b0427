"""Small parts: pages, worker threads, the outbox."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionLost, LocalProtocolError
from jupyter_mcp.server.outbox import Outbox
from jupyter_mcp.server.paging import InvalidCursor, page
from jupyter_mcp.server.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Mapping

# --- pages


def entries(*names: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, {"name": name}) for name in names]


def names(found: list[dict[str, Any]]) -> str:
    return "".join(one["name"] for one in found)


def test_pages_follow_one_another_and_end():
    first, cursor = page(entries(*"abcde"), None, "tools", 2)
    second, cursor2 = page(entries(*"abcde"), cursor, "tools", 2)
    third, end = page(entries(*"abcde"), cursor2, "tools", 2)
    assert (names(first), names(second), names(third), end) == ("ab", "cd", "e", None)
    assert page(entries(*"ab"), None, "tools", 2)[1] is None
    assert page([], None, "tools", 2) == ([], None)


def test_a_list_that_changed_between_pages_skips_and_repeats_nothing():
    _, cursor = page(entries(*"abcdef"), None, "tools", 2)
    assert names(page(entries(*"xabcd"), cursor, "tools", 9)[0]) == "cd", "one came before"
    assert names(page(entries(*"acd"), cursor, "tools", 9)[0]) == "d", "the last one of the page went"
    assert page([], cursor, "tools", 9) == ([], None)


def test_foreign_cursors_are_refused():
    _, cursor = page(entries(*"abc"), None, "tools", 1)
    for odd in ("", "zzz", "é", "bnVsbA", 3, "W10", cursor and cursor[:-3]):
        with pytest.raises(InvalidCursor):
            page(entries(*"abc"), odd, "tools", 1)
    with pytest.raises(InvalidCursor):
        page(entries(*"abc"), cursor, "prompts", 1)


# --- threads


@pytest.mark.anyio
async def test_work_runs_on_daemon_threads_up_to_the_limit_in_order():
    workers, loop = Workers(2), asyncio.get_running_loop()
    gate, running, seen = threading.Event(), threading.Semaphore(0), list[int]()

    def job(n: int) -> tuple[int, bool]:
        seen.append(n)
        running.release()
        gate.wait(10)
        return n, threading.current_thread().daemon

    futures = [workers.run(lambda n=n: job(n), loop) for n in range(5)]
    for _ in range(2):
        await asyncio.to_thread(running.acquire, timeout=10)
    assert sorted(seen) == [0, 1], "no more than two at once"
    gate.set()
    assert [await future for future in futures] == [(n, True) for n in range(5)]


@pytest.mark.anyio
async def test_an_idle_thread_is_used_again():
    workers, loop = Workers(8), asyncio.get_running_loop()
    first = await workers.run(threading.get_ident, loop)
    for _ in range(20):
        assert await workers.run(threading.get_ident, loop) == first


@pytest.mark.anyio
async def test_what_a_job_raises_reaches_the_waiter_and_exits_do_not_end_the_process():
    workers, loop = Workers(), asyncio.get_running_loop()

    def fail(error: BaseException) -> Any:
        raise error

    with pytest.raises(KeyError):
        await workers.run(lambda: fail(KeyError("x")), loop)
    for error in (SystemExit(3), KeyboardInterrupt(), StopIteration()):
        with pytest.raises(RuntimeError, match=type(error).__name__):
            await workers.run(lambda error=error: fail(error), loop)


@pytest.mark.anyio
async def test_a_job_sees_the_context_variables_of_whoever_asked():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("v", default="none")
    variable.set("mine")
    assert await Workers().run(variable.get, asyncio.get_running_loop()) == "mine"


@pytest.mark.anyio
async def test_a_cancelled_job_ends_in_silence():
    gate, started = threading.Event(), threading.Event()

    def job() -> None:
        started.set()
        gate.wait(10)

    workers, loop = Workers(1), asyncio.get_running_loop()
    future = workers.run(job, loop)
    await asyncio.to_thread(started.wait, 10)
    future.cancel()
    gate.set()
    assert await workers.run(lambda: 1, loop) == 1


# --- the outbox


class Pipe:
    """A transport whose sends wait for a gate."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.open = asyncio.Event()
        self.open.set()
        self.lost = False

    async def send(self, message: Mapping[str, Any]) -> int:
        if self.lost:
            raise ConnectionLost("gone")
        if "bad" in message:
            raise LocalProtocolError("bad is not JSON")
        self.sent.append(message)
        await self.open.wait()
        return 1


def outbox(pipe: Pipe) -> Outbox:
    return Outbox(pipe)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_messages_leave_in_order_whoever_sends_them():
    pipe = Pipe()
    box = outbox(pipe)
    pipe.open.clear()
    first = asyncio.create_task(box.send({"n": 0}))
    await asyncio.sleep(0)
    box.post({"n": 1})
    second = asyncio.create_task(box.send({"n": 2}))
    await asyncio.sleep(0)
    box.post({"n": 3})
    assert pipe.sent == [{"n": 0}]
    pipe.open.set()
    await asyncio.gather(first, second)
    await box.flush()
    assert pipe.sent == [{"n": n} for n in range(4)]


@pytest.mark.anyio
async def test_a_message_that_is_not_json_costs_only_itself():
    pipe = Pipe()
    box = outbox(pipe)
    with pytest.raises(LocalProtocolError):
        await box.send({"bad": 1})
    done = box.post({"bad": 1})
    box.post({"n": 1})
    await box.flush()
    assert isinstance(done.exception(), LocalProtocolError)
    assert pipe.sent == [{"n": 1}]


@pytest.mark.anyio
async def test_after_the_client_is_gone_everything_is_dropped_in_silence():
    pipe = Pipe()
    box = outbox(pipe)
    pipe.lost = True
    await box.send({"n": 1})
    box.post({"n": 2})
    await box.flush()
    assert box.closed
    assert pipe.sent == []


@pytest.mark.anyio
async def test_a_cancelled_sender_does_not_block_the_others():
    pipe = Pipe()
    box = outbox(pipe)
    pipe.open.clear()
    first = asyncio.create_task(box.send({"n": 0}))
    waiting = asyncio.create_task(box.send({"n": 1}))
    await asyncio.sleep(0)
    first.cancel()
    waiting.cancel()
    await asyncio.wait({first, waiting})
    pipe.open.set()
    await box.send({"n": 2})
    await box.flush()
    assert pipe.sent[-1] == {"n": 2}
