"""`ask` in a real kernel: with a person there the answer comes live, and what is saved is its static picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.kernels import LiveKernel, Run, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 60.0  # seconds: cards are made of many widgets, and machines may be busy
VIEW = "application/vnd.jupyter.widget-view+json"
SETUP = """
%load_ext jupyter_mcp
import asyncio
import jupyter_mcp as mcp
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.notebook.objects import conversation
from jupyter_mcp.runtime.state import get_host

def use(name, **arguments):
    return {"type": "tool_use", "id": f"id-{name}", "name": name, "input": arguments}

def model(*replies):
    conversation.forget()
    get_host().models.set(ScriptedModel(list(replies)))

class Stuck(ScriptedModel):
    async def generate(self, request, on_text=None, on_note=None):
        if self.requests:
            return await super().generate(request, on_text)
        self.requests.append(request)
        on_text("Once upon a time")
        print("begun", flush=True)
        await asyncio.Event().wait()
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    with live_kernel(setup=SETUP) as started:
        started.run("%mcp connect demo ;")
        yield started


def outputs(run: Run) -> list[dict[str, Any]]:
    """What a saved notebook would hold: each display with the contents it had last."""
    found: dict[str, dict[str, Any]] = {}
    for message in run.messages:
        content = message["content"]
        kind = message["header"]["msg_type"]
        if kind in ("display_data", "update_display_data", "execute_result"):
            key = content.get("transient", {}).get("display_id") or message["header"]["msg_id"]
            found[key] = content["data"]
    return list(found.values())


def saved(run: Run) -> str:
    return "\n".join(data["text/plain"] for data in outputs(run) if data.get("text/plain"))


def press(kernel: LiveKernel, run: Run, label: str) -> None:
    """Wait for a button of that label and press it."""

    def found() -> list[str]:
        return [
            content["comm_id"]
            for content in run.of("comm_open")
            if content["data"]["state"].get("description") == label
            and content["data"]["state"].get("_model_name") == "ButtonModel"
        ]

    kernel.until(lambda: bool(found()), LIMIT, why=lambda: f"no button {label!r}; it said {run.displays}")
    kernel.comm(found()[-1], {"method": "custom", "content": {"event": "click"}})


def test_the_answer_comes_live_and_is_saved_as_its_static_picture(kernel: LiveKernel) -> None:
    kernel.run("model('It is **42**.')")
    run = kernel.run("%%mcp ask\nWhat is it?", allow_stdin=True)
    assert any(VIEW in content["data"] for content in run.of("display_data"))
    assert not any(VIEW in data for data in outputs(run))
    assert saved(run) == "It is **42**.\nscripted, 1 round"


def test_a_call_waits_for_the_person_and_is_made_when_it_is_allowed(kernel: LiveKernel) -> None:
    kernel.run("model(['I add.', use('demo__add', a=40, b=2)], 'It is 42.')")
    run = kernel.start("%%mcp ask\nWhat is 40 + 2?", allow_stdin=True)
    press(kernel, run, "Allow once")
    kernel.finish(run, LIMIT)
    assert run.error is None
    assert "I add.\n▸ demo.add(a=40, b=2): 42\nIt is 42.\nscripted, 2 rounds, 1 call" in saved(run)
    assert not any(VIEW in data for data in outputs(run))


def test_a_call_that_is_denied_comes_back_to_the_model(kernel: LiveKernel) -> None:
    kernel.run("model([use('demo__add', a=1, b=2)], 'I may not.')")
    run = kernel.start("%%mcp ask\nAdd.", allow_stdin=True)
    press(kernel, run, "Deny")
    kernel.finish(run, LIMIT)
    assert "▸ demo.add(a=1, b=2) was not allowed" in saved(run)
    assert "I may not." in saved(run)


def test_an_interrupt_keeps_what_was_said_and_the_next_question_goes_on(kernel: LiveKernel) -> None:
    kernel.run("conversation.forget()\nget_host().models.set(Stuck(['', 'The end.']))")
    run = kernel.start("%%mcp ask\nTell a story.", allow_stdin=True)
    kernel.until(lambda: "begun" in run.text, LIMIT)
    kernel.interrupt()
    kernel.finish(run, LIMIT)
    assert run.error is not None
    assert run.error.startswith("Interrupted: the answer of scripted cancelled; what was said stays")
    assert saved(run).startswith("Once upon a time")
    assert not any(VIEW in data for data in outputs(run))
    left = kernel.run("left = mcp.host.conversation\nprint(left.question, '|', left.stop, '|', left.text)")
    assert left.text.startswith("Tell a story. | interrupted | Once upon a time")
    again = kernel.run("answer = mcp.ask('Go on.')\nprint(answer.text, [m['role'] for m in answer.messages])")
    assert again.text.strip() == "The end. ['user', 'assistant', 'user', 'assistant']"


def test_the_stop_button_ends_the_answer(kernel: LiveKernel) -> None:
    kernel.run("conversation.forget()\nget_host().models.set(Stuck([]))")
    run = kernel.start("%%mcp ask\nTell a story.", allow_stdin=True)
    press(kernel, run, "Stop")
    kernel.finish(run, LIMIT)
    assert run.error is not None
    assert run.error.startswith("Cancelled: ")
    assert saved(run).startswith("Once upon a time")


def test_where_nobody_sits_the_answer_is_one_output_without_a_card(kernel: LiveKernel) -> None:
    kernel.run("model('Hello.')")
    run = kernel.run("%%mcp ask\nSay hello.")
    assert run.of("comm_open") == []
    assert run.displays == ["Hello.\nscripted, 1 round"]


def test_an_awaited_question_in_a_cell_is_answered(kernel: LiveKernel) -> None:
    kernel.run("model('Hello.')")
    assert kernel.run("print((await mcp.aio.ask('Say hello.')).text)").text.strip() == "Hello."


def test_a_value_that_is_used_leaves_nothing_behind(kernel: LiveKernel) -> None:
    kernel.run("model('Hello.')")
    run = kernel.run("answer = mcp.ask('Say hello.')", allow_stdin=True)
    assert saved(run) == ""
