"""The live trace in a real page: it follows what happens, filters, opens a request, sends it again, and is saved."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, Browser
from tests.e2e.test_forms import open_notebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator

MAKE = """import jupyter_mcp as mcp

mcp.answer({"city": "Paris", "nights": 2}, times=9)
%mcp call demo.add a=1 b=2;
%mcp call demo.weather city=Oslo days=2;
try:
    mcp.servers["demo"].tools.fail(message="no")
except mcp.ToolError:
    pass
%mcp read demo notes://today;
%mcp call demo.add_note day=today text=hello;
"""
LATE = "%mcp call demo.chart title=Later;"
FLOOD = """import time
from jupyter_mcp.runtime import state

journal = state.get_host().journal
began = time.process_time()
for _ in range(50):
    for number in range(10):
        journal.wire("demo", "receive", {"method": "notifications/progress", "params": {"progress": number}}, 60)
    time.sleep(0.05)
spent = time.process_time() - began
print(f"flood {spent / 2.5:.3f}")
"""


def test_requests_are_followed_filtered_opened_and_sent_again(browser: Browser) -> None:
    notebook = open_notebook(browser, CURRENT, MAKE, "%mcp trace", LATE, FLOOD)
    for index in (1, 2):
        notebook.run(index)
        notebook.wait_done(index)
    cell = notebook.cell(2)
    grid = cell.locator(".jmcp-rows-grid[aria-label=Trace]")  # a tree only while there is something to unfold
    grid.wait_for()

    def row(text: str) -> Locator:
        return grid.get_by_role("row").filter(has_text=re.compile(text))

    row("tools/call.*fail.*error").first.wait_for()
    row("tools/call.*weather.*ok").first.wait_for()

    # it follows what another cell does
    notebook.run(3)
    notebook.wait_done(3)
    row("tools/call.*chart.*ok").first.wait_for()
    notebook.screenshots("trace", 2)

    # the language of the filter, with what is wrong said below the box
    box = cell.get_by_role("searchbox")
    box.fill("method:tools/call statis:error")
    cell.get_by_text("Did you mean status?").wait_for()
    box.fill("method:tools/call status:error")
    expect(row("tools/call")).to_have_count(1)
    box.fill("weather")
    expect(row("tools/call.*weather")).to_have_count(1)

    # a row is opened by the keyboard to its messages
    grid.focus()
    notebook.page.keyboard.press("Enter")
    cell.get_by_role("heading", name="tools/call weather · demo · ok").wait_for()
    cell.locator("pre").filter(has_text='"city": "Oslo"').first.wait_for()
    notebook.screenshots("trace-opened", 2)
    notebook.page.keyboard.press("ArrowRight")
    row("tools/call: result").wait_for()

    # sent again: its answer stands below, and the request is one more row
    box.fill("method:tools/call weather")
    notebook.button("Send again", 2).click()
    cell.get_by_text("Oslo").last.wait_for()
    expect(grid.get_by_role("row").filter(has_text="weather")).to_have_count(2)
    notebook.screenshots("trace-again", 2)
    for dark in (False, True):
        notebook.theme(dark)
        assert violations(notebook.page) == []

    # paused, and resumed
    box.fill("")
    notebook.button("Pause", 2).click()
    notebook.button("Resume", 2).wait_for()
    notebook.run(4)
    notebook.wait_done(4)
    assert row("notifications/progress").count() == 0
    notebook.button("Resume", 2).click()
    row("notifications/progress").first.wait_for()
    notebook.button("Clear view", 2).click()
    cell.get_by_text("No messages.").wait_for()

    # 200 messages a second
    notebook.run(4)
    notebook.wait_done(4)
    row("notifications/progress").first.wait_for()
    spent = float(re.findall(r"flood ([0-9.]+)", notebook.text(4))[-1])
    print(f"a core's share while 200 messages a second came: {spent:.3f}")
    assert spent < 0.15, "all of the kernel's work, the flood itself included, on a machine that does other things"

    outputs = notebook.outputs(2)
    assert "tools/call" in notebook.text(2), "what would be saved"
    assert len(str(outputs)) < 200_000
