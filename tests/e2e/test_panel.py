"""The panel's catalogue and the switch that serves a notebook: by mouse, by keyboard, in a narrow panel, while a cell
computes; with no server, one, and twenty servers of two thousand tools.

One page and one kernel for all but the last tests: each leaves cells behind, and nothing else changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, READY, Notebook
from tests.e2e.test_serve import Agent

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.e2e.lab import Browser

LOAD = "%load_ext jupyter_mcp\nimport jupyter_mcp as mcp"
CONNECT = "%mcp connect demo"
COMPUTES = "import time; time.sleep(600)"
VALUES = "city, numbers, api_key = 'Paris', [3, 1, 2], 'k'"
MANY = """from jupyter_mcp.server import Server
def made(number):
    server = Server(f"many-{number}")
    for tool in range(100):
        told = f"Tool {tool} of server {number}, which says at some length what it does with a city."
        server.add_tool(lambda city, days=1: "x", name=f"tool_{number}_{tool}", description=told)
    return server
for number in range(20):
    mcp.connect(f"many-{number}", made(number))"""
CELLS = (LOAD, CONNECT, COMPUTES, VALUES, MANY)
SOURCES = "window.jupyterapp.shell.currentWidget.content.widgets.map(one => one.model.sharedModel.getSource())"
FRONT = "path => window.jupyterapp.shell.currentWidget?.context?.path === path"


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    opened = shared_browser.open(shared_browser.server.write("catalogue.ipynb", CELLS, CURRENT))
    run(opened, LOAD)
    opened.page.get_by_role("tab", name="MCP", exact=True).click()
    panel(opened.page).wait_for()
    yield opened
    shared_browser.close_pages()


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="MCP", exact=True)


def catalogue(page: Page) -> Locator:
    return panel(page).locator(".jmcp-catalogue")


def row(page: Page, name: str) -> Locator:
    exact = page.get_by_text(name, exact=True)
    return catalogue(page).get_by_role("listitem").filter(has=exact)


def words(page: Page) -> Locator:
    return catalogue(page).get_by_role("searchbox", name="Search what servers offer")


def serving(page: Page) -> Locator:
    return panel(page).locator(".jmcp-serving")


def switch(page: Page) -> Locator:
    return serving(page).get_by_role("switch", name="Serve this notebook")


def until_source(page: Page, source: str) -> int:
    page.wait_for_function(f"source => {SOURCES}.includes(source)", arg=source)
    return page.evaluate(SOURCES).index(source)


def run(notebook: Notebook, source: str, *, wait: bool = True) -> int:
    """Run the cell that says so; where it is now."""
    at = notebook.page.evaluate(SOURCES).index(source)
    notebook.run(at)
    if wait:
        notebook.wait_done(at)
    return at


def served_file(notebook: Notebook, folder: Path) -> dict[str, str]:
    """What the kernel's runtime file says, which clients on this machine find it by."""
    found = [json.loads(file.read_text()) for file in (folder / "runtime" / "jupyter_mcp").glob("*.json")]
    return next(one for one in found if one["notebook"] == notebook.name and one["url"])


def test_without_a_server_the_panel_says_what_its_sections_are_for(notebook: Notebook) -> None:
    page = notebook.page
    expect(catalogue(page)).to_contain_text("What connected servers offer can be searched here.")
    expect(words(page)).to_be_hidden()
    expect(switch(page)).not_to_be_checked()
    notebook.screenshots("panel-empty")
    assert not violations(page)


def test_what_a_server_offers_is_searched_and_becomes_a_cell_with_its_gap_marked(notebook: Notebook) -> None:
    page = notebook.page
    run(notebook, CONNECT)
    expect(catalogue(page)).to_contain_text("in all")
    words(page).fill("forecast")
    expect(catalogue(page).get_by_role("status")).to_contain_text(" of ")
    notebook.screenshots("panel-catalogue")
    assert not violations(page)
    row(page, "Weather forecast").get_by_role("button", name="Insert a cell: call Weather forecast of demo").click()
    at = until_source(page, "%mcp call demo.weather city=$city")
    editor = notebook.cell(at).locator(".cm-content")
    expect(editor).to_be_focused()
    page.keyboard.type("Oslo")
    at = until_source(page, "%mcp call demo.weather city=Oslo")
    run(notebook, "%mcp call demo.weather city=Oslo")
    expect(notebook.output(at)).to_contain_text("Oslo")


def test_it_can_be_used_by_the_keyboard_alone(notebook: Notebook) -> None:
    page = notebook.page
    words(page).fill("planets as a table")
    row(page, "The planets").wait_for()
    expect(catalogue(page).get_by_role("listitem")).to_have_count(1)
    words(page).focus()
    for _ in range(4):  # the choice of kinds, the list that scrolls, and its first button
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Insert":
            break
    page.keyboard.press("Enter")
    until_source(page, "%mcp call demo.table")
    expect(row(page, "The planets").get_by_role("button")).to_be_focused()


def test_a_row_is_dragged_to_where_its_cell_shall_be(notebook: Notebook) -> None:
    page = notebook.page
    words(page).fill("")
    catalogue(page).get_by_role("combobox", name="Kind").select_option(label="Resources")
    expect(catalogue(page).get_by_role("status")).to_have_text("2 of 16")
    thing = catalogue(page).get_by_role("listitem").first
    target = notebook.cell(0)
    target.scroll_into_view_if_needed()
    start, end = thing.bounding_box(), target.bounding_box()
    assert start is not None and end is not None
    page.mouse.move(start["x"] + 20, start["y"] + start["height"] - 6)
    page.mouse.down()
    page.mouse.move(start["x"] - 40, start["y"] + 30, steps=4)
    page.mouse.move(end["x"] + 200, end["y"] + end["height"] - 4, steps=8)
    target.and_(page.locator(".jmcp-drop")).wait_for()
    page.mouse.up()
    page.wait_for_function(f"{SOURCES}[1].startsWith('%mcp read demo')")
    expect(page.locator(".jmcp-drop")).to_have_count(0)
    page.evaluate("window.jupyterapp.commands.execute('notebook:delete-cell')")
    page.wait_for_function(f"!{SOURCES}[1].startsWith('%mcp read demo')")
    catalogue(page).get_by_role("combobox", name="Kind").select_option(label="Everything")


def test_everything_works_while_a_cell_computes(notebook: Notebook, shared_browser: Browser) -> None:
    page = notebook.page
    run(notebook, VALUES)
    run(notebook, COMPUTES, wait=False)
    words(page).fill("add two")
    row(page, "Add two numbers").get_by_role("button").click()
    until_source(page, "%mcp call demo.add a=$a b=$b")
    switch(page).check()
    expect(serving(page)).to_contain_text("catalogue is served, for reading only.")
    expect(serving(page)).to_contain_text("city, numbers; 1 hidden")
    found = served_file(notebook, shared_browser.server.folder)
    agent = Agent(found["url"], found["token"])
    said = agent.ask("resources/read", uri=f"notebook://{found['slug']}/variables/city")
    assert "Paris" in said["contents"][0]["text"]
    expect(serving(page).get_by_role("list", name="Clients", exact=True)).to_contain_text("an-agent")
    expect(serving(page)).to_contain_text("an-agent: read variables/city")
    serving(page).scroll_into_view_if_needed()
    notebook.screenshots("panel-serving")
    assert not violations(page)
    shown = panel(page).inner_html()
    assert found["token"] not in shown and found["url"] not in shown
    switch(page).uncheck()
    expect(serving(page)).to_contain_text("Off.")
    computing = page.evaluate(SOURCES).index(COMPUTES)
    assert notebook.running(computing)
    notebook.interrupt()
    notebook.wait_done(computing)


def test_the_line_that_serves_is_written_as_a_cell_and_the_switch_follows_it(notebook: Notebook) -> None:
    page = notebook.page
    serving(page).get_by_role("button", name="Write as a cell").click()
    at = until_source(page, "%mcp serve")
    notebook.run(at)
    notebook.wait_done(at)
    expect(switch(page)).to_be_checked()
    notebook.button("Stop serving", at).click()
    expect(switch(page)).not_to_be_checked()


def test_two_thousand_tools_of_twenty_servers_are_as_many_rows_as_are_looked_at(notebook: Notebook) -> None:
    page = notebook.page
    words(page).fill("")
    run(notebook, MANY)
    expect(catalogue(page).get_by_role("status")).to_contain_text("2,016 in all")
    rows = catalogue(page).get_by_role("listitem")
    expect(rows).to_have_count(50)
    catalogue(page).get_by_role("button", name="Show more (1,966 left)").click()
    expect(rows).to_have_count(150)
    words(page).fill("many-7 tool_7_42")
    row(page, "tool_7_42").wait_for()
    expect(rows).to_have_count(1)
    words(page).fill("")
    expect(rows).to_have_count(50)
    notebook.screenshots("panel-two-thousand")


def test_a_narrow_panel_cuts_nothing_off(notebook: Notebook) -> None:
    page = notebook.page
    width = panel(page).evaluate("node => node.clientWidth")
    assert width <= 260
    assert panel(page).evaluate("node => node.scrollWidth <= node.clientWidth")


def test_another_notebook_in_front_has_a_catalogue_and_a_switch_of_its_own(
    notebook: Notebook, shared_browser: Browser
) -> None:
    page = notebook.page
    other = shared_browser.server.write("beside-the-catalogue.ipynb", ["1"], CURRENT)
    page.evaluate("path => { window.jupyterapp.commands.execute('docmanager:open', {path}); }", other)
    page.wait_for_function(FRONT, arg=other)
    page.wait_for_function(READY)
    expect(catalogue(page)).to_be_hidden()
    expect(serving(page)).to_be_hidden()
    page.evaluate("window.jupyterapp.shell.currentWidget.dispose()")
    page.wait_for_function(FRONT, arg="catalogue.ipynb")
    expect(catalogue(page).get_by_role("listitem")).to_have_count(50)


def test_a_restarted_kernel_offers_and_serves_nothing_until_it_is_asked_to(notebook: Notebook) -> None:
    page = notebook.page
    switch(page).check()
    expect(serving(page)).to_contain_text("is served")
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart(); }")
    expect(catalogue(page)).to_be_hidden()
    page.wait_for_function(READY)
    run(notebook, LOAD, wait=False)
    expect(switch(page)).not_to_be_checked()
    expect(catalogue(page)).to_contain_text("can be searched here")
