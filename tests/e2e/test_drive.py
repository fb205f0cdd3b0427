"""Resources of connected servers in JupyterLab's file browser: a tree by URI, previews, cells and questions from them.

One page and one kernel for the whole file: each test leaves the notebook with other cells, and nothing else changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.explored import SETUP
from tests.e2e.lab import CURRENT, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator

    from tests.e2e.lab import Browser

PAGES = """
add("lab://pages/draw", "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" onload="parent.drawn = 1"/>')
add("lab://pages/work.ipynb", "application/x-ipynb+json", '{"cells": [], "metadata": {}, "nbformat": 4}')
%mcp connect lab $lab
"""
MARCH = ("lab", "lab:runs", "2027", "march")
SOURCES = "window.jupyterapp.shell.currentWidget.content.widgets.map(one => one.model.sharedModel.getSource())"
SHOWN = "() => { const w = window.jupyterapp.shell.currentWidget; return [w.context.path, w.node.className]; }"


class Drive:
    """The drive in the side bar, beside its notebook."""

    def __init__(self, notebook: Notebook) -> None:
        self.notebook, self.page = notebook, notebook.page
        self.panel = self.page.locator("#jupyter-mcp-resources")
        tab = self.page.locator("li.lm-TabBar-tab[title^='MCP resources']")
        tab.wait_for()
        tab.click()
        self.item("lab").wait_for()

    def item(self, name: str) -> Locator:
        """A row of the list."""
        exact = self.page.get_by_text(name, exact=True)
        return self.panel.locator(".jp-DirListing-item").filter(has=exact)

    def names(self) -> list[str]:
        return self.panel.locator(".jp-DirListing-itemText").all_inner_texts()

    def go(self, *folders: str) -> None:
        """From the top into these folders."""
        self.panel.locator(".jp-BreadCrumbs-home").click()
        for name in folders:
            self.item(name).dblclick()
            self.panel.locator(".jp-BreadCrumbs-item", has_text=name).first.wait_for()

    def open(self, name: str) -> Locator:
        """Open a file; what is in front then."""
        self.item(name).dblclick()
        self.page.wait_for_function(
            "name => window.jupyterapp.shell.currentWidget?.context?.path.endsWith('/' + name)", arg=name
        )
        return self.page.locator(".jp-Document:not(.lm-mod-hidden)")

    def back(self) -> None:
        """Close what was opened, and have the notebook in front."""
        self.page.evaluate(
            """() => {
                for (const one of [...window.jupyterapp.shell.widgets('main')])
                    if (one.context?.path.startsWith('MCP:')) one.dispose();
            }"""
        )
        self.page.wait_for_function("window.jupyterapp.shell.currentWidget?.context?.path.endsWith('.ipynb')")

    def menu(self, name: str, entry: str) -> None:
        """Choose something in a file's menu."""
        self.item(name).click(button="right")
        self.page.locator(".lm-Menu-item", has_text=entry).click()

    def drop(self, name: str, on: Locator, above: bool = False) -> None:
        """Drag a file over a cell, and let it go there."""
        start, end = self.item(name).bounding_box(), on.bounding_box()
        assert start is not None and end is not None
        mouse = self.page.mouse
        mouse.move(start["x"] + 60, start["y"] + 8)
        mouse.down()
        mouse.move(start["x"] + 90, start["y"] + 30, steps=4)
        mouse.move(end["x"] + 160, end["y"] + (4 if above else end["height"] - 4), steps=8)
        on.and_(self.page.locator(".jmcp-drop")).wait_for()
        mouse.up()

    def sources(self) -> list[str]:
        return self.page.evaluate(SOURCES)

    def until_source(self, source: str) -> int:
        """Wait for a cell; its index."""
        self.page.wait_for_function(f"source => {SOURCES}.includes(source)", arg=source)
        return self.sources().index(source)

    def cell(self, source: str, kind: str = "code") -> int:
        """A new cell at the end; its index."""
        script = """([source, kind]) => {
            const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
            cells.insertCell(cells.cells.length, {cell_type: kind, source});
        }"""
        self.page.evaluate(script, [source, kind])
        return len(self.sources()) - 1


@pytest.fixture(scope="module")
def drive(shared_browser: Browser) -> Generator[Drive]:
    shared_browser.server.notebooks.joinpath("folder").mkdir(exist_ok=True)
    name = shared_browser.server.write("drive.ipynb", [SETUP + PAGES, "1"], CURRENT)
    notebook = shared_browser.open(name)
    notebook.run(0)
    notebook.wait_done(0)
    yield Drive(notebook)
    shared_browser.close_pages()


def test_each_server_is_a_folder_with_folders_by_uri(drive: Drive) -> None:
    drive.go()
    assert drive.names() == ["lab"]
    drive.go("lab")
    assert drive.names() == ["lab:pages", "lab:runs"]
    drive.go(*MARCH)
    assert drive.names() == ["chart.png", "fit.py", "protocol.md", "readings.csv", "report.pdf", "settings.json"]
    drive.notebook.screenshots("drive")


@pytest.mark.parametrize(
    ("name", "shows", "selector"),
    [
        ("readings.csv", "", ".jp-CSVViewer, .jp-CSVDocument"),
        ("settings.json", "rate", ".jp-RenderedJSON"),
        ("protocol.md", "Warm up, then measure.", ".jp-MarkdownViewer"),
        ("fit.py", "def fit(x):", ".jp-FileEditor"),
        ("chart.png", "", ".jp-ImageViewer img"),
        ("report.pdf", "", ".jp-PDFViewer, .jp-PDFContainer"),
    ],
)
def test_a_resource_opens_as_its_type_is_shown_best_and_cannot_be_written(
    drive: Drive, name: str, shows: str, selector: str
) -> None:
    drive.go(*MARCH)
    front = drive.open(name)
    front.locator(selector).first.wait_for()
    expect(front).to_contain_text(shows)
    drive.page.wait_for_function("window.jupyterapp.shell.currentWidget.context.contentsModel?.writable === false")
    drive.back()


def test_what_a_server_draws_or_calls_a_notebook_runs_nothing(drive: Drive) -> None:
    drive.go("lab", "lab:pages")
    assert drive.names() == ["draw.svg", "work.ipynb.json"]
    drive.open("draw.svg").locator(".jp-ImageViewer img").wait_for()
    assert drive.page.evaluate("window.drawn") is None
    drive.open("work.ipynb.json").locator(".jp-RenderedJSON").wait_for()
    sessions = "[...window.jupyterapp.serviceManager.sessions.running()].map(one => one.path)"
    assert drive.page.evaluate(sessions) == ["drive.ipynb"]
    drive.back()


def test_the_menu_has_only_what_reads_and_the_keyboard_deletes_nothing(drive: Drive) -> None:
    drive.go(*MARCH)
    drive.item("fit.py").click(button="right")
    entries = drive.page.locator(".lm-Menu-itemLabel").all_inner_texts()
    assert entries == ["Open", "Insert a Cell That Reads It", "Ask a Model About It", "Copy Its URI"]
    drive.notebook.screenshots("drive-menu")
    drive.page.keyboard.press("Escape")
    for key in ("Delete", "F2"):
        drive.item("fit.py").click()
        drive.page.keyboard.press(key)
        drive.page.get_by_text("Resources of MCP servers can only be read.").first.wait_for()
    assert drive.page.locator(".jp-Dialog").count() == 0


def test_a_cell_that_reads_a_resource_and_a_question_about_it_come_from_its_menu(drive: Drive) -> None:
    drive.go(*MARCH)
    drive.menu("protocol.md", "Insert a Cell That Reads It")
    index = drive.until_source("%mcp read lab lab://runs/2027/march/protocol.md")
    drive.notebook.run(index)
    drive.notebook.wait_done(index)
    expect(drive.notebook.output(index)).to_contain_text("then measure")
    drive.menu("protocol.md", "Ask a Model About It")
    drive.until_source("%%mcp ask\n@lab:lab://runs/2027/march/protocol.md ")


def test_a_resource_is_dragged_between_cells_or_into_a_question(drive: Drive) -> None:
    drive.go(*MARCH)
    at = drive.cell("marker = 1")
    drive.notebook.cell(at).scroll_into_view_if_needed()
    drive.drop("settings.json", drive.notebook.cell(at), above=True)
    line = "%mcp read lab lab://runs/2027/march/settings.json"
    assert drive.until_source(line) == at
    assert drive.sources()[at + 1] == "marker = 1"
    asks = drive.cell("%%mcp ask\nWhat is in this?")
    drive.notebook.cell(asks).scroll_into_view_if_needed()
    drive.drop("settings.json", drive.notebook.cell(asks))
    drive.until_source("%%mcp ask\nWhat is in this? @lab:lab://runs/2027/march/settings.json")
    assert drive.page.locator(".jmcp-drop").count() == 0


def test_a_picture_dragged_into_markdown_that_is_written_becomes_its_attachment(drive: Drive) -> None:
    drive.go(*MARCH)
    at = drive.cell("Below: ", "markdown")
    cell = drive.notebook.cell(at)
    cell.scroll_into_view_if_needed()
    cell.dblclick()
    start, end = drive.item("chart.png").bounding_box(), cell.locator(".cm-content").bounding_box()
    assert start is not None and end is not None
    mouse = drive.page.mouse
    mouse.move(start["x"] + 60, start["y"] + 8)
    mouse.down()
    mouse.move(start["x"] + 90, start["y"] + 30, steps=4)
    mouse.move(end["x"] + 30, end["y"] + end["height"] / 2, steps=8)
    mouse.up()
    drive.page.wait_for_function(f"at => {SOURCES}[at].includes('(attachment:')", arg=at)
    kept = "window.jupyterapp.shell.currentWidget.content.widgets[at].model.attachments.toJSON()"
    drive.page.wait_for_function(f"at => Object.values({kept}).some(one => 'image/png' in one)", arg=at)


def test_a_server_that_comes_or_goes_is_seen_and_read_while_a_cell_computes(drive: Drive) -> None:
    drive.go()
    at = drive.cell("%mcp connect demo ;\nimport time; time.sleep(600)")
    drive.notebook.run(at)
    drive.item("demo").wait_for()
    drive.go("demo", "notes:")
    drive.open("today.md").locator(".jp-MarkdownViewer").get_by_text("water the plants").wait_for()
    drive.back()
    assert drive.notebook.running(at)
    drive.notebook.interrupt()
    drive.notebook.wait_done(at)
    off = drive.cell("%mcp disconnect demo")
    drive.notebook.run(off)
    drive.notebook.wait_done(off)
    drive.go()
    drive.item("demo").wait_for(state="detached")


def test_a_folder_of_the_file_browser_is_offered_as_a_root(drive: Drive) -> None:
    drive.page.evaluate("window.jupyterapp.commands.execute('filebrowser:activate')")
    folder = drive.page.locator("#filebrowser .jp-DirListing-item", has_text="folder")
    folder.click(button="right")
    drive.page.locator(".lm-Menu-item", has_text="Offer as a Root").click()
    drive.page.get_by_text("folder is offered as a root in drive.ipynb.").wait_for()
    at = drive.cell("import jupyter_mcp\n[root['name'] for root in jupyter_mcp.host.roots]")
    drive.notebook.run(at)
    drive.notebook.wait_done(at)
    assert "'folder'" in drive.notebook.text(at)
