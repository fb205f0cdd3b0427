"""Questions in the side panel: the card of the cell a second time. Whichever is answered first wins, and the other
becomes the record; after a reload of the page it is there again, after a restart of the kernel it is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, READY, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator, Page

    from tests.e2e.lab import Browser

SETUP = """%load_ext jupyter_mcp
%mcp connect demo
import jupyter_mcp as mcp
from jupyter_mcp.testing import ScriptedModel
"""
BOOK = "%mcp call demo.book city=Barcelona"
NOTE = """use = {"type": "tool_use", "id": "1", "name": "demo__add_note", "input": {"day": "friday", "text": "bread"}}
mcp.model(ScriptedModel([[use], "Noted."]))
answer = mcp.ask("Note it.", new=True)"""
REST = [f"# {number}\n\n\n\n" for number in range(25)]
BOOKED, NOTED = 1, 2
WAITING = "MCP: 1 server, 1 question waits"


@pytest.fixture
def notebook(browser: Browser) -> Notebook:
    opened = browser.open(browser.server.write("asked.ipynb", [SETUP, BOOK, NOTE, *REST], CURRENT))
    opened.run(0)
    opened.wait_done(0)
    open_panel(opened.page)
    return opened


@pytest.fixture
def second(browser: Browser) -> Generator[Browser]:
    yield browser
    browser.close_pages()


def status(page: Page) -> Locator:
    return page.locator(".jmcp-status")


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="MCP")


def open_panel(page: Page) -> None:
    status(page).click()
    panel(page).wait_for()


def fill(place: Locator) -> None:
    place.get_by_label("Your name").fill("Ada Lovelace")
    place.get_by_label("E-mail").fill("ada@example.org")
    place.get_by_label("Arrival").fill("2027-03-01")
    place.get_by_label("Guests").fill("3")
    place.get_by_label("Guests").press("Tab")
    expect(place.get_by_role("button", name="Submit")).to_be_enabled()


def to_the_end(notebook: Notebook) -> None:
    """Where no card is seen."""
    script = """() => {
        const notebook = window.jupyterapp.shell.currentWidget.content;
        notebook.activeCellIndex = notebook.widgets.length - 1;
        notebook.scrollToItem(notebook.activeCellIndex, 'end');
    }"""
    notebook.page.evaluate(script)


def test_a_question_is_answered_in_the_panel_while_its_cell_waits(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(BOOKED)
    card = panel(page).locator(".jmcp-asks")
    card.wait_for()
    fill(card)
    expect(notebook.cell(BOOKED).get_by_label("Your name")).to_have_value("Ada Lovelace")
    notebook.screenshots("panel-question")
    assert not violations(page)
    card.get_by_role("button", name="Submit").click()
    notebook.wait_done(BOOKED)
    assert "Ada Lovelace" in notebook.text(BOOKED)
    card.wait_for(state="detached")
    expect(panel(page).get_by_text("Questions", exact=True)).to_be_hidden()


def test_one_that_is_answered_in_its_cell_leaves_the_panel(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(BOOKED)
    panel(page).locator(".jmcp-asks").wait_for()
    fill(notebook.cell(BOOKED))
    notebook.button("Submit", BOOKED).click()
    notebook.wait_done(BOOKED)
    panel(page).locator(".jmcp-asks").wait_for(state="detached")


def test_an_approval_whose_cell_has_scrolled_away_is_given_in_the_panel(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(NOTED)
    card = panel(page).locator(".jmcp-asks")
    card.wait_for()
    to_the_end(notebook)
    panel(page).get_by_role("button", name="Show its cell").click()
    expect(notebook.button("Allow once", NOTED)).to_be_in_viewport()
    to_the_end(notebook)
    notebook.screenshots("panel-approval")
    card.get_by_role("button", name="Allow once").click()
    notebook.wait_done(NOTED)
    card.wait_for(state="detached")
    expect(status(page)).to_have_text("MCP: 1 server")


def test_a_reloaded_page_has_the_question_again_and_it_can_be_answered(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(BOOKED)
    panel(page).locator(".jmcp-asks").wait_for()
    notebook.save()
    page.reload()
    expect(status(page)).to_have_text(WAITING)
    if not panel(page).is_visible():
        open_panel(page)
    card = panel(page).locator(".jmcp-asks")
    card.wait_for()
    fill(card)
    card.get_by_role("button", name="Submit").click()
    expect(status(page)).to_have_text("MCP: 1 server")
    notebook.until_idle()


def test_a_restarted_kernel_asks_nothing_and_works_again(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(BOOKED)
    panel(page).locator(".jmcp-asks").wait_for()
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart(); }")
    panel(page).locator(".jmcp-asks").wait_for(state="detached")
    page.wait_for_function(READY)
    notebook.run(0)
    expect(status(page)).to_have_text("MCP: 1 server")
    notebook.run(BOOKED)
    panel(page).locator(".jmcp-asks").wait_for()
    notebook.interrupt()
    panel(page).locator(".jmcp-asks").wait_for(state="detached")


def test_a_question_of_another_notebook_is_a_line_that_goes_there(notebook: Notebook, second: Browser) -> None:
    page = notebook.page
    notebook.run(BOOKED)
    panel(page).locator(".jmcp-asks").wait_for()
    other = second.server.write("beside.ipynb", ["1"], CURRENT)
    page.evaluate("path => { window.jupyterapp.commands.execute('docmanager:open', {path}); }", other)
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.context?.path === 'beside.ipynb'")
    line = panel(page).get_by_role("button", name="demo waits for your answer in asked.ipynb")
    line.click()
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.context?.path === 'asked.ipynb'")
    card = panel(page).locator(".jmcp-asks")
    card.get_by_role("button", name="Decline").click()
    card.wait_for(state="detached")


def test_two_pages_of_one_notebook_show_it_and_one_answer_ends_both(notebook: Notebook, second: Browser) -> None:
    twin = second.open("asked.ipynb")
    open_panel(twin.page)
    notebook.run(BOOKED)
    here, there = (panel(one.page).locator(".jmcp-asks") for one in (notebook, twin))
    here.wait_for()
    there.wait_for()
    there.get_by_role("button", name="Decline").click()
    there.wait_for(state="detached")
    here.wait_for(state="detached")
    notebook.wait_done(BOOKED)
