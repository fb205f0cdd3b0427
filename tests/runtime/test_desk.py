"""Where a question goes: the waiting cell, the cell that began the call, `input()`, or nobody."""

from __future__ import annotations

import asyncio
import threading

import pytest

from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.runtime import wait
from jupyter_mcp.runtime.desk import QuestionDesk
from tests.runtime.kernels import CURRENT, LiveKernel, live_kernel
from tests.runtime.test_pump import form_of


def question() -> Question:
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    return Question("q1", "elicitation", "demo", "Which day?", {"requestedSchema": schema})


def test_nobody_is_asked_where_nobody_is(kernel: LiveKernel) -> None:
    run = kernel.run('print(wait.run(ask, label="demo.book"))', allow_stdin=False)
    assert run.text == "('cancel', {}, 'headless')\n"
    assert not run.displays


def test_the_mode_can_be_set_for_front_ends_that_cannot_be_known(kernel: LiveKernel) -> None:
    declined = kernel.run('DESK.mode = "decline"; print(wait.run(ask, label="demo.book")[0])', allow_stdin=True)
    assert declined.text == "decline\n"
    run = kernel.start('DESK.mode = "widgets"; print(wait.run(ask, label="demo.book")[0])', allow_stdin=False)
    kernel.comm(form_of(kernel, run), {"submit": "x"})
    assert kernel.finish(run).text == "accept\n", "a dashboard shows widgets and allows no stdin"
    kernel.run('DESK.mode = "auto"')


@pytest.mark.parametrize("wait_for_it", ["wait.run(ask, label='book')", "await wait.arun(ask, label='book')"])
def test_the_mode_stdin_asks_by_input_in_the_cell(two_kernels: LiveKernel, wait_for_it: str) -> None:
    run = two_kernels.start(f'DESK.mode = "stdin"\nprint({wait_for_it})', allow_stdin=True)
    assert two_kernels.answer("") == "Day: "
    assert two_kernels.answer("Monday") == "Day: "
    assert two_kernels.answer("y").startswith("Send this?")
    two_kernels.finish(run)
    assert "demo asks (during demo.book): Which day?" in run.text
    assert "('accept', {'value': 'Monday'}, 'person')" in run.text
    two_kernels.run('DESK.mode = "auto"')


def test_an_interrupt_in_input_cancels_the_call(two_kernels: LiveKernel) -> None:
    run = two_kernels.start('DESK.mode = "stdin"; wait.run(ask, label="demo.book")', allow_stdin=True)
    two_kernels.client.get_stdin_msg(timeout=20)
    two_kernels.interrupt()
    two_kernels.finish(run, 5)
    assert run.error == "Interrupted: demo.book cancelled; the connection stays usable"
    assert two_kernels.run('DESK.mode = "auto"; print(wait.run(echo, 1, label="e"))').text == "1\n"


def test_a_form_that_cannot_be_drawn_ends_the_question(kernel: LiveKernel) -> None:
    code = """
def broken(question, answer): raise RuntimeError("no widgets today")
DESK.presenter = broken
try: print(wait.run(ask, label="demo.book"))
finally: DESK.presenter = Form
"""
    assert kernel.run(code, allow_stdin=True).text == "('cancel', {}, 'headless')\n"


BACKGROUND = "call = thread.get_runtime().submit(ask, {message!r})"


def test_a_background_call_asks_in_the_cell_that_began_it(any_kernel: LiveKernel) -> None:
    began = any_kernel.run(BACKGROUND.format(message="background"), allow_stdin=True)
    form = form_of(any_kernel, began)
    other = any_kernel.run('print("another cell")', allow_stdin=True)
    any_kernel.comm(form, {"submit": "later"})
    assert any_kernel.run("print(call.result(10))").text == "('accept', {'value': 'later'}, 'person')\n"
    any_kernel.until(lambda: "closed accept" in began.displays)
    assert other.displays == []


def test_a_question_that_comes_while_a_foreign_cell_runs_is_announced_and_then_asked(two_kernels: LiveKernel) -> None:
    code = """
async def later():
    await asyncio.sleep(0.3)
    return await ask("late")
call = thread.get_runtime().submit(later)
"""
    began = two_kernels.run(code, allow_stdin=True)
    foreign = two_kernels.run("time.sleep(2.5); print('foreign')", allow_stdin=True)
    form = form_of(two_kernels, began)
    lines = [text for text in began.displays if "asks something" in text]
    assert lines == ["demo asks something; the form will be here when the running cell has ended."]
    assert foreign.text == "foreign\n" and foreign.displays == []
    two_kernels.comm(form, {"submit": "x"})
    two_kernels.until(lambda: bool(began.of("update_display_data")))
    assert began.of("update_display_data")[-1]["data"]["text/plain"] == "demo asked something: answered."
    assert two_kernels.run("print(call.result(10)[0])").text == "accept\n"


def test_a_question_that_nobody_answers_ends_at_its_limit(two_kernels: LiveKernel) -> None:
    began = two_kernels.run("DESK.limit = 0.5; call = thread.get_runtime().submit(ask)", allow_stdin=True)
    form_of(two_kernels, began)
    two_kernels.until(lambda: "closed cancel" in began.displays)
    run = two_kernels.run("DESK.limit = 600.0; print(call.result(10), DESK.open)")
    assert run.text == "('cancel', {}, 'headless') []\n"


def test_a_question_without_a_known_cause_goes_to_the_cell_that_waits(two_kernels: LiveKernel) -> None:
    code = """
async def connect():
    async def reader():
        await go.wait()
        got.append(await ask("from the reader", cause=False))
        done.set()
    global go, done, got
    go, done, got = asyncio.Event(), asyncio.Event(), []
    asyncio.create_task(reader())
wait.run(connect, label="connect")
"""
    connected = two_kernels.run(code, allow_stdin=True)
    run = two_kernels.start(
        """
async def call():
    go.set(); await done.wait(); return got[0][0]
print(wait.run(call, label="call"))
""",
        allow_stdin=True,
    )
    two_kernels.comm(form_of(two_kernels, run), {"submit": "x"})
    assert two_kernels.finish(run).text == "accept\n"
    assert connected.displays == []


def test_a_call_in_a_worker_thread_is_answered_while_the_main_thread_waits_for_another(two_kernels: LiveKernel) -> None:
    code = """
results = []
worker = threading.Thread(target=lambda: results.append(wait.run(ask, "worker", label="w")))
worker.start()
results.append(wait.run(ask, "main", label="m"))
worker.join(10); print(sorted(one[1]["value"] for one in results))
"""
    run = two_kernels.start(code, allow_stdin=True)
    form_of(two_kernels, run, 2)
    forms = [text.split()[1] for text in run.displays if text.startswith("form ")]
    for form, value in zip(forms, ("a", "b"), strict=True):
        two_kernels.comm(form, {"submit": value})
    two_kernels.finish(run)
    assert run.text == "['a', 'b']\n"


def test_when_its_cell_has_been_run_again_the_form_goes_to_the_last_cell(two_kernels: LiveKernel) -> None:
    code = """
release = asyncio.Event()
async def later():
    await release.wait()
    return await ask("late")
call = thread.get_runtime().submit(later)
"""
    began = two_kernels.run(code, allow_stdin=True, cell_id="one")
    two_kernels.run("1", allow_stdin=True, cell_id="one")
    last = two_kernels.run("thread.get_runtime().call_soon(release.set)", allow_stdin=True, cell_id="two")
    two_kernels.comm(form_of(two_kernels, last), {"submit": "x"})
    assert two_kernels.run("print(call.result(10)[0])").text == "accept\n"
    assert began.displays == []


def test_a_call_in_a_widget_callback_asks_in_the_last_cell(two_kernels: LiveKernel) -> None:
    code = """
button = create_comm(target_name="button")
button.on_msg(lambda message: results.append(wait.run(ask, "from a callback", label="c")))
results = []; print(button.comm_id)
"""
    cell = two_kernels.run(code, allow_stdin=True)
    two_kernels.comm(cell.text.strip(), {"click": 1})
    two_kernels.comm(form_of(two_kernels, cell), {"submit": "x"})
    assert two_kernels.run("print(results[0][0])").text == "accept\n"


def test_an_output_widget_that_captures_keeps_the_form() -> None:
    from tests.runtime.conftest import SETUP

    with live_kernel(CURRENT, SETUP) as kernel:
        code = """
import ipywidgets
out = ipywidgets.Output()
def clicked(message):
    with out: results.append(wait.run(ask, "captured", label="c"))
button = create_comm(target_name="button"); button.on_msg(clicked); results = []; print(button.comm_id)
"""
        cell = kernel.run(code, allow_stdin=True)
        sent = kernel.comm(cell.text.strip(), {"click": 1})
        kernel.until(lambda: any(m["header"]["msg_type"] == "display_data" for m in kernel.other[sent]))
        shown = [m for m in kernel.other[sent] if m["header"]["msg_type"] == "display_data"]
        kernel.comm(shown[0]["content"]["data"]["text/plain"].split()[1], {"submit": "x"})
        assert kernel.run("print(results[0][0])").text == "accept\n"
        assert cell.displays == []


def test_without_a_kernel_and_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert wait.run(QuestionDesk().ask, question(), label="ask") == Answer("cancel", by="headless")


def test_the_first_mode_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_MCP_UI", "decline")
    desk = QuestionDesk()
    assert desk.mode == "decline"
    assert wait.run(desk.ask, question(), label="ask").action == "decline"
    monkeypatch.setenv("JUPYTER_MCP_UI", "holograms")
    assert QuestionDesk().mode == "auto"


def test_a_terminal_is_asked_by_input_on_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["Monday", "y"])
    threads: list[bool] = []

    def read(_prompt: str) -> str:
        threads.append(threading.current_thread() is threading.main_thread())
        return next(typed)

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", read)
    answer = wait.run(QuestionDesk().ask, question(), label="ask")
    assert answer == Answer("accept", content={"day": "Monday"})
    assert threads == [True, True]


def test_a_withdrawn_question_is_not_asked_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_mcp.runtime.frontend.headless", lambda: False)
    desk = QuestionDesk()

    async def ask_and_withdraw() -> list[Question]:
        task = asyncio.create_task(desk.ask(question()))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return desk.open

    worker: list[object] = []
    thread = threading.Thread(target=lambda: worker.append(wait.run(ask_and_withdraw, label="ask")))
    thread.start()
    thread.join(10)
    assert worker == [[]]


SEVERAL = """
from jupyter_mcp.host.questions import Question
import asyncio
def want(number, server="demo"):
    return DESK.ask(Question(f"q{number}", "approval", server, "Run?", {"tool": "delete", "arguments": {"n": number}}))
async def several():
    return await asyncio.gather(want(1), want(2), want(3, "other"))
DESK.mode = "stdin"
print([(one.action, one.remark) for one in wait.run(several, label="several")])
DESK.mode = "auto"
"""


def test_by_input_all_that_waits_for_one_server_is_denied_at_once(kernel: LiveKernel) -> None:
    run = kernel.start(SEVERAL, allow_stdin=True)
    assert "[d]eny all 2 from demo" in kernel.answer("d not today")
    assert "[d]eny all" not in kernel.answer("y")
    kernel.finish(run)
    assert "(1 of 3 questions) demo.delete is about to be called" in run.text
    assert "[('decline', 'not today'), ('decline', 'not today'), ('accept', None)]" in run.text
