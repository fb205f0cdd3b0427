"""The explorer: everything in one list, found as one types, merged when it changes, opened in a pane that is kept."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.result import Read, Result
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import clock
from jupyter_mcp.notebook.cards.explorer import card as explorer_card
from jupyter_mcp.notebook.cards.explorer.index import Changes, Index
from jupyter_mcp.notebook.cards.explorer.lines import badges_of
from jupyter_mcp.notebook.cards.explorer.tree import tree_rows
from jupyter_mcp.notebook.cards.live import CARD
from jupyter_mcp.notebook.cards.question import QuestionCard, present
from jupyter_mcp.notebook.render import LogRow, LogView, ServerView
from tests.notebook.looked import FakeSource
from tests.notebook.page import VIEW, FakeRunner, Page, box, button, capture, walk, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jupyter_mcp.notebook.cards.explorer.index import Kind

SCHEMA = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}}, "required": ["a"]}
ADD = {"name": "add", "title": "Add", "description": "Adds <b>two</b>.", "inputSchema": SCHEMA}
OTHER = {"name": "other", "description": "Deletes all"}
DONE = Result({"content": [{"type": "text", "text": "it is 42"}]}, server="demo", tool="add")
WAIT = 10.0


def tools(*items: Mapping[str, Any], server: str = "demo") -> list[tuple[Kind, str, Mapping[str, Any]]]:
    return [("tool", server, item) for item in items]


def resources(*uris: str, server: str = "demo") -> list[tuple[Kind, str, Mapping[str, Any]]]:
    return [("resource", server, {"uri": uri, "name": uri}) for uri in uris]


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


class Opened:
    """An explorer on the page, and its list as the page would ask for it."""

    def __init__(self, source: FakeSource, runner: FakeRunner, tab: str = "tools", **more: Any) -> None:
        self.card = cards.explorer_card(tab, runner=runner, source=source, **more)
        self.root = self.card.root
        self.list = next(widget for widget in walk(self.root) if type(widget).__name__ == "Rows")
        self.changed = threading.Event()
        self.list.observe(self._changed, names="version")

    def _changed(self, _: object) -> None:
        self.changed.set()

    def page(self, **message: Any) -> None:
        self.list._handle_custom_msg(message, [])

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.list._list.window(0, 200)

    @property
    def names(self) -> list[str]:
        return [row["cells"][0] for row in self.rows]

    def open(self, name: str) -> None:
        """Click the row of that name."""
        self.page(type="open", id=next(row["id"] for row in self.rows if row["cells"][0] == name))

    def after(self, change: Callable[[], object]) -> None:
        """Do it, and wait until the explorer has drawn what it brought."""
        self.changed.clear()
        change()
        assert self.changed.wait(WAIT)


@pytest.fixture
def open_explorer(page: Page, runner: FakeRunner) -> Iterator[Callable[..., Opened]]:
    def opening(source: FakeSource, tab: str = "tools", **more: Any) -> Opened:
        return Opened(source, runner, tab, **more)

    yield opening
    cards.close_all()


OpenExplorer = "Callable[..., Opened]"


# --- one list --------------------------------------------------------------------------------------------------------


def test_nothing_is_chosen_before_somebody_chooses(open_explorer: Callable[..., Opened]) -> None:
    opened = open_explorer(FakeSource(*tools(ADD, OTHER)))
    assert opened.names == ["Add", "other"]
    assert "Choose something" in words(opened.root)
    opened.open("Add")
    assert "Adds &lt;b&gt;two&lt;/b&gt;." in words(opened.root)


def test_the_tools_of_all_servers_are_one_list(open_explorer: Callable[..., Opened]) -> None:
    opened = open_explorer(FakeSource(*tools(ADD), *tools({"name": "add"}, server="math")))
    assert [(row["cells"][0], row["detail"]) for row in opened.rows] == [
        ("Add", "demo.add — Adds <b>two</b>."),
        ("add", "math"),
    ]


def test_two_thousand_tools_are_a_few_widgets_and_few_rows_a_message(open_explorer: Callable[..., Opened]) -> None:
    many = [{"name": f"tool{n}", "description": "word " * 50, "inputSchema": SCHEMA} for n in range(2_000)]
    opened = open_explorer(FakeSource(*tools(*many)))
    assert len(list(walk(opened.root))) < 25
    assert opened.list.count == 2_000
    opened.page(type="search", text="tool1999")
    assert opened.names == ["tool1999"]
    assert opened.list.note == "1 of 2,000 fit"


def test_one_search_looks_through_everything_and_each_tab_says_how_much_fits(
    open_explorer: Callable[..., Opened],
) -> None:
    prompt: tuple[Kind, str, Mapping[str, Any]] = ("prompt", "demo", {"name": "greet", "description": "add a smile"})
    opened = open_explorer(FakeSource(*tools(ADD, OTHER), *resources("notes://add"), prompt))
    opened.page(type="search", text="ADD")
    assert opened.list.tabs[:3] == [["tools", "Tools 1"], ["resources", "Resources 1"], ["prompts", "Prompts 1"]]
    opened.page(type="tab", key="prompts")
    assert opened.names == ["greet"]
    opened.page(type="search", text="smile add")
    assert opened.names == ["greet"]


def test_rows_are_made_when_they_are_seen(open_explorer: Callable[..., Opened], runner: FakeRunner) -> None:
    looked: list[str | None] = []

    def look(server: str, name: str | None) -> str:
        looked.append(name)
        return ""

    runner.switched_off = look
    opened = open_explorer(FakeSource(*tools(*({"name": f"tool{n}"} for n in range(2_000)))))
    opened.page(type="search", text="tool")
    assert 0 < len(set(looked)) <= 100


def test_names_are_found_before_descriptions() -> None:
    index = Index.of(
        tools({"name": "x", "description": "about time"}, {"name": "time"}, {"name": "y", "title": "Time"})
    )
    assert [thing.key for thing in index.search("time")] == ["time", "y", "x"]


def test_arguments_are_found_too() -> None:
    assert [
        thing.key
        for thing in Index.of(tools(ADD, {"name": "c", "inputSchema": {"properties": {"zone": {}}}})).search("zone")
    ] == ["c"]


def test_tools_of_one_name_stay_two(open_explorer: Callable[..., Opened]) -> None:
    opened = open_explorer(FakeSource(*tools({"name": "send"}, {"name": "send", "description": "second"})))
    opened.page(type="open", id=opened.rows[1]["id"])
    assert "second" in words(opened.root)


def test_what_a_server_says_of_a_tool_is_a_badge_in_words() -> None:
    hints = {"readOnlyHint": True, "destructiveHint": "yes", "openWorldHint": True}
    [thing] = Index.of(tools({**ADD, "annotations": hints})).things.values()
    assert [badge["text"] for badge in badges_of(thing, frozenset({("demo", "add")}))] == [
        "read-only",
        "open world",
        "off for models",
    ]


def test_an_explorer_of_one_server_shows_no_other(open_explorer: Callable[..., Opened]) -> None:
    opened = open_explorer(FakeSource(*tools(ADD), *tools(OTHER, server="b")), servers=["b"])
    assert opened.names == ["other"]
    assert "Deletes all" in words(opened.root), "the only one is open already"


# --- what changes ----------------------------------------------------------------------------------------------------


def test_a_list_that_changes_is_merged_marked_and_told_and_what_is_chosen_stays(
    open_explorer: Callable[..., Opened],
) -> None:
    source = FakeSource(*tools(ADD, OTHER, {"name": "old"}))
    opened = open_explorer(source)
    opened.open("Add")
    box(opened.root, "a").value = "41"
    source.offered = tools(ADD, {**OTHER, "description": "now otherwise"}, {"name": "fresh"})
    opened.after(source.change)
    assert "list changed: 1 new, 1 changed, 1 gone" in words(opened.root)
    assert [row.get("marks") for row in opened.rows] == [None, ["changed"], ["new"]]
    assert opened.list.current.endswith("add")
    assert box(opened.root, "a").value == "41", "the form that was begun is as it was"
    opened.open("fresh")
    assert [row.get("marks") for row in opened.rows] == [None, ["changed"], None]
    button(opened.root, "Mark as seen").click()
    assert "list changed" not in words(opened.root)
    assert [row.get("marks") for row in opened.rows] == [None, None, None]


def test_what_goes_and_comes_back_is_no_news(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD, OTHER))
    opened = open_explorer(source)
    views, source.views, source.offered = source.views, [], []
    opened.after(source.change)
    assert "list changed: 2 gone" in words(opened.root)
    source.views, source.offered = views, tools(ADD, OTHER)
    opened.after(source.change)
    assert "list changed" not in words(opened.root)
    assert [row.get("marks") for row in opened.rows] == [None, None]


def test_a_server_that_is_connected_later_is_no_news_but_what_it_adds_then_is(
    open_explorer: Callable[..., Opened],
) -> None:
    source = FakeSource(*tools(ADD))
    opened = open_explorer(source)
    source.views = [*source.views, ServerView("late", "ready", counts={"tools": 1})]
    source.offered = [*tools(ADD), *tools(OTHER, server="late")]
    opened.after(source.change)
    assert opened.names == ["Add", "other"]
    assert "list changed" not in words(opened.root)
    source.offered = [*source.offered, *tools({"name": "more"}, server="late")]
    opened.after(source.change)
    assert "list changed: 1 new" in words(opened.root)


def test_a_chosen_tool_that_is_withdrawn_is_said_to_be(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD, OTHER))
    opened = open_explorer(source)
    opened.open("Add")
    source.offered = tools(OTHER)
    opened.after(source.change)
    assert "The server no longer offers this." in words(opened.root)


def test_a_chosen_tool_whose_server_is_disconnected_is_said_to_be(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD, OTHER))
    opened = open_explorer(source)
    opened.open("Add")
    source.offered, source.views = [], []
    opened.after(source.change)
    assert "Its server is not connected." in words(opened.root)


def test_a_chosen_tool_that_is_described_otherwise_says_so_and_is_drawn_anew_when_chosen_again(
    open_explorer: Callable[..., Opened],
) -> None:
    source = FakeSource(*tools(ADD, OTHER))
    opened = open_explorer(source)
    opened.open("Add")
    source.offered = tools({**ADD, "description": "Adds three."}, OTHER)
    opened.after(source.change)
    assert "describes this otherwise now" in words(opened.root)
    opened.open("Add")
    assert "Adds three." in words(opened.root)
    assert "otherwise" not in words(opened.root)


def test_a_burst_of_changes_is_drawn_once(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD))
    opened = open_explorer(source)
    version = opened.list.version
    source.offered = tools(ADD, OTHER)

    def burst() -> None:
        for _ in range(500):
            source.change()

    opened.after(burst)
    assert opened.list.version == version + 1


def test_a_form_that_was_begun_is_still_there_after_a_look_at_others(open_explorer: Callable[..., Opened]) -> None:
    others = [{"name": f"t{n}"} for n in range(3)]
    opened = open_explorer(FakeSource(*tools(ADD, *others)))
    opened.open("Add")
    box(opened.root, "a").value = "41"
    for other in others:
        opened.open(other["name"])
    opened.open("Add")
    assert box(opened.root, "a").value == "41"


def test_only_the_last_panes_are_kept_and_one_that_runs_is(
    open_explorer: Callable[..., Opened], runner: FakeRunner
) -> None:
    source = FakeSource(*resources(*(f"x://{n}" for n in range(20))))
    opened = open_explorer(source, "resources")
    leaves = [row["cells"][0] for row in opened.rows if "open" not in row]
    opened.open(leaves[0])
    button(opened.root, "Read").click()
    for leaf in leaves[1:]:
        opened.open(leaf)
    assert len(opened_panes(opened)) <= explorer_card.KEPT + 1
    runner.futures[0].set_result(Read({"contents": [{"uri": "x://0", "text": "hello"}]}, uri="x://0"))
    opened.open(leaves[0])
    assert "hello" in words(opened.root)


def ticks() -> int:
    """How many cards follow the time at this moment."""
    return len(clock._listeners)  # pyright: ignore[reportPrivateUsage]


def opened_panes(opened: Opened) -> Any:
    return opened.card._static.__self__._kept  # type: ignore[attr-defined]


def test_an_explorer_that_is_over_follows_nothing(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD))
    open_explorer(source)
    cards.close_all()
    assert source.listeners == []


def test_an_explorer_that_is_over_leaves_no_widget_and_no_clock_behind(open_explorer: Callable[..., Opened]) -> None:
    ticking = ticks()  # of whatever else this process still shows
    source = FakeSource(*tools(OTHER), *resources("x://a"))
    opened = open_explorer(source, "servers")
    opened.open("demo")
    button(opened.root, "Log and stderr").value = True
    assert ticks() > ticking
    opened.page(type="tab", key="tools")
    opened.open("other")
    panes = [pane for _, pane in opened_panes(opened).values()]
    assert len(panes) == 2
    cards.close_all()
    assert all(pane.comm is None for pane in panes)
    assert ticks() == ticking


# --- resources -------------------------------------------------------------------------------------------------------


def names_of(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{'  ' * row['depth']}{row['name']}" for row in rows]


def test_resources_are_a_tree_by_their_addresses_and_templates_stand_apart() -> None:
    template: tuple[Kind, str, Mapping[str, Any]] = (
        "template",
        "demo",
        {"uriTemplate": "notes://{day}", "name": "day"},
    )
    found = Index.of([*resources("file:///a/b/one.txt", "file:///a/b/two.txt", "notes://today", "urn:x"), template])
    assert names_of(tree_rows(list(found.things.values()), Changes())) == [
        "demo",
        "  Templates",
        "    notes://{day}",
        "  file://a/b",
        "    one.txt",
        "    two.txt",
        "  notes://",
        "    today",
        "  urn:x",
    ]


def test_folders_of_a_large_tree_begin_closed_and_a_search_opens_them() -> None:
    found = list(Index.of(resources(*(f"file:///{n % 5}/{n}.txt" for n in range(500)))).things.values())
    assert sum(row.get("expandable", False) and row["open"] for row in tree_rows(found, Changes())) == 1
    assert all(row["open"] for row in tree_rows(found[:9], Changes(), open_all=True) if row.get("expandable"))


def test_several_resources_are_read_into_one_variable(open_explorer: Callable[..., Opened], runner: FakeRunner) -> None:
    source = FakeSource(*resources("notes://a", "notes://b"))
    source.variables["mine"] = "old"
    opened = open_explorer(source, "resources")
    for name in ("a", "b"):
        opened.page(type="search", text=f"notes://{name}")
        for row in opened.rows:
            opened.page(type="select", id=row["id"], on=True)
    assert "2 resources ticked." in words(opened.root), "folders are none"
    box(opened.root, "Name of the variable").value = "mine"
    assert "mine exists; it is replaced." in words(opened.root)
    button(opened.root, "Read into a variable").click()
    runner.futures[0].set_result(Read({"contents": [{"uri": "notes://a", "text": "hello"}]}, uri="notes://a"))
    runner.futures[1].set_result(Read({"contents": [{"uri": "notes://b", "text": '{"n": 1}'}]}, uri="notes://b"))
    assert source.variables["mine"] == {"notes://a": "hello", "notes://b": {"n": 1}}
    assert "mine holds 2 values by address." in words(opened.root)
    assert opened.list.selected == []


def test_a_name_that_is_none_cannot_be_bound(open_explorer: Callable[..., Opened]) -> None:
    opened = open_explorer(FakeSource(*resources("notes://a", "notes://b")), "resources")
    opened.page(type="select", id="resource\ndemo\nnotes://a", on=True)
    box(opened.root, "Name of the variable").value = "two words"
    assert button(opened.root, "Read into a variable").disabled


# --- servers and questions -------------------------------------------------------------------------------------------


def test_servers_stand_with_their_state_era_and_what_they_offer(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD))
    source.views = [
        ServerView("demo", "ready", "modern", "2026-07-28", counts={"tools": 1}),
        ServerView("gone", "lost"),
    ]
    opened = open_explorer(source, "servers")
    assert [row["badges"] for row in opened.rows] == [[["ready", "ok"], ["modern 2026-07-28", ""]], [["lost", "error"]]]
    assert opened.rows[0]["detail"] == "1 tool"


def test_a_server_is_asked_for_a_sign_of_life_and_its_latency_stands_in_the_list(
    open_explorer: Callable[..., Opened],
) -> None:
    source = FakeSource(*tools(ADD))
    opened = open_explorer(source, "servers")
    opened.open("demo")
    button(opened.root, "Ask for a sign of life").click()
    source.pings[0][1].set_result(0.0123)
    assert "demo answered within 12.3 ms." in words(opened.root)
    assert ["12 ms", ""] in opened.rows[0]["badges"]


def test_a_server_is_disconnected_stays_in_its_pane_and_can_be_connected_again(
    open_explorer: Callable[..., Opened], runner: FakeRunner
) -> None:
    source = FakeSource(*tools(ADD))
    opened = open_explorer(source, "servers")
    opened.open("demo")
    button(opened.root, "Disconnect").click()
    source.views = []
    runner.futures[0].set_result(None)
    assert "demo is disconnected." in words(opened.root)
    button(opened.root, "Connect again").click()
    assert runner.calls[-1] == ("reconnect", "demo")


def test_the_log_is_read_only_while_its_fold_is_open(open_explorer: Callable[..., Opened]) -> None:
    ticking = ticks()
    source = FakeSource(*tools(ADD))
    source.logs["demo"] = LogView("demo", [LogRow("info", "started", "stderr"), LogRow("error", "broken", "server")])
    opened = open_explorer(source, "servers")
    opened.open("demo")
    fold = button(opened.root, "Log and stderr")
    fold.value = True
    lines = [widget for widget in walk(opened.root) if type(widget).__name__ == "Rows"][1]
    assert [row["cells"][0] for row in lines._list.window(0, 9)] == ["started", "broken"]
    lines._handle_custom_msg({"type": "search", "text": "BROK"}, [])
    assert [row["cells"][0] for row in lines._list.window(0, 9)] == ["broken"]
    fold.value = False
    assert ticks() == ticking, "nobody looks any more"


def test_a_log_that_is_full_goes_on_with_what_is_new(open_explorer: Callable[..., Opened]) -> None:
    """A server's log keeps so many lines: it is as long after a new one as before."""
    source = FakeSource(*tools(ADD))
    source.logs["demo"] = LogView("demo", [LogRow("info", f"line {n}") for n in range(1_000)])
    opened = open_explorer(source, "servers")
    opened.open("demo")
    button(opened.root, "Log and stderr").value = True
    lines = [widget for widget in walk(opened.root) if type(widget).__name__ == "Rows"][1]
    assert lines.note == "1,000 lines"
    source.logs["demo"] = LogView("demo", [LogRow("info", f"line {n}") for n in range(5, 1_005)], dropped=5)
    for listener in list(clock._listeners):  # pyright: ignore[reportPrivateUsage]
        listener()
    last = lines._list.window(999, 1_000)
    assert [(row["id"], row["cells"][0]) for row in last] == [("1004", "line 1004")]
    assert lines.note == "1,000 lines, the last of 1,005"
    assert lines._list.row("4") is None, "a line has the id that it had"


def test_what_waits_for_an_answer_stands_in_its_tab_and_can_be_refused(open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD))
    opened = open_explorer(source, "waiting")
    assert opened.names == []
    source.asked = [Question("q1", "elicitation", "demo", "Which seat?", {})]
    opened.after(source.change)
    assert opened.list.tabs[4] == ["waiting", "Waiting 1"]
    opened.page(type="tab", key="tools")
    source.asked = []
    opened.after(source.change)
    assert [tab[0] for tab in opened.list.tabs] == ["tools", "resources", "prompts", "servers"]
    source.asked = [Question("q1", "elicitation", "demo", "Which seat?", {})]
    opened.after(source.change)
    opened.page(type="tab", key="waiting")
    opened.open("demo asks for a form")
    assert "Which seat?" in words(opened.root)
    button(opened.root, "Decline").click()
    assert source.answered == [("q1", "decline")]
    assert "Declined." in words(opened.root)


SEAT = Question(
    "q7",
    "elicitation",
    "demo",
    "Which seat?",
    {"requestedSchema": {"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}},
)


def asked(source: FakeSource) -> tuple[QuestionCard, list[Answer]]:
    """A question with its card in a cell."""
    answers: list[Answer] = []
    made: Any = present(SEAT, answers.append)
    source.asked, source.cards = [SEAT], {SEAT.id: made.card}
    return made, answers


def test_a_question_is_answered_from_the_explorer_by_the_very_card_of_its_cell(
    page: Page, open_explorer: Callable[..., Opened]
) -> None:
    source = FakeSource(*tools(ADD))
    made, answers = asked(source)
    opened = open_explorer(source, "waiting")
    opened.open("demo asks for a form")
    assert box(opened.root, "seat") is box(made.card.root, "seat"), "what is typed in one place stands in the other"
    box(opened.root, "seat").value = "12A"
    button(opened.root, "Submit").click()
    assert [(answer.action, answer.content) for answer in answers] == [("accept", {"seat": "12A"})]
    made.close(answers[0])
    assert "It has been answered." in words(opened.root)
    assert not [one for one in walk(opened.root) if getattr(one, "description", "") == "Submit"]


def test_a_question_whose_card_comes_later_is_quoted_until_then(
    page: Page, open_explorer: Callable[..., Opened]
) -> None:
    source = FakeSource(*tools(ADD))
    source.asked = [SEAT]
    opened = open_explorer(source, "waiting")
    opened.open("demo asks for a form")
    assert "It has no form on a page" in words(opened.root)
    made, _ = asked(source)
    opened.after(source.change)
    assert box(opened.root, "seat") is box(made.card.root, "seat")
    assert "It has no form" not in words(opened.root)


@pytest.mark.parametrize("end", ["another pane", "the explorer"])
def test_a_pane_that_goes_takes_no_question_with_it(page: Page, open_explorer: Callable[..., Opened], end: str) -> None:
    source = FakeSource(*tools(*({"name": f"tool_{number}"} for number in range(8))))
    made, answers = asked(source)
    opened = open_explorer(source, "waiting")
    opened.open("demo asks for a form")
    if end == "the explorer":
        opened.card.finish()
    else:
        opened.page(type="tab", key="tools")
        for number in range(8):
            opened.open(f"tool_{number}")
    box(made.card.root, "seat").value = "1A"
    button(made.card.root, "Submit").click()
    assert len(answers) == 1
    assert made.card.root.comm is not None, "it is not closed"


def test_a_question_that_was_answered_elsewhere_says_so(page: Page, open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD))
    source.asked = [SEAT]
    opened = open_explorer(source, "waiting")
    opened.open("demo asks for a form")
    source.asked = []
    opened.after(source.change)
    assert "It has been answered." in words(opened.root)
    assert button(opened.root, "Decline").disabled


# --- what is saved ---------------------------------------------------------------------------------------------------


def test_the_static_side_is_the_list_as_it_is_now(page: Page, open_explorer: Callable[..., Opened]) -> None:
    source = FakeSource(*tools(ADD))
    opened = open_explorer(source, only=True)
    still, live = page.outputs.values()
    assert set(live) == {"text/plain", CARD, VIEW}, "saved, it would only be an error beside the list"
    assert "demo.add" in still["text/plain"]
    assert VIEW not in still
    source.offered = tools(ADD, OTHER)
    opened.after(source.change)
    still = next(data for name, data in page.outputs.items() if name.endswith("-still"))
    assert "demo.other" in still["text/plain"]


def test_the_whole_explorer_is_saved_with_every_list(page: Page, open_explorer: Callable[..., Opened]) -> None:
    open_explorer(FakeSource(*tools(ADD), *resources("notes://a")))
    still = next(data for name, data in page.outputs.items() if name.endswith("-still"))
    assert "demo" in still["text/plain"]
    assert "demo.add" in still["text/html"]
    assert "notes://a" in still["text/html"]


def test_nothing_of_what_is_offered_is_in_widget_state(open_explorer: Callable[..., Opened]) -> None:
    opened = open_explorer(FakeSource(*tools({"name": "very_particular"}, OTHER)))
    state = {key: value for key, value in opened.list.get_state().items() if key not in ("_esm", "_css")}
    assert "particular" not in repr(state)
