"""What users of other hosts complain about, in real kernels: sampling that nobody sees, servers that die of a notebook.

The numbers are those of the collected complaints (sampling: 11, processes in notebooks: 25).
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.kernels import CURRENT, LiveKernel, Run, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

VIEW = "application/vnd.jupyter.widget-view+json"
SAMPLING = """
%load_ext jupyter_mcp
import jupyter_mcp as mcp
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.testing import ScriptedModel

WEATHER = {"name": "weather", "description": "The weather of a city",
           "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}
server = Server("advisor")

@server.tool
async def advise(place: str, ctx: AsyncContext) -> str:
    asked = [{"role": "user", "content": {"type": "text", "text": f"What to wear in {place}?"}}]
    first = await ctx.sample(asked, 60, system="You are a tailor.", tools=[WEATHER])
    [use] = [block for block in first.content if block["type"] == "tool_use"]
    result = {"type": "tool_result", "toolUseId": use["id"], "content": [{"type": "text", "text": "sunny"}]}
    asked += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    return (await ctx.sample(asked, 60, system="You are a tailor.", tools=[WEATHER])).text

model = ScriptedModel([
    [{"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Paris"}}],
    "A hat.",
])
mcp.model(model)
advisor = mcp.connect("advisor", server)
"""
LOST = """
%load_ext jupyter_mcp
import io, sys
import jupyter_mcp as mcp

class Stream(io.TextIOBase):
    "What stands for stderr in many notebooks: it has no file behind it."
    def fileno(self):
        raise io.UnsupportedOperation("fileno")
    def write(self, text):
        return len(text)

usual, sys.stderr = sys.stderr, Stream()
"""
TALKER = """
import sys
print("loading the model", file=sys.stderr, flush=True)
from jupyter_mcp.server import Server
server = Server("talker")

@server.tool
def add(a: int, b: int) -> int:
    print(f"adding {a}", file=sys.stderr, flush=True)
    return a + b

server.run_stdio()
"""


# --- 11: the person sees the system prompt and the messages before a model does, and tools are no reason to fail ----


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    with live_kernel(setup=SAMPLING) as started:
        yield started


def opened(kernel: LiveKernel, run: Run) -> list[dict[str, Any]]:
    """The states of the widgets that were made for a cell, also while it was being answered."""
    messages = [*run.messages, *(one for many in kernel.other.values() for one in many)]
    return [
        {"at": one["content"]["comm_id"], **one["content"]["data"]["state"]}
        for one in messages
        if one["header"]["msg_type"] == "comm_open" and "state" in one["content"]["data"]
    ]


def said(kernel: LiveKernel, run: Run) -> str:
    """Everything that the page was sent for a cell so far."""
    messages = [*run.messages, *(one for many in kernel.other.values() for one in many)]
    return json.dumps([one["content"] for one in messages])


def press(kernel: LiveKernel, run: Run, label: str, count: int) -> None:
    """Press the button of that label for the `count`-th time that it is there."""

    def found() -> list[str]:
        return [one["at"] for one in opened(kernel, run) if one.get("description") == label]

    kernel.until(lambda: len(found()) >= count, why=lambda: f"no {label!r}; it said {run.displays} {run.error}")
    kernel.comm(found()[count - 1], {"method": "custom", "content": {"event": "click"}})


def test_complaint_11_a_sampling_request_is_shown_whole_before_any_model_is_asked_and_may_have_tools(
    kernel: LiveKernel,
) -> None:
    run = kernel.start("r = advisor.tools.advise(place='Paris')\nprint('RESULT', r.text)", allow_stdin=True)
    for part in ("You are a tailor.", "What to wear in Paris?", "weather", "Ask scripted"):
        kernel.until(lambda part=part: part in said(kernel, run), why=lambda part=part: f"{part} is not shown")
    assert '"city": "Paris"' not in said(kernel, run).replace("\\", ""), "no model was asked yet"
    press(kernel, run, "Ask scripted", 1)
    press(kernel, run, "Send", 1)
    kernel.until(lambda: "sunny" in said(kernel, run), why=lambda: "the second request is not shown")
    press(kernel, run, "Ask scripted", 2)
    press(kernel, run, "Send", 2)
    kernel.finish(run)
    assert "RESULT A hat." in run.text
    asked = kernel.run(
        "print([(one.system, len(one.messages), [t['name'] for t in one.tools]) for one in model.requests])"
    )
    assert asked.text.strip() == "[('You are a tailor.', 1, ['weather']), ('You are a tailor.', 3, ['weather'])]"


def test_complaint_11_without_a_yes_no_model_is_asked(kernel: LiveKernel) -> None:
    before = kernel.run("print(len(model.requests))").text
    run = kernel.finish(kernel.start("advisor.tools.advise(place='Rome')", allow_stdin=False))
    assert run.error is not None
    assert run.error.startswith("InputRefused: advisor asked for sampling, and nobody could be asked")
    assert kernel.run("print(len(model.requests))").text == before


# --- 25: a server over pipes lives in a notebook, whatever its stderr is, and its words are not lost -----------------


@pytest.mark.parametrize("version", ["6.31.0", CURRENT])
def test_complaint_25_a_server_starts_where_stderr_has_no_file_its_words_are_kept_and_any_cell_ends_it(
    version: str, tmp_path: Any
) -> None:
    program = tmp_path / "talker.py"
    program.write_text(TALKER)
    with live_kernel(version, LOST) as kernel:
        connected = kernel.run(f"%mcp connect talker {sys.executable} {program}")
        assert connected.error is None, connected.error
        assert kernel.run("r = %mcp call talker.add a=1 b=2\nprint(r.data)").text.strip() == "3"
        awaited = kernel.run("r = await mcp.servers['talker'].tools.add.aio(a=2, b=2)\nprint(r.data)")
        assert awaited.text.strip() == "4", awaited.error
        log = kernel.run("print(*[line.text for line in mcp.servers['talker'].log], sep='|')").text
        assert {"loading the model", "adding 1", "adding 2"} <= set(log.strip().split("|"))
        ended = kernel.run(
            "import asyncio\nasync def end(): mcp.disconnect('talker')\nawait asyncio.create_task(end())"
        )
        assert ended.error is None, "a connection has no task that alone may close it"
        assert kernel.run("print(len(mcp.servers))").text.strip() == "0"
        quiet = kernel.run("sys.stderr = usual; print('fine')")
        assert (quiet.text.strip(), quiet.error) == ("fine", None)
