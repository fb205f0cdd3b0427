"""Tasks in the notebook: listed, found, waited for, left and cancelled; by lines, by Python, by the card's buttons."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Cancelled, UsageError
from jupyter_mcp.host.apps.meta import MIME_TYPE
from jupyter_mcp.host.events import TaskChanged
from jupyter_mcp.host.tasks import HostTask
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import live
from jupyter_mcp.notebook.cards.progress import Gauge
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.render import bundle
from jupyter_mcp.notebook.suggest import for_line
from jupyter_mcp.protocol.tasks import TaskState
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import AsyncContext, Server
from tests.notebook.page import button, capture, words
from tests.notebook.test_cards_apps import Told, begun
from tests.runtime.kernels import live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_mcp.notebook.objects.call import Call
    from jupyter_mcp.notebook.objects.task import Task
    from tests.notebook.conftest import Cells
    from tests.runtime.kernels import Run

SECONDS = 20


class Jobs:
    """A server with a job that goes on until the test says so."""

    def __init__(self) -> None:
        self.server = Server("jobs")
        self.server.add_tool(self.job, task=True)
        self.began = threading.Event()
        self.ended = threading.Event()
        self._go: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def job(self, ctx: AsyncContext) -> str:
        """A long job."""
        self._loop, self._go = asyncio.get_running_loop(), asyncio.Event()
        await ctx.progress(1, 2, "halfway")
        self.began.set()
        try:
            await self._go.wait()
        finally:
            self.ended.set()
        return "finished"

    def finish(self) -> None:
        assert self._loop is not None and self._go is not None
        self._loop.call_soon_threadsafe(self._go.set)


@pytest.fixture
def jobs(cells: Cells) -> Iterator[Jobs]:
    made = Jobs()
    cells.put(jobs=made.server)
    cells.run("import jupyter_mcp as mcp\n%mcp connect j $jobs ;")
    yield made
    if made.began.is_set() and not made.ended.is_set():
        made.finish()


def started(cells: Cells, jobs: Jobs, tool: str = "job") -> Call:
    """A background call that is a task by now."""
    call: Call = cells.run(f"c = %mcp call j.{tool} --background\nc")
    became = threading.Event()

    def look(changed: Call) -> None:
        if changed.task is not None:
            became.set()

    call.on_change(look)
    assert jobs.began.wait(SECONDS) and (call.task is not None or became.wait(SECONDS))
    return call


def task_of(call: Call) -> Task:
    assert call.task is not None
    return call.task


def test_a_call_that_becomes_a_task_is_a_call_like_any_other(cells: Cells, jobs: Jobs) -> None:
    call = started(cells, jobs)
    jobs.finish()
    assert call.result(SECONDS).text == "finished" and call.status == "done"
    assert repr(call.task).endswith("j.job: completed>")


def test_the_list_shows_a_key_and_no_id(cells: Cells, jobs: Jobs) -> None:
    task = task_of(started(cells, jobs))
    cells.run("%mcp tasks j")
    assert f"{task.key}" in cells.text and "j.job" in cells.text and "working" in cells.text
    assert "halfway" in cells.text and task.id not in cells.text
    assert cells.run("%mcp tasks")[0].key == task.key


def test_a_list_of_none_says_so(cells: Cells, jobs: Jobs) -> None:
    cells.run("%mcp tasks j")
    assert "no tasks" in cells.text


def test_a_task_is_found_by_its_key_and_by_its_id(cells: Cells, jobs: Jobs) -> None:
    task = task_of(started(cells, jobs))
    for source in (f"%mcp tasks {task.key}", f"%mcp tasks j {task.key}", f"mcp.servers['j'].tasks['{task.id}']"):
        assert cells.run(source).key == task.key
    cells.run(f"%mcp tasks {task.key}")
    assert f"Task {task.key}, j.job: working (halfway)" in cells.text
    for source in ("%mcp tasks t999", "mcp.servers['j'].tasks['t999']", "%mcp tasks j nothing-like-it"):
        with pytest.raises(UsageError, match="no task"):
            cells.run(source)


def test_an_id_is_shown_to_no_server_but_its_own(cells: Cells, jobs: Jobs) -> None:
    cells.put(other=Jobs().server)
    cells.run("%mcp connect other $other ;")
    with pytest.raises(UsageError):
        cells.run("%mcp tasks an-id-of-some-task")
    assert not [one for one in get_host().journal.entries() if one.method == "tasks/get"]


def test_a_task_that_was_left_is_waited_for_again(cells: Cells, jobs: Jobs) -> None:
    call = started(cells, jobs)
    assert call.leave()
    with pytest.raises(Cancelled):
        call.result(SECONDS)
    assert call.status == "left" and not jobs.ended.is_set()
    assert "j.job: working" in bundle(call)["text/plain"]
    with pytest.raises(TimeoutError, match="it goes on"):
        task_of(call).result(0.05)
    jobs.finish()
    assert task_of(call).result(SECONDS).text == "finished"


@pytest.mark.parametrize("line", ["%mcp cancel {key}", "%mcp cancel j.job", "%mcp cancel", "c.cancel()"])
def test_cancelling_ends_the_job_at_the_server(cells: Cells, jobs: Jobs, line: str) -> None:
    call = started(cells, jobs)
    cells.run(line.format(key=task_of(call).key))
    assert jobs.ended.wait(SECONDS)
    with pytest.raises(Cancelled):
        call.result(SECONDS)
    assert task_of(call).status == "cancelled" and call.status == "cancelled"
    with pytest.raises(UsageError, match="has ended"):
        cells.run(f"%mcp cancel {task_of(call).key}")


def test_after_disconnecting_the_task_is_found_again(cells: Cells, jobs: Jobs) -> None:
    task = task_of(started(cells, jobs))
    cells.run("%mcp disconnect j")
    cells.run("%mcp tasks")
    assert task.key in cells.text
    cells.run("%mcp connect j $jobs ;")
    jobs.finish()
    assert cells.run(f"mcp.servers['j'].tasks['{task.key}'].result()").text == "finished"


def test_tab_offers_the_keys(cells: Cells, jobs: Jobs) -> None:
    task = task_of(started(cells, jobs))
    for line in ("tasks ", "tasks j ", "cancel "):
        assert (task.key, "task") in for_line(line).items
    task.cancel()
    assert (task.key, "task") in for_line("tasks t").items
    assert (task.key, "task") not in for_line("cancel ").items, "it has ended"


# --- cards -----------------------------------------------------------------------------------------------------------


def record(status: str = "working", message: str | None = None) -> HostTask:
    return HostTask("t7", "j", "job", {}, TaskState("an-id", status, message))


def test_a_call_that_becomes_a_task_can_be_left_by_a_second_button(monkeypatch: pytest.MonkeyPatch) -> None:
    capture(monkeypatch)
    pressed: list[str] = []
    call = cards.live_call("j.job", lambda: pressed.append("cancel")).show()
    button(call.card.root, "Cancel call")
    call.event(TaskChanged(record(message="at <Mars>")))
    call.offer_to_leave(lambda: pressed.append("leave"))
    assert "is running (task t7)" in words(call.card.root) and "at &lt;Mars&gt;" in words(call.card.root)
    assert "an-id" not in words(call.card.root)
    button(call.card.root, "Leave").click()
    button(call.card.root, "Cancel task").click()
    assert pressed == ["leave"], "one of the two, once"


def test_a_task_speaks_to_people_and_says_each_thing_once() -> None:
    gauge = Gauge("j.job")
    for status in ("working", "input_required", "working"):
        gauge.event(TaskChanged(record(status, "at Mars")))
    drawn = "".join(gauge.drawn())
    assert drawn.count("at Mars") == 1
    assert "input_required" not in drawn
    gauge.event(TaskChanged(record("on hold", "at Mars")))
    assert "task t7, on hold" in gauge.drawn().head, "the server's own word"


class Watched:
    """A page that can be waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.page = capture(monkeypatch)
        self.news = threading.Event()
        monkeypatch.setattr(live, "publish", self.publish)

    def publish(self, data: dict[str, Any], *, transient: dict[str, str], update: bool = False) -> None:
        self.page.publish(data, transient=transient, update=update)
        self.news.set()

    def text_at_the_end(self) -> str:
        """What stands there when the live card is gone."""
        while self.page.live:
            assert self.news.wait(SECONDS)
            self.news.clear()
        return self.page.text


@pytest.fixture
def page(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def test_the_card_of_a_task_becomes_its_result(cells: Cells, jobs: Jobs, page: Watched) -> None:
    task = task_of(started(cells, jobs))
    made = cards.task_card(task)
    assert page.page.live and task.key in words(made.card.root)
    jobs.finish()
    assert "finished" in page.text_at_the_end()


def test_leaving_by_the_card_leaves_the_task_and_says_how_to_find_it(cells: Cells, jobs: Jobs, page: Watched) -> None:
    call = started(cells, jobs)
    made = cards.task_card(task_of(call))
    button(made.card.root, "Leave").click()
    assert f"%mcp cancel {task_of(call).key}" in page.text_at_the_end() and not jobs.ended.is_set()


def test_cancelling_by_the_card_ends_the_job(cells: Cells, jobs: Jobs, page: Watched) -> None:
    call = started(cells, jobs)
    made = cards.task_card(task_of(call))
    button(made.card.root, "Cancel task").click()
    assert jobs.ended.wait(SECONDS)
    assert "cancelled" in page.text_at_the_end()


@pytest.mark.parametrize("end", ["result", "cancelled"])
def test_the_app_of_a_task_is_there_from_the_beginning_and_hears_its_end(
    cells: Cells, jobs: Jobs, page: Watched, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    jobs.server.add_resource("ui://jobs/page.html", lambda: "<!doctype html>", name="page", mime_type=MIME_TYPE)
    jobs.server.add_tool(jobs.job, name="shown", task=True, meta={"ui": {"resourceUri": "ui://jobs/page.html"}})
    monkeypatch.setattr("jupyter_mcp.notebook.cards.apps.shown.Frame", Told)
    Told.made = []
    cells.run("%mcp reconnect j ;")
    made = cards.task_card(task_of(started(cells, jobs, "shown")))
    [frame] = Told.made
    begun(frame)
    frame.hears(lambda one: one.get("method") == "ui/notifications/tool-input")
    if end == "result":
        jobs.finish()
        told = frame.hears(lambda one: one.get("method") == "ui/notifications/tool-result")
        assert told["params"]["content"][0]["text"] == "finished"
    else:
        button(made.card.root, "Cancel task").click()
        told = frame.hears(lambda one: one.get("method") == "ui/notifications/tool-cancelled")
        assert "cancelled" in told["params"]["reason"]


# --- in a kernel -----------------------------------------------------------------------------------------------------


def test_an_interrupt_leaves_the_task_with_one_line() -> None:
    with live_kernel(setup="%load_ext jupyter_mcp\nimport jupyter_mcp as mcp") as kernel:
        kernel.run("%mcp connect demo ;")
        watch = (
            "from jupyter_mcp.notebook.objects.act import get_host\n"
            "from jupyter_mcp.host import events\n"
            "made = events.TaskChanged.__init__\n"
            "def say(self, task):\n    made(self, task)\n    print('TASK', task.key)\n"
            "events.TaskChanged.__init__ = say"
        )
        kernel.run(watch)
        run = kernel.start("%mcp call demo.survey seconds=600")
        kernel.until(lambda: "TASK t1" in run.text)
        kernel.interrupt()
        kernel.finish(run)
        assert run.traceback == [
            "Interrupted: demo.survey goes on as task t1; %mcp tasks t1 finds it, %mcp cancel t1 ends it"
        ]
        assert "working" in kernel.run("print(mcp.servers['demo'].tasks['t1'])").text
        assert "cancelled" in "".join(kernel.run("%mcp cancel t1").displays)


def button_of(run: Run, label: str) -> str:
    """The comm of the button with that label."""
    opened = [(one["comm_id"], one["data"].get("state", {})) for one in run.of("comm_open")]
    (found,) = [comm for comm, state in opened if state.get("description") == label]
    return found


SURVEY = "%mcp call demo.survey seconds=600"


@pytest.mark.parametrize("line", [SURVEY, f"r = {SURVEY}\nprint(type(r).__name__, r.key)"])
def test_leaving_a_call_that_waits_is_no_error_and_its_value_is_the_task(line: str) -> None:
    with live_kernel(setup="%load_ext jupyter_mcp") as kernel:
        kernel.run("%mcp connect demo ;", allow_stdin=True)
        run = pressed(kernel, line, "Leave")
        assert not run.of("error")
        said = "demo.survey goes on as task t1; %mcp tasks t1 finds it, %mcp cancel t1 ends it."
        assert "".join(run.displays).count(said) == 1
        assert (run.text == "Task t1\n") is line.startswith("r = ")
        assert "t1" in kernel.run("print(_)").text or line.startswith("r = ")


def test_code_that_wants_the_result_hears_that_it_was_left() -> None:
    with live_kernel(setup="%load_ext jupyter_mcp\nimport jupyter_mcp as mcp") as kernel:
        kernel.run("%mcp connect demo ;", allow_stdin=True)
        code = "try:\n    mcp.servers['demo'].tools.survey(seconds=600)\nexcept mcp.Cancelled as left:\n    print(left)"
        run = pressed(kernel, code, "Leave")
        assert "demo.survey goes on as task t1;" in run.text


def test_cancelling_a_call_that_waits_cancels_its_task() -> None:
    with live_kernel(setup="%load_ext jupyter_mcp") as kernel:
        kernel.run("%mcp connect demo ;", allow_stdin=True)
        run = pressed(kernel, SURVEY, "Cancel call")
        assert run.traceback == ["Cancelled: The task of survey was cancelled (at Mercury)."]


def pressed(kernel: Any, code: str, label: str) -> Run:
    """The run of a cell whose call became a task, ended by the button of that label."""
    run = kernel.start(code, allow_stdin=True)
    kernel.until(lambda: any("at Mercury" in str(one) for one in run.messages))
    kernel.comm(button_of(run, label), {"method": "custom", "content": {"event": "click"}})
    kernel.finish(run)
    return run


def test_what_the_runtime_does_not_serve_is_not_awaited_on_its_own_thread(cells: Cells, jobs: Jobs) -> None:
    task = task_of(started(cells, jobs))

    async def inside() -> None:
        with pytest.raises(UsageError):
            task.refresh()

    get_runtime().submit(inside).result(SECONDS)
