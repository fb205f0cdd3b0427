"""Two real servers in one conversation: neither sees the other's names or results, nor the conversation itself.

The servers are processes that write down every line they receive; the host's own wire journal has to agree.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.host.conversation.limits import Limits
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.models.scripted import ScriptedModel
from tests.host.conversation.helpers import scripted, talk, use

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

PROGRAM = """
import os
import sys
import threading

from jupyter_mcp.server import Context, Server

name, returned, log = sys.argv[1:4]
server = Server(name, instructions=f"instructions of {name}")

@server.tool(f"{name}_lookup", description=f"what {name} looks up")
def lookup(query: str) -> str:
    return returned

@server.resource(f"{name}://facts", description=f"facts of {name}")
def facts() -> str:
    return f"facts held by {name}"

@server.tool(f"{name}_asks", description=f"what {name} asks")
def asks(ctx: Context) -> str:
    field = {"type": "object", "properties": {f"{name}_field": {"type": "string"}}}
    said = ctx.elicit(f"question of {name}", field).data
    sampled = ctx.sample(f"sample of {name}", max_tokens=50).text
    folders = [folder.uri for folder in ctx.roots()]
    return f"{returned}: {said}, {sampled}, {folders}"

@server.tool(f"{name}_fails", description=f"how {name} fails")
def fails() -> str:
    raise ValueError(f"error of {name}")

@server.prompt(f"{name}_prompt", description=f"prompt of {name}")
def prompt() -> str:
    return f"prompted by {name}"

received = open(log, "ab", buffering=0)

reading, writing = os.pipe()
original = os.dup(0)
os.dup2(reading, 0)
os.close(reading)

def copy():
    while chunk := os.read(original, 65536):
        received.write(chunk)
        os.write(writing, chunk)
    os.close(writing)

threading.Thread(target=copy, daemon=True).start()
server.run_stdio()
"""

QUESTION = "What do alpha and beta know about the question-word-zanzibar?"
WORDS = {
    "alpha": ("alpha_", "what alpha looks up", "instructions of alpha", "alpha-result-quagga", "facts held by"),
    "beta": ("beta_", "what beta looks up", "instructions of beta", "beta-result-okapi"),
}
OF_ITS_QUESTIONS = {name: (f"{name}-answer", f"{name}-sample", f"{name}-folder", f"error of {name}") for name in WORDS}
OF_THE_CONVERSATION = ("question-word-zanzibar", "answer-word-narwhal", "thinking-word-dugong", "You answer a person")


async def host_with_both(folder: Path) -> Host:
    program = folder / "server.py"
    program.write_text(PROGRAM, encoding="utf-8")
    host = Host(options=ConnectOptions(timeout=20), environ={})
    for name in WORDS:
        command = [sys.executable, str(program), name, WORDS[name][3], str(folder / f"{name}.log")]
        await host.connect(ServerSpec.parse(name, command))
        host.policy.allow(f"{name}.*")
    return host


async def test_neither_of_two_servers_sees_the_other_or_the_conversation(tmp_path: Path) -> None:
    host = await host_with_both(tmp_path)
    model = scripted(
        ["thinking-word-dugong", use("alpha__alpha_lookup", query="first"), use("beta__beta_lookup", query="second")],
        "answer-word-narwhal",
        [use("beta__beta_lookup", id="again", query="third")],
        "done",
    )
    conversation = talk(host, model)
    try:
        first = await conversation.ask(f"{QUESTION} See @alpha:alpha://facts.")
        await conversation.ask("And beta once more?")
        sent = {name: [one.message for one in host.journal.entries(name) if one.direction == "send"] for name in WORDS}
    finally:
        await host.aclose()
    received = {name: (tmp_path / f"{name}.log").read_text(encoding="utf-8") for name in WORDS}
    assert [call.outcome for call in first.calls] == ["ok", "ok"]
    seen_by_model = json.dumps([request.messages for request in model.requests], default=list)
    assert "alpha-result-quagga" in seen_by_model
    assert "beta-result-okapi" in seen_by_model
    for name, other in (("alpha", "beta"), ("beta", "alpha")):
        for text in (received[name], json.dumps(sent[name])):
            assert f"{name}_lookup" in text, "the test would see nothing otherwise"
            for word in (*WORDS[other], *OF_THE_CONVERSATION):
                assert word not in text, (name, word)


async def test_what_the_model_passes_on_is_all_that_reaches_the_other_and_the_turn_says_so(tmp_path: Path) -> None:
    host = await host_with_both(tmp_path)
    model = scripted(
        [use("alpha__alpha_lookup", query="first")],
        [use("beta__beta_lookup", query="is alpha-result-quagga true?")],
        "done",
    )
    try:
        turn = await talk(host, model).ask(QUESTION)
    finally:
        await host.aclose()
    calls: list[Any] = [
        json.loads(line)["params"]["arguments"]
        for line in (tmp_path / "beta.log").read_text(encoding="utf-8").splitlines()
        if '"tools/call"' in line
    ]
    assert calls == [{"query": "is alpha-result-quagga true?"}]
    assert [list(call.passes_on) for call in turn.calls] == [[], ["alpha"]]


async def test_what_one_server_asked_and_got_reaches_neither_the_other_nor_the_others_model_calls(
    tmp_path: Path,
) -> None:
    """Forms, samples, folders and errors, with so many tools that the model has to search."""
    host = await host_with_both(tmp_path)
    sampler = ScriptedModel(lambda request: f"{'alpha' if 'alpha' in request.text else 'beta'}-sample")
    host.models.set(sampler)
    for name in WORDS:
        folder = tmp_path / f"{name}-folder"
        folder.mkdir()
        host.roots.set([folder], server=name)
        host.answers.add({f"{name}_field": f"{name}-answer"}, server=name, kind="elicitation")
        host.policy.allow(f"{name}.sampling/*")
    model = scripted(
        [use("search_tools", query="asks fails")],
        [use("alpha__alpha_asks"), use("beta__beta_asks")],
        [use("alpha__alpha_fails"), use("beta__beta_fails")],
        "answer-word-narwhal",
    )
    try:
        turn = await talk(host, model, limits=Limits(tools=2)).ask(QUESTION)
    finally:
        await host.aclose()
    assert [call.outcome for call in turn.calls] == ["searched", "ok", "ok", "error", "error"]
    assert len(sampler.requests) == 2
    for name, other in (("alpha", "beta"), ("beta", "alpha")):
        received = (tmp_path / f"{name}.log").read_text(encoding="utf-8")
        sampled = json.dumps([one.messages for one in sampler.requests if name in one.text], default=list)
        for word in OF_ITS_QUESTIONS[name][:3]:
            assert word in received, "the test would see nothing otherwise"
        for text in (received, sampled):
            for word in (*WORDS[other], *OF_ITS_QUESTIONS[other], *OF_THE_CONVERSATION, "search_tools"):
                assert word not in text, (name, word)
