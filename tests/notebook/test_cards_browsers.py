"""Panes of tools, prompts, resources and servers: a form, acts that never block, what came of them."""

from __future__ import annotations

import time
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import RequestError
from jupyter_mcp.host.events import Log, Progress, QuestionClosed, QuestionOpened, Status
from jupyter_mcp.host.questions import Question
from jupyter_mcp.host.result import PromptResult, Read, Result
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import clock, suggesting
from jupyter_mcp.notebook.cards.prompts import PromptPanel
from jupyter_mcp.notebook.cards.resources import ResourcePanel
from jupyter_mcp.notebook.cards.spelling import magic_line, prompt_line, python_call, read_line
from jupyter_mcp.notebook.render import CallView, LogRow, LogView, ServersView, ServerView
from tests.notebook.looked import FakeSource
from tests.notebook.page import FakeRunner, Page, box, button, capture, walk, words

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}}, "required": ["a"]}
ADD = {"name": "add", "title": "Add", "description": "Adds <b>two</b>.", "inputSchema": SCHEMA}
DONE = Result({"content": [{"type": "text", "text": "it is 42"}]}, server="demo", tool="add")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


@pytest.fixture
def runner() -> Iterator[FakeRunner]:
    made = FakeRunner()
    yield made
    for future in made.futures:  # whatever a test left running ends, and with it the clock
        if not future.done():
            future.set_result(DONE)


def opened(runner: FakeRunner) -> Any:
    return cards.tool_form("demo", ADD, runner).root


def test_hints_are_told_as_the_server_s_own_words(page: Page, runner: FakeRunner) -> None:
    tool = {**ADD, "annotations": {"readOnlyHint": True, "destructiveHint": "yes"}}
    root = cards.tool_form("demo", tool, runner).root
    assert "demo says it is read-only" in words(root)
    assert "destroy" not in words(root)


def test_call_is_locked_until_the_form_is_complete(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    assert button(root, "Call").disabled
    assert "Still needed: a" in words(root)
    button(root, "Call").click()
    assert runner.calls == []
    box(root, "a").value = "41"
    button(root, "Call").click()
    assert runner.calls == [("call", "demo", "add", {"a": 41, "b": 1})]


def test_a_running_call_shows_progress_and_can_be_cancelled(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    box(root, "a").value = "1"
    button(root, "Call").click()
    assert "demo.add (call 1) is running" in words(root)
    runner.listeners[0](Progress(3, 10, "<i>loading</i>"))
    assert "3 of 10, &lt;i&gt;loading&lt;/i&gt;" in words(root)
    button(root, "Cancel call").click()
    assert runner.futures[0].cancelled()
    assert "call 1 demo.add was cancelled" in words(root)
    folds = [one for one in walk(root) if getattr(one, "description", "") in ("Show", "Hide")]
    assert all(one.layout.display == "none" for one in folds), "there is nothing to fold"


def test_a_result_is_shown_below_and_the_form_can_be_used_again(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    box(root, "a").value = "41"
    button(root, "Call").click()
    runner.futures[0].set_result(DONE)
    assert "it is 42" in words(root)
    runner.listeners[0](Progress(1, 2, "late"))
    assert "late" not in words(root), "what comes after the end does not reopen the bar"
    button(root, "Call").click()
    runner.futures[1].set_exception(RequestError("no such thing", code=-32602, server="demo"))
    assert "Invalid parameters: demo answered with an error: no such thing" in words(root)


def test_a_runner_that_fails_at_once_is_shown(page: Page, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    root = opened(runner)

    def broken(*_: Any) -> Any:
        raise RequestError("the host is gone", code=1)

    monkeypatch.setattr(runner, "call", broken)
    box(root, "a").value = "1"
    button(root, "Call").click()
    assert "the host is gone" in words(root)
    assert not button(root, "Call").disabled


def test_the_json_side_and_the_form_show_the_same_arguments(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    box(root, "a").value = "5"
    button(root, "Edit as JSON").value = True
    text = box(root, "Arguments as JSON")
    assert text.value == '{\n  "a": 5,\n  "b": 1\n}'
    text.value = '{"a": 7'
    assert button(root, "Call").disabled
    assert "Invalid JSON at line 1" in words(root)
    text.value = '{"a": 7}'
    button(root, "Edit as JSON").value = False
    assert box(root, "a").value == "7"
    button(root, "Call").click()
    assert runner.calls == [("call", "demo", "add", {"a": 7})]


def test_what_the_schema_does_not_name_comes_from_the_json_side_as_a_row(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    button(root, "Edit as JSON").value = True
    box(root, "Arguments as JSON").value = '{"a": 1, "more": true}'
    button(root, "Edit as JSON").value = False
    assert button(root, "Edit as JSON").value is False
    assert box(root, "Name").value == "more"
    button(root, "Call").click()
    assert runner.calls == [("call", "demo", "add", {"a": 1, "more": True})]


def test_the_call_is_written_as_a_line_and_as_python(page: Page, runner: FakeRunner) -> None:
    root = opened(runner)
    box(root, "a").value = "41"
    shown = words(root)
    assert "%mcp call demo.add a=41 b=1" in shown
    assert "mcp.servers[&quot;demo&quot;].tools[&quot;add&quot;](a=41, b=1)" in shown


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "%mcp call demo.add"),
        ({"a": 1, "on": True, "t": "word"}, "%mcp call demo.add a=1 on=true t=word"),
        ({"t": "two words"}, '%mcp call demo.add {"t": "two words"}'),
        ({"t": "$x"}, '%mcp call demo.add {"t": "$x"}'),
        ({"t": "{x}"}, '%mcp call demo.add {"t": "{x}"}'),
        ({"t": ""}, '%mcp call demo.add {"t": ""}'),
        ({"n": None}, '%mcp call demo.add {"n": null}'),
        ({"odd key": 1}, '%mcp call demo.add {"odd key": 1}'),
    ],
)
def test_a_line_means_what_the_form_said(arguments: dict[str, Any], line: str) -> None:
    assert magic_line("demo", "add", arguments) == line


def test_names_that_are_no_python_names_are_quoted() -> None:
    assert python_call("d", "get-env", {"class": 1}) == 'mcp.servers["d"].tools["get-env"](**{\'class\': 1})'
    assert read_line("d", "notes://a b") == "%mcp read d 'notes://a b'"
    assert prompt_line("d", "p", {"x": "it's"}) == '%mcp prompt d.p x="it\'s"'


@pytest.mark.parametrize(
    ("event", "shows"),
    [
        (Progress(12, 10), 'value="100.0"'),
        (Progress(-5, 10), 'value="0.0" max="100" aria-valuenow="0.0"'),
        (Progress(3, None), "<progress aria-label"),
        (Progress(1, 0.0), "<progress aria-label"),
        (Progress(float("nan"), 10), "<progress aria-label"),
        (Log("info", None, {"a": 1}), "info: {&quot;a&quot;: 1}"),
        (Status("starting"), "starting"),
    ],
)
def test_odd_progress_never_breaks_the_bar(page: Page, event: Any, shows: str) -> None:
    call = cards.live_call("demo.slow").show()
    try:
        call.event(Progress(5, 10))
        call.event(Progress(5, None))
        call.event(event)
        html = " ".join(w.value for w in walk(call.card.root) if type(w).__name__ == "HTML")
        assert shows in html
        assert "nan" not in html.lower()
    finally:
        call.finish()


def test_a_call_that_waits_for_the_person_says_so(page: Page) -> None:
    call = cards.live_call("demo.book").show()
    question = Question("1", "elicitation", "demo", "?", {})
    call.event(QuestionOpened(question))
    assert "demo.book waits for your answer" in words(call.card.root)
    call.event(QuestionClosed(question, None))
    assert "demo.book is running" in words(call.card.root)
    call.finish(DONE)
    assert page.text == "demo.add: it is 42"
    assert not page.live


class Background:
    """A background call as the cards see it."""

    name = "demo.slow"
    task = None

    def __init__(self) -> None:
        self.events: list[Any] = [Progress(1, 10)]
        self.done = False
        self.cancelled = 0
        self.tell: Any = None

    def cancel(self) -> bool:
        self.cancelled += 1
        return True

    def on_change(self, listener: Any) -> None:
        self.tell = lambda: listener(self)

    def __mcp_view__(self) -> CallView:
        return CallView(self.name, "failed", outcome=RequestError("it broke", code=1))


def test_a_background_call_is_followed_to_its_end(page: Page) -> None:
    call: Any = Background()
    live = cards.background_call(call)
    assert "1 of 10" in words(live.card.root)
    call.events.append(Progress(7, 10))
    call.tell()
    assert "7 of 10" in words(live.card.root)
    button(live.card.root, "Cancel call").click()
    assert call.cancelled == 1
    call.done = True
    call.tell()
    call.tell()
    assert not page.live
    assert "it broke" in page.text


def test_a_background_call_that_is_over_already_is_a_picture(page: Page) -> None:
    call: Any = Background()
    call.done = True
    cards.background_call(call)
    assert not page.live


def test_cancel_is_pressed_once(page: Page) -> None:
    pressed: list[int] = []
    call = cards.live_call("demo.slow", lambda: pressed.append(1)).show()
    cancel = button(call.card.root, "Cancel call")
    cancel.click()
    cancel.click()
    assert pressed == [1]
    call.finish(KeyboardInterrupt())
    assert page.text == "", "the cell itself says that it was interrupted"
    assert not page.live


def test_a_late_event_does_not_reopen_a_finished_card(page: Page) -> None:
    call = cards.live_call("demo.slow").show()
    call.finish(DONE)
    before = list(page.published)
    call.event(Progress(10, 10))
    call.finish(None)
    assert page.published == before


def test_the_clock_runs_only_while_something_runs(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_listeners", [])  # cards that other tests left running have a clock of their own
    monkeypatch.setattr(clock, "_stop", None)
    calls = [cards.live_call("demo.slow").show() for _ in range(3)]
    assert clock._stop is not None  # pyright: ignore[reportPrivateUsage]
    for call in calls:
        call.finish()
    assert clock._stop is None  # pyright: ignore[reportPrivateUsage]


def wait_for(what: Any) -> None:
    """Bounded: suggestions come a moment after the last change, on a timer's thread."""
    end = time.monotonic() + 5
    while not what() and time.monotonic() < end:
        time.sleep(0.01)
    assert what()


def test_prompt_arguments_ask_for_suggestions_with_what_is_chosen(
    page: Page, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggesting, "PAUSE_SECONDS", 0.01)
    runner.completions = ["Paris", "Pau", "Paris"]
    prompt = {"name": "trip", "arguments": [{"name": "country", "required": True}, {"name": "city"}, {"bad": 1}]}
    root = PromptPanel("demo", prompt, runner).root
    assert button(root, "See its messages").disabled
    box(root, "country").value = "France"
    box(root, "city").value = "Pa"
    wait_for(lambda: list(box(root, "city").options) == ["Paris", "Pau"])
    ref = {"type": "ref/prompt", "name": "trip"}
    assert ("complete", "demo", ref, "city", "Pa", {"country": "France"}) in runner.calls
    button(root, "See its messages").click()
    got = PromptResult({"messages": [{"role": "user", "content": {"type": "text", "text": "Go"}}]}, server="demo")
    assert runner.calls[-1] == ("prompt", "demo", "trip", {"country": "France", "city": "Pa"})
    runner.futures[-1].set_result(got)
    assert "user Go" in words(root)


def way(root: Any, label: str) -> Any:
    """How a field's value is given."""
    fields = [w for w in walk(root) if "jmcp-field" in w._dom_classes and words(w).startswith(label)]
    return next(w for w in walk(fields[-1]) if "jmcp-how" in getattr(w, "_dom_classes", ()))


def test_a_prompt_has_the_one_form_with_json_empty_texts_and_lines_to_keep(page: Page, runner: FakeRunner) -> None:
    prompt = {"name": "trip", "arguments": [{"name": "country", "required": True}, {"name": "city", "title": "City"}]}
    root = PromptPanel("demo", prompt, runner).root
    assert "Still needed: country" in words(root)
    box(root, "country").value = "42"
    way(root, "City").label = "empty text"
    kept = unescape(words(root))
    assert "%mcp prompt demo.trip country=42 city=''" in kept
    assert "mcp.servers[\"demo\"].prompts[\"trip\"](country='42', city='')" in kept
    button(root, "Edit as JSON").value = True
    assert box(root, "Arguments as JSON").value == '{\n  "country": "42",\n  "city": ""\n}'
    box(root, "Arguments as JSON").value = '{"country": "France", "more": "x"}'
    assert "more: is not known (known: country, city)." in unescape(words(root))
    assert button(root, "See its messages").disabled
    box(root, "Arguments as JSON").value = '{"country": 42}'
    assert "country: 42 is not a string" in words(root)
    assert button(root, "See its messages").disabled
    button(root, "Edit as JSON").value = False
    assert "Not valid yet: country" in words(root)
    assert button(root, "See its messages").disabled


def test_what_is_typed_as_json_is_no_suggestion_s_business(
    page: Page, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggesting, "PAUSE_SECONDS", 0.01)
    panel = PromptPanel("demo", {"name": "trip", "arguments": [{"name": "city"}]}, runner)
    wait_for(lambda: [call[3:5] for call in runner.calls] == [("city", "")])
    way(panel.root, "city").label = "JSON"
    box(panel.root, "city as JSON").value = '"Pa"'
    way(panel.root, "city").label = "value"
    box(panel.root, "city").value = "Par"
    wait_for(lambda: [call[4] for call in runner.calls] == ["", "Par"])
    panel.close()
    box(panel.root, "city").value = "Pari"


def test_a_template_takes_a_variable_of_the_notebook_and_says_so_in_what_is_kept(
    page: Page, runner: FakeRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_mcp.notebook.cards import callform
    from jupyter_mcp.notebook.cards.variables import NotebookVariables

    monkeypatch.setattr(callform, "NotebookVariables", lambda: NotebookVariables({"today": "tuesday"}))
    root = ResourcePanel("demo", {"uriTemplate": "notes://{day}{?page}", "name": "notes"}, runner, FakeSource()).root
    way(root, "day").label = "variable"
    box(root, "day: variable").value = "today"
    box(root, "page").value = "1e3"
    assert "reads notes://tuesday?page=1e3" in words(root)
    kept = unescape(words(root))
    assert "%mcp read demo 'notes://{day}{?page}' day=$today page:=\"1e3\"" in kept
    assert "mcp.servers[\"demo\"].read('notes://{day}{?page}', day=today, page='1e3')" in kept
    button(root, "Read").click()
    assert runner.calls[-1] == ("read", "demo", "notes://tuesday?page=1e3")


def test_a_variable_of_several_values_is_a_list_of_fields(page: Page, runner: FakeRunner) -> None:
    root = ResourcePanel("demo", {"uriTemplate": "files:/{/path*}", "name": "f"}, runner, FakeSource()).root
    box(root, "path").label = "several values"
    button(root, "Add to several values").click()
    box(root, "Entry of several values").value = "a b"
    assert "reads files://a%20b" in words(root)


def test_a_resource_is_read_to_the_letter(page: Page, runner: FakeRunner) -> None:
    root = ResourcePanel("demo", {"uri": "Users/Me é", "name": "me"}, runner, FakeSource()).root
    button(root, "Read").click()
    assert runner.calls == [("read", "demo", "Users/Me é")]
    contents = {"contents": [{"uri": "x", "text": "hello"}]}
    runner.futures[0].set_result(Read(contents, uri="Users/Me é", server="demo"))
    assert "hello" in words(root)


def test_a_template_wants_its_variables_and_spares_its_query(page: Page, runner: FakeRunner) -> None:
    template = {"uriTemplate": "notes://{day}{?page,size}", "name": "notes"}
    root = ResourcePanel("demo", template, runner, FakeSource()).root
    assert "Still needed: day" in words(root)
    assert button(root, "Read").disabled
    box(root, "day").value = "to day"
    button(root, "Read").click()
    assert runner.calls[-1] == ("read", "demo", "notes://to%20day")


@pytest.mark.parametrize("template", ["notes://{", "{}", "notes://{day", "x{?}"])
def test_a_broken_template_is_no_crash(page: Page, runner: FakeRunner, template: str) -> None:
    root = ResourcePanel("demo", {"uriTemplate": template}, runner, FakeSource()).root
    assert "Read" in [getattr(widget, "description", "") for widget in walk(root)]


def test_a_server_can_be_disconnected_and_connected_again(page: Page, runner: FakeRunner) -> None:
    root = cards.server_cards(ServersView([ServerView("demo", "lost", problem="it went away")]), runner).root
    assert "Problem: it went away" in words(root)
    button(root, "Reconnect").click()
    assert button(root, "Disconnect").disabled
    runner.futures[0].set_result(ServerView("demo", "ready", "modern", "2026-07-28"))
    assert "demo ● ready · modern 2026-07-28" in words(root)
    button(root, "Disconnect").click()
    runner.futures[1].set_result(None)
    assert "demo is disconnected" in words(root)
    assert button(root, "Reconnect").disabled


def test_a_log_is_narrowed_by_level_and_words(page: Page) -> None:
    rows = [LogRow("debug", "one"), LogRow("error", "two"), LogRow("warning", "three")]
    root = cards.log_card(LogView("demo", rows)).root
    box(root, "Level").value = "warning"
    assert "one" not in words(root)
    assert "three" in words(root)
    box(root, "Search").value = "TWO"
    assert "three" not in words(root)
    box(root, "Search").value = "nothing"
    assert "No line fits." in words(root)


def test_no_servers_and_no_items_are_no_crash(page: Page, runner: FakeRunner) -> None:
    cards.server_cards(ServersView([]), runner)
    assert "No server is connected" in str([still["text/plain"] for still in page.outputs.values()])


def test_a_server_card_follows_the_state_of_its_server_and_is_saved_as_it_was_last(page: Page) -> None:
    runner = FakeRunner()
    card = cards.server_cards(ServersView([ServerView("demo", "ready"), ServerView("other", "ready")]), runner)
    [changed] = runner.followers
    for state, said in (
        ("unresponsive", "no sign of life"),
        ("reconnecting", "connected again"),
        ("lost", "next call"),
    ):
        changed("demo", ServerView("demo", state))
        assert state in words(card.root)
        assert said in words(card.root)
    changed("stranger", ServerView("stranger", "ready"))
    assert "stranger" not in words(card.root)
    still = next(data for name, data in page.outputs.items() if name.endswith("-still"))
    assert "demo    ✕ lost" in still["text/plain"]
    drawn = len(page.published)
    changed("demo", ServerView("demo", "lost"))
    assert len(page.published) == drawn, "nothing new, nothing drawn"
    changed("demo", None)
    assert "demo ○ closed" in words(card.root)
    card.finish()
    changed("demo", ServerView("demo", "ready"))
    assert runner.followers == [], "a card that is over follows nothing"
