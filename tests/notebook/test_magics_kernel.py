"""The magics in real kernels: while a loop runs, in threads, in awaiting cells, with and without a person there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.runtime.kernels import LiveKernel, live_kernel
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = repr(sys.executable).replace("\\\\", "\\")


@pytest.fixture(scope="module", params=["plain", "nest_asyncio", "nest_asyncio2"])
def kernel(request: pytest.FixtureRequest) -> Iterator[LiveKernel]:
    """A kernel with the extension; also one where the person applied nest_asyncio."""
    setup = "" if request.param == "plain" else f"import {request.param}; {request.param}.apply()\n"
    with live_kernel(setup=f"{setup}%load_ext jupyter_mcp") as started:
        started.run("%mcp connect demo ;")
        yield started


@pytest.fixture(scope="module")
def seated() -> Iterator[LiveKernel]:
    """A kernel that a person sits at (cells allow input)."""
    with live_kernel(setup="%load_ext jupyter_mcp") as started:
        # A busy machine must not look like a slow server: here only what a server tells makes a card.
        started.run("from jupyter_mcp.notebook import waiting\nwaiting.LATE_SECONDS = 600")
        started.run("%mcp connect demo ;", allow_stdin=True)
        yield started


def noisy(kernel: LiveKernel) -> None:
    script = shared_path("cases/01-stdio-stdout-noise.py")
    kernel.run(f"%mcp connect s -- {PYTHON} {str(script)!r}")


# --- the cells of the case "a running loop" --------------------------------------------------------------------------


def test_a_noisy_server_connects_while_the_kernels_loop_runs(kernel: LiveKernel):
    noisy(kernel)
    assert "fine" in kernel.run("r = %mcp call s probe {}\nprint(str(r))").text
    assert kernel.run("import asyncio; await asyncio.sleep(0.01)\n%mcp tools s").displays != []


def test_a_magic_works_in_an_awaiting_cell(kernel: LiveKernel):
    run = kernel.run("import asyncio\nawait asyncio.sleep(0.01)\nr = %mcp call demo.add a=1 b=2\nprint(r.text)")
    assert run.text.strip() == "3"
    assert run.displays == []


def test_a_magic_works_in_a_coroutine(kernel: LiveKernel):
    code = (
        "async def f():\n"
        "    return get_ipython().run_line_magic('mcp', 'call demo.add a=1 b=2')\n"
        "r = await f()\nprint(r.text)"
    )
    assert kernel.run(code).text.strip() == "3"


def test_a_magic_works_in_a_thread(kernel: LiveKernel):
    code = (
        "import threading\nfound = []\n"
        "def work(): found.append(get_ipython().run_line_magic('mcp', 'call demo.add a=1 b=2'))\n"
        "t = threading.Thread(target=work); t.start(); t.join(10)\n"
        "print(t.is_alive(), found[0].text)"
    )
    run = kernel.run(code)
    assert run.text.startswith("False 3")
    assert run.displays == []


def test_a_server_that_exits_is_explained_although_stderr_is_no_file(kernel: LiveKernel):
    script = shared_path("cases/06-stdio-exit-at-once.py")
    run = kernel.start(
        "import sys, io\nold = sys.stderr; sys.stderr = io.StringIO()\n"
        f"try:\n    %mcp connect s2 -- {PYTHON} {str(script)!r}\nfinally:\n    sys.stderr = old"
    )
    kernel.finish(run)
    assert run.error is not None
    assert run.error.startswith("ConnectionFailed")
    assert "3" in run.error
    assert "WEATHER_TOKEN is missing" in run.error
    assert len(run.traceback) == 1


def test_the_loop_of_the_kernel_is_what_it_was(kernel: LiveKernel):
    code = (
        "import asyncio\nbefore = asyncio.get_running_loop()\n%mcp call demo.add a=1 b=2;\n"
        "ran = []\nbefore.call_soon(ran.append, 1)\nawait asyncio.sleep(0.01)\n"
        "print(asyncio.get_running_loop() is before is get_ipython().kernel.io_loop.asyncio_loop, ran)"
    )
    assert kernel.run(code).text.strip() == "True [1]"


def test_fifty_calls_leave_no_threads_and_no_warnings(kernel: LiveKernel):
    code = (
        "import threading, gc\nget_ipython().run_line_magic('mcp', 'call demo.add a=1 b=2')\n"
        "before = threading.active_count()\n"
        "for i in range(50): r = get_ipython().run_line_magic('mcp', 'call demo.add a=$i b=2')\n"
        "gc.collect()\nprint(max(0, threading.active_count() - before), r.text)"
    )
    run = kernel.run(code)
    assert run.text.strip() in ("0 51", "0 51.0")


# --- showing ---------------------------------------------------------------------------------------------------------


def test_each_line_is_shown_where_it_stands_and_the_last_one_once(kernel: LiveKernel):
    run = kernel.run("%mcp call demo.add a=1 b=1\nprint('between')\n%mcp call demo.add a=2 b=2")
    kinds = [
        m["header"]["msg_type"] for m in run.messages if m["header"]["msg_type"] not in ("status", "execute_input")
    ]
    assert kinds == ["display_data", "stream", "display_data"]
    assert "4" in run.displays[1]


def test_an_out_is_bound_although_the_card_is_a_display(kernel: LiveKernel):
    kernel.run("%mcp call demo.add a=20 b=3")
    assert kernel.run("print(_.text, Out[max(Out)].text)").text.split() in (["23", "23"], ["23.0", "23.0"])


def test_nothing_that_differs_between_runs_is_displayed_to_nobody(kernel: LiveKernel):
    first = kernel.run("%mcp call demo.slow seconds=0.6 steps=2")
    again = kernel.run("%mcp call demo.slow seconds=0.6 steps=2")
    assert first.of("display_data") == again.of("display_data")
    assert len(first.of("display_data")) == 1
    assert first.of("update_display_data") == []


def test_a_question_to_nobody_is_cancelled_with_a_line_that_says_how_to_script_it(kernel: LiveKernel):
    run = kernel.run("r = %mcp call demo.book city=Paris --no-raise\nprint(r.text)\nr")
    assert "answer" in "\n".join([run.text, *run.displays])


def test_that_line_is_shown_also_when_the_result_only_gets_a_name(kernel: LiveKernel):
    run = kernel.run("r = %mcp call demo.book city=Paris")
    assert len(run.displays) == 1
    assert run.displays[0].startswith("Note: demo asked") and "mcp.answer(" in run.displays[0]


def test_a_scripted_question_is_answered(kernel: LiveKernel):
    kernel.run("%mcp answer name=Ann email=ann@example.org arrival=2026-12-01 --server demo --times 1")
    assert "Ann" in kernel.run("r = %mcp call demo.book city=Paris\nprint(r.text)").text


def test_errors_are_one_line(kernel: LiveKernel):
    run = kernel.finish(kernel.start("%mcp call demo.ad a=1"))
    assert run.error == "UsageError: demo has no tool 'ad'. Did you mean demo.add?"
    assert run.traceback == [run.error]


# --- with a person ---------------------------------------------------------------------------------------------------


def test_a_quick_call_has_no_live_card(seated: LiveKernel):
    run = seated.run("%mcp call demo.add a=1 b=2", allow_stdin=True)
    assert len(run.of("display_data")) == 1
    assert run.of("comm_open") == []


def test_a_slow_call_has_a_live_card_that_becomes_its_result(seated: LiveKernel):
    run = seated.run("%mcp call demo.slow seconds=0.6 steps=3", allow_stdin=True)
    shown = run.of("display_data")
    assert len(shown) == 1
    assert "application/vnd.jupyter.widget-view+json" in shown[0]["data"]
    last = run.of("update_display_data")[-1]
    assert last["transient"] == shown[0]["transient"]
    assert "application/vnd.jupyter.widget-view+json" not in last["data"]
    assert "demo.slow" in last["data"]["text/plain"]
    assert run.of("execute_result") == []
    assert seated.run("print(_.text != '')", allow_stdin=True).text.strip() == "True"


def test_a_slow_call_whose_value_is_used_leaves_nothing_behind(seated: LiveKernel):
    run = seated.run("x = %mcp call demo.slow seconds=0.6 steps=3", allow_stdin=True)
    assert run.of("update_display_data")[-1]["data"] == {"text/plain": ""}
    run = seated.run(
        "import jupyter_mcp as mcp\ny = mcp.servers['demo'].tools.slow(seconds=0.6, steps=3)", allow_stdin=True
    )
    assert run.of("update_display_data")[-1]["data"] == {"text/plain": ""}


def test_the_tool_list_is_a_card_a_person_can_use(seated: LiveKernel):
    run = seated.run("%mcp tools demo", allow_stdin=True)
    still, live = (shown["data"] for shown in run.of("display_data"))
    assert "application/vnd.jupyter.widget-view+json" in live
    assert "demo.add" in still["text/plain"]


def test_an_empty_list_is_a_sentence_and_no_card(seated: LiveKernel):
    run = seated.run("%mcp prompts demo --search nothing-has-this-name", allow_stdin=True)
    assert run.displays == ["No prompts of demo matching “nothing-has-this-name”."]
    assert "application/vnd.jupyter.widget-view+json" not in run.of("display_data")[0]["data"]


def test_awaitable_twins_in_a_cell(seated: LiveKernel):
    code = "import jupyter_mcp as mcp\ns = await mcp.aio.connect('two')\n"
    run = seated.finish(seated.start(code, allow_stdin=True))
    assert run.error is not None
    assert run.error.startswith("UsageError")
    code = (
        "import sys\ns = await mcp.aio.connect('two', sys.executable, '-m', 'jupyter_mcp.demo')\n"
        "r = await s.tools.add.aio(a=1, b=2)\nn = await s.aio.read('notes://today')\n"
        "c = s.tools.add.start(a=3, b=4)\nd = await c\n"
        "p = await s.prompts.review.aio(language='python')\n"
        "await mcp.aio.disconnect('two')\n"
        "print(r.text, d.text, len(n.text) > 0, 'python' in p.text, 'two' in mcp.servers)"
    )
    said = seated.run(code, allow_stdin=True).text.replace(".0", "").split()
    assert said == ["3", "7", "True", "True", "False"]


def test_a_call_that_tells_nothing_has_a_card_when_it_is_late(seated: LiveKernel):
    seated.run("waiting.LATE_SECONDS = 0")
    run = seated.run("%mcp call demo.add a=1 b=2", allow_stdin=True)
    seated.run("waiting.LATE_SECONDS = 600")
    assert len(run.of("display_data")) == 1
    assert run.of("execute_result") == []
    shown = [*run.of("display_data"), *run.of("update_display_data")][-1]["data"]
    assert "application/vnd.jupyter.widget-view+json" not in shown
    assert "demo.add" in shown["text/plain"]


def test_python_objects_show_themselves_as_cards_too(seated: LiveKernel):
    seated.run("import jupyter_mcp as mcp")
    for code in ("mcp.servers", "mcp.servers['demo'].tools", "mcp.servers['demo'].prompts", "mcp.servers['demo'].log"):
        run = seated.run(code, allow_stdin=True)
        assert len(run.displays) == 2, code
        assert run.displays[0], "its content, for a page without widgets"
        assert "application/vnd.jupyter.widget-view+json" in run.of("display_data")[1]["data"], code
    run = seated.run("t = %mcp tools demo\nlen(t) == len(mcp.servers['demo'].tools) > 5", allow_stdin=True)
    assert run.displays == ["True"]


def test_python_objects_show_themselves_statically_to_nobody(kernel: LiveKernel):
    run = kernel.run("import jupyter_mcp as mcp\nmcp.servers['demo'].tools")
    assert len(run.of("execute_result")) == 1
    assert "demo.add" in run.displays[0]
