"""The panel's servers: connected, stopped and read about while a cell computes; no notebook, one, many."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator, Page

    from tests.e2e.lab import Browser

DEMO = f"{sys.executable} -m jupyter_mcp.demo"
COMPUTES = "import time; time.sleep(600)"
MANY = """from jupyter_mcp.server import Server
for number in range(20):
    mcp.connect(f"many-{number}", Server(f"many-{number}"))"""
SETUP, COMPUTING, MANY_SERVERS = range(3)


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    server = shared_browser.server
    (server.notebooks / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"filed": {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"]}}})
    )
    cells = ["%load_ext jupyter_mcp\nimport jupyter_mcp as mcp", COMPUTES, MANY]
    opened = shared_browser.open(server.write("panel.ipynb", cells, CURRENT))
    opened.run(SETUP)
    opened.wait_done(SETUP)
    yield opened
    (server.notebooks / ".mcp.json").unlink()
    shared_browser.close_pages()


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="MCP")


def servers(page: Page) -> Locator:
    return panel(page).locator(".jmcp-servers")


def row(page: Page, name: str) -> Locator:
    return servers(page).get_by_role("listitem", name=name, exact=True)


def sources(page: Page) -> list[str]:
    script = "window.jupyterapp.shell.currentWidget.content.widgets.map(one => one.model.sharedModel.getSource())"
    return page.evaluate(script)


def test_the_panel_opens_and_says_that_there_is_no_server_yet(notebook: Notebook) -> None:
    page = notebook.page
    page.get_by_role("tab", name="MCP", exact=True).click()
    expect(servers(page)).to_contain_text("This notebook is connected to no server yet.")
    notebook.screenshots("panel-empty")


def test_a_command_is_connected_while_a_cell_computes(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(COMPUTING)
    servers(page).get_by_text("Connect a server").click()
    servers(page).get_by_label("Name").fill("demo")
    servers(page).get_by_label("Command or address").fill(DEMO)
    servers(page).get_by_role("button", name="Connect", exact=True).click()
    expect(row(page, "demo")).to_contain_text("ready")
    expect(row(page, "demo")).to_contain_text("11 tools")
    expect(servers(page).get_by_label("Name")).to_have_value("")
    assert notebook.running(COMPUTING)
    notebook.screenshots("panel-servers")
    assert not violations(page)


def test_a_server_of_a_file_is_asked_about_with_its_command_first(notebook: Notebook) -> None:
    page = notebook.page
    notebook.interrupt()
    notebook.wait_done(COMPUTING)
    servers(page).get_by_role("button", name="Connect filed").click()
    card = panel(page).locator(".jmcp-asks")
    expect(card).to_contain_text("jupyter_mcp.demo")
    notebook.screenshots("panel-asks")
    card.get_by_role("button", name="Start once").click()
    expect(row(page, "filed")).to_contain_text("ready")


def test_its_log_is_opened_it_is_connected_again_and_stopped(notebook: Notebook) -> None:
    page = notebook.page
    one = row(page, "demo")
    one.get_by_role("button", name="Log").click()
    expect(page.get_by_label("Log of demo")).to_be_visible()
    one.get_by_role("button", name="Reconnect demo").click()
    expect(one).to_contain_text("ready")
    expect(page.get_by_label("Log of demo")).to_be_visible()
    one.get_by_role("button", name="Stop").click()
    expect(one).to_have_count(0)


def test_what_does_not_start_says_why_and_can_be_tried_again(notebook: Notebook) -> None:
    page = notebook.page
    servers(page).get_by_label("Name").fill("none")
    servers(page).get_by_label("Command or address").fill("no-such-program-anywhere")
    page.keyboard.press("Enter")
    expect(row(page, "none")).to_contain_text("'no-such-program-anywhere' not found")
    expect(row(page, "none").get_by_role("button", name="Connect none")).to_be_enabled()
    notebook.screenshots("panel-failed")
    row(page, "none").get_by_role("button", name="Stop").click()
    expect(row(page, "none")).to_have_count(0)


def test_the_same_is_written_as_a_cell(notebook: Notebook) -> None:
    page = notebook.page
    servers(page).get_by_label("Name").fill("demo")
    servers(page).get_by_label("Command or address").fill("demo")
    servers(page).get_by_role("button", name="Write as a cell").click()
    assert "%mcp connect demo demo" in sources(page)


def test_twenty_servers_have_a_row_each(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run(MANY_SERVERS + 1 if "%mcp connect demo demo" in sources(page)[: MANY_SERVERS + 1] else MANY_SERVERS)
    expect(servers(page).get_by_role("listitem", name="many-")).to_have_count(20)
    notebook.screenshots("panel-many")
