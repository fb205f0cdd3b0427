"""Forms of deep schemas in a real page: entries, alternatives, null, variables, JSON and back, the call as a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.formed import SETUP
from tests.e2e.lab import CURRENT, Browser

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator

    from tests.e2e.lab import Notebook

FORM = "import jupyter_mcp as mcp\nmcp.servers['studio'].tools.{}.form()"
CELLS = [
    SETUP,
    "%mcp connect studio $studio\nreadings = [1.5, 2.5]\nlabel = 'spring'",
    FORM.format("draw"),
    FORM.format("tree"),
    FORM.format("total"),
    FORM.format("draw"),
]
DRAW, TREE, TOTAL, AGAIN = 2, 3, 4, 5


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    """One notebook and one kernel for all of it; the forms are open."""
    opened = shared_browser.open(shared_browser.server.write("schema-forms.ipynb", CELLS, CURRENT))
    for index in range(len(CELLS)):
        opened.run(index)
        opened.wait_done(index)
    yield opened
    shared_browser.close_pages()


def press(cell: Locator, name: str, at: int = 0) -> None:
    found = cell.get_by_role("button", name=name, exact=True)
    (found.nth(at) if at >= 0 else found.last).click()


def titled(cell: Locator, title: str) -> Locator:
    return cell.get_by_title(title, exact=True)


def until_focus(notebook: Notebook, tag: str, title: str = "") -> None:
    """Wait until the keyboard is in a control of that tag, and of that title if there is one."""
    script = """([tag, title]) => {
        const at = document.activeElement;
        return at.tagName === tag && (!title || at.title === title);
    }"""
    notebook.page.wait_for_function(script, arg=[tag, title])


def until_values(cell: Locator, values: list[str]) -> None:
    """Wait until the entries of the list of numbers are these."""
    from playwright.sync_api import expect

    boxes = cell.get_by_label("Entry of numbers", exact=True)
    expect(boxes).to_have_count(len(values))
    for at, value in enumerate(values):
        expect(boxes.nth(at)).to_have_value(value)


def test_a_deep_form_is_filled_by_hand(notebook: Notebook) -> None:
    cell = notebook.cell(DRAW)
    cell.get_by_text("Still needed: series: 1: name").wait_for()
    cell.get_by_label("name", exact=True).fill("North")
    press(cell, "Add to values")
    until_focus(notebook, "INPUT")
    notebook.page.keyboard.type("3")
    press(cell, "Add to values")
    until_focus(notebook, "INPUT")
    notebook.page.keyboard.type("x")
    cell.get_by_text("“x” is not a number; write it such as 2 or 1.5.").wait_for()
    notebook.page.keyboard.press("Backspace")
    notebook.page.keyboard.type("4.5")
    cell.get_by_label("look", exact=True).select_option(label="line")
    cell.get_by_label("width", exact=True).fill("2")
    notebook.until_enabled(notebook.button("Call", DRAW))
    notebook.screenshots("schema-form", DRAW)
    notebook.button("Call", DRAW).click()
    cell.get_by_text('"values": [3.0, 4.5]').first.wait_for()
    cell.get_by_text('"look": {"kind": "line", "width": 2.0}').first.wait_for()


def test_entries_are_moved_and_removed_with_the_keyboard_where_it_was(notebook: Notebook) -> None:
    cell = notebook.cell(TOTAL)
    for text in ("1", "2", "3"):
        press(cell, "Add to numbers")
        until_focus(notebook, "INPUT")
        notebook.page.keyboard.type(text)
    titled(cell, "Move entry 3 up").click()
    until_values(cell, ["1", "3", "2"])
    until_focus(notebook, "BUTTON", "Move entry 2 up")
    notebook.page.keyboard.press("Enter")
    until_values(cell, ["3", "1", "2"])
    until_focus(notebook, "BUTTON", "Move entry 1 down")
    titled(cell, "Remove entry 2").click()
    until_focus(notebook, "BUTTON", "Remove entry 2")
    until_values(cell, ["3", "2"])
    notebook.button("Call", TOTAL).click()
    cell.get_by_text("5.0").first.wait_for()


def test_a_schema_that_refers_to_itself_unfolds_as_far_as_one_goes(notebook: Notebook) -> None:
    from playwright.sync_api import expect

    cell = notebook.cell(TREE)
    cell.get_by_label("name", exact=True).first.fill("top")
    for count, name in enumerate(("below", "deeper"), 2):
        press(cell, "Add to inside")
        expect(cell.get_by_label("name", exact=True)).to_have_count(count)
        cell.get_by_label("name", exact=True).nth(count - 1).fill(name)
    notebook.screenshots("schema-form-recursive", TREE)
    notebook.button("Call", TREE).click()
    cell.get_by_text('"name":"top"').first.wait_for()


def test_null_absent_and_empty_are_three_states(notebook: Notebook) -> None:
    cell = notebook.cell(AGAIN)
    press(cell, "Edit as JSON")
    editor = cell.get_by_label("Arguments as JSON")
    editor.wait_for()
    editor.fill('{"series": [{"name": "a", "values": [], "look": {"kind": "bars"}}], "title": null}')
    press(cell, "Edit as JSON")
    cell.get_by_text("sends null").wait_for()
    how = cell.locator(".jmcp-field", has=notebook.page.get_by_text("sends null")).last.locator("select")
    how.select_option(label="empty text")
    cell.get_by_label("title", exact=True).wait_for()
    field = cell.locator(".jmcp-field", has=notebook.page.get_by_label("title", exact=True)).last
    field.locator("select").select_option(label="variable")
    cell.get_by_label("title: variable").fill("label")
    notebook.page.keyboard.press("Tab")
    cell.get_by_text("title=$label").first.wait_for(state="attached")
    notebook.until_enabled(notebook.button("Call", AGAIN))
    notebook.button("Call", AGAIN).click()
    cell.get_by_text('"title": "spring"').first.wait_for()


def test_json_is_not_rewritten_while_one_types_and_says_the_line_that_is_wrong(notebook: Notebook) -> None:
    cell = notebook.cell(AGAIN)
    press(cell, "Edit as JSON")
    editor = cell.get_by_label("Arguments as JSON")
    editor.wait_for()
    editor.fill("")
    typed = '{\n  "title": "a \\"quoted\\" word",\n  "series": [,]\n}'
    editor.press_sequentially(typed)
    cell.get_by_text("Invalid JSON at line 3").wait_for()
    assert editor.input_value() == typed
    cell.locator(".jmcp-code-wrong", has_text="3").wait_for()
    assert notebook.button("Call", AGAIN).is_disabled(), "nothing older is sent"
    notebook.screenshots("schema-form-json", AGAIN)
    press(cell, "Edit as JSON")
    cell.get_by_text("Invalid JSON at line 3").wait_for()
    assert editor.input_value() == typed, "what was typed stays"


def test_the_call_is_kept_as_a_line(notebook: Notebook) -> None:
    cell = notebook.cell(TOTAL)
    press(cell, "Copy as magic")
    cell.get_by_text("Copied; paste it into a cell.").or_(cell.get_by_text("Inserted below.")).first.wait_for()


def test_a_complex_meta_is_sent_from_the_fold(notebook: Notebook) -> None:
    cell = notebook.cell(TOTAL)
    press(cell, "Options")
    cell.get_by_label("_meta as JSON").fill(json.dumps({"example.org/trace": {"ids": [1, {"a": None}]}}))
    cell.get_by_label("Timeout", exact=True).fill("30")
    notebook.screenshots("schema-form-options", TOTAL)
    notebook.until_enabled(notebook.button("Call", TOTAL))
    notebook.button("Call", TOTAL).click()
    cell.get_by_text("example.org/trace").first.wait_for(state="attached")
