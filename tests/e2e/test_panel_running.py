"""The panel's running calls, with Cancel, and what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator, Page

    from tests.e2e.lab import Browser

SETUP = """%load_ext jupyter_mcp
import asyncio
import jupyter_mcp as mcp
from jupyter_mcp.server import AsyncContext, Server
lab = Server("lab")
hurry = asyncio.Event()
@lab.tool
async def bake(ctx: AsyncContext, loaves: int = 10_000) -> str:
    for loaf in range(loaves):
        await ctx.progress(loaf, loaves, f"loaf {loaf}")
        await asyncio.sleep(0.1)
    return "baked"
@lab.tool
def refuse() -> str:
    raise ValueError("the oven is cold")
mcp.connect("lab", lab);"""
BAKE = "%mcp call lab.bake"
REFUSE = "%mcp call lab.refuse"
SETTING, BAKING, REFUSING = range(3)


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    opened = shared_browser.open(shared_browser.server.write("running.ipynb", [SETUP, BAKE, REFUSE], CURRENT))
    opened.run(SETTING)
    opened.wait_done(SETTING)
    opened.page.get_by_role("tab", name="MCP", exact=True).click()
    yield opened
    shared_browser.close_pages()


def panel(page: Page) -> Locator:
    return page.get_by_role("region", name="MCP")


def section(page: Page, name: str) -> Locator:
    return panel(page).locator("summary", has_text=name).filter(visible=True)


def test_a_running_call_is_seen_with_how_far_it_is_and_cancelled(notebook: Notebook) -> None:
    page = notebook.page
    expect(section(page, "Running")).to_have_count(0)
    notebook.run(BAKING)
    row = panel(page).locator(".jmcp-running").get_by_role("listitem", name="lab.bake")
    expect(row).to_contain_text("of 10,000 · loaf")
    assert int(row.get_by_role("progressbar").get_attribute("max") or 0) == 10_000
    notebook.screenshots("panel-running")
    assert not violations(page)
    row.get_by_role("button", name="Cancel lab.bake").click()
    row.wait_for(state="detached")
    notebook.wait_done(BAKING)
    assert "lab.bake was cancelled in the panel" in notebook.text(BAKING)
    expect(section(page, "Running")).to_have_count(0)


def test_what_was_done_is_listed_with_how_it_ended(notebook: Notebook) -> None:
    page = notebook.page
    activity = panel(page).locator(".jmcp-activity")
    section(page, "Activity").scroll_into_view_if_needed()
    newest = activity.get_by_role("listitem").first
    expect(newest).to_contain_text("lab.bake")
    expect(newest).to_contain_text("cancelled")
    notebook.run(REFUSING)
    expect(newest).to_contain_text("lab.refuse")
    newest.locator("summary").click()
    expect(newest.locator("pre")).to_contain_text("the oven is cold")
    activity.scroll_into_view_if_needed()
    notebook.screenshots("panel-activity")
