"""Models that need no provider: scripts, functions of the notebook, the person."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import NoModel, ProviderError, UsageError
from jupyter_mcp.models.base import Model, ModelReply, ModelRequest, Ranks, reply_of
from jupyter_mcp.models.function import FunctionModel
from jupyter_mcp.models.human import HumanModel
from jupyter_mcp.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

HELLO = ModelRequest([{"role": "user", "content": {"type": "text", "text": "hello"}}])
USE = {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}


@pytest.mark.parametrize("model", [ScriptedModel([]), FunctionModel(str), HumanModel(lambda: None)])
def test_each_is_a_model(model: object) -> None:
    assert isinstance(model, Model)


async def test_a_script_is_said_in_order_and_remembers_what_it_was_asked() -> None:
    model = ScriptedModel(["one", [{"type": "text", "text": "two"}, USE]])
    first, second = await model.generate(HELLO), await model.generate(HELLO)
    assert (first.text, first.stop_reason, first.model) == ("one", "endTurn", "scripted")
    assert (second.text, second.stop_reason, second.tool_uses) == ("two", "toolUse", [USE])
    assert model.requests == [HELLO, HELLO]


async def test_a_script_that_has_ended_says_so() -> None:
    model = ScriptedModel("only this")
    assert (await model.generate(HELLO)).text == "only this"
    with pytest.raises(NoModel, match="scripted was asked 2 times and has 1 replies"):
        await model.generate(HELLO)


async def test_a_script_streams_its_text_whole() -> None:
    pieces: list[str] = []
    await ScriptedModel(["  two words\nand more "]).generate(HELLO, pieces.append)
    assert "".join(pieces) == "  two words\nand more "
    assert len(pieces) > 3


async def test_a_script_may_hold_errors() -> None:
    with pytest.raises(ProviderError, match="busy"):
        await ScriptedModel([ProviderError("busy", status=429)]).generate(HELLO)


async def test_a_script_may_be_a_function_of_the_request() -> None:
    async def last(request: ModelRequest) -> str:
        return str(len(request.messages))

    model = ScriptedModel(last, name="counting")
    assert (await model.generate(HELLO)).text == "1"
    assert model.requests == [HELLO]


def plain(request: ModelRequest) -> str:
    return (
        f"{len(request.messages)} on {'main' if threading.current_thread() is threading.main_thread() else 'another'}"
    )


async def awaited(request: ModelRequest) -> list[Any]:
    await asyncio.sleep(0)
    return [f"{len(request.messages)} awaited"]


class Callable_:
    async def __call__(self, request: ModelRequest) -> ModelReply:
        return reply_of("1 whole", "x")


@pytest.mark.parametrize(
    ("function", "said"), [(plain, "1 on another"), (awaited, "1 awaited"), (Callable_(), "1 whole")]
)
async def test_a_function_may_be_plain_or_async_and_a_plain_one_holds_up_nothing(
    function: Callable[..., Any], said: str
) -> None:
    pieces: list[str] = []
    assert (await FunctionModel(function).generate(HELLO, pieces.append)).text == said
    assert pieces == [said]


async def test_a_function_that_fails_is_named() -> None:
    def broken(request: ModelRequest) -> str:
        raise ValueError("no idea")

    with pytest.raises(ProviderError, match="The model python:broken failed: ValueError: no idea"):
        await FunctionModel(broken).generate(HELLO)


async def test_a_function_can_ask_for_the_text_of_the_last_message() -> None:
    def loud(request: ModelRequest) -> str:
        return request.text.upper()

    assert (await FunctionModel(loud).generate(HELLO)).text == "HELLO"
    assert ModelRequest([]).text == ""


@pytest.mark.parametrize("value", [None, 3, [3], {"text": "no type"}])
async def test_a_reply_that_is_none_is_refused(value: Any) -> None:
    def wrong(request: ModelRequest) -> Any:
        return value

    with pytest.raises(UsageError, match="python:wrong replied with"):
        await FunctionModel(wrong).generate(HELLO)


async def test_the_person_is_asked_and_told_of() -> None:
    asked: list[ModelRequest] = []
    notes: list[str] = []

    async def ask(request: ModelRequest) -> str:
        asked.append(request)
        return "by hand"

    reply = await HumanModel(lambda: ask).generate(HELLO, on_note=notes.append)
    assert (reply.text, reply.model, asked) == ("by hand", "human", [HELLO])
    assert len(notes) == 1


async def test_where_nobody_can_be_asked_there_is_no_human_model() -> None:
    with pytest.raises(NoModel, match="nobody can be asked"):
        await HumanModel(lambda: None).generate(HELLO)


@pytest.mark.parametrize("ranks", [{"cost": 1.1}, {"speed": -0.1}, {"intelligence": True}])
def test_a_rank_is_a_number_from_0_to_1(ranks: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        Ranks(**ranks)
