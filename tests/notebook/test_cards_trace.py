"""The live trace: filtered, paused, opened, sent again; what is saved of it is the table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.journal import MAX_MESSAGE, Journal
from jupyter_mcp.notebook.cards.trace import TracePanel
from tests.notebook.page import FakeRunner, Page, button, capture, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "hunter2secret"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


@pytest.fixture
def journal() -> Journal:
    found = Journal()
    found.wire("demo", "send", call(1, "login", user="ann", password=SECRET), 90)
    found.wire("demo", "receive", {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, 40)
    found.wire("demo", "send", call(2, "add", a=1), 90)
    found.wire("demo", "receive", {"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no"}}, 40)
    return found


@pytest.fixture
def runner() -> FakeRunner:
    return FakeRunner()


@pytest.fixture
def panel(page: Page, journal: Journal, runner: FakeRunner) -> Iterator[TracePanel]:
    made = TracePanel(journal, runner)
    yield made
    made.card.discard()


def call(id: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def lines(panel: TracePanel) -> Any:
    return next(widget for widget in walk(panel.card.root) if type(widget).__name__ == "Rows")


def say(panel: TracePanel, **message: Any) -> None:
    """The page says something about the list."""
    lines(panel)._handle_custom_msg(message, [])


def shown(panel: TracePanel) -> list[str]:
    rows = lines(panel)._list
    return [row["cells"][0] + " " + row["cells"][1] for row in rows.window(0, 100)]


def markup(panel: TracePanel) -> str:
    return "".join(widget.value for widget in walk(panel.card.root) if type(widget).__name__ == "HTML")


def test_the_newest_request_is_first_and_the_order_can_be_turned(panel: TracePanel) -> None:
    assert shown(panel) == ["→ tools/call add", "→ tools/call login"]
    button(panel.card.root, "Oldest first").value = True
    assert shown(panel) == ["→ tools/call login", "→ tools/call add"]


def test_the_filter_box_takes_the_language_of_the_trace(panel: TracePanel) -> None:
    say(panel, type="search", text="status:error")
    assert shown(panel) == ["→ tools/call add"]
    assert lines(panel).note == "1 found"
    say(panel, type="search", text="ann")
    assert shown(panel) == ["→ tools/call login"]
    say(panel, type="search", text="")
    assert len(shown(panel)) == 2
    assert lines(panel).note == ""


def test_a_wrong_filter_says_what_is_wrong_and_shows_what_it_showed(panel: TracePanel) -> None:
    say(panel, type="search", text="status:error")
    say(panel, type="search", text="stattus:error")
    assert "stattus" in lines(panel).note
    assert "Did you mean status" in lines(panel).note
    assert shown(panel) == ["→ tools/call add"]


def test_what_the_magic_filtered_by_stands_in_the_box(page: Page, journal: Journal, runner: FakeRunner) -> None:
    panel = TracePanel(journal, runner, "demo", "login")
    assert (lines(panel).query, shown(panel)) == ("login", ["→ tools/call login"])


def test_news_are_shown_at_the_next_tick_unless_it_is_paused(panel: TracePanel, journal: Journal) -> None:
    journal.wire("demo", "send", call(3, "late"), 50)
    panel.tick()
    assert shown(panel)[0] == "→ tools/call late"
    button(panel.card.root, "Pause").value = True
    journal.wire("demo", "send", call(4, "later"), 50)
    panel.tick()
    assert shown(panel)[0] == "→ tools/call late"
    button(panel.card.root, "Resume").value = False
    assert shown(panel)[0] == "→ tools/call later"


def test_a_flood_of_messages_costs_one_update_of_the_list(panel: TracePanel, journal: Journal) -> None:
    before = lines(panel).version
    for id in range(5_000):
        journal.wire("demo", "receive", {"method": "notifications/progress", "params": {"progress": id}}, 50)
    panel.tick()
    panel.tick()
    assert lines(panel).version == before + 1
    assert lines(panel).count == 1_000


def test_a_cleared_view_is_empty_and_the_record_stays(panel: TracePanel, journal: Journal) -> None:
    say(panel, type="open", id="x1")
    button(panel.card.root, "Clear view").click()
    assert shown(panel) == []
    assert "password" not in markup(panel)
    assert len(journal.entries()) == 4


def test_an_opened_row_shows_its_messages_as_json_without_secrets(panel: TracePanel) -> None:
    say(panel, type="open", id="x1")
    said = markup(panel)
    assert "tools/call login · demo · ok" in said
    assert "&quot;password&quot;: &quot;•••&quot;" in said
    assert "90 B sent" in said
    assert SECRET not in said
    assert said.count('aria-label="Copy ') == 2, "one for each message"


def test_a_message_below_is_opened_by_itself(panel: TracePanel) -> None:
    say(panel, type="toggle", id="x3", open=True)
    assert shown(panel)[:3] == ["→ tools/call add", "→ tools/call ", "← tools/call: error "]
    say(panel, type="open", id="m4")
    assert "-32602" in markup(panel)
    assert markup(panel).count("<details") == 1
    say(panel, type="toggle", id="x3", open=False)
    assert len(shown(panel)) == 2


def test_what_is_forgotten_can_still_be_read_until_less_may_be_shown(panel: TracePanel, journal: Journal) -> None:
    say(panel, type="open", id="x1")
    for _ in range(1_000):
        journal.wire("demo", "receive", {"method": "notifications/progress", "params": {}}, 50)
    panel.tick()
    assert "&quot;ann&quot;" in markup(panel)
    journal.redactor.hide("key", "user")
    panel.tick()
    assert "&quot;ann&quot;" not in markup(panel)


def test_what_a_server_says_is_text(panel: TracePanel, journal: Journal) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    journal.wire("demo", "send", call(9, nasty, x=nasty), 50)
    journal.wire("demo", "receive", {"jsonrpc": "2.0", "id": 9, "result": {nasty: nasty}}, 50)
    panel.tick()
    say(panel, type="open", id="x5")
    assert "<img" not in markup(panel)
    assert "&lt;img" in markup(panel)


def test_a_request_is_sent_again_with_what_is_masked_on_the_page(panel: TracePanel, runner: FakeRunner) -> None:
    say(panel, type="open", id="x1")
    button(panel.card.root, "Send again").click()
    assert runner.calls == [("call", "demo", "login", {"user": "ann", "password": SECRET})]
    state = json.dumps([widget.get_state() for widget in walk(panel.card.root)], default=str)
    assert SECRET not in state + markup(panel)


def test_what_is_no_request_of_ours_cannot_be_sent_again(panel: TracePanel, journal: Journal) -> None:
    journal.wire("demo", "receive", {"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage"}, 50)
    journal.wire("demo", "send", {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}, 50)
    journal.wire("demo", "send", call(8, "big"), MAX_MESSAGE + 1)
    panel.tick()
    for name in ("x5", "x6", "x7"):
        say(panel, type="open", id=name)
        labels = [widget.description for widget in walk(panel.card.root) if type(widget).__name__ == "Button"]
        assert "Send again" not in labels, name


def test_the_cell_that_repeats_it_has_a_placeholder_for_the_secret(panel: TracePanel) -> None:
    say(panel, type="open", id="x1")
    cells = next(widget for widget in walk(panel.card.root) if type(widget).__name__ == "NewCell")
    told: list[dict[str, Any]] = []

    def send(content: dict[str, Any], buffers: Any = None) -> None:
        told.append(content)

    cells.send = send
    cells._handle_custom_msg({"type": "want", "key": "cell", "view": "v"}, [])
    assert told[0]["source"].startswith("%mcp call demo login --fill PASSWORD")
    assert SECRET not in str(told)


def test_what_is_saved_is_the_table_as_it_is_filtered(panel: TracePanel, page: Page, journal: Journal) -> None:
    panel.card.show()
    (still, live) = page.outputs.values()
    assert "login" in still["text/plain"]
    assert live["text/plain"] == "", "an explorer's content is an output of its own"
    say(panel, type="search", text="add")
    panel.card.redraw()
    (still, _) = page.outputs.values()
    assert "login" not in still["text/plain"]


def test_what_is_saved_is_drawn_anew_when_it_has_become_quiet(
    panel: TracePanel, page: Page, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.card.show()
    journal.wire("demo", "send", call(3, "late"), 50)
    panel.tick()
    panel.tick()
    (still, _) = page.outputs.values()
    assert "late" not in still["text/plain"]
    monkeypatch.setattr("jupyter_mcp.notebook.cards.trace.QUIET_SECONDS", -1.0)
    panel.tick()
    (still, _) = page.outputs.values()
    assert "late" in still["text/plain"]


def test_it_ends_with_its_card(panel: TracePanel, page: Page) -> None:
    panel.card.show()
    panel.begin()
    panel.card.finish()
    assert panel._ticker._stopped.is_set()  # pyright: ignore[reportPrivateUsage]
