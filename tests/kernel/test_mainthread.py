"""Work of clients on the main thread of real kernels: when it runs, when it does not, and what an interrupt reaches."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.runtime.kernels import VERSIONS, LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETUP = """
import asyncio, threading, time
from jupyter_mcp.kernel.mainthread import Busy, MainThread
from jupyter_mcp.runtime import wait
from jupyter_mcp.runtime.thread import get_runtime

main, runtime = MainThread(), get_runtime()
ran, words, begun = [], [], threading.Event()

async def told(seconds, text):
    words.append(text)

def from_outside(function, seconds=10.0):
    # as a client's request does: it begins on the runtime's thread, and nobody here waits for it
    return runtime.submit(lambda: main.run(function, seconds=seconds, on_wait=told))

async def which():
    await asyncio.sleep(0)
    return threading.current_thread() is threading.main_thread()

def async_from_outside(function):
    return runtime.submit(lambda: main.run_async(function, seconds=5, on_wait=told))

def where():
    ran.append(threading.current_thread() is threading.main_thread())
    return ran[-1]

async def call_myself():
    return await main.run(where, seconds=5)
"""


@pytest.fixture(scope="module", params=VERSIONS)
def kernel(request: pytest.FixtureRequest) -> Iterator[LiveKernel]:
    with live_kernel(request.param, SETUP) as kernel:
        yield kernel


def test_it_runs_on_the_main_thread_of_an_idle_kernel(kernel: LiveKernel) -> None:
    kernel.run("later = threading.Event(); got = []")
    kernel.run("""
def outside():
    later.wait(10)
    got.append(from_outside(where).result(10))
threading.Thread(target=outside, daemon=True).start()
""")
    kernel.run("later.set()")
    assert kernel.run(
        "deadline = time.time() + 5\nwhile not got and time.time() < deadline: await asyncio.sleep(0.01)\nprint(got)"
    )
    kernel.run("pass")
    assert kernel.run("print(got)").text == "[True]\n"


def test_a_running_cell_is_waited_for_with_words_about_it(kernel: LiveKernel) -> None:
    kernel.run("words.clear(); ran.clear()")
    run = kernel.run("work = from_outside(where)\ntime.sleep(0.8)\nprint(len(In) - 1, ran)")
    number = run.text.split()[0]
    assert run.text == f"{number} []\n"
    assert kernel.run("print(work.result(10), ran)").text == "True [True]\n"
    assert f"kernel busy: cell {number}, 0 s" in kernel.run("print(words)").text


def test_what_was_given_up_never_runs(kernel: LiveKernel) -> None:
    kernel.run("ran.clear()")
    kernel.run("work = from_outside(where, seconds=0.3)\ntime.sleep(1.0)\nerror = work.exception(5)")
    kernel.run("pass")
    said = kernel.run("print(type(error).__name__, error, ran)").text
    assert said.startswith("Busy kernel busy: cell ")
    assert said.endswith("it was not free within 0.3 s, and nothing was run. []\n")


def test_a_client_that_goes_away_while_it_waits_leaves_nothing_behind(kernel: LiveKernel) -> None:
    kernel.run("ran.clear()")
    kernel.run("work = from_outside(where)\ntime.sleep(0.2)\nwork.cancel()\ntime.sleep(0.2)")
    kernel.run("pass")
    assert kernel.run("print(work.cancelled(), ran)").text == "True []\n"


def test_it_runs_while_the_main_thread_waits_in_our_own_call(kernel: LiveKernel) -> None:
    assert kernel.run("print(wait.run(call_myself, label='me.where'))").text == "True\n"


def test_errors_come_back_and_harm_nothing(kernel: LiveKernel) -> None:
    kernel.run("""
errors = []
def fails(error):
    def function():
        raise error
    return function
async def call(error):
    try:
        await main.run(fails(error), seconds=5)
    except Exception as caught:
        errors.append(f"{type(caught).__name__}: {caught}")
for one in (ValueError("wrong"), SystemExit(3), StopIteration(), KeyboardInterrupt()):
    wait.run(call, one, label="call")
""")
    said = kernel.run("print(errors)").text
    assert "ValueError: wrong" in said
    assert "RuntimeError: it ended with SystemExit" in said
    assert "RuntimeError: it ended with StopIteration" in said
    assert "Cancelled: It was interrupted" in said


def test_a_cancel_interrupts_what_the_client_started_and_nothing_else(kernel: LiveKernel) -> None:
    kernel.run("""
begun, stopped = threading.Event(), []
def long():
    begun.set()
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        stopped.append(time.monotonic())
        raise
def outside():
    global work
    work = from_outside(long)
    begun.wait(10)
    global cancelled
    cancelled = time.monotonic()
    work.cancel()
thread = threading.Thread(target=outside, daemon=True); thread.start()
""")
    # a cell that follows at once: it waits for the client's code to end, and is not interrupted
    run = kernel.run("time.sleep(0.3); thread.join(5); print(len(stopped), stopped[0] - cancelled < 2.0)")
    assert run.text == "1 True\n"
    assert (
        kernel.run("import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)").text
        == "True\n"
    )


def test_a_cancel_of_what_is_below_leaves_what_is_on_top_alone(kernel: LiveKernel) -> None:
    kernel.run("""
log = []
inner_runs = threading.Event()
def inner():
    inner_runs.set()
    time.sleep(0.6)
    log.append("inner ended")
async def run_inner():
    return await main.run(inner, seconds=5)
def outer():
    try:
        wait.run(run_inner, label="inner")
        time.sleep(30)
        log.append("outer ended")
    except BaseException as error:
        log.append(f"outer: {type(error).__mro__[1].__name__}")
        raise
def outside():
    work = from_outside(outer)
    inner_runs.wait(10)
    work.cancel()
thread = threading.Thread(target=outside, daemon=True); thread.start()
""")
    run = kernel.run("thread.join(5); print(log)")
    assert "inner ended" in run.text
    assert "outer: " in run.text
    assert "outer ended" not in run.text


def test_code_that_swallows_the_interrupt_is_interrupted_again(kernel: LiveKernel) -> None:
    kernel.run("""
begun, hits = threading.Event(), []
def stubborn():
    begun.set()
    while len(hits) < 2:
        try:
            time.sleep(20)
        except KeyboardInterrupt:
            hits.append(1)
    return "gave in"
def outside():
    work = from_outside(stubborn)
    begun.wait(10)
    work.cancel()
threading.Thread(target=outside, daemon=True).start()
time.sleep(0.2)
""")
    assert kernel.run("print(len(hits))").text == "2\n"


def test_async_work_runs_on_the_kernels_loop_also_while_a_cell_awaits(kernel: LiveKernel) -> None:
    run = kernel.run(
        "work = async_from_outside(which)\nwhile not work.done(): await asyncio.sleep(0.01)\nprint(work.result())"
    )
    assert run.text == "True\n"


def test_async_work_runs_beside_while_the_main_thread_waits_in_our_call(kernel: LiveKernel) -> None:
    kernel.run("async def myself(): return await main.run_async(which, seconds=5)")
    assert kernel.run("print(wait.run(myself, label='me.which'))").text == "False\n"


def test_a_cancel_ends_async_work_where_it_runs(kernel: LiveKernel) -> None:
    kernel.run("""
ended = []
async def forever():
    begun.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        ended.append("told")
        raise
begun.clear()
work = async_from_outside(forever)
""")
    run = kernel.run(
        "while not begun.is_set(): await asyncio.sleep(0.01)\nwork.cancel()\n"
        "await asyncio.sleep(0.3)\nprint(ended, work.cancelled())"
    )
    assert run.text == "['told'] True\n"


def test_the_persons_interrupt_ends_it_and_says_so(kernel: LiveKernel, tmp_path: Path) -> None:
    sign = tmp_path / "asleep"
    kernel.run(f"sign = {str(sign)!r}")
    kernel.run("""
def asleep():
    open(sign, "w").close()
    time.sleep(30)
def outside():
    global work
    work = from_outside(asleep)
threading.Thread(target=outside, daemon=True).start()
""")
    deadline = time.monotonic() + 10
    while not sign.exists():
        assert time.monotonic() < deadline, "it never began"
        time.sleep(0.01)
    kernel.interrupt()
    run = kernel.run("print(work.exception(5))")
    assert run.text == "It was interrupted by the person at the notebook.\n"


def test_others_hear_that_variables_may_have_changed(kernel: LiveKernel) -> None:
    kernel.run(
        "heard = []; main.after.append(lambda: heard.append(threading.current_thread() is threading.main_thread()))"
    )
    kernel.run("wait.run(call_myself, label='me.where')")
    assert kernel.run("print(heard)").text == "[True]\n"
