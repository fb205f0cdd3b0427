"""Approvals in a real page: what a model wants is looked at, changed, denied, by mouse and by keyboard alone."""

from __future__ import annotations

from tests.e2e.lab import CURRENT, Browser, Notebook

SETUP = """%load_ext jupyter_mcp
%mcp connect demo
import jupyter_mcp as mcp
from jupyter_mcp.testing import ScriptedModel

def use(name, key="1", **arguments):
    return {"type": "tool_use", "id": f"{name}-{key}", "name": f"demo__{name}", "input": arguments}

def model(*replies):
    mcp.model(ScriptedModel(list(replies)))
"""
ONE = """model([use("add_note", day="friday", text="bake bread")], "Noted.")
answer = mcp.ask("Note it.", new=True)"""
THREE = """model([use("add_note", str(n), day="friday", text=f"note {n}") for n in range(3)], "Done.")
answer = mcp.ask("Note them.", new=True)"""
DAY = "print('FRIDAY', mcp.servers['demo'].read('notes://friday').text)"


def open_notebook(browser: Browser, *cells: str) -> Notebook:
    """A notebook whose first cell has been run."""
    notebook = browser.open(browser.server.write("approvals.ipynb", [SETUP, *cells], CURRENT))
    notebook.run(0)
    notebook.wait_done(0)
    assert "ready" in notebook.text(0), notebook.text(0)
    return notebook


def focused(notebook: Notebook) -> str:
    """What has the keyboard: the name of a card, or of a control."""
    script = "() => { const at = document.activeElement; return at.getAttribute('aria-label') || at.textContent; }"
    return str(notebook.page.evaluate(script))


def until_card_has_the_keyboard(notebook: Notebook) -> None:
    script = "() => document.activeElement.classList.contains('jmcp')"
    notebook.page.wait_for_function(script)


def test_the_arguments_are_changed_in_the_card_and_so_they_are_sent(browser: Browser) -> None:
    notebook = open_notebook(browser, ONE, DAY)
    notebook.run(1)
    notebook.button("Allow once", 1).wait_for()
    notebook.screenshots("approval", 1)
    notebook.button("Change", 1).click()
    notebook.cell(1).get_by_label("text", exact=True).fill("bake a cake")
    notebook.cell(1).get_by_text("changed by you").wait_for()
    notebook.screenshots("approval-changed", 1)
    notebook.button("Allow once", 1).click()
    notebook.wait_done(1)
    assert "The arguments were changed; sent was:" in notebook.text(1)
    notebook.button("Allow once", 1).wait_for(state="detached")
    notebook.run(2)
    notebook.wait_done(2)
    assert "bake a cake" in notebook.text(2)
    assert "bread" not in notebook.text(2)
    notebook.screenshots("approval-record", 1)
    notebook.save()
    saved = browser.server.read("approvals.ipynb")
    outputs = "".join(str(output) for output in saved.cells[1].outputs)
    assert "sent was" in outputs, "the record survives saving"
    assert "widget-view" not in outputs


def test_a_new_card_has_the_keyboard_and_every_control_is_reached_by_it(browser: Browser) -> None:
    notebook = open_notebook(browser, ONE)
    notebook.run(1)
    until_card_has_the_keyboard(notebook)
    assert focused(notebook) == "demo.add_note is about to be called by a model"
    reached: list[str] = []
    for _ in range(12):
        notebook.page.keyboard.press("Tab")
        reached.append(focused(notebook))
        if reached[-1].startswith("Cancel"):
            break
    assert [name.split(" ")[0] for name in reached if name][:2] == ["Allow", "Allow"]
    assert any(name.startswith("Deny") for name in reached)
    assert notebook.running(1), "keys that move about decide nothing"
    notebook.page.keyboard.press("Enter")
    notebook.wait_done(1)
    assert "Closed without a choice" in notebook.text(1)


def test_escape_closes_the_card_without_a_choice(browser: Browser) -> None:
    notebook = open_notebook(browser, ONE)
    notebook.run(1)
    until_card_has_the_keyboard(notebook)
    notebook.page.keyboard.press("Escape")
    notebook.wait_done(1)
    assert "Closed without a choice" in notebook.text(1)


def test_enter_in_the_reason_decides_nothing_and_the_model_reads_the_reason(browser: Browser) -> None:
    read = "print('READ', [b for m in answer.messages for b in m['content'] if b['type'] == 'tool_result'])"
    notebook = open_notebook(browser, ONE, read)
    notebook.run(1)
    reason = notebook.cell(1).get_by_label("Reason")
    reason.fill("not on fridays")
    reason.press("Enter")
    assert notebook.running(1)
    notebook.button("Deny", 1).click()
    notebook.wait_done(1)
    notebook.run(2)
    notebook.wait_done(2)
    assert "not on fridays" in notebook.text(2)


def test_several_are_asked_one_after_the_other_and_all_of_them_can_be_denied(browser: Browser) -> None:
    notebook = open_notebook(browser, THREE)
    notebook.run(1)
    notebook.cell(1).get_by_text("3 of 3 questions").wait_for()
    assert notebook.button("Allow once", 1).count() == 1, "the others are folded"
    assert notebook.button("Look at it now", 1).count() == 2
    notebook.screenshots("approval-queue", 1)
    notebook.button("Allow once", 1).first.click()
    notebook.cell(1).get_by_text("1 of 2 questions").wait_for()
    until_card_has_the_keyboard(notebook)
    notebook.button("Deny all 2 from demo", 1).first.click()
    notebook.wait_done(1)
    assert notebook.text(1).count("was to be called by a model") == 3
    assert notebook.text(1).count("Denied") == 2
    assert not notebook.button("Allow once", 1).count()
