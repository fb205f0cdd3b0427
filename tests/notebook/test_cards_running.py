"""Calls that run: progress that keeps up, several at once, results under their form."""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import RequestError
from jupyter_mcp.host.events import Progress
from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import kit, outcome
from jupyter_mcp.notebook.cards.meter import Meter
from jupyter_mcp.notebook.cards.outcome import KEPT, MOST, Outcome
from jupyter_mcp.notebook.cards.pace import Pace
from tests.notebook.page import FakeRunner, Page, box, button, capture, walk, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
ADD = {"name": "add", "inputSchema": SCHEMA}


def done(said: str) -> Result:
    return Result({"content": [{"type": "text", "text": said}]}, server="demo", tool="add", duration=0.25, request_id=7)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


@pytest.fixture
def runner() -> Iterator[FakeRunner]:
    made = FakeRunner()
    yield made
    for future in made.futures:
        if not future.done():
            future.set_result(done("late"))


def opened(runner: FakeRunner) -> Any:
    root = cards.tool_form("demo", ADD, runner).root
    box(root, "a").value = "1"
    return root


# --- drawing that keeps up -------------------------------------------------------------------------------------------


class Timer:
    """Time that stands still until a test lets it go on."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waiting: list[tuple[float, Callable[[], object]]] = []

    def later(self, seconds: float, function: Callable[[], object]) -> None:
        self.waiting.append((self.now + seconds, function))

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        due = [function for at, function in self.waiting if at <= self.now + 1e-9]
        self.waiting = [(at, function) for at, function in self.waiting if at > self.now + 1e-9]
        for function in due:
            function()


def test_two_hundred_changes_a_second_are_ten_drawings_and_the_last_state_is_drawn() -> None:
    timer, state, drawn = Timer(), [0], list[int]()
    pace = Pace(lambda: drawn.append(state[0]), 0.1, now=lambda: timer.now, later=timer.later)
    for number in range(1, 2_001):
        state[0] = number
        pace.touch()
        assert len(timer.waiting) <= 1, "nothing queues up"
        timer.pass_by(0.005)
    timer.pass_by(1.0)
    assert 95 <= len(drawn) <= 105
    assert drawn[0] == 1, "the first is drawn at once"
    assert drawn[-1] == 2_000
    assert not timer.waiting, "when nothing changes, nothing is drawn"


def test_what_is_over_is_drawn_no_more() -> None:
    timer, drawn = Timer(), list[int]()
    pace = Pace(lambda: drawn.append(1), 0.1, now=lambda: timer.now, later=timer.later)
    pace.touch()
    pace.touch()
    pace.stop()
    timer.pass_by(1.0)
    pace.touch()
    assert drawn == [1]


def test_a_drawing_that_fails_ends_nothing() -> None:
    timer, tried = Timer(), list[int]()

    def broken() -> None:
        tried.append(1)
        raise ValueError("no page")

    pace = Pace(broken, 0.1, now=lambda: timer.now, later=timer.later)
    for _ in range(3):
        pace.touch()
        timer.pass_by(0.2)
    assert len(tried) == 3


def test_the_page_gets_few_messages_however_many_the_server_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    meter = Meter("demo.slow")
    for part in walk(meter.root):
        monkeypatch.setattr(part, "send_state", sent.append)
    before = time.monotonic()
    for number in range(2_000):
        meter.event(Progress(number, 2_000, f"step {number}"))
    took = time.monotonic() - before
    meter.stop()
    drawings = 2 + took / 0.1
    assert len(sent) <= drawings * 8, "four parts, what stands in them and whether they show"


def test_progress_is_said_as_numbers_for_those_who_hear_the_page(page: Page) -> None:
    meter = Meter("demo.slow")
    meter.event(Progress(3, 12, "loading <b>"))
    html = " ".join(widget.value for widget in walk(meter.root) if type(widget).__name__ == "HTML")
    assert 'aria-valuenow="25.0"' in html
    assert 'aria-valuetext="3 of 12, loading &lt;b&gt;"' in html
    assert 'aria-label="progress of demo.slow"' in html
    bar = [widget for widget in walk(meter.root) if "<progress" in getattr(widget, "value", "")]
    before = bar[0].value
    meter.event(Progress(4, 12, "still loading"))
    assert bar[0].value != before
    meter.stop()
    meter.event(Progress(12, 12))
    assert "12 of 12" not in " ".join(getattr(widget, "value", "") for widget in walk(meter.root))


# --- several at once -------------------------------------------------------------------------------------------------


def test_several_calls_of_one_form_run_at_once_and_end_in_any_order(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    button(root, "Call").click()
    box(root, "a").value = "2"
    button(root, "Call again").click()
    assert [call[-1] for call in runner.calls] == [{"a": 1}, {"a": 2}]
    shown = words(root)
    assert shown.index("(call 2) is running") < shown.index("(call 1) is running"), "the newest first"
    runner.listeners[0](Progress(1, 4))
    assert "1 of 4" in words(root)
    runner.futures[1].set_result(done("the second"))
    assert "the second" in words(root)
    assert "(call 1) is running" in words(root)
    runner.futures[0].set_result(done("the first"))
    shown = words(root)
    assert "the second" in shown
    assert "call 1 demo.add is done" in shown
    assert "the first" not in shown, "what was begun later stays open, the older one is folded"
    assert button(root, "Call").disabled is False


def test_an_older_result_is_folded_by_a_new_call_and_opened_again(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    button(root, "Call").click()
    runner.futures[0].set_result(done("it is 42"))
    assert "it is 42" in words(root)
    button(root, "Call").click()
    assert "it is 42" not in words(root)
    button(root, "Show").click()
    assert "it is 42" in words(root)


def test_one_that_is_cancelled_leaves_the_others_running(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    button(root, "Call").click()
    button(root, "Call again").click()
    found = [widget for widget in walk(root) if getattr(widget, "description", "") == "Cancel call"]
    assert [one.tooltip for one in found] == ["Cancel demo.add"] * 2
    found[1].click()
    assert (runner.futures[0].cancelled(), runner.futures[1].cancelled()) == (True, False)


def test_a_call_that_fails_stands_with_what_to_do_and_the_next_one_works(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    button(root, "Call").click()
    runner.futures[0].set_exception(RequestError("a is odd", code=-32602, server="demo"))
    assert "Invalid parameters: demo answered with an error: a is odd" in words(root)
    assert "call 1 demo.add failed" in words(root)
    button(root, "Call").click()
    runner.futures[1].set_result(done("fine"))
    assert "fine" in words(root)


def test_the_history_is_bounded_and_what_falls_out_is_freed(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    for number in range(KEPT + 3):
        button(root, "Call").click()
        runner.futures[number].set_result(done(f"result {number}"))
    assert words(root).count("is done after") == KEPT
    widgets = len(list(walk(root)))
    button(root, "Call").click()
    runner.futures[-1].set_result(done("last"))
    assert len(list(walk(root))) == widgets


def test_so_many_at_once_and_no_more(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    button(root, "Call").click()
    for _ in range(MOST + 5):
        button(root, "Call again").click()
    assert len(runner.calls) == MOST
    assert button(root, "Call again").disabled
    runner.futures[3].set_result(done("one ended"))
    assert not button(root, "Call again").disabled


def test_a_form_that_is_gone_loses_no_call(page: Page, runner: FakeRunner) -> None:
    card = cards.tool_form("demo", ADD, runner)
    box(card.root, "a").value = "1"
    button(card.root, "Call").click()
    card.discard()
    runner.listeners[0](Progress(1, 2))
    runner.futures[0].set_result(done("nobody looks"))


def test_what_came_of_a_call_is_drawn_beside_the_connections_and_not_on_their_thread(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_mcp.notebook.cards.run._on_runtime", lambda: True)
    runner, drawn, ended = FakeRunner(), list[str](), threading.Event()

    def draw(_: Any) -> str:
        drawn.append(threading.current_thread().name)
        return "<p>drawn</p>"

    def changed() -> None:
        if drawn:
            ended.set()

    made = Outcome(changed)
    made.run("demo.add", lambda listen: runner.call("demo", "add", {}, listen), draw)
    runner.futures[0].set_result(done("x"))
    assert ended.wait(10)
    assert drawn[0].startswith("jupyter-mcp-cards")
    assert "drawn" in words(made.root)


def test_a_result_that_cannot_be_drawn_is_said_so(page: Page, runner: FakeRunner) -> None:
    def draw(_: Any) -> str:
        raise ValueError("too odd")

    made = outcome.Outcome()
    made.run("demo.add", lambda listen: runner.call("demo", "add", {}, listen), draw)
    runner.futures[0].set_result(done("x"))
    assert "too odd" in words(made.root)
    assert not made.busy


def test_a_form_for_one_thing_at_a_time_begins_no_second(page: Page, runner: FakeRunner) -> None:
    made = Outcome()
    for _ in range(2):
        made.run("reconnect demo", lambda _: runner.reconnect("demo"), lambda _: "<p>again</p>")
    assert len(runner.calls) == 1
    runner.futures[0].set_result(None)
    assert "again" in words(made.root)
    made.run("reconnect demo", lambda _: runner.reconnect("demo"), lambda _: "<p>again</p>")
    assert "again" not in words(made.root)
    kept = [widget for widget in walk(made.root) if isinstance(widget, kit.widgets.Button)]
    gc.collect()
    assert len(kept) == 1, "the buttons of what is over are gone"
