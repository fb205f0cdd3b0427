"""A JupyterLab without our extension, as where pages come from another environment: what works all the same.

Live cards are drawn by ipywidgets and anywidget, what is saved is HTML, what would be a new cell is on the clipboard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import CURRENT, Browser, LabServer, Notebook
from tests.e2e.test_forms import BOOK, RESULT, fill, submit

if TYPE_CHECKING:
    from collections.abc import Generator

CELLS = ["%load_ext jupyter_mcp\n%mcp connect demo", "%mcp call demo.weather city=Paris", "%mcp", BOOK]
CONNECT, CALL, EXPLORE, FORM = range(4)


@pytest.fixture(scope="module")
def plain(shared_browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    with LabServer(tmp_path_factory.mktemp("plain"), ours=False) as server:
        browser = shared_browser.at(server)
        yield browser
        browser.close_pages()


@pytest.fixture(scope="module")
def notebook(plain: Browser) -> Notebook:
    opened = plain.open(plain.server.write("plain.ipynb", CELLS, CURRENT))
    for index in (CONNECT, CALL, EXPLORE):
        opened.run(index)
        opened.wait_done(index)
    return opened


def test_our_extension_is_not_there(notebook: Notebook) -> None:
    ours = "name => window.jupyterapp.listPlugins().filter(one => one.startsWith(name))"
    assert notebook.page.evaluate(ours, "jupyter-mcp-host") == []
    assert notebook.page.evaluate(ours, "@jupyterlab/notebook-extension") != []


def test_a_form_of_the_explorer_calls_its_tool(notebook: Notebook) -> None:
    cell = notebook.cell(EXPLORE)
    cell.get_by_label("Search everything").fill("add two")
    cell.locator(".jmcp-rows-row").filter(has_text="demo.add").first.click()
    cell.get_by_label("a", exact=True).fill("40")
    cell.get_by_label("b", exact=True).fill("2")
    notebook.until_enabled(notebook.button("Call", EXPLORE))
    notebook.button("Call", EXPLORE).click()
    cell.get_by_text("42").last.wait_for()


@pytest.mark.parametrize("clipboard", ["the page's", "none"])
def test_what_would_be_a_new_cell_is_on_the_clipboard(notebook: Notebook, clipboard: str) -> None:
    """A page at http://some-host has no clipboard of its own."""
    page, cell = notebook.page, notebook.cell(EXPLORE)
    if clipboard == "none":
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    else:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    kind = "magic" if clipboard == "none" else "Python"
    cell.locator(".jmcp-newcell-said").first.evaluate("one => { one.textContent = ''; }")  # of the press before
    cell.get_by_role("button", name=f"Copy as {kind}").click()
    cell.get_by_text("Copied; paste it into a cell.").wait_for()
    search = cell.get_by_label("Search everything")
    search.fill("")
    search.focus()
    page.keyboard.press("ControlOrMeta+V")
    pasted = "%mcp call demo.add a=40 b=2" if kind == "magic" else 'tools["add"](a=40, b=2)'
    page.wait_for_function("([box, text]) => box.value.includes(text)", arg=[search.element_handle(), pasted])
    search.fill("")


def test_a_question_is_answered_while_its_cell_runs(notebook: Notebook) -> None:
    notebook.run(FORM)
    notebook.button("Submit", FORM).wait_for()
    fill(notebook, FORM)
    submit(notebook, FORM)
    notebook.wait_done(FORM)
    assert RESULT in notebook.text(FORM)


def test_what_is_saved_is_read_without_a_kernel_and_without_us(notebook: Notebook, plain: Browser) -> None:
    notebook.save()
    plain.server.copy_saved(notebook.name, "again.ipynb")
    again = plain.open("again.ipynb")
    again.output(CALL).get_by_text("Paris").first.wait_for()
    again.output(EXPLORE).get_by_text("demo.weather").first.wait_for(state="attached")
    again.output(EXPLORE).get_by_text(re.compile("11 tools")).first.wait_for()
    again.output(FORM).get_by_text("Ada Lovelace").first.wait_for()
    assert "Error displaying widget" not in again.output(CALL).inner_text() + again.output(FORM).inner_text()
