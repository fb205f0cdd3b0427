"""The notebook as a server in a real page: its card, the token that is never saved, reads while a cell runs."""

from __future__ import annotations

import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from tests.e2e.outside import OutsideCall

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.e2e.lab import Browser, Notebook

SETUP = """
%load_ext jupyter_mcp
import jupyter_mcp as mcp
numbers = [3, 1, 2]
city = "Barcelona"
api_key = "not for everybody"

@mcp.tool
def double(n: int) -> int:
    "Twice a number."
    return 2 * n
"""
PLANT = """
beds = {"west": []}

@mcp.tool
def plant(bed: str, what: str, ctx: mcp.Context) -> list[str]:
    "Plant something, so many of it as the caller says."
    answer = ctx.elicit(f"How many {what} in the {bed} bed?", int)
    beds[bed] += [what] * (answer.data if answer.accepted else 0)
    return beds[bed]
"""
THYME = {"bed": "west", "what": "thyme"}
BUSY = (
    "import time\nnumbers.append(4)\nprint('BEGUN', flush=True)\nwhile numbers[-1] != 'stop': time.sleep(0.05)\n'ENDED'"
)


class Agent:
    """A client outside of Jupyter, with the standard library only: modern requests over HTTP."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url, token
        self._number = 0

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "an-agent", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        }
        name = params.get("name") or params.get("uri")
        if name is not None:
            headers["Mcp-Name"] = name
        request = Request(self._url, json.dumps(message).encode(), headers)
        with urlopen(request, timeout=20) as answer:
            body = answer.read().decode()
        lines = [row[5:] for row in body.splitlines() if row.startswith("data:")] or [body]  # a stream, or just JSON
        return json.loads(lines[-1])["result"]


def served(browser: Browser, *cells: str) -> tuple[Notebook, Locator]:
    """A notebook whose second cell serves it, and the card there."""
    name = browser.server.write("serve.ipynb", [SETUP, "%mcp serve --name sales", *cells])
    notebook = browser.open(name)
    for index in (0, 1):
        notebook.run(index)
        notebook.wait_done(index)
    notebook.button("Show URL and token", 1).wait_for()
    return notebook, notebook.cell(1)


def copied(card: Locator, label: str) -> str:
    """What the button of that label would copy."""
    row = card.locator(".jmcp-copied").filter(has=card.page.get_by_role("button", name=label, exact=True))
    return row.locator("pre").inner_text()


def reached(notebook: Notebook, card: Locator, way: str) -> dict[str, Any]:
    """How a client finds the notebook, as the card says it."""
    if way == "bridge":
        return {"command": shlex.split(copied(card, "Copy the line for Claude Code").partition(" -- ")[2])}
    notebook.button("Show URL and token", 1).click()
    return {"url": copied(card, "Copy URL"), "token": copied(card, "Copy token")}


def test_two_steps_lead_to_an_agent_that_reads_while_a_cell_runs(browser: Browser) -> None:
    notebook, card = served(browser, BUSY)
    line = copied(card, "Copy the line for Claude Code")
    assert re.fullmatch(
        r"claude mcp add sales -- (env \S+ (\S+=\S+ )*)?/\S+/jupyter-mcp-host stdio --notebook sales", line
    )
    card.get_by_text("numbers, city, double; 1 hidden").last.wait_for()
    notebook.button("Show URL and token", 1).click()
    card.get_by_role("button", name="Copy URL", exact=True).wait_for()
    notebook.screenshots("serve-revealed", 1)
    agent = Agent(copied(card, "Copy URL"), copied(card, "Copy token"))
    notebook.run(2)
    notebook.cell(2).get_by_text("BEGUN", exact=True).wait_for()
    read = agent.ask("resources/read", uri="notebook://sales/variables/numbers")
    assert json.loads(read["contents"][0]["text"]) == [3, 1, 2, 4]
    assert notebook.running(2)
    card.get_by_text("an-agent").last.wait_for()
    card.get_by_text("read variables/numbers").last.wait_for()
    notebook.screenshots("serve", 1)
    notebook.interrupt()
    notebook.wait_done(2)


def test_a_tool_of_a_cell_is_called_from_outside(browser: Browser) -> None:
    notebook, card = served(browser)
    notebook.button("Show URL and token", 1).click()
    card.get_by_role("button", name="Copy URL", exact=True).wait_for()
    agent = Agent(copied(card, "Copy URL"), copied(card, "Copy token"))
    assert agent.ask("tools/call", name="double", arguments={"n": 21})["structuredContent"] == 42
    card.get_by_text("call double").last.wait_for()


def save_widget_state(notebook: Notebook) -> None:
    """Save the document as somebody does who has switched on that widgets are saved with it."""
    notebook.page.evaluate("""async () => {
        const app = window.jupyterapp;
        const command = '@jupyter-widgets/jupyterlab-manager:saveWidgetState';
        if (!app.commands.isToggled(command)) await app.commands.execute(command);
        await app.shell.currentWidget.context.save();
        await app.commands.execute(command);
    }""")


def test_neither_token_nor_port_is_saved_and_hiding_takes_them_off_the_page(browser: Browser) -> None:
    notebook, card = served(browser)
    notebook.button("Show URL and token", 1).click()
    url = copied(card, "Copy URL")
    token = copied(card, "Copy token")
    assert len(token) > 30
    save_widget_state(notebook)
    saved = json.dumps(browser.server.read(notebook.name))
    assert "widget-state+json" in saved
    assert token not in saved
    assert url not in saved
    assert "URL and token" in saved
    notebook.button("Hide URL and token", 1).click()
    card.get_by_role("button", name="Copy URL", exact=True).wait_for(state="detached")
    assert token not in notebook.page.content()


def test_a_button_copies_and_the_card_ends_when_serving_does(browser: Browser) -> None:
    notebook, card = served(browser)
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card.get_by_role("button", name="Copy the line for Claude Code").click()
    card.get_by_text("Copied").wait_for()
    assert notebook.page.evaluate("navigator.clipboard.readText()").startswith("claude mcp add sales -- ")
    notebook.button("Stop serving", 1).click()
    card.get_by_text("no longer served").last.wait_for()
    assert notebook.button("Stop serving", 1).count() == 0
    assert "sales is no longer served." in notebook.text(1)


def test_code_of_a_client_runs_when_the_person_allows_it(browser: Browser) -> None:
    notebook, card = served(browser, "%mcp serve --name sales --allow-code")
    notebook.run(2)
    notebook.wait_done(2)
    notebook.button("Show URL and token", 2).click()
    card = notebook.cell(2)
    card.get_by_role("button", name="Copy URL", exact=True).wait_for()
    agent = Agent(copied(card, "Copy URL"), copied(card, "Copy token"))
    with ThreadPoolExecutor() as pool:
        code = {"notebook": "sales", "code": "numbers.append(9)\nsum(numbers)"}
        call = pool.submit(agent.ask, "tools/call", name="execute_code", arguments=code)
        allow = notebook.button("Allow once", 2)  # below the card that serves now, not below the first one
        allow.wait_for()
        notebook.screenshots("serve-approval", 2)
        allow.click()
        result = call.result(30)
    assert "15" in json.dumps(result["content"])
    assert not result.get("isError")


@pytest.mark.parametrize(
    ("way", "mode"), [("bridge", "auto"), ("url", "auto"), pytest.param("url", "legacy", marks=pytest.mark.slow)]
)
def test_a_tool_of_a_cell_asks_back_whoever_called_it_and_the_card_tells(browser: Browser, way: str, mode: str) -> None:
    notebook, card = served(browser, PLANT, "beds")
    notebook.run(2)
    notebook.wait_done(2)
    with OutsideCall(**reached(notebook, card, way), mode=mode, tool="plant", arguments=THYME) as client:
        assert client.hear() == {"asked": "How many thyme in the west bed?"}
        card.get_by_text("asked by plant: “How many thyme in the west bed?”").last.wait_for()
        card.get_by_text("no answer yet").last.wait_for()
        assert notebook.page.get_by_role("button", name="Submit").count() == 0, "it is the caller who is asked"
        notebook.screenshots(f"serve-asking-{way}-{mode}", 1)
        client.say({"action": "accept", "content": {"value": 2}})
        assert json.loads(client.hear()["result"]["content"][0]["text"]) == ["thyme", "thyme"]
    card.get_by_text("call plant").last.wait_for()
    card.get_by_text("accepted").last.wait_for()
    notebook.run(3)
    notebook.wait_done(3)
    assert "{'west': ['thyme', 'thyme']}" in notebook.text(3)
    notebook.screenshots(f"serve-asked-{way}-{mode}", 1)


def test_a_tool_that_the_notebook_calls_itself_asks_in_the_calling_cell(browser: Browser) -> None:
    call = "r = %mcp call me.plant bed=west what=thyme\nprint('RESULT', r.data)"
    notebook, card = served(browser, PLANT, "%mcp connect me --self", call, "print('NEXT')")
    for index in (2, 3):
        notebook.run(index)
        notebook.wait_done(index)
    notebook.run(4)
    field = notebook.cell(4).get_by_label("value")
    field.wait_for()
    notebook.run(5)
    assert notebook.running(4)
    notebook.screenshots("serve-self-asking", 4)
    field.fill("3")
    notebook.page.keyboard.press("Tab")
    notebook.until_enabled(notebook.button("Submit", 4))
    notebook.button("Submit", 4).click()
    notebook.wait_done(4)
    assert "RESULT ['thyme', 'thyme', 'thyme']" in notebook.text(4)
    notebook.wait_done(5)
    card.get_by_text("accepted").last.wait_for()
    notebook.screenshots("serve-self-asked", 4)
