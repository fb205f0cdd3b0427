"""Widget messages while a cell waits, on every supported ipykernel (comm messages sent by hand)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.runtime.kernels import LiveKernel, Run


def form_of(kernel: LiveKernel, run: Run, count: int = 1) -> str:
    """Comm id of the last form that the cell has displayed."""

    def forms() -> list[str]:
        return [text.split()[1] for text in run.displays if text.startswith("form ")]

    kernel.until(lambda: len(forms()) >= count, why=lambda: f"no form; the cell said {run.text} {run.error}")
    return forms()[-1]


def test_a_form_is_filled_while_the_cell_that_shows_it_still_runs(any_kernel: LiveKernel) -> None:
    run = any_kernel.start('print("before"); print(wait.run(ask, label="demo.book")); print("after")', allow_stdin=True)
    form = form_of(any_kernel, run)
    for value in ("o", "on", "one"):
        any_kernel.comm(form, {"value": value})
    sent = any_kernel.comm(form, {"submit": "one"})
    any_kernel.finish(run)
    assert run.text.split("\n") == ["before", "('accept', {'value': 'one'}, 'person')", "after", ""]
    assert run.displays[-1] == "closed accept", "the form is closed in its own cell, before the cell ends"
    states = [message["content"].get("execution_state") for message in any_kernel.other[sent]]
    assert states == ["busy", "idle"], "the page sends the next edit only after the idle of the one before"
    edits = any_kernel.run("print(Form.forms[-1].got)").text
    assert edits.strip() == str([({"value": text}, True) for text in ("o", "on", "one")] + [({"submit": "one"}, True)])


def test_cells_queued_behind_a_form_run_after_it_and_in_order(any_kernel: LiveKernel) -> None:
    any_kernel.run("order = []")
    first = any_kernel.start('order.append(wait.run(ask, label="demo.book")[0])', allow_stdin=True)
    queued = [any_kernel.start(f"order.append({number}); print(order)") for number in range(3)]
    form = form_of(any_kernel, first)
    any_kernel.comm(form, {"submit": "x"})
    for run in [first, *queued]:
        any_kernel.finish(run)
        assert run.error is None
    assert queued[-1].text.strip() == "['accept', 0, 1, 2]"


def test_the_page_shows_busy_while_the_cell_waits(any_kernel: LiveKernel) -> None:
    run = any_kernel.start('wait.run(ask, label="demo.book")', allow_stdin=True)
    form = form_of(any_kernel, run)
    before = len(run.of("status"))
    any_kernel.comm(form, {"value": "x"})
    any_kernel.until(lambda: len(run.of("status")) > before)
    assert run.of("status")[-1]["execution_state"] == "busy"
    any_kernel.comm(form, {"submit": "x"})
    any_kernel.finish(run)


def test_the_page_shows_busy_again_after_a_subshell_has_been_idle(any_kernel: LiveKernel) -> None:
    code = """
import threading
kernel = get_ipython().kernel
widget = {"header": {"msg_id": "widget", "msg_type": "comm_msg", "session": "x", "version": "5.4"}}
def subshell():
    for status in ("busy", "idle"): kernel._publish_status(status, "shell", widget)
threading.Timer(0.3, subshell).start()
WAIT
print("_publish_status" in vars(kernel))
"""
    for wait in ('wait.run(ask, label="demo.book")', 'await wait.arun(ask, label="demo.book")'):
        run = any_kernel.start(code.replace("WAIT", wait), allow_stdin=True)
        form = form_of(any_kernel, run)
        any_kernel.until(lambda run=run: len(run.of("status")) > 1)
        assert [content["execution_state"] for content in run.of("status")] == ["busy", "busy"]
        any_kernel.comm(form, {"submit": "x"})
        any_kernel.finish(run)
        assert run.text.strip() == "False", "the kernel is left as it was"
        any_kernel.settle()
        assert run.of("status")[-1]["execution_state"] == "idle"


def test_a_failing_handler_harms_nothing(any_kernel: LiveKernel) -> None:
    code = """
def fail(message): raise ValueError("a widget's own mistake")
broken = create_comm(target_name="broken"); broken.on_msg(fail)
print(broken.comm_id)
print(wait.run(ask, label="demo.book")[0]); print("after")
"""
    run = any_kernel.start(code, allow_stdin=True)
    form = form_of(any_kernel, run)
    any_kernel.comm(run.text.split()[0], {"anything": 1})
    any_kernel.comm(form, {"submit": "x"})
    any_kernel.finish(run)
    assert run.text.split("\n")[1:] == ["accept", "after", ""]


def test_an_awaiting_cell_keeps_its_form_alive(any_kernel: LiveKernel) -> None:
    run = any_kernel.start('print(await wait.arun(ask, label="demo.book")); print("after")', allow_stdin=True)
    next_cell = any_kernel.start('print("next")')
    form = form_of(any_kernel, run)
    for value in ("one", "two", "three"):
        any_kernel.comm(form, {"value": value})
    sent = any_kernel.comm(form, {"submit": "three"})
    any_kernel.finish(run)
    states = [message["content"].get("execution_state") for message in any_kernel.other[sent]]
    assert states == ["busy", "idle"], "without them the page keeps the next edit (ipykernel 7.4 sends none by itself)"
    assert run.text.split("\n") == ["('accept', {'value': 'three'}, 'person')", "after", ""]
    assert run.displays[-1] == "closed accept"
    edits = any_kernel.run("print([data for data, main in Form.forms[-1].got])").text
    assert [*eval(edits)] == [{"value": "one"}, {"value": "two"}, {"value": "three"}, {"submit": "three"}]
    any_kernel.finish(next_cell)
    assert next_cell.text == "next\n"


def test_two_forms_at_once_answer_their_own_questions(any_kernel: LiveKernel) -> None:
    code = """
print(await asyncio.gather(wait.arun(ask, "first", label="a"), wait.arun(ask, "second", label="b")))
"""
    run = any_kernel.start(code, allow_stdin=True)
    form_of(any_kernel, run, 2)
    forms = [text.split()[1] for text in run.displays if text.startswith("form ")]
    any_kernel.comm(forms[1], {"submit": "2"})
    any_kernel.comm(forms[1], {"submit": "again"})
    any_kernel.comm(forms[0], {"submit": "1"})
    any_kernel.finish(run)
    assert "'1'" in run.text.split("), (")[0] and "'2'" in run.text.split("), (")[1]
    assert "again" not in run.text


def test_a_form_callback_may_call_a_tool_itself(any_kernel: LiveKernel) -> None:
    code = """
class Calling(Form):
    def message(self, data, answer):
        data = {"submit": wait.run(ask, "inner", label="inner")[1]["value"]} if "nest" in data else data
        super().message(data, answer)
DESK.presenter = lambda question, answer: (Form if question.message == "inner" else Calling)(question, answer)
try:
    print(wait.run(ask, label="outer"))
finally:
    DESK.presenter = Form
"""
    run = any_kernel.start(code, allow_stdin=True)
    outer = form_of(any_kernel, run)
    any_kernel.comm(outer, {"nest": True})
    inner = form_of(any_kernel, run, 2)
    any_kernel.comm(inner, {"submit": "deep"})
    any_kernel.finish(run)
    assert "('accept', {'value': 'deep'}, 'person')" in run.text


def test_a_sync_call_inside_an_async_cell_keeps_its_form_alive(any_kernel: LiveKernel) -> None:
    code = """
await asyncio.sleep(0.05)
def sync(): return wait.run(ask, label="demo.book")
async def inner(): return sync()
print(await inner())
"""
    run = any_kernel.start(code, allow_stdin=True)
    any_kernel.comm(form_of(any_kernel, run), {"submit": "x"})
    any_kernel.finish(run)
    assert "'accept'" in run.text
