"""A saved notebook is a document: reopened without its kernel's state it still shows everything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.e2e.lab import CURRENT, Browser, Notebook
from tests.e2e.test_forms import BOOK, fill, open_notebook, submit

if TYPE_CHECKING:
    from playwright.sync_api import Locator

CELLS = (
    "%mcp tools",
    BOOK,
    "%mcp call demo.weather city=Oslo",
    "%mcp call demo.table",
    "%mcp call demo.chart",
    "%mcp call demo.fail",
    "%mcp read demo notes://today",
    "%mcp servers",
    "%mcp call demo.nothing",
    "%mcp call demo.slow seconds=2",
)
LIVE = (1, 8)  # explorers stay live after their cell: their content is saved, and JupyterLab says what it misses
CARD = "application/vnd.jupyter-mcp.card+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def test_reopened_in_a_fresh_page_it_shows_its_content_and_no_broken_widget(browser: Browser) -> None:
    notebook = open_notebook(browser, CURRENT, *CELLS)
    for index in range(1, len(CELLS) + 1):
        notebook.run(index)
        if index == 2:
            fill(notebook, 2)
            submit(notebook, 2)
        notebook.wait_done(index)
    for index, name in ((1, "tools"), (4, "table"), (5, "chart"), (6, "error"), (7, "resource"), (8, "servers")):
        notebook.screenshots(name, index)
    assert notebook.page.locator(".jmcp-still:visible").count() == 0, "beside a live explorer its picture is left out"
    notebook.save()
    notebook.cell(0).scroll_into_view_if_needed()  # what is far above has been taken off the page
    notebook.output(0).get_by_text("demo").first.wait_for()

    saved = browser.server.read(notebook.name)
    outputs = [output for cell in saved.cells for output in cell.outputs if "data" in output]
    for output in outputs:
        plain = output["data"].get("text/plain", "")
        assert "VBox" not in plain and "HBox" not in plain, "the plain side is content, not the name of a widget"
        if VIEW in output["data"]:
            assert set(output["data"]) == {CARD, VIEW, "text/plain"} and not plain

    browser.server.copy_saved(notebook.name, "reopened.ipynb")
    browser.close_pages()
    again = browser.open("reopened.ipynb")
    again.output(2).get_by_text("Ada Lovelace").first.wait_for()
    read: list[str] = []
    for index in range(len(CELLS) + 1):
        again.cell(index).scroll_into_view_if_needed()  # what is far below has not been drawn yet
        if index not in LIVE:
            again.output(index).get_by_text(re.compile(r"\S")).first.wait_for()
            read.append(again.output(index).inner_text())
    text = "\n".join(read)
    for expected in ("Ada Lovelace", "Oslo", "Neptune", "This tool always fails.", "UsageError", "Done: 10 steps."):
        assert expected in text
    for index in LIVE:
        assert again.output(index).locator("table").first.is_visible(), "an explorer's content is saved"
    assert again.output(5).locator("img").count() == 1
    assert not re.search("model not found|Error displaying widget|Loading widget", text), text
    again.screenshots("reopened", 2)


def find(notebook: Notebook, words: str, title: str) -> Locator:
    """Run the cell with the explorer, search it and choose what is left."""
    from playwright.sync_api import expect

    notebook.run(1)
    notebook.wait_done(1)
    cell = notebook.cell(1)
    cell.get_by_label("Search everything").fill(words)
    row = cell.get_by_role("grid").get_by_role("row")
    expect(row).to_have_count(1)
    row.locator(".jmcp-rows-words").click()
    cell.get_by_role("heading", name=title).wait_for()
    return cell


def test_the_explorer_of_tools_calls_a_tool(browser: Browser) -> None:
    notebook = open_notebook(browser, CURRENT, "%mcp tools")
    cell = find(notebook, "two numbers", "Add two numbers")
    cell.get_by_label("a", exact=True).first.fill("2")
    cell.get_by_label("b", exact=True).first.fill("40")
    notebook.page.keyboard.press("Tab")
    button = notebook.button("Call", 1)
    notebook.until_enabled(button)
    button.click()
    cell.get_by_text("42").first.wait_for()
    notebook.screenshots("tool-browser", 1)


def test_a_tool_is_switched_off_for_models_in_the_explorer(browser: Browser) -> None:
    from playwright.sync_api import expect

    notebook = open_notebook(browser, CURRENT, "%mcp tools", "%mcp policy why demo.add")
    cell = find(notebook, "two numbers", "Add two numbers")
    switch = cell.get_by_role("checkbox", name="Models may use it")
    expect(switch).to_be_checked()
    switch.click()
    cell.get_by_text("switched off (disable demo.add)").first.wait_for()
    notebook.screenshots("tool-switched-off", 1)
    notebook.run(2)
    notebook.wait_done(2)
    notebook.output(2).get_by_text("demo.add is refused when a model begins it").first.wait_for()
