"""Nothing that a server was given is in a notebook, although the server says it back in everything that it can say.

A real kernel, a server that tells all (`tests.fakes.tattler`), and every kind of output, looked at to the letter: what
cells display, print and raise, what widgets hold, what is written to files.
"""

from __future__ import annotations

import json
import sys
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.protocol.secrets import MASK
from tests.fakes import tattler
from tests.runtime.kernels import LiveKernel, Run, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "odd1Zq9<rhubarb&pie>77aa"
ARGUMENT = "argZq9-rhubarb-77bb"
LINES = "-- begin --\nlineZq9oneoneoneone\nlineZq9twotwotwotwo"
PARTS = ("odd1Zq9", "rhubarb", "argZq9", "lineZq9")  # in every spelling; half a secret is one too

CONNECT = (
    f"%mcp connect e --env SPOKEN_TOKEN=${{A_TOKEN}} --env LINES_SECRET=${{A_SECRET}} "
    f"{sys.executable} {tattler.__file__} ${{ANOTHER_TOKEN}}"
)
ASKING = """
mcp.model(ScriptedModel([[{"type": "tool_use", "id": "1", "name": "e__text", "input": {}}], "done"]))
answer = mcp.ask("go on, see @e:x://a", new=True)
answer
"""
TRY = "try: mcp.servers['e'].tools.fail()"
CELLS: dict[str, str] = {
    "servers": "%mcp servers",
    "server": 'mcp.servers["e"]',
    "tools": "%mcp tools e",
    "resources": "%mcp resources e",
    "prompts": "%mcp prompts e",
    "result": "%mcp call e.text",
    "value": 'mcp.servers["e"].tools.text()',
    "reprs": "e = mcp.servers['e']\n[e.tools.text(), e.tools.long(), e.tools.data(), e.read('x://a'), e.resources]",
    "suggestions": "get_ipython().Completer.complete('%mcp prompt e.p a=')",
    "data": "%mcp call e.data",
    "links": "%mcp call e.link",
    "long result": "%mcp call e.long",
    "log messages": "%mcp call e.log",
    "resource": "%mcp read e x://a",
    "prompt": "%mcp prompt e.p",
    "question nobody answers": "%mcp call e.ask",
    "question by script": 'mcp.answer({"f": "hello"}, times=1)\n%mcp call e.ask',
    "page": "%mcp call e.url",
    "sampling": 'mcp.model(ScriptedModel(["an answer"]))\n%mcp allow e.sampling/*\n%mcp call e.sample',
    "conversation": ASKING,
    "failure": "%mcp call e.fail",
    "failure cut short": "%mcp call e.fail_late",
    "error": "%mcp call e.error",
    "death": "%mcp call e.die",
    "traceback": "%tb",
    "traceback of code": f"{TRY}\nexcept Exception: import traceback; traceback.print_exc()",
    "verbose traceback": "%xmode Verbose\n%mcp call e.error",
    "no connection": f"%mcp connect bad --env SPOKEN_TOKEN=${{A_TOKEN}} {sys.executable} {tattler.__file__} die",
    "activity": "%mcp activity",
    "activity frame": "mcp.host.activity.df().to_dict()",
    "trace": "%mcp trace",
    "trace frame": "mcp.host.trace.df().to_dict()",
    "methods": "[(entry.method, entry.id, entry.target) for entry in mcp.host.trace]",
    "log": "%mcp log e",
    "stderr": 'mcp.servers["e"].stderr',
    "what it says of itself": 'mcp.servers["e"].instructions, mcp.servers["e"].info',
    "policy": "%mcp policy why e.text",
    "insides": "found = get_host().servers['e']\n[found, found.spec, found.connection, get_host().redactor]",
    "transport": "get_host().servers['e'].connection.link.transport",
    "saving": "%mcp save $saved e",
    "export": "%mcp trace --export exported.jsonl",
}
SILENT = (
    *("suggestions", "no connection", "policy", "insides", "transport", "saving"),
    *("sampling", "question by script", "page", "log messages"),
)
"""Where the secret need not have been: nothing of the server's own words is shown there, or none is said."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def kernel(place: Path) -> Iterator[LiveKernel]:
    setup = f"""
import os
os.chdir({str(place)!r})
saved = os.path.abspath("saved.json")
os.environ.update(A_TOKEN={TOKEN!r}, ANOTHER_TOKEN={ARGUMENT!r}, A_SECRET={LINES!r})
%load_ext jupyter_mcp
import jupyter_mcp as mcp
from jupyter_mcp.runtime.state import desk, get_host
from jupyter_mcp.testing import ScriptedModel
%mcp allow e.text
%mcp trace --file journal.jsonl
"""
    with live_kernel(setup=setup) as started:
        started.run(CONNECT)
        for what in ("text", "log", "error"):  # so that there is something to look back at
            started.finish(started.start(f"%mcp call e.{what}"))
        yield started


def look(run: Run) -> str:
    """All that a cell put out, in every form, as one text; what was typed into it is the person's."""
    kinds = ("status", "execute_input")
    told = [one["content"] for one in run.messages if one["header"]["msg_type"] not in kinds]
    return json.dumps(told, ensure_ascii=False, default=str)


def check(text: str) -> None:
    for part in PARTS:
        at = text.find(part)
        assert at < 0, text[max(0, at - 300) : at + 80]


@pytest.mark.parametrize("what", CELLS)
def test_an_output_has_no_secret(kernel: LiveKernel, what: str):
    run = kernel.finish(kernel.start(CELLS[what]))
    text = look(run)
    check(text)
    assert MASK in text or "u2022" in text or what in SILENT, f"nothing was said, so nothing was seen: {text[:500]}"


def begin(kernel: LiveKernel, more: str = "") -> Run:
    """A model's call that sends the token on, to be approved; cells allow input."""
    return kernel.start(f'{more}\nmcp.ask("go", new=True)', allow_stdin=True)


@pytest.fixture
def leaky(kernel: LiveKernel) -> Iterator[None]:
    """A model that copies the token into a call, which has to be approved."""
    use = f'{{"type": "tool_use", "id": "1", "name": "e__text", "input": {{"x": {TOKEN!r}}}}}'
    kernel.run(f"%mcp ask_first e.text\nmcp.model(ScriptedModel([[{use}], 'done']))")
    yield
    kernel.run('desk().mode = "auto"\n%mcp policy reset')


@pytest.mark.usefixtures("leaky")
def test_a_dialogue_in_text_shows_a_secret_only_at_the_word_show(kernel: LiveKernel):
    run = begin(kernel, 'desk().mode = "stdin"')
    assert "Allow it?" in kernel.answer("show")
    kernel.until(lambda: TOKEN in run.text)  # what is sent is seen whole, by whoever asks for it
    before, _, after = run.text.partition(TOKEN)
    check(before)
    assert MASK in before
    kernel.answer("n")
    kernel.finish(run)
    check(after + "".join(run.displays))


@pytest.mark.usefixtures("leaky")
def test_the_card_of_an_approval_shows_what_is_sent_and_leaves_nothing_of_it(kernel: LiveKernel):
    run = begin(kernel)

    def buttons() -> list[str]:
        return [at for at, state in states(run.messages).items() if state.get("description") == "Deny"]

    kernel.until(lambda: bool(buttons()) and escape(TOKEN) in look(run), why=lambda: look(run)[-500:])
    kernel.comm(buttons()[-1], {"method": "custom", "content": {"event": "click"}})
    kernel.finish(run)
    kernel.settle()
    outputs = ("display_data", "update_display_data", "execute_result", "stream", "error")
    messages = [*run.messages, *(one for many in kernel.other.values() for one in many)]
    check(json.dumps([one["content"] for one in messages if one["header"]["msg_type"] in outputs], ensure_ascii=False))
    check(json.dumps(states(messages), ensure_ascii=False))


def test_no_widget_that_stays_holds_a_secret(kernel: LiveKernel):
    """The page may save what its widgets hold."""
    masks = 0
    for what in (
        "servers",
        "server",
        "tools",
        "resources",
        "prompts",
        "result",
        "log messages",
        "failure",
        "log",
        "trace",
    ):
        run = kernel.finish(kernel.start(CELLS[what], allow_stdin=True))
        kernel.settle(0.2)
        held = json.dumps(list(states(run.messages).values()), ensure_ascii=False)
        check(held)
        masks += held.count(MASK)
    assert masks, "nothing was held, so nothing was seen"


def states(messages: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the widgets hold that were not closed."""
    held: dict[str, dict[str, Any]] = {}
    for message in messages:
        content, kind = message["content"], message["header"]["msg_type"]
        if kind == "comm_open":
            held[content["comm_id"]] = dict(content["data"].get("state", {}))
        elif kind == "comm_msg" and content["comm_id"] in held:
            held[content["comm_id"]].update(content["data"].get("state", {}))
        elif kind == "comm_close":
            held.pop(content["comm_id"], None)
    return held


def test_no_file_has_a_secret(kernel: LiveKernel, place: Path):
    for what in ("text", "long", "fail_late", "log", "error"):
        kernel.finish(kernel.start(f"%mcp call e.{what}"))
    kernel.run("%mcp save $saved e\n%mcp trace --export exported.jsonl\n%mcp trace --file off")
    files = {file.name: file.read_text(encoding="utf-8") for file in place.iterdir()}
    assert set(files) == {"journal.jsonl", "exported.jsonl", "saved.json"}
    for text in files.values():
        check(text)
    assert "${A_TOKEN}" in files["saved.json"]
    masked = json.dumps(MASK)[1:-1]
    assert masked in files["journal.jsonl"]
    assert masked in files["exported.jsonl"]
