"""The explorer in a real page: found by typing, driven by keys, merged while it is open, readable when it is saved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.explored import MANY, SETUP
from tests.e2e.lab import CURRENT, Browser

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator

    from tests.e2e.lab import Notebook

CELLS = [
    SETUP,
    "%mcp connect demo\n%mcp connect lab $lab",
    "%mcp",
    "@lab.tool\ndef calibrate(sensor: str) -> str:\n    'New since the explorer was opened.'\n    return sensor",
    "%mcp call demo.add_note day=today text=hello;",
    "print(sorted(resources))",
    MANY,
    "%mcp connect many $many",
    "%mcp tools many",
    "%mcp call demo.book city=Paris",
]
CONNECT, EXPLORE, CALIBRATE, NOTE, PRINT, MANY_SETUP, MANY_CONNECT, MANY_TOOLS, BOOK = range(1, 10)


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    """One notebook and one kernel for all of it; the explorer is open."""
    opened = shared_browser.open(shared_browser.server.write("explorer.ipynb", CELLS, CURRENT))
    for index in (0, CONNECT, EXPLORE):
        opened.run(index)
        opened.wait_done(index)
    yield opened
    shared_browser.close_pages()


@pytest.fixture
def cell(notebook: Notebook) -> Locator:
    """The cell with the explorer, its search empty."""
    found = notebook.cell(EXPLORE)
    search = found.get_by_label("Search everything")
    search.scroll_into_view_if_needed()
    search.fill("")
    return found


def tab(cell: Locator, name: str) -> None:
    cell.get_by_role("tab", name=re.compile(f"^{name} ")).click()
    cell.get_by_role("tab", name=re.compile(f"^{name} "), selected=True).wait_for()


def row(cell: Locator, name: str) -> Locator:
    return cell.get_by_role("row").filter(has_text=name).first


def choose(cell: Locator, name: str, heading: str = "") -> None:
    """Click a row and wait for its pane."""
    row(cell, name).locator(".jmcp-rows-words").click()
    cell.get_by_role("heading", name=heading or name).wait_for()


def test_a_tool_is_found_as_one_types_and_opened_by_keys_alone(notebook: Notebook, cell: Locator) -> None:
    tab(cell, "Tools")
    keys = notebook.page.keyboard
    cell.get_by_label("Search everything").focus()
    keys.type("sensor delete")
    cell.get_by_text("1 of 24 fit").wait_for()
    keys.press("ArrowDown")
    keys.press("Enter")
    cell.get_by_role("heading", name="wipe").wait_for()
    assert row(cell, "wipe").get_attribute("aria-current") == "true"
    assert row(cell, "wipe").get_by_text("destructive").is_visible()
    keys.press("/")
    assert cell.get_by_label("Search everything").evaluate("box => box === document.activeElement")
    keys.press("Escape")
    cell.get_by_text("24 things offered").wait_for()


def test_letters_in_the_list_jump_to_a_name_and_no_command_of_the_notebook_hears_them(
    notebook: Notebook, cell: Locator
) -> None:
    tab(cell, "Tools")
    cells = notebook.page.locator(".jp-Notebook .jp-Cell").count()
    grid = cell.get_by_role("grid")
    grid.focus()
    notebook.page.keyboard.press("Home")
    notebook.page.keyboard.type("dd")  # in command mode that deletes a cell
    notebook.page.wait_for_timeout(900)  # letters that come later begin a new word
    notebook.page.keyboard.type("mea")
    active = cell.locator(".jmcp-rows-active")
    active.get_by_text("Measure once").wait_for()
    assert grid.get_attribute("aria-activedescendant") == active.get_attribute("id")
    assert notebook.page.locator(".jp-Notebook .jp-Cell").count() == cells


def test_a_server_that_changes_its_list_is_merged_while_one_works_in_a_form(notebook: Notebook, cell: Locator) -> None:
    """What others complain of: list_changed is ignored until one starts anew."""
    tab(cell, "Tools")
    choose(cell, "Measure once")
    cell.get_by_label("sensor").first.fill("oven")
    notebook.run(CALIBRATE)
    notebook.wait_done(CALIBRATE)
    cell.get_by_text("list changed: 1 new").wait_for()
    assert row(cell, "calibrate").get_by_text("new", exact=True).is_visible()
    assert cell.get_by_label("sensor").first.input_value() == "oven"
    notebook.screenshots("explorer-changed", EXPLORE)
    row(cell, "calibrate").click()
    cell.get_by_text("New since the explorer was opened.").last.wait_for()
    cell.get_by_text("list changed").wait_for(state="hidden")


def test_resources_are_a_tree_and_are_shown_by_their_type(notebook: Notebook, cell: Locator) -> None:
    tab(cell, "Resources")
    assert row(cell, "lab://runs/2027/march").get_attribute("aria-expanded") == "true"
    for name, shown in (("readings.csv", "Tuesday"), ("protocol.md", "Warm up"), ("settings.json", "units")):
        choose(cell, name)
        cell.get_by_role("button", name="Read", exact=True).click()
        cell.get_by_text(shown).last.wait_for()
    notebook.screenshots("explorer-resources", EXPLORE)
    choose(cell, "chart.png")
    cell.get_by_role("button", name="Read", exact=True).click()
    picture = cell.get_by_role("img", name=re.compile("image.png"))
    picture.wait_for()
    assert picture.evaluate("image => image.naturalWidth > 0")
    choose(cell, "report.pdf")
    cell.get_by_role("button", name="Read", exact=True).click()
    with notebook.page.expect_download() as saved:
        cell.get_by_role("button", name="Save report.pdf").click()
    assert saved.value.suggested_filename == "report.pdf"
    cell.get_by_role("button", name="Show the PDF here").click()
    cell.get_by_role("button", name="Hide the PDF", expanded=True).wait_for()
    shown = cell.locator("object[type='application/pdf']")
    begins = "async one => (await (await fetch(one.data)).text()).slice(0, 5)"
    assert shown.evaluate(begins) == "%PDF-"
    if notebook.page.evaluate("navigator.pdfViewerEnabled"):
        viewer = "chrome-extension://"  # the page's own, in a frame of its own
        while not any(frame.url.startswith(viewer) for frame in notebook.page.frames):
            notebook.page.wait_for_event("frameattached")
    notebook.screenshots("explorer-pdf")
    cell.get_by_role("button", name="Hide the PDF").click()
    shown.wait_for(state="detached")


def test_several_resources_become_one_variable(notebook: Notebook, cell: Locator) -> None:
    tab(cell, "Resources")
    cell.get_by_label("Search everything").fill("settings")
    row(cell, "settings.json").locator(".jmcp-rows-tick").click()
    cell.get_by_label("Search everything").fill("protocol")
    row(cell, "protocol.md").locator(".jmcp-rows-tick").click()
    cell.get_by_text("2 resources ticked.").wait_for()
    cell.get_by_role("button", name="Read into a variable").click()
    cell.get_by_text("holds 2 values by address").wait_for()
    notebook.run(PRINT)
    notebook.wait_done(PRINT)
    assert "lab://runs/2027/march/protocol.md" in notebook.text(PRINT)


def test_a_template_has_fields_suggestions_and_tells_what_it_reads(notebook: Notebook, cell: Locator) -> None:
    """What others complain of: templates without input fields, queries that are not expanded."""
    tab(cell, "Resources")
    choose(cell, "notes://{day}", "The note of a day")
    cell.get_by_text("Still needed: day").wait_for()
    day = cell.get_by_label("day", exact=True)
    day.fill("tu")
    cell.locator("datalist option[value=tuesday]").wait_for(state="attached")
    day.fill("tuesday")
    cell.get_by_text("notes://tuesday").first.wait_for()
    cell.get_by_role("button", name="Read", exact=True).click()
    cell.get_by_text("bake bread").last.wait_for()


def test_a_resource_that_is_watched_says_when_what_is_shown_is_old(notebook: Notebook, cell: Locator) -> None:
    tab(cell, "Resources")
    choose(cell, "today", "Today's note")
    cell.get_by_role("button", name="Watch", exact=True).click()
    cell.get_by_text("Watched; it changed 0 times.").wait_for()
    assert row(cell, "today").get_by_text("watched").is_visible()
    notebook.run(NOTE)
    notebook.wait_done(NOTE)
    cell.get_by_text("it changed 1 time; what is shown below is older").wait_for()
    cell.get_by_role("button", name="Watch", exact=True).click()
    cell.get_by_text("No longer watched.").wait_for()


def test_a_prompt_is_filled_in_with_suggestions_and_its_messages_are_seen_by_role(
    notebook: Notebook, cell: Locator
) -> None:
    tab(cell, "Prompts")
    choose(cell, "Plan a trip")
    cell.get_by_label("country").fill("Japan")
    cell.get_by_label("city").fill("K")
    cell.locator("datalist option[value=Kyoto]").wait_for(state="attached")
    cell.get_by_label("city").fill("Kyoto")
    cell.get_by_role("button", name="See its messages").click()
    cell.get_by_role("button", name="Insert the messages as Markdown").wait_for()
    assert cell.get_by_text("user", exact=True).is_visible()
    notebook.screenshots("explorer-prompts", EXPLORE)
    cell.get_by_role("button", name="Copy as magic").click()
    cell.get_by_text(re.compile(r"^(Inserted below|Copied)")).wait_for()
    below = notebook.cell(EXPLORE + 1)
    if cell.get_by_text("Inserted below").is_visible():  # without our JupyterLab extension it is on the clipboard
        below.get_by_text("%mcp prompt demo.trip country=Japan city=Kyoto").wait_for()
        notebook.command("notebook:delete-cell")
        notebook.cell(CALIBRATE).get_by_text("def calibrate").wait_for()


def test_a_server_is_pinged_disconnected_and_connected_again(notebook: Notebook, cell: Locator) -> None:
    tab(cell, "Servers")
    icon = row(cell, "Laboratory").locator("img[src^='blob:']")
    icon.wait_for()
    assert icon.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    assert notebook.page.evaluate("window.iconRan === undefined"), "an icon runs nothing"
    row(cell, "demo").click()
    cell.get_by_role("button", name="Ask for a sign of life").click()
    cell.get_by_text("demo answered within").wait_for()
    cell.get_by_role("button", name="Log and stderr").click()
    cell.get_by_label("Search the log").wait_for()
    notebook.screenshots("explorer-servers", EXPLORE)
    cell.get_by_role("button", name="Disconnect").click()
    cell.get_by_text("demo is disconnected.").wait_for()
    cell.get_by_role("button", name="Connect again").click()
    cell.get_by_text("Connected again.").wait_for()
    row(cell, "demo").get_by_text("ready").wait_for()


def test_an_open_question_is_answered_from_the_explorer(notebook: Notebook, cell: Locator) -> None:
    """Another cell waits for it, and has its form too."""
    notebook.run(BOOK)
    tab(cell, "Waiting")
    row(cell, "demo asks for a form").click()
    submit = cell.get_by_role("button", name="Submit")
    submit.wait_for()
    cell.get_by_label("Your name").fill("Ada Lovelace")
    cell.get_by_label("E-mail").fill("ada@example.org")
    cell.get_by_label("Arrival").fill("2027-03-01")
    notebook.page.keyboard.press("Tab")
    in_its_cell = notebook.cell(BOOK).get_by_label("Your name")
    notebook.page.wait_for_function("box => box.value === 'Ada Lovelace'", arg=in_its_cell.element_handle())
    notebook.until_enabled(submit)
    notebook.screenshots("explorer-waiting", EXPLORE)
    submit.click()
    notebook.wait_done(BOOK)
    notebook.cell(BOOK).get_by_text("Booked in Paris for Ada Lovelace").first.wait_for()
    cell.get_by_text("It has been answered.").wait_for()


def test_the_page_holds_a_few_of_two_thousand_tools_and_finds_any(notebook: Notebook) -> None:
    for index in (MANY_SETUP, MANY_CONNECT, MANY_TOOLS):
        notebook.run(index)
        notebook.wait_done(index)
    cell = notebook.cell(MANY_TOOLS)
    grid = cell.get_by_role("grid")
    cell.get_by_text("tool_0", exact=True).wait_for()
    assert grid.get_attribute("aria-rowcount") == "2000"
    grid.focus()
    notebook.page.keyboard.press("End")
    cell.get_by_text("tool_1999", exact=True).wait_for()
    assert cell.locator(".jmcp-rows-row").count() < 60
    cell.get_by_label("Search everything").fill("number 1234")
    choose(cell, "tool_1234")
    notebook.screenshots("explorer-many", MANY_TOOLS)


def test_on_a_narrow_page_the_pane_stands_below_the_list(notebook: Notebook, cell: Locator) -> None:
    tab(cell, "Tools")
    choose(cell, "Measure once")
    heading = cell.get_by_role("heading", name="Measure once")
    notebook.page.set_viewport_size({"width": 620, "height": 1000})
    try:
        grid = cell.get_by_role("grid")
        notebook.page.wait_for_function("node => node.clientWidth > 380", arg=grid.element_handle())
        below, above = heading.bounding_box(), grid.bounding_box()
        assert below is not None
        assert above is not None
        assert below["y"] > above["y"] + above["height"] - 1
        notebook.screenshots("explorer-narrow", EXPLORE)
    finally:
        notebook.page.set_viewport_size({"width": 1200, "height": 1000})


def test_what_would_be_saved_is_the_lists_without_a_widget(notebook: Notebook, cell: Locator) -> None:
    outputs = notebook.outputs(EXPLORE)
    still = "".join(outputs[0]["data"]["text/html"])
    assert "demo.weather" in still
    assert "notes://{day}" in still
    assert "application/vnd.jupyter.widget-view+json" not in outputs[0]["data"]
