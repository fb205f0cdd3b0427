"""The interrupt button, in real kernels."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.runtime.test_pump import form_of

if TYPE_CHECKING:
    from tests.runtime.kernels import LiveKernel

FRESH = "started.clear(); cleaned.clear()"


def test_an_interrupt_cancels_the_call_says_so_in_one_line_and_the_next_call_works(any_kernel: LiveKernel) -> None:
    any_kernel.run(FRESH)
    run = any_kernel.start('wait.run(slow, label="demo.slow")')
    any_kernel.until(lambda: "started" in run.text)
    any_kernel.interrupt()
    any_kernel.finish(run, 5)
    assert run.traceback == ["Interrupted: demo.slow cancelled; the connection stays usable"]
    assert any_kernel.run('print(cleaned, wait.run(echo, "alive", label="demo.echo"))').text == "['told'] alive\n"
    any_kernel.interrupt()  # while nothing runs
    time.sleep(0.3)
    assert any_kernel.run('print(wait.run(echo, 1, label="demo.echo"))').text == "1\n"


def test_an_interrupt_stops_a_loop_of_calls_that_catches_exceptions(two_kernels: LiveKernel) -> None:
    code = """
count = 0
while True:
    try:
        wait.run(echo, 1, label="demo.echo")
        count += 1
        if count == 20: print("going")
    except Exception as error:
        print("caught", error)
"""
    run = two_kernels.start(code)
    two_kernels.until(lambda: "going" in run.text)
    two_kernels.interrupt()
    two_kernels.finish(run, 5)
    assert run.error is not None
    assert run.error.split(":")[0] in ("Interrupted", "KeyboardInterrupt")
    assert "caught" not in run.text
    assert two_kernels.run('print(wait.run(echo, 2, label="demo.echo"))').text == "2\n"


def test_a_second_interrupt_does_not_wait_for_the_cancellation(kernel: LiveKernel) -> None:
    code = """
started.clear()
async def stubborn():
    started.set()
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("asked once")
        await asyncio.sleep(1.5)
        raise
begun = time.monotonic()
try:
    wait.run(stubborn, label="demo.stubborn")
finally:
    print("after", time.monotonic() - interrupted)
"""
    kernel.run("""
import signal, os
def press(times):
    global interrupted
    started.wait(10)
    for _ in range(times):
        interrupted = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
    interrupted = interrupted
threading.Thread(target=press, args=(2,)).start()
""")
    run = kernel.finish(kernel.start(code))
    assert run.error == "Interrupted: demo.stubborn cancelled; the connection stays usable"
    assert float(run.text.split("after")[1]) < 1.0
    kernel.run("time.sleep(1.6)")


def test_an_interrupt_withdraws_the_form_and_drops_the_queued_cells(any_kernel: LiveKernel) -> None:
    run = any_kernel.start('wait.run(ask, label="demo.book")', allow_stdin=True)
    queued = any_kernel.start('print("queued")')
    form_of(any_kernel, run)
    any_kernel.until_read()
    any_kernel.interrupt()
    any_kernel.finish(run)
    any_kernel.finish(queued)
    assert run.error == "Interrupted: demo.book cancelled; the connection stays usable"
    assert run.displays[-1] == "closed withdrawn"
    assert queued.text == "", "as after any interrupted cell, what was queued is not run"
    assert any_kernel.run('print(wait.run(echo, 3, label="demo.echo"))').text == "3\n"


def test_an_interrupted_awaiting_cell_cancels_its_call_and_leaves_the_kernel_alive(two_kernels: LiveKernel) -> None:
    two_kernels.run(FRESH)
    run = two_kernels.start('await wait.arun(slow, label="demo.slow")')
    two_kernels.until(lambda: "started" in run.text)
    two_kernels.interrupt()
    two_kernels.finish(run, 5)
    assert run.error is not None
    two_kernels.run("time.sleep(0.2)")
    assert two_kernels.run("print(cleaned)").text == "['told']\n"


def test_an_interrupted_call_in_a_task_of_the_kernels_loop_leaves_the_kernel_alive(two_kernels: LiveKernel) -> None:
    two_kernels.run(FRESH)
    code = """
async def inside(): return wait.run(slow, label="demo.slow")
await asyncio.create_task(inside())
"""
    run = two_kernels.start(code)
    two_kernels.until(lambda: "started" in run.text)
    two_kernels.interrupt()
    two_kernels.finish(run, 5)
    assert run.error is not None
    assert two_kernels.run('print(cleaned, wait.run(echo, 5, label="demo.echo"))').text == "['told'] 5\n"


def test_an_interrupt_in_a_nested_call_ends_the_outer_one_too(two_kernels: LiveKernel) -> None:
    two_kernels.run(FRESH)
    code = """
async def outer():
    jobs.post(lambda: wait.run(slow, label="inner"))
    await asyncio.sleep(60)
wait.run(outer, label="outer")
"""
    run = two_kernels.start(code)
    two_kernels.until(lambda: "started" in run.text)
    two_kernels.interrupt()
    two_kernels.finish(run, 5)
    assert run.error == "Interrupted: outer cancelled; the connection stays usable"
    assert two_kernels.run("print(cleaned)").text == "['told']\n"


def test_the_signal_handler_is_what_it_was(two_kernels: LiveKernel) -> None:
    code = """
import signal
before = signal.getsignal(signal.SIGINT)
wait.run(echo, 1, label="demo.echo")
print(signal.getsignal(signal.SIGINT) is before)
"""
    assert two_kernels.run(code).text == "True\n"
