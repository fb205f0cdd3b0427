"""The thread and its loop, in this process."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.runtime.thread import THREAD_NAME, Runtime, get_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    made = Runtime()
    yield made
    assert made.stop()


async def name() -> str:
    return threading.current_thread().name


async def forever() -> None:
    await asyncio.Event().wait()


def test_the_thread_starts_with_the_first_work_only(runtime: Runtime) -> None:
    assert not runtime.running
    assert runtime.submit(name).result(5) == THREAD_NAME
    assert runtime.running


def test_what_the_work_raises_arrives_whatever_it_is(runtime: Runtime) -> None:
    async def fail(error: BaseException) -> None:
        raise error

    for error in (ValueError("a"), KeyboardInterrupt("b"), SystemExit(3)):
        with pytest.raises(type(error)):
            runtime.submit(fail, error).result(5)
    assert runtime.submit(name).result(5) == THREAD_NAME, "the loop survives all of them"


def test_a_callback_that_tries_to_end_the_loop_does_not(runtime: Runtime) -> None:
    def end() -> None:
        raise SystemExit

    runtime.submit(name).result(5)
    runtime.call_soon(end)
    assert runtime.submit(name).result(5) == THREAD_NAME


def test_cancelled_work_is_done_only_when_it_has_cleaned_up(runtime: Runtime) -> None:
    begun, release = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await forever()
        except asyncio.CancelledError:
            await asyncio.get_running_loop().run_in_executor(None, release.wait)
            raise

    pending = runtime.submit(work)
    assert begun.wait(5)
    assert pending.cancel()
    assert not pending.done()
    release.set()
    with pytest.raises(CancelledError):
        pending.result(5)
    assert pending.cancelled()
    assert not pending.cancel()


def test_work_that_is_cancelled_before_its_first_step_ends_too(runtime: Runtime) -> None:
    runtime.submit(name).result(5)
    release = threading.Event()
    runtime.call_soon(release.wait, 5)  # the loop is busy: the work cannot begin before it is cancelled
    pending = runtime.submit(forever)
    pending.cancel()
    release.set()
    with pytest.raises(CancelledError):
        pending.result(5)


def test_stopping_runs_the_closers_last_first_and_cancels_the_rest() -> None:
    runtime, before = Runtime(), set(threading.enumerate())
    order: list[str] = []

    def closer(label: str):
        async def close() -> None:
            order.append(label)

        return close

    async def fails() -> None:
        raise OSError("closing failed")

    runtime.on_stop(closer("first"))
    runtime.on_stop(fails)
    runtime.on_stop(closer("last"))
    pending = runtime.submit(forever)
    assert runtime.stop()
    assert order == ["last", "first"]
    assert pending.cancelled()
    assert set(threading.enumerate()) <= before
    with pytest.raises(RuntimeError):
        runtime.submit(name)
    assert runtime.stop(), "again does nothing"


def test_a_closer_that_hangs_does_not_hold_the_process() -> None:
    runtime = Runtime()
    runtime.on_stop(forever)
    runtime.submit(name).result(5)
    assert runtime.stop(timeout=0.5)


def test_a_stopped_runtime_is_replaced() -> None:
    first = get_runtime()
    assert get_runtime() is first
    first.submit(name).result(5)
    first.stop()
    assert get_runtime() is not first
    assert get_runtime().submit(name).result(5) == THREAD_NAME
    get_runtime().stop()


def test_what_asyncio_would_print_is_logged(
    runtime: Runtime, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async def broken_callback() -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)

    with caplog.at_level(logging.ERROR, "jupyter_mcp.runtime"):
        runtime.submit(broken_callback).result(5)
        runtime.submit(name).result(5)
    assert "ZeroDivisionError" in caplog.text
    assert capfd.readouterr() == ("", "")


def test_the_thread_can_start_processes(runtime: Runtime) -> None:
    async def start() -> bytes:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(7)", stdout=asyncio.subprocess.PIPE)
        return (await process.communicate())[0]

    assert runtime.submit(start).result(30).strip() == b"7"


def in_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_runtime_brings_nothing_heavy() -> None:
    code = """
import sys
from jupyter_mcp.runtime import state, wait, jobs, pump, thread, desk, frontend
print([name for name in ("IPython", "anyio", "pydantic", "zmq", "ipywidgets", "httpx") if name in sys.modules])
"""
    assert in_new_process(code) == "[]\n"


def test_the_end_of_the_process_runs_the_closers() -> None:
    code = """
import asyncio
from jupyter_mcp.runtime.thread import get_runtime
async def close(): print("closed", flush=True)
get_runtime().on_stop(close)
get_runtime().submit(asyncio.sleep, 0).result(5)
"""
    assert in_new_process(code) == "closed\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_a_thread_of_its_own() -> None:
    code = """
import asyncio, os, sys
from jupyter_mcp.runtime import wait
from jupyter_mcp.runtime.thread import get_runtime
async def who(): return os.getpid()
parent = get_runtime()
assert wait.run(who, label="who") == os.getpid()
async def close(): os.write(1, b"closed\\n")
parent.on_stop(close)
child = os.fork()
if child == 0:
    assert get_runtime() is not parent
    assert wait.run(who, label="who") == os.getpid()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert wait.run(who, label="who") == os.getpid()
"""
    assert in_new_process(code) == "closed\n", "closed once, by the parent"


def test_a_failing_callback_is_logged_and_prints_nothing(
    runtime: Runtime, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async def work() -> int:
        return 3

    def fail(_: object) -> None:
        raise ValueError("a mistake")

    pending, ran = runtime.submit(work), threading.Event()
    pending.add_done_callback(fail)
    pending.add_done_callback(lambda _: ran.set())
    assert ran.wait(5), "a callback that fails keeps no other from running"
    pending.add_done_callback(fail)
    assert [record.name for record in caplog.records] == ["jupyter_mcp.runtime"] * 2
    assert capfd.readouterr().err == ""
