"""Kernels shared by the tests of a module: starting one takes longer than most tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtime.kernels import CURRENT, VERSIONS, LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

SETUP = """
import asyncio, threading, time
from jupyter_mcp.runtime import cells, desk, jobs, place, pump, state, thread, wait
from jupyter_mcp.host.questions import Answer, Question, Cause
from comm import create_comm

started, cleaned = threading.Event(), []

async def echo(value):
    await asyncio.sleep(0)
    return value

async def slow(seconds=60.0):
    started.set()
    print("started", flush=True)
    try:
        await asyncio.sleep(seconds)
        return "slow enough"
    except asyncio.CancelledError:
        await asyncio.sleep(0.05)  # as the connection does: it still tells the server
        cleaned.append("told")
        raise

class Form:
    # what the notebook layer would draw: one comm, which the test answers as a page would
    forms = []
    def __init__(self, question, answer):
        self.question, self.closed, self.got = question, [], []
        self.comm = create_comm(target_name="form", data={"message": question.message})
        self.comm.on_msg(lambda message: self.message(message["content"]["data"], answer))
        from IPython.display import display
        display({"text/plain": "form " + self.comm.comm_id}, raw=True)
        Form.forms.append(self)
    def message(self, data, answer):
        self.got.append((data, threading.current_thread() is threading.main_thread()))
        if "submit" in data:
            answer(Answer("accept", content={"value": data["submit"]}))
    def close(self, answer):
        from IPython.display import display
        self.closed.append(answer)
        display({"text/plain": "closed " + (answer.action if answer else "withdrawn")}, raw=True)

cells.cells.watch()  # as the host does when it is made
DESK = state.desk()
DESK.presenter = Form
number = [0]

async def ask(message="Which day?", server="demo", cause=True):
    number[0] += 1
    question = Question(f"q{number[0]}", "elicitation", server, message,
        {"requestedSchema": {"type": "object", "properties": {"value": {"type": "string", "title": "Day"}},
                             "required": ["value"]}},
        cause=Cause("tools/call", "book") if cause else None)
    answer = await DESK.ask(question)
    return answer.action, dict(answer.content or {}), answer.by
"""


@pytest.fixture(scope="module", params=VERSIONS)
def any_kernel(request: pytest.FixtureRequest) -> Iterator[LiveKernel]:
    """One kernel of each version."""
    with live_kernel(request.param, SETUP) as kernel:
        yield kernel


@pytest.fixture(scope="module", params=("6.31.0", CURRENT))
def two_kernels(request: pytest.FixtureRequest) -> Iterator[LiveKernel]:
    """The two generations of ipykernel."""
    with live_kernel(request.param, SETUP) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    """A kernel of the installed version."""
    with live_kernel(CURRENT, SETUP) as kernel:
        yield kernel
