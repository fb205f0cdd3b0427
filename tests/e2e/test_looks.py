"""Every card in one notebook, in every theme, narrow and wide: read by axe, measured, and pictured for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, SCREENSHOTS, Browser, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

SETUP = """%load_ext jupyter_mcp
import jupyter_mcp as mcp
async def model(request):
    return "A fox jumps."
mcp.model(model)
%mcp connect demo
%mcp ask_first demo.add;"""
# What a cell shows, and a text or a button that says that it is there.
CARDS: dict[str, tuple[str, str]] = {
    "servers": ("%mcp servers", "Disconnect"),
    "explorer": ("%mcp tools demo", "Search"),
    "form": ("mcp.servers['demo'].tools.book.form()", "Call"),
    "called": ("mcp.servers['demo'].tools.table.form()", "Call"),
    "elicitation": ("%mcp call demo.book city=Barcelona --background", "Submit"),
    "approval": ("%mcp call demo.add a=1 b=2 --background", "is about to be called"),
    "sampling": ("%mcp call demo.summarise text='A quick brown fox jumps.' --background", "asks for a model"),
    "page": ("%mcp call demo.join --background", "demo.join"),
    "answer": ("mcp.ask('What jumps?', new=True)", "A fox jumps."),
    "prompts": ("%mcp prompts demo", "Search"),
    "result": ("%mcp call demo.table", "Neptune"),
    "error": ("%mcp call demo.fail --no-raise", "This tool always fails."),
    "watch": ("%mcp watch demo notes://today", "Read now"),
    "roots": ("%mcp roots", "Roots"),
    "log": ("%mcp log demo", "log"),
    "tasks": ("%mcp tasks", "task"),
    "activity": ("%mcp activity", "demo.table"),
    "trace": ("%mcp trace", "tools/call"),
    "policy": ("%mcp policy", "demo.add"),
    "serve": ("%mcp serve --name looks", "Stop serving"),
    "help": ("%mcp help call", "%mcp call"),
}
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
INDEX = {name: at for at, name in enumerate(CARDS, 1)}


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    """All cards, live; the page is left to all tests of this file."""
    cells = [SETUP, *(code for code, _ in CARDS.values())]
    opened = shared_browser.open(shared_browser.server.write("looks.ipynb", cells, CURRENT))
    opened.page.evaluate("window.jupyterapp.shell.currentWidget.content.notebookConfig.windowingMode = 'none'")
    for index in range(len(cells)):
        opened.run(index)
        opened.wait_done(index)
    for name, (_, sign) in CARDS.items():
        opened.cell(INDEX[name]).scroll_into_view_if_needed()
        output = opened.output(INDEX[name])
        found = output.get_by_role("button", name=sign).or_(output.get_by_text(sign)).or_(output.get_by_label(sign))
        found.filter(visible=True).first.wait_for()
    call = opened.output(INDEX["called"]).get_by_role("button", name="Call", exact=True)
    opened.until_enabled(call)
    call.click()
    opened.output(INDEX["called"]).get_by_text("Neptune").filter(visible=True).first.wait_for()
    for name, answer in (("approval", "Allow once"), ("sampling", "Refuse")):  # folded, unless it was asked first
        look = opened.button("Look at it now", INDEX[name])
        look.or_(opened.button(answer, INDEX[name])).filter(visible=True).first.wait_for()
        if look.is_visible():
            look.click()
        opened.button(answer, INDEX[name]).wait_for()
    yield opened
    opened.page.set_viewport_size({"width": 1200, "height": 1000})
    shared_browser.close_pages()


def theme(notebook: Notebook, name: str) -> None:
    notebook.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
    notebook.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)


def picture(notebook: Notebook, card: str, kind: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    cell = notebook.cell(INDEX[card])
    cell.scroll_into_view_if_needed()
    cell.screenshot(path=SCREENSHOTS / f"looks-{kind}-{card}.png")


@pytest.mark.parametrize("name", THEMES)
def test_axe_finds_nothing_serious_in_any_card(notebook: Notebook, name: str) -> None:
    theme(notebook, name)
    found = violations(notebook.page)
    kind = name.replace("JupyterLab ", "").replace(" ", "-").lower()
    for card in CARDS:
        picture(notebook, card, kind)
    assert found == []


def test_in_a_narrow_page_nothing_sticks_out(notebook: Notebook) -> None:
    theme(notebook, "JupyterLab Light")
    notebook.page.set_viewport_size({"width": 480, "height": 900})
    script = """() => [...document.querySelectorAll('.jmcp')].flatMap(card => {
        const right = card.getBoundingClientRect().right + 1;
        return [...card.querySelectorAll('button, input, select, textarea, .widget-html')]
            .filter(part => part.offsetParent && part.getBoundingClientRect().right > right)
            .filter(part => !part.closest('pre, table, [role=grid], [role=treegrid], .jmcp-rows-grid'))
            .map(part => `${part.className}: ${part.textContent.slice(0, 80)}`);
    })"""
    assert notebook.page.evaluate(script) == []
    for card in ("approval", "elicitation", "serve", "explorer"):
        picture(notebook, card, "narrow")
    notebook.page.set_viewport_size({"width": 1200, "height": 1000})


def test_each_control_has_a_name_and_the_keyboard_sees_where_it_is(notebook: Notebook) -> None:
    nameless = """() => [...document.querySelectorAll('.jmcp button, .jmcp input, .jmcp select, .jmcp textarea')]
        .filter(one => one.offsetParent && !one.labels?.length && !one.title && !one.getAttribute('aria-label')
            && !one.getAttribute('aria-labelledby') && !one.textContent.trim())
        .map(one => one.outerHTML.slice(0, 160))"""
    assert notebook.page.evaluate(nameless) == []
    button = notebook.button("Stop watching", INDEX["watch"])
    button.focus()
    notebook.page.keyboard.press("Shift+Tab")
    notebook.page.keyboard.press("Tab")
    outline = button.evaluate("one => getComputedStyle(one).outlineStyle + getComputedStyle(one).outlineWidth")
    assert outline == "solid2px"


def test_a_card_that_waits_has_one_button_that_stands_out(notebook: Notebook) -> None:
    for card in ("elicitation", "approval", "sampling"):
        filled = notebook.output(INDEX[card]).locator(".jmcp-asks .mod-primary:visible")
        assert filled.count() == 1, card


def test_people_whom_movement_disturbs_and_forced_colours_are_heeded(notebook: Notebook) -> None:
    page = notebook.page
    button = notebook.button("Allow once", INDEX["approval"])
    page.emulate_media(reduced_motion="reduce", forced_colors="active")
    moving = """() => [...document.querySelectorAll('.jmcp *')]
        .filter(one => parseFloat(getComputedStyle(one).transitionDuration) > 0).length"""
    assert page.evaluate(moving) == 0
    assert button.evaluate("one => getComputedStyle(one).borderTopWidth") == "3px"
    picture(notebook, "approval", "forced-colours")
    page.emulate_media(reduced_motion="no-preference", forced_colors="none")
