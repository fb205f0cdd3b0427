"""Models answering other people's servers: the official SDK 2.x in both eras, server-everything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_mcp.errors import InputRefused, MCPError
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.models.scripted import ScriptedModel
from tests.host.sampling.helpers import YES, Person
from tests.interop import programs
from tests.interop.hosted import hosted

pytestmark = [pytest.mark.interop, pytest.mark.anyio]

PYTHON = Path(__file__).parents[2] / "build" / "peers" / "mcp2" / "bin" / "python"
SERVER = Path(__file__).parent / "drivers" / "sampling_mcp2.py"
both = pytest.mark.parametrize("era", ["modern", "legacy"])


def sdk() -> list[str]:
    if not os.access(PYTHON, os.X_OK):
        pytest.skip("no official SDK 2.x in build/peers (make setup)")
    return [str(PYTHON), str(SERVER)]


@both
async def test_the_sdk_gets_a_models_answer_that_the_person_let_go(era: str) -> None:
    model = ScriptedModel(["A fox."])
    async with hosted(sdk(), era=era) as it:
        person = it.host.ui = Person(YES, YES)
        it.host.models.set(model)
        assert (await it.host.call_tool("it", "sum_up", {"text": "fox"})).text == "scripted: A fox."
        assert it.entry.era == era
    assert (model.requests[0].system, model.requests[0].text) == ("Be brief.", "fox")
    assert [question.step for question in person.asked] == ["consent", "review"]


@both
async def test_the_sdk_gets_a_call_of_its_tool(era: str) -> None:
    use = {"type": "tool_use", "id": "1", "name": "look", "input": {"x": 1}}
    async with hosted(sdk(), era=era) as it:
        it.host.models.set(ScriptedModel([[use]]))
        it.host.policy.allow("it.sampling/*")
        assert (await it.host.call_tool("it", "plan", {"text": "fox"})).text == "toolUse: look"


@both
async def test_the_sdk_is_refused_and_goes_on(era: str) -> None:
    async with hosted(sdk(), era=era) as it:
        it.host.ui = Person(Answer("decline"), YES, YES)
        it.host.models.set(ScriptedModel(["again"]))
        with pytest.raises(InputRefused if era == "modern" else MCPError):
            await it.host.call_tool("it", "sum_up", {"text": "fox"})
        assert (await it.host.call_tool("it", "sum_up", {"text": "fox"})).text == "scripted: again"


@both
async def test_the_sdk_knows_when_nobody_answers(era: str) -> None:
    async with hosted(sdk(), era=era) as it:
        it.host.ui = None
        it.host.policy.deny("it.sampling/*")
        with pytest.raises(MCPError, match="sampling"):
            await it.host.call_tool("it", "sum_up", {"text": "fox"})


async def test_server_everything_gets_a_models_answer() -> None:
    async with hosted([programs.npm_server("mcp-server-everything"), "stdio"]) as it:
        await it.has_tool("trigger-sampling-request")
        person = it.host.ui = Person(YES, Answer("accept", {"content": [{"type": "text", "text": "Changed."}]}))
        it.host.models.set(ScriptedModel(["As it came."]))
        result = await it.host.call_tool("it", "trigger-sampling-request", {"prompt": "hello", "maxTokens": 10})
        assert "Changed." in result.text
        assert person.asked[0].params["maxTokens"] == 10
