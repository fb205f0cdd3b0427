"""A form in a running cell, in a real page: the reason for all of this."""

from __future__ import annotations

import pytest

from tests.e2e.lab import CURRENT, Browser, LabServer, Notebook

# Without `--slow` the older kernel has the whole quickstart (test_quickstart.py), this one everything else.
KERNELS = (pytest.param("6.31.0", marks=pytest.mark.slow), CURRENT)
SETUP = "%load_ext jupyter_mcp\n%mcp connect demo"
BOOK = "r = %mcp call demo.book city=Barcelona\nprint('RESULT', r.text)"
AWAITED = """
import jupyter_mcp as mcp
r = await mcp.servers["demo"].tools.book.aio(city="Barcelona")
print("RESULT", r.text)
"""
RESULT = "Booked in Barcelona for Ada Lovelace: a double from 2027-03-01, 3 guests, with breakfast, and bicycle."


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest, lab: LabServer) -> str:
    if not lab.has_kernel(request.param):
        pytest.skip(f"ipykernel {request.param} is not in build/kernels (python scripts/kernels.py)")
    return request.param


def open_notebook(browser: Browser, kernel: str, *cells: str, setup: str = SETUP) -> Notebook:
    """A notebook whose first cell has been run."""
    name = browser.server.write(f"forms-{kernel}.ipynb", [setup, *cells], kernel)
    notebook = browser.open(name)
    notebook.run(0)
    notebook.wait_done(0)
    assert "ready" in notebook.text(0), notebook.text(0)
    return notebook


def fill(notebook: Notebook, index: int) -> None:
    """Fill the demo's booking form in that cell, as a person does: also by changing one's mind."""
    cell = notebook.cell(index)
    for name in ("Ada", "Ada Love", "Ada Lovelace"):
        cell.get_by_label("Your name").fill(name)
        notebook.page.keyboard.press("Tab")
    cell.get_by_label("E-mail").fill("ada@example.org")
    cell.get_by_label("Arrival").fill("2027-03-01")
    cell.get_by_label("Guests").fill("3")
    cell.get_by_label("A bicycle").check()


def submit(notebook: Notebook, index: int) -> None:
    """Press Submit as soon as the form can be sent."""
    button = notebook.button("Submit", index)
    notebook.until_enabled(button)
    button.click()


def test_filled_while_the_cell_runs_submitted_and_the_result_is_there(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, BOOK, "print('NEXT')")
    notebook.run(1)
    notebook.button("Submit", 1).wait_for()
    notebook.run(2)
    assert notebook.button("Submit", 1).is_disabled(), "nothing can be sent before the form is complete"
    notebook.cell(1).get_by_label("Guests").fill("9")
    notebook.cell(1).get_by_text("1 to 6, not 9").wait_for()
    fill(notebook, 1)
    notebook.until_enabled(notebook.button("Submit", 1))
    assert notebook.running(1)
    notebook.screenshots(f"form-{kernel}", 1)
    submit(notebook, 1)
    notebook.wait_done(1)
    assert f"RESULT {RESULT}" in notebook.text(1)
    notebook.button("Submit", 1).wait_for(state="detached")
    assert "Ada Lovelace" in notebook.output(1).inner_text(), "what was answered stays as a record"
    notebook.wait_done(2)
    assert notebook.text(2) == "NEXT\n", "the queued cell ran after it"
    notebook.screenshots(f"form-answered-{kernel}", 1)


def test_declined_with_a_remark_that_is_not_sent(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, BOOK)
    notebook.run(1)
    notebook.cell(1).get_by_label("Remark").fill("far too dear")
    notebook.page.keyboard.press("Tab")
    notebook.button("Decline", 1).click()
    notebook.wait_done(1)
    assert "RESULT No room was booked in Barcelona: the person declined." in notebook.text(1)
    assert "far too dear" not in notebook.text(1).split("RESULT")[1]


def test_in_a_cell_that_awaits(browser: Browser, kernel: str) -> None:
    notebook = open_notebook(browser, kernel, AWAITED, "print('NEXT')")
    notebook.run(1)
    notebook.button("Submit", 1).wait_for()
    notebook.run(2)
    fill(notebook, 1)
    submit(notebook, 1)
    notebook.wait_done(1)
    assert f"RESULT {RESULT}" in notebook.text(1)
    notebook.wait_done(2)


def test_when_no_cell_waits_the_form_comes_to_the_cell_that_began_the_call(browser: Browser, kernel: str) -> None:
    begin = 'import jupyter_mcp as mcp\ncall = mcp.servers["demo"].tools.book.start(city="Barcelona")'
    notebook = open_notebook(browser, kernel, begin, "print('between')", "print('RESULT', call.result(20).text)")
    notebook.run(1)
    notebook.wait_done(1)
    notebook.button("Submit", 1).wait_for()
    notebook.run(2)
    notebook.wait_done(2)
    fill(notebook, 1)
    submit(notebook, 1)
    notebook.button("Submit", 1).wait_for(state="detached")
    notebook.run(3)
    notebook.wait_done(3)
    assert f"RESULT {RESULT}" in notebook.text(3)
    assert "Ada Lovelace" in notebook.output(1).inner_text()


def test_a_question_that_comes_while_a_foreign_cell_runs_is_announced_and_asked_after_it(
    browser: Browser, kernel: str
) -> None:
    begin = """import time, jupyter_mcp as mcp
call = mcp.servers["demo"].tools.book.start(city="Barcelona")
try:
    time.sleep(600)
except KeyboardInterrupt:
    pass
"""
    notebook = open_notebook(browser, kernel, begin, "print('RESULT', call.result(20).text)")
    notebook.run(1)
    notebook.cell(1).get_by_text("demo asks something; the form will be here").wait_for()
    assert notebook.button("Submit", 1).count() == 0
    notebook.interrupt()
    notebook.button("Submit", 1).wait_for()
    fill(notebook, 1)
    submit(notebook, 1)
    notebook.cell(1).get_by_text("demo asked something: answered.").wait_for()
    notebook.run(2)
    notebook.wait_done(2)
    assert f"RESULT {RESULT}" in notebook.text(2)


@pytest.mark.parametrize("patch", ["nest_asyncio", "nest_asyncio2"])
def test_where_the_user_has_patched_asyncio(browser: Browser, kernel: str, patch: str) -> None:
    setup = f"import {patch}\n{patch}.apply()\n{SETUP}"
    notebook = open_notebook(browser, kernel, BOOK, AWAITED, setup=setup)
    for index in (1, 2):
        notebook.run(index)
        fill(notebook, index)
        submit(notebook, index)
        notebook.wait_done(index)
        assert f"RESULT {RESULT}" in notebook.text(index)


def test_the_kernel_is_restarted_while_a_form_is_open(browser: Browser) -> None:
    notebook = open_notebook(browser, CURRENT, BOOK)
    notebook.run(1)
    notebook.button("Submit", 1).wait_for()
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()")
    notebook.until_idle()
    if notebook.button("Cancel", 1).count():
        notebook.button("Cancel", 1).last.click(force=True)  # nobody hears it; nothing bad happens
    for index in (0, 1):
        notebook.run(index)
        if index == 0:
            notebook.wait_done(0)
    fill(notebook, 1)
    submit(notebook, 1)
    notebook.wait_done(1)
    assert f"RESULT {RESULT}" in notebook.text(1)
