"""A server asks for a model's answer, in a real page: consent, the answer as it is written, what is saved."""

from __future__ import annotations

from tests.e2e.lab import CURRENT, Browser, Notebook

SECRET = "sk-abcdefghijklmnop1234"
SETUP = """
%load_ext jupyter_mcp
import asyncio, pathlib
import jupyter_mcp as mcp
asked = []
async def slow(request):
    asked.append(request)
    while not pathlib.Path("go").exists():
        await asyncio.sleep(0.05)
    return "A fox jumps."
mcp.model(slow)
%mcp connect demo
"""
CALL = (
    f"text = 'The key is {SECRET}; a quick brown fox jumps.'\n"
    "r = %mcp call demo.summarise text=$text\nprint('RESULT', r.text)"
)


def open_notebook(browser: Browser, *cells: str) -> Notebook:
    (browser.server.notebooks / "go").unlink(missing_ok=True)
    name = browser.server.write("sampling.ipynb", [SETUP.strip(), *cells], CURRENT)
    notebook = browser.open(name)
    notebook.run(0)
    notebook.wait_done(0)
    assert "ready" in notebook.text(0), notebook.text(0)
    return notebook


def test_agreed_to_changed_written_and_sent(browser: Browser) -> None:
    notebook = open_notebook(browser, CALL, "print('ASKED', asked[0].text)")
    notebook.run(1)
    notebook.button("Ask python:slow", 1).wait_for()
    shown = notebook.output(1).inner_text()
    assert "The key is •••" in shown
    assert SECRET not in shown
    notebook.screenshots("sampling-consent", 1)
    notebook.button("Change", 1).click()
    notebook.cell(1).get_by_label("user, message 1").fill("Sum up: a fox jumps.")
    notebook.page.keyboard.press("Tab")
    notebook.screenshots("sampling-change", 1)
    notebook.button("Ask python:slow", 1).click()
    notebook.cell(1).get_by_text("python:slow is writing").wait_for()
    assert notebook.button("Send", 1).is_disabled()
    (browser.server.notebooks / "go").touch()
    notebook.until_enabled(notebook.button("Send", 1))
    notebook.screenshots("sampling-review", 1)
    notebook.cell(1).get_by_label("Answer", exact=True).fill("A hen jumps.")
    notebook.page.keyboard.press("Tab")
    notebook.button("Send", 1).click()
    notebook.wait_done(1)
    assert "RESULT A hen jumps." in notebook.text(1)
    record = notebook.output(1).inner_text()
    assert "python:slow was asked (with changes" in record
    assert "Sent to the server" in record
    notebook.screenshots("sampling-record", 1)
    notebook.run(2)
    notebook.wait_done(2)
    assert "ASKED Sum up: a fox jumps." in notebook.text(2)


def test_the_person_writes_the_answer_and_no_secret_is_saved(browser: Browser) -> None:
    notebook = open_notebook(browser, CALL)
    notebook.run(1)
    notebook.button("Write it myself", 1).click()
    notebook.cell(1).get_by_label("Your answer").fill("By hand.")
    notebook.page.keyboard.press("Tab")
    notebook.until_enabled(notebook.button("Send my answer", 1))
    notebook.button("Send my answer", 1).click()
    notebook.wait_done(1)
    assert "RESULT By hand." in notebook.text(1)
    notebook.save()
    saved = browser.server.read("sampling.ipynb")
    outputs = str([cell.get("outputs") for cell in saved["cells"]])
    assert "Answered by the person" in outputs
    assert SECRET not in outputs


def test_always_asks_no_more_for_this_server(browser: Browser) -> None:
    again = "r = %mcp call demo.summarise text=again\nprint('RESULT', r.text)"
    notebook = open_notebook(browser, CALL, again)
    (browser.server.notebooks / "go").touch()
    notebook.run(1)
    notebook.button("Always", 1).click()
    notebook.screenshots("sampling-always", 1)
    notebook.button("Always in this kernel", 1).click()
    notebook.until_enabled(notebook.button("Send", 1))
    notebook.button("Send", 1).click()
    notebook.wait_done(1)
    notebook.run(2)
    notebook.wait_done(2)
    assert "RESULT A fox jumps." in notebook.text(2)
