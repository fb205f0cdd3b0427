"""The whole product in real kernels: the situations of notebooks that a fake cannot show."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.runtime.kernels import CURRENT, LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

LOAD = "%load_ext jupyter_mcp\n%mcp connect demo"
CALL = "get_ipython().run_line_magic('mcp', 'call demo.add a=1 b=2').text"


@pytest.fixture(params=["6.31.0", CURRENT])
def loaded(request: pytest.FixtureRequest) -> Iterator[LiveKernel]:
    with live_kernel(request.param, LOAD) as kernel:
        yield kernel


def children(kernel: LiveKernel) -> list[psutil.Process]:
    """The servers a kernel has started, with everything below them."""
    pid = int(kernel.run("import os; print(os.getpid())").text)
    return psutil.Process(pid).children(recursive=True)


def gone(processes: list[psutil.Process], seconds: float) -> bool:
    return not psutil.wait_procs(processes, timeout=seconds)[1]


def test_magics_work_in_every_kind_of_cell(loaded: LiveKernel) -> None:
    code = f"""
import asyncio, io, sys, threading
await asyncio.sleep(0.01)
r = %mcp call demo.add a=1 b=2
async def f(): return {CALL}
print(r.text, await f(), await asyncio.create_task(f()))
worker = threading.Thread(target=lambda: print({CALL})); worker.start(); worker.join(10)
print(worker.is_alive())
"""
    assert loaded.run(code).text == "3 3 3\n3\nFalse\n"
    before = loaded.run("import threading; print(threading.active_count())").text
    assert loaded.run(f"for _ in range(50): {CALL}\nprint(threading.active_count())").text == before


def test_a_server_that_cannot_start_is_one_line_also_without_a_real_stderr(loaded: LiveKernel) -> None:
    run = loaded.finish(
        loaded.start(f"""
import sys, io
old, sys.stderr = sys.stderr, io.StringIO()
try:
    get_ipython().run_line_magic("mcp", "connect broken {sys.executable} -c 'import sys; sys.exit(3)'")
finally:
    sys.stderr = old
""")
    )
    assert run.error is not None
    assert run.error.startswith("ConnectionFailed") and "3" in run.error
    assert len(run.traceback) == 1
    assert loaded.run(f"print({CALL})").text == "3\n"


def test_a_headless_kernel_cancels_at_once_and_says_how_to_script(loaded: LiveKernel) -> None:
    begun = time.monotonic()
    run = loaded.run("%mcp call demo.book city=Oslo")
    assert time.monotonic() - begun < 5
    assert "No room was booked in Oslo: nobody answered." in run.displays[0]
    assert "script it: mcp.answer(" in run.displays[0]


def test_servers_end_with_their_kernel(loaded: LiveKernel) -> None:
    started = children(loaded)
    assert started
    loaded.manager.shutdown_kernel()
    assert gone(started, 6)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_servers_end_when_their_kernel_is_killed(loaded: LiveKernel) -> None:
    started = children(loaded)
    assert started
    os.kill(int(loaded.run("import os; print(os.getpid())").text), 9)
    assert gone(started, 6)


def test_unloading_ends_the_servers_and_loading_again_works(loaded: LiveKernel) -> None:
    started = children(loaded)
    loaded.run("%unload_ext jupyter_mcp")
    assert gone(started, 6)
    assert "jupyter-mcp" not in loaded.run("import threading; print([t.name for t in threading.enumerate()])").text
    loaded.run(LOAD)
    assert loaded.run(f"print({CALL})").text == "3\n"


def test_a_restarted_kernel_runs_the_same_cells_again(loaded: LiveKernel) -> None:
    started = children(loaded)
    loaded.manager.restart_kernel(now=False)
    loaded.client.wait_for_ready(timeout=60)
    assert gone(started, 6)
    loaded.run(LOAD)
    assert loaded.run(f"print({CALL})").text == "3\n"


def test_a_problem_inside_is_logged_and_not_shown_in_a_cell(loaded: LiveKernel) -> None:
    code = """
import logging
from jupyter_mcp.runtime.thread import get_runtime
get_runtime().call_soon(lambda: 1 / 0)
logging.getLogger("jupyter_mcp.host").error("inside")
"""
    run = loaded.run(code)
    loaded.settle()
    assert run.text == ""
