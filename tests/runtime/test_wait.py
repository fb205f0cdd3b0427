"""Waiting: from cells, threads, tasks, loops patched by the user; and in a plain process."""

from __future__ import annotations

import asyncio
import signal
import statistics
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Cancelled, Interrupted, UsageError
from jupyter_mcp.runtime import jobs, place, wait
from jupyter_mcp.runtime.thread import get_runtime
from tests.runtime.kernels import CURRENT, LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


async def echo(value: object, *, twice: bool = False) -> object:
    await asyncio.sleep(0)
    return [value, value] if twice else value


async def forever() -> None:
    await asyncio.Event().wait()


def test_arguments_and_results_pass_through() -> None:
    assert wait.run(echo, 1, label="echo") == 1
    assert wait.run(echo, 1, label="echo", twice=True) == [1, 1]


def test_errors_pass_through() -> None:
    async def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        wait.run(fail, label="fail")


def test_work_cancelled_by_somebody_else_is_an_error_of_ours() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(Cancelled, match=r"demo\.slow was cancelled"):
        wait.run(cancelled, label="demo.slow")


def test_waiting_on_the_runtimes_own_thread_is_refused_with_advice() -> None:
    async def inside() -> object:
        return wait.run(echo, 1, label="demo.echo")

    with pytest.raises(UsageError, match=r"demo\.echo was called on the thread .* awaitable twin"):
        wait.run(inside, label="outer")


def test_the_awaitable_twin_on_the_runtimes_own_thread_simply_awaits() -> None:
    async def inside() -> object:
        return await wait.arun(echo, 1, label="demo.echo")

    assert wait.run(inside, label="outer") == 1


def test_a_worker_thread_waits_too() -> None:
    got: list[object] = []
    worker = threading.Thread(target=lambda: got.append(wait.run(echo, 5, label="echo")))
    worker.start()
    worker.join(10)
    assert got == [5]


def test_the_end_of_the_work_wakes_the_wait_at_once() -> None:
    wait.run(echo, 0, label="echo")
    times: list[float] = []
    for _ in range(100):
        begun = time.perf_counter()
        wait.run(echo, 0, label="echo")
        times.append(time.perf_counter() - begun)
    assert statistics.median(times) < wait.STEP_SECONDS / 4, "it would be half a step if the wait only polled"


def test_jobs_run_on_the_waiting_main_thread_in_order() -> None:
    ran: list[tuple[int, bool]] = []

    async def work() -> None:
        for number in range(3):
            jobs.post(lambda number=number: ran.append((number, jobs.on_main_thread())))
        jobs.post(lambda: ran.append((99, True))).withdraw()

    wait.run(work, label="work")
    assert ran == [(0, True), (1, True), (2, True)]


def test_a_failing_job_harms_neither_the_wait_nor_the_next_job() -> None:
    ran: list[int] = []

    async def work() -> None:
        jobs.post(lambda: 1 / 0)
        jobs.post(lambda: ran.append(1))

    wait.run(work, label="work")
    assert ran == [1]


def test_a_job_may_wait_itself() -> None:
    got: list[object] = []

    async def work() -> str:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def job() -> None:
            got.append(wait.run(echo, "inner", label="inner"))
            loop.call_soon_threadsafe(done.set)

        jobs.post(job)
        await done.wait()
        return "outer"

    assert wait.run(work, label="outer") == "outer"
    assert got == ["inner"]


def test_work_knows_the_place_it_was_called_from_and_its_tasks_do_too() -> None:
    async def where() -> place.Place | None:
        async def task() -> place.Place | None:
            return place.current.get()

        return await asyncio.create_task(task())

    first = wait.run(where, label="where")
    second = wait.run(where, label="where")
    assert first is not None and second is not None and first is not second
    assert not first.waiting


def test_cancelling_the_awaiting_task_cancels_the_work() -> None:
    ended = threading.Event()

    async def work() -> None:
        try:
            await forever()
        finally:
            ended.set()

    async def main() -> None:
        task = asyncio.create_task(wait.arun(work, label="work"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended.wait(5)


def test_the_awaitable_twin_works_on_any_loop() -> None:
    async def main() -> object:
        return await asyncio.gather(*(wait.arun(echo, number, label="echo") for number in range(10)))

    assert asyncio.run(main()) == list(range(10))


def test_fifty_calls_leave_no_thread_and_no_task_behind() -> None:
    wait.run(echo, 0, label="echo")
    before = threading.active_count()
    for number in range(50):
        wait.run(echo, number, label="echo")

    async def tasks() -> int:
        return len(asyncio.all_tasks())

    assert threading.active_count() == before
    assert wait.run(tasks, label="tasks") == 1
    assert get_runtime().running


# --- in kernels ---


def test_sync_calls_work_in_every_kind_of_cell(two_kernels: LiveKernel) -> None:
    code = """
await asyncio.sleep(0.01)
print(wait.run(echo, "async cell", label="e"))
async def f(): return wait.run(echo, "in a coroutine", label="e")
print(await f())
print(await asyncio.create_task(f()))
thread = threading.Thread(target=lambda: print(wait.run(echo, "in a thread", label="e")))
thread.start(); thread.join(10)
print(thread.is_alive())
fired = []
asyncio.get_running_loop().call_later(0.01, fired.append, 1)
print(await wait.arun(echo, "awaited", label="e")); await asyncio.sleep(0.05)
print(fired)
"""
    expected = ["async cell", "in a coroutine", "in a coroutine", "in a thread", "False", "awaited", "[1]", ""]
    assert two_kernels.run(code).text.split("\n") == expected


def test_fifty_calls_in_a_kernel_leave_no_thread_behind(two_kernels: LiveKernel) -> None:
    code = """
import gc, warnings
warnings.simplefilter("error")
wait.run(echo, 0, label="e"); before = threading.active_count()
for number in range(50): wait.run(echo, number, label="e")
gc.collect(); print(threading.active_count() - before)
"""
    assert two_kernels.run(code).text == "0\n"


@pytest.mark.parametrize("name", ["nest_asyncio", "nest_asyncio2"])
@pytest.mark.parametrize("version", ["6.31.0", CURRENT])
def test_it_works_where_the_user_has_patched_asyncio(name: str, version: str) -> None:
    from tests.runtime.conftest import SETUP
    from tests.runtime.test_pump import form_of

    for first in (
        f"import {name}; {name}.apply()\n" + SETUP,
        SETUP + f"\nprint(wait.run(echo, 0, label='e'))\nimport {name}; {name}.apply()",
    ):
        with live_kernel(version, first) as kernel:
            code = """
async def f(): return wait.run(echo, 1, label="e")
print(asyncio.get_event_loop().run_until_complete(f()), await f(), wait.run(echo, 2, label="e"))
import sys
async def process():
    made = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(3)", stdout=-1)
    return (await made.communicate())[0].strip().decode()
print(wait.run(process, label="p"), await wait.arun(process, label="p"))
"""
            assert kernel.run(code).text == "1 1 2\n3 3\n"
            for call in ('wait.run(ask, label="book")', 'await wait.arun(ask, label="book")'):
                run = kernel.start(f"print(({call})[0])", allow_stdin=True)
                kernel.comm(form_of(kernel, run), {"submit": "x"})
                assert kernel.finish(run).text == "accept\n"
            run = kernel.start('wait.run(slow, label="demo.slow")')
            kernel.until(lambda run=run: "started" in run.text)
            kernel.interrupt()
            assert kernel.finish(run, 5).error == "Interrupted: demo.slow cancelled; the connection stays usable"


def test_a_forked_child_of_a_kernel_keeps_its_hands_off_the_kernel(kernel: LiveKernel) -> None:
    code = """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own about forks beside threads
read, write = os.pipe()
child = os.fork()
if child == 0:
    try:
        from jupyter_mcp.runtime import frontend
        out = f"{wait.run(echo, 'child', label='e')} {frontend.has_kernel()} {pump.find()} {wait.run(ask, label='a')}"
    except BaseException as error:
        out = repr(error)
    os.write(write, out.encode()); os._exit(0)
os.waitpid(child, 0)
print(os.read(read, 1000).decode())
print(wait.run(echo, "parent", label="e"))
"""
    run = kernel.run(code, allow_stdin=True)
    assert run.text == "child False None ('cancel', {}, 'headless')\nparent\n"


def test_an_interrupt_between_the_end_of_the_work_and_the_end_of_the_wait_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a loop of quick calls it comes there as often as anywhere; the loop has to stop all the same."""
    waiting = wait.board.waiting

    @contextmanager
    def interrupted_at_its_end(wake: Callable[[], object], where: Any) -> Generator[None]:
        with waiting(wake, where):
            yield
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(wait.board, "waiting", interrupted_at_its_end)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted, match=r"demo.echo had just ended when the interrupt came"):
        wait.run(echo, 1, label="demo.echo")
    assert signal.getsignal(signal.SIGINT) is before
