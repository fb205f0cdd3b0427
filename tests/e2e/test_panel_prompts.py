"""Prompts for a person: by name in the palette, in a cell's menu with the selection, pinned in the panel; and what is
said beside the panel: the status bar, a question out of sight, the settings of JupyterLab.

One page and one kernel for all but the last test.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator, Page

    from tests.e2e.lab import Browser

SETUP = "%load_ext jupyter_mcp\n%mcp connect demo"
CODE = "total = sum(range(10))\nprint(total)"
COMPUTES = "import time; time.sleep(600)"
BOOK = "%mcp call demo.book city=Barcelona"
SOURCES = "window.jupyterapp.shell.currentWidget.content.widgets.map(one => one.model.sharedModel.getSource())"
ATTEMPTS = 5
SETTINGS = "jupyter-mcp-host:settings"


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    cells = [SETUP, CODE, BOOK, COMPUTES, *(f"# {number}\n\n\n\n" for number in range(25))]
    opened = shared_browser.open(shared_browser.server.write("prompts.ipynb", cells, CURRENT))
    opened.run(0)
    opened.wait_done(0)
    status(opened.page).wait_for()
    yield opened
    shared_browser.close_pages()


def cancel(page: Page) -> None:
    """Close the form, not only what the browser suggests in it."""
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").wait_for(state="detached")


def status(page: Page) -> Locator:
    return page.locator(".jmcp-status")


def palette(page: Page, words: str) -> Locator:
    """What the palette finds. It closes when something else takes the focus, as a notebook does that has just opened:
    then it is opened once more."""
    field = page.locator(".lm-CommandPalette-input")
    for _ in range(ATTEMPTS):
        page.evaluate("window.jupyterapp.commands.execute('apputils:activate-command-palette')")
        with suppress(TimeoutError):
            field.fill(words, timeout=4_000)
            return page.locator(".lm-CommandPalette-item", has_text=words)
    pytest.fail("the palette does not stay open")


def language(page: Page) -> Locator:
    return page.get_by_role("combobox", name="language (required)")


def sources(page: Page) -> list[str]:
    return page.evaluate(SOURCES)


def until_source(page: Page, source: str) -> int:
    page.wait_for_function(f"source => {SOURCES}.includes(source)", arg=source)
    return sources(page).index(source)


def test_a_prompt_is_found_by_name_filled_in_and_becomes_a_cell(notebook: Notebook) -> None:
    page = notebook.page
    palette(page, "demo.review").click()
    dialog = page.get_by_role("dialog")
    expect(language(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Still needed: language")
    language(page).fill("pyth")
    page.locator(".jmcp-prompt option[value=python]").wait_for(state="attached")
    language(page).fill("python")
    page.get_by_role("button", name="See its messages").click()
    expect(dialog).to_contain_text("Please review this python code")
    notebook.screenshots("prompt-form")
    assert not violations(page)
    page.get_by_role("button", name="Insert as a cell").click()
    at = until_source(page, "%mcp prompt demo.review language=python")
    notebook.run(at)
    notebook.wait_done(at)
    expect(notebook.output(at)).to_contain_text("Please review this python code")


def test_the_menu_of_a_cell_puts_the_selection_into_the_argument_for_code(notebook: Notebook) -> None:
    page = notebook.page
    cell = notebook.cell(sources(page).index(CODE))
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    cell.locator(".cm-line").first.click(button="right", position={"x": 20, "y": 6})
    page.locator(".lm-Menu-item", has_text="MCP prompt with the selection").hover()
    page.locator(".lm-Menu-item", has_text="demo.review").click()
    expect(page.locator(".jmcp-prompt").get_by_label("code")).to_have_value("total = sum(range(10))")
    language(page).fill("python")
    page.get_by_role("button", name="Ask a model with it").click()
    page.wait_for_function(f"{SOURCES}.some(one => one.startsWith('%%mcp ask') && one.includes('sum(range(10))'))")


def test_a_pinned_prompt_is_a_button_in_the_panel(notebook: Notebook) -> None:
    page = notebook.page
    status(page).click()
    page.get_by_role("button", name="Pin demo.trip").click()
    pinned = page.get_by_role("group", name="Pinned prompts").get_by_role("button")
    expect(pinned).to_have_count(1)
    notebook.screenshots("prompts-pinned")
    pinned.click()
    page.locator(".jmcp-prompt").get_by_text("demo.trip").wait_for()
    cancel(page)
    page.get_by_role("button", name="Pin demo.trip").click()
    expect(pinned).to_have_count(0)


def test_a_form_is_filled_in_while_a_cell_computes(notebook: Notebook) -> None:
    page = notebook.page
    sleeps = sources(page).index(COMPUTES)
    notebook.run(sleeps)
    palette(page, "demo.review").click()
    language(page).fill("rust")
    page.get_by_role("button", name="See its messages").click()
    expect(page.get_by_role("dialog")).to_contain_text("Please review this rust code")
    assert notebook.running(sleeps)
    cancel(page)
    notebook.interrupt()
    notebook.wait_done(sleeps)


def test_a_question_is_said_when_it_waits_out_of_sight_and_taken_back_when_it_is_answered(notebook: Notebook) -> None:
    page = notebook.page
    page.evaluate("window.jupyterapp.shell.collapseRight()")  # the panel would show it
    panel = page.locator("#jupyter-mcp-panel")
    expect(panel).to_be_hidden()
    books = sources(page).index(BOOK)
    notebook.run(books)
    notebook.button("Submit", books).wait_for()
    expect(status(page)).to_contain_text("1 question waits")
    script = """() => {
        const notebook = window.jupyterapp.shell.currentWidget.content;
        notebook.activeCellIndex = notebook.widgets.length - 1;
        notebook.scrollToItem(notebook.activeCellIndex, 'end');
    }"""
    page.evaluate(script)
    notice = page.locator(".Toastify__toast", has_text="demo waits for your answer in prompts.ipynb")
    notice.wait_for()
    notebook.screenshots("question-out-of-sight")
    notice.get_by_role("button", name="Show the question").click()
    expect(notebook.button("Submit", books)).to_be_in_viewport()
    expect(panel).to_be_visible()
    notice.wait_for(state="detached")
    page.evaluate(script)
    notebook.interrupt()
    expect(status(page)).to_have_text("MCP: 1 server")


def test_commands_of_the_palette_write_cells_below_the_active_one(notebook: Notebook) -> None:
    page = notebook.page
    palette(page, "Explore MCP Servers").click()
    at = until_source(page, "%mcp")
    notebook.run(at)
    notebook.wait_done(at)
    expect(notebook.output(at)).to_contain_text("demo")
    expect(palette(page, "Show the MCP Question That Waits")).to_have_class(re.compile("lm-mod-disabled"))
    page.keyboard.press("Escape")


def test_another_notebook_in_front_has_prompts_of_its_own(notebook: Notebook, shared_browser: Browser) -> None:
    page = notebook.page
    other = shared_browser.server.write("other.ipynb", ["1"], CURRENT)
    page.evaluate("path => { window.jupyterapp.commands.execute('docmanager:open', {path}); }", other)
    page.wait_for_function("window.jupyterapp.shell.currentWidget?.context?.path === 'other.ipynb'")
    page.wait_for_function("window.jupyterapp.shell.currentWidget.node.contains(document.activeElement)")
    expect(status(page)).to_be_hidden()
    expect(palette(page, "demo.review")).to_have_count(0)
    page.keyboard.press("Escape")
    page.evaluate("window.jupyterapp.shell.currentWidget.dispose()")
    expect(status(page)).to_have_text("MCP: 1 server")


def test_settings_connect_servers_in_every_notebook(shared_browser: Browser) -> None:
    shared_browser.close_pages()
    command = {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"]}
    opened = shared_browser.open(shared_browser.server.write("settled.ipynb", ["%load_ext jupyter_mcp", "1"], CURRENT))
    page = opened.page
    change = "([id, key, value]) => window.jupyterapp.serviceManager.settings.save(id, JSON.stringify({[key]: value}))"
    page.evaluate(change, [SETTINGS, "defaultServers", {"usual": command}])
    try:
        page.reload()
        page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.context?.sessionContext?.session?.kernel")
        opened.until_idle()
        opened.run(0)
        page.get_by_text("Connected by default in settled.ipynb: usual").wait_for()
        expect(status(page)).to_have_text("MCP: 1 server")
    finally:
        page.evaluate("id => window.jupyterapp.serviceManager.settings.save(id, '{}')", SETTINGS)
        saved = page.evaluate("id => window.jupyterapp.serviceManager.settings.fetch(id)", SETTINGS)
        assert json.loads(saved["raw"] or "{}") == {}
        shared_browser.close_pages()
