"""What users of other hosts complain about, in a real kernel: progress that nobody sees, pictures that become letters.

The numbers are those of the collected complaints (time: 8, results: 15).
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.notebook.test_render import png
from tests.runtime.kernels import LiveKernel, Run, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

PNG = base64.b64encode(png(64, 48)).decode()
SETUP = f"""
%load_ext jupyter_mcp
import asyncio
import jupyter_mcp as mcp
from jupyter_mcp.server import AsyncContext, Server, ToolResult
from jupyter_mcp.testing import ScriptedModel

lab = Server("lab")

@lab.tool
async def slow(ctx: AsyncContext, steps: int = 12) -> str:
    for step in range(1, steps + 1):
        await ctx.progress(step, steps, f"loading part {{step}}")
        await asyncio.sleep(0.1)
    return "all parts"

@lab.tool
def plot() -> ToolResult:
    return ToolResult([{{"type": "image", "data": "{PNG}", "mimeType": "image/png"}}, "a plot of the week"])

@lab.tool
def written() -> str:
    return "Here: ![plot](data:image/png;base64,{PNG})"

@lab.tool
def bare() -> str:
    return "{PNG}"

connected = mcp.connect("lab", lab)
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    with live_kernel(setup=SETUP) as started:
        yield started


def page(kernel: LiveKernel, run: Run) -> list[str]:
    """The HTML that the page was told to show, in order."""
    messages = [*run.messages, *(one for many in kernel.other.values() for one in many)]
    data = [one["content"].get("data", {}) for one in messages if one["header"]["msg_type"].startswith("comm_")]
    return [one["state"]["value"] for one in data if isinstance(one.get("state", {}).get("value"), str)]


def test_complaint_8_progress_its_message_and_a_cancel_button_are_on_the_page_while_a_call_runs(
    kernel: LiveKernel,
) -> None:
    run = kernel.start("r = %mcp call lab.slow\nprint(r.text)", allow_stdin=True)
    kernel.until(
        lambda: any("loading part" in one for one in page(kernel, run)), why=lambda: f"nothing: {run.displays}"
    )
    assert not run.idle, "while it runs, not afterwards"
    kernel.finish(run)
    shown = page(kernel, run)
    steps = [int(found[1]) for one in shown if (found := re.search(r"(\d+) of 12, loading part", one))]
    assert len(steps) >= 3, "it moves"
    assert steps == sorted(steps)
    assert any('aria-valuenow="' in one for one in shown)
    assert "Cancel call" in json.dumps([one["content"] for one in run.messages])
    assert run.text.strip().endswith("all parts")


def test_complaint_8_a_call_in_the_background_shows_it_too(kernel: LiveKernel) -> None:
    run = kernel.finish(kernel.start("call = %mcp call --background lab.slow steps=8\ncall", allow_stdin=True))
    kernel.until(
        lambda: any(re.search(r"\d of 8, loading part", one) for one in page(kernel, run)),
        why=lambda: f"nothing: {run.displays}",
    )
    done = kernel.run("print(call.result(20).text)")
    assert "all parts" in done.text


@pytest.mark.parametrize("tool", ["plot", "written", "bare"])
def test_complaint_15_a_picture_is_a_picture_and_never_letters_that_stand_for_it(kernel: LiveKernel, tool: str) -> None:
    run = kernel.finish(kernel.start(f"r = %mcp call lab.{tool}\nr"))
    shown = [
        one["content"]["data"]
        for one in run.messages
        if one["header"]["msg_type"] in ("display_data", "execute_result")
    ]
    assert shown
    for data in shown:
        assert PNG[:60] not in data["text/plain"]
        assert PNG[:60] not in json.dumps(data.get("application/vnd.jupyter-mcp+json", {}))
    assert any(f'<img src="data:image/png;base64,{PNG}"' in data["text/html"] for data in shown)
    seen = kernel.run("print(repr(r))\nprint([(one.actual_type, len(one.data)) for one in r.images])").text
    assert PNG[:60] not in seen
    assert f"('image/png', {len(png(64, 48))})" in seen


ASK = """
def sent(supports):
    from jupyter_mcp.host.conversation.results import Budget, result_for_model
    return result_for_model(connected.tools.{tool}(), Budget(100_000, 4, supports))
import json
for supports in (frozenset(["image"]), frozenset()):
    print(json.dumps(sent(supports)))
"""


def test_complaint_15_a_model_gets_the_picture_or_its_name_and_never_its_letters_as_text(kernel: LiveKernel) -> None:
    seeing, blind = kernel.run(ASK.format(tool="plot")).text.strip().splitlines()
    blocks: list[dict[str, Any]] = json.loads(seeing)
    assert blocks[0] == {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert PNG[:60] not in blind
    assert "the person sees it in the notebook, you do not" in blind


@pytest.mark.parametrize("tool", ["written", "bare"])
def test_complaint_15_a_picture_that_a_server_wrote_into_a_text_is_one_for_the_model_too(
    kernel: LiveKernel, tool: str
) -> None:
    seeing, blind = kernel.run(ASK.format(tool=tool)).text.strip().splitlines()
    blocks: list[dict[str, Any]] = json.loads(seeing)
    assert blocks[-1] == {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert all(PNG[:60] not in str(block.get("text")) for block in blocks)
    assert PNG[:60] not in blind
