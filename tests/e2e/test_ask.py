"""A question in a real page: the answer as it comes, its calls as folds, the stop button, and what is saved of it."""

from __future__ import annotations

from tests.e2e.lab import CURRENT, Browser, Notebook

SETUP = """%load_ext jupyter_mcp
%mcp connect demo
import asyncio
import jupyter_mcp as mcp
from jupyter_mcp.testing import ScriptedModel

def use(name, **arguments):
    return {"type": "tool_use", "id": name, "name": f"demo__{name}", "input": arguments}

class Stuck(ScriptedModel):
    async def generate(self, request, on_text=None, on_note=None):
        on_text("Once **upon** a time")
        await asyncio.Event().wait()

ANSWER = '''It is **42**.

| a | b |
|---|---|
| 1 | 2 |

<img src="https://pictures.invalid/raw.png"> ![p](https://pictures.invalid/markdown.png)'''
"""
ASK = "%%mcp ask\nWhat is 40 + 2?"
MODEL = 'mcp.model(ScriptedModel([["I add.", use("add", a=40, b=2)], ANSWER]));'
STUCK = "mcp.model(Stuck([]));"


def open_notebook(browser: Browser, *cells: str) -> Notebook:
    """A notebook whose first two cells have been run."""
    notebook = browser.open(browser.server.write("ask.ipynb", [SETUP, *cells], CURRENT))
    for index in (0, 1):
        notebook.run(index)
        notebook.wait_done(index)
    return notebook


def test_an_answer_comes_live_is_allowed_by_hand_and_is_saved_as_a_picture(browser: Browser) -> None:
    notebook = open_notebook(browser, MODEL, ASK)
    asked: list[str] = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    notebook.run(2)
    notebook.cell(2).get_by_text("waits for your answer").wait_for()
    notebook.cell(2).get_by_text("I add.").wait_for()
    notebook.screenshots("ask-waiting", 2)
    notebook.button("Allow once", 2).click()
    notebook.wait_done(2)
    notebook.cell(2).get_by_text("It is 42.").wait_for()
    fold = notebook.cell(2).get_by_text("demo.add(a=40, b=2)").first
    fold.click()
    notebook.screenshots("ask-answered", 2)
    assert notebook.cell(2).locator("table").first.is_visible()
    assert not [url for url in asked if "pictures.invalid" in url], "nothing that a model wrote is loaded"
    notebook.save()
    outputs = "".join(str(output) for output in browser.server.read("ask.ipynb").cells[2].outputs)
    assert "widget-view" not in outputs
    assert "▸ demo.add(a=40, b=2): 42" in outputs


def test_the_stop_button_ends_an_answer_and_what_was_said_stays(browser: Browser) -> None:
    notebook = open_notebook(browser, STUCK, ASK)
    notebook.run(2)
    notebook.cell(2).get_by_text("Once upon a time").wait_for()
    notebook.button("Stop", 2).click()
    notebook.wait_done(2)
    assert notebook.cell(2).locator("strong", has_text="upon").is_visible()
    assert notebook.text(2).startswith("Once **upon** a time\nNote: not finished\nCancelled: the answer of scripted")
