"""A card whose kernel is gone: what is left of it on the page, in the file and in the next page that opens it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.lab import CURRENT, READY, Notebook
from tests.e2e.test_forms import BOOK, open_notebook

if TYPE_CHECKING:
    from tests.e2e.lab import Browser

CARD = "application/vnd.jupyter-mcp.card+json"
BROKEN = re.compile("model not found|Error displaying widget|Loading widget", re.IGNORECASE)
CELLS = ("%mcp servers", "%mcp watch demo notes://today", BOOK)
SERVERS, WATCH, FORM = 1, 2, 3


def running(browser: Browser) -> Notebook:
    """Two cards that stay live, and a question that waits."""
    notebook = open_notebook(browser, CURRENT, *CELLS)
    for index in (SERVERS, WATCH):
        notebook.run(index)
        notebook.wait_done(index)
    notebook.run(FORM)
    notebook.button("Submit", FORM).wait_for()
    notebook.button("Disconnect", SERVERS).wait_for()
    return notebook


def readable(notebook: Notebook) -> None:
    """Every card's content is there to read, once, and nothing live."""
    from playwright.sync_api import expect

    for index, words in ((SERVERS, "demo"), (WATCH, "notes://today"), (FORM, "A room in Barcelona")):
        notebook.cell(index).scroll_into_view_if_needed()
        expect(notebook.output(index).get_by_text(words).first).to_be_visible()
        assert not BROKEN.search(notebook.output(index).inner_text())
        expect(notebook.output(index).locator(".jmcp")).to_have_count(0)


def test_reopened_without_its_kernel_each_card_shows_what_was_saved(browser: Browser) -> None:
    notebook = running(browser)
    notebook.save()
    saved = browser.server.read(notebook.name)
    cards = [output["data"][CARD] for cell in saved.cells for output in cell.outputs if CARD in output.get("data", {})]
    explorers = [card["explorer"] for card in cards]
    assert explorers[:2] == [True, True]
    assert explorers[2:] and not any(explorers[2:]), "the call, when it has a card already, and its question"
    assert "widgets" not in saved.metadata
    browser.server.copy_saved(notebook.name, "gone.ipynb")
    browser.close_pages()
    again = browser.open("gone.ipynb")
    readable(again)
    again.screenshots("cards-reopened", FORM)


def test_a_notebook_that_is_not_trusted_shows_it_too(browser: Browser) -> None:
    notebook = running(browser)
    notebook.save()
    saved = browser.server.read(notebook.name)
    saved.cells[FORM].outputs[-1]["data"]["text/html"] += "<p>and more</p><script>window.ran = true</script>"
    browser.server.write_saved("foreign.ipynb", saved)
    browser.close_pages()
    again = browser.open("foreign.ipynb")
    readable(again)
    again.output(FORM).get_by_text("and more").wait_for()
    assert again.page.evaluate("window.ran") is None


def test_when_its_kernel_is_restarted_a_card_says_so_and_shows_its_last_state(browser: Browser) -> None:
    notebook = running(browser)
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.context.sessionContext.restartKernel()")
    for index in (SERVERS, WATCH, FORM):
        line = notebook.output(index).get_by_text("Run the cell again to use it")
        line.first.wait_for()
        assert line.count() == notebook.output(index).locator(".jmcp-output").count()
    readable(notebook)
    notebook.screenshots("cards-expired", FORM)


def test_a_page_that_is_loaded_again_finds_its_cards_live(browser: Browser) -> None:
    notebook = open_notebook(browser, CURRENT, "%mcp servers")
    notebook.run(1)
    notebook.wait_done(1)
    notebook.button("Disconnect", 1).wait_for()
    notebook.save()
    notebook.page.reload()
    notebook.page.wait_for_function(READY, timeout=90_000)
    notebook.button("Disconnect", 1).click()
    notebook.output(1).get_by_text("demo is disconnected.").wait_for()


@pytest.mark.parametrize("line", ["%mcp servers", "%mcp watch demo notes://today"])
def test_a_cell_that_is_run_again_has_one_live_card_and_its_page_one_model(browser: Browser, line: str) -> None:
    notebook = open_notebook(browser, CURRENT, line, "import ipywidgets\nlen(ipywidgets.widgets.widget._instances)")
    counts: list[Any] = []
    for _ in range(3):
        notebook.run(1)
        notebook.wait_done(1)
        notebook.until_idle()
        notebook.run(2)
        notebook.wait_done(2)
        notebook.until_idle()
        counts.append(notebook.text(2))
        assert notebook.output(1).locator(".jmcp").count() == 1
    assert counts[1:] == counts[:1] * 2
