"""A watched resource in a real page: its card follows it, and what is saved is how it was last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.lab import CURRENT, Browser
from tests.e2e.test_forms import open_notebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator


def test_the_card_follows_its_resource_reads_it_and_leaves_a_record(browser: Browser) -> None:
    add = "%mcp call demo.add_note day=today text=hello;"
    notebook = open_notebook(browser, CURRENT, "%mcp watch demo notes://today", add, add)
    notebook.run(1)
    notebook.wait_done(1)
    cell: Locator = notebook.cell(1)
    notebook.button("Stop watching", 1).wait_for()
    for index, said in ((2, "It changed once."), (3, "It changed 2 times.")):
        notebook.run(index)
        notebook.wait_done(index)
        cell.get_by_text(said).last.wait_for()
    notebook.button("Read now", 1).click()
    cell.get_by_text("hello").first.wait_for()
    notebook.screenshots("watch", 1)
    assert "It changed 2 times." in notebook.text(1), "what would be saved"
    notebook.button("Stop watching", 1).click()
    cell.get_by_text("No longer watching notes://today of demo. It changed 2 times.").wait_for()
    assert notebook.button("Stop watching", 1).count() == 0
