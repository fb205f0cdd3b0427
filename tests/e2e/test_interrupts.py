"""The interrupt button on a real page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.e2e.test_forms import BOOK, kernel, open_notebook

if TYPE_CHECKING:
    from tests.e2e.lab import Browser

__all__ = ["kernel"]

SLOW = "%mcp call demo.slow seconds=60 steps=60"
LOOP = """
import jupyter_mcp as mcp
count = 0
while True:
    try:
        mcp.servers["demo"].tools.add(a=1, b=count)
        count += 1
        if count == 5: print("going")
    except Exception as error:
        print("caught", error)
"""


def test_a_slow_call_ends_at_once_and_the_connection_stays(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, SLOW, "r = %mcp call demo.add a=1 b=2\nprint(r.text)")
    notebook.run(1)
    notebook.cell(1).get_by_text("step 1 of 60").wait_for()
    notebook.screenshots(f"progress-{kernel}", 1)
    notebook.interrupt()
    notebook.wait_done(1, 5)
    assert "Interrupted: demo.slow cancelled; the connection stays usable" in notebook.text(1)
    notebook.run(2)
    notebook.wait_done(2)
    assert notebook.text(2) == "3\n"
    notebook.interrupt()  # while nothing runs: the kernel lives on
    notebook.page.wait_for_timeout(500)
    notebook.run(2)
    notebook.wait_done(2)
    assert notebook.text(2) == "3\n"


def test_a_loop_of_calls_stops(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, LOOP)
    notebook.run(1)
    notebook.output(1).get_by_text("going").wait_for()
    notebook.interrupt()
    notebook.wait_done(1, 5)
    assert "caught" not in notebook.text(1)
    assert "Interrupt" in notebook.text(1)


def test_an_open_form_is_withdrawn_and_the_queued_cell_is_not_run(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, BOOK, "print('queued')")
    notebook.run(1)
    notebook.button("Submit", 1).wait_for()
    notebook.run(2)
    notebook.interrupt()
    notebook.cell(1).get_by_text("Interrupted: demo.book cancelled; the connection stays usable").wait_for()
    notebook.button("Submit", 1).wait_for(state="detached")
    notebook.until_idle()
    assert notebook.text(2) == ""


def test_the_cancel_button_of_the_progress_card_cancels_the_call(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, SLOW)
    notebook.run(1)
    notebook.cell(1).get_by_text("step 1 of 60").wait_for()
    notebook.button("Cancel", 1).click()
    notebook.wait_done(1, 5)
    assert "Cancelled: demo.slow" in notebook.text(1)
