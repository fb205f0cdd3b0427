"""A browser comes back to the Jupyter Server after a login, and its kernel gets the answer while a cell computes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from jupyter_mcp._version import __version__

if TYPE_CHECKING:
    from tests.serverextension.jupyter import Jupyter, Kernel

CALLBACK = "jupyter-mcp/oauth/callback"
SECRET = "the-code-of-the-login"
EXPECT = """
from jupyter_mcp.runtime.state import get_host
from jupyter_mcp.runtime.thread import get_runtime
import time

async def expect(state={state!r}):
    with get_host().logins.waiting.expect(state) as back:
        print("waiting", flush=True)
        return (await back).code

begun = get_runtime().submit(expect)
"""
BUSY = "while not begun.done(): time.sleep(0.01)\nprint('got', begun.result())"


def state_of(kernel: Kernel, word: str) -> str:
    return f"{kernel.id}.{word:x<24}"


def query(**said: str) -> str:
    return f"{CALLBACK}?{urlencode(said)}"


def test_the_extension_says_that_it_is_there(jupyter: Jupyter) -> None:
    status, text, _ = jupyter.ask("jupyter-mcp/api/status")
    assert (status, json.loads(text)) == (200, {"version": __version__, "callback": CALLBACK})


def test_a_kernel_gets_the_answer_while_its_cell_computes(jupyter: Jupyter, kernel: Kernel) -> None:
    state = state_of(kernel, "busy")
    kernel.begin(EXPECT.format(state=state) + BUSY)
    kernel.until_said("waiting")
    status, text, headers = jupyter.ask(query(code=SECRET, state=state))
    assert status == 200 and "go back to the notebook" in text
    assert SECRET not in text and SECRET not in jupyter.log
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert f"got {SECRET}" in kernel.until_said("got")


def test_a_state_counts_once(jupyter: Jupyter, kernel: Kernel) -> None:
    state = state_of(kernel, "once")
    kernel.run(EXPECT.format(state=state))
    assert jupyter.ask(query(code=SECRET, state=state))[0] == 200
    assert jupyter.ask(query(code="another", state=state))[0] == 404
    assert kernel.run("print(begun.result(5))") == f"{SECRET}\n"


def test_only_who_may_run_code_there_gets_that_far(jupyter: Jupyter, kernel: Kernel) -> None:
    state = state_of(kernel, "stranger")
    kernel.run(EXPECT.format(state=state))
    for token in (None, "0" * 32):
        status, text, headers = jupyter.ask(query(code=SECRET, state=state), token=token)
        assert status in (302, 403), text
        assert status != 302 or "/login" in headers["Location"]
    assert jupyter.ask("jupyter-mcp/api/status", token=None)[0] == 403
    assert kernel.run("print(begun.done())") == "False\n"
    assert jupyter.ask(query(code=SECRET, state=state))[0] == 200


@pytest.mark.parametrize(
    "said",
    [
        "",
        "code=x",
        "code=x&state=",
        "code=x&state=nonsense",
        "code=x&state=00000000-0000-0000-0000-000000000000.aaaaaaaaaaaaaaaaaaaaaaaa",
        "code=x&state={id}.tooshort",
        "code=x&state={id}.nobodywaitsforthisstate",
        "code=x&state={id}.aaaaaaaaaaaaaaaaaaaaaaaa&state={id}.aaaaaaaaaaaaaaaaaaaaaaaa",
        "code=x&state={id}/../x.aaaaaaaaaaaaaaaaaaaaaaaa",
        "code=" + "x" * 20_000,
    ],
)
def test_what_nobody_waits_for_is_not_known_here(jupyter: Jupyter, kernel: Kernel, said: str) -> None:
    status, text, _ = jupyter.ask(f"{CALLBACK}?{said.format(id=kernel.id)}")
    assert status in (404, 414, 400)
    assert "<script" not in text


def test_no_answer_of_a_browser_is_in_the_servers_log(jupyter: Jupyter, kernel: Kernel) -> None:
    for token in ("", None, "0" * 32):
        jupyter.ask(query(code="a-code-for-the-log", state=state_of(kernel, "log")), token=token)
    assert CALLBACK in jupyter.log, "it logs that it was asked"
    assert "a-code-for-the-log" not in jupyter.log


def test_a_page_of_the_server_can_be_the_place_of_a_login(jupyter: Jupyter, kernel: Kernel) -> None:
    kernel.run(
        "from jupyter_mcp.notebook.panel import pages\n"
        f"data = {{'act': 'attach', 'base_url': {jupyter.url + '/'!r}, 'kernel_id': {kernel.id!r}, 'callback': True}}\n"
        "from jupyter_mcp.runtime.state import get_host\n"
        "get_host()\n"
        "from jupyter_mcp.runtime.thread import get_runtime\n"
        "get_runtime().submit(lambda: pages.answer(data)).result(10)\n"
        "page = get_host().logins.page()\n"
    )
    assert kernel.run("print(page.callback, page.kernel_id)") == f"{jupyter.url}/{CALLBACK} {kernel.id}\n"
