"""A conversation with real servers: the question, the calls, the answer; and what is left when it is broken off."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ProviderError, UsageError
from jupyter_mcp.host.conversation import Limits
from jupyter_mcp.host.conversation.events import CatalogueChanged, TextDelta
from jupyter_mcp.models.base import ModelReply, ModelRequest, Usage
from jupyter_mcp.models.messages import problems
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.server import AsyncContext, Server
from tests.host.conversation.helpers import Watch, connected, demo, scripted, talk, use

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.host import Host

pytestmark = pytest.mark.anyio


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = await connected({"demo": demo()})
    yield host
    await host.aclose()


def text_of(message: Any) -> str:
    return "".join(block.get("text", "") for block in message["content"])


async def test_a_question_is_answered_with_what_the_tools_gave(host: Host) -> None:
    model = scripted(["Let me add.", use("demo__add", a=40)], "It is **42**.")
    watch = Watch()
    turn = await talk(host, model).ask("What is 40 + 2?", on_event=watch)
    assert (turn.text, turn.stop, turn.rounds, turn.model) == ("It is **42**.", "answered", 2, "scripted")
    [call] = turn.calls
    assert (call.full_name, call.arguments, call.outcome, call.data) == ("demo.add", {"a": 40}, "ok", 42)
    assert watch.kinds() == [
        "TextDelta",
        "CallStarted",
        "CallSent",
        "CallEnded",
        "RoundEnded",
        "TextDelta",
        "RoundEnded",
    ]
    assert [type(part).__name__ for part in turn.parts] == ["str", "ModelCall", "str"]


async def test_the_model_gets_the_result_of_its_call_in_the_protocols_blocks(host: Host) -> None:
    model = scripted([use("demo__add", id="c1", a=1)], "3")
    await talk(host, model).ask("1 + 2?")
    assert model.requests[1].messages[-1] == {
        "role": "user",
        "content": [{"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "3"}]}],
    }


async def test_every_request_is_well_formed(host: Host) -> None:
    model = scripted(
        ["a", use("demo__add", id="x", a=1), use("demo__add", id="x", a=2)],
        [use("no.such tool!"), use("demo__add", id="", a="one")],
        [{"type": "tool_use", "id": "q", "name": "demo__add", "input": '{"a": 1'}],
        "done",
        "more",
    )
    conversation = talk(host, model)
    await conversation.ask("go")
    await conversation.ask("go on")
    assert len(model.requests) == 5
    for request in model.requests:
        choice = request.tool_choice
        assert problems(list(request.messages), [dict(tool) for tool in request.tools], choice) == []


async def test_the_tools_are_described_with_their_server_and_schema(host: Host) -> None:
    model = scripted("hello")
    await talk(host, model).ask("hi")
    tools = {tool["name"]: tool for tool in model.requests[0].tools}
    assert list(tools) == ["demo__add", "demo__fail", "demo__echo"]
    assert tools["demo__add"]["description"] == "Tool of the server demo. Add two numbers."
    assert tools["demo__add"]["inputSchema"]["required"] == ["a"]


async def test_instructions_of_a_server_enter_the_context_under_its_name(host: Host) -> None:
    model = scripted("hello")
    await talk(host, model).ask("hi")
    assert "The server demo says about how to use it:\n> Add before you guess." in (model.requests[0].system or "")


async def test_prompts_are_never_tools_of_a_model(host: Host) -> None:
    model = scripted("hello")
    await talk(host, model).ask("hi")
    assert not any("review" in str(tool) for tool in model.requests[0].tools)


async def test_the_next_question_goes_on_from_there(host: Host) -> None:
    model = scripted("one", "two")
    conversation = talk(host, model)
    first = await conversation.ask("first")
    await conversation.ask("second")
    assert [text_of(message) for message in model.requests[1].messages] == ["first", "one", "second"]
    assert [text_of(message) for message in first.messages] == ["first", "one"]


async def test_only_the_chosen_servers_and_tools_are_there(host: Host) -> None:
    model = scripted("a", "b")
    await talk(host, model, tools=["a*", "demo.ec?o"]).ask("hi")
    assert [tool["name"] for tool in model.requests[0].tools] == ["demo__add", "demo__echo"]
    await talk(host, model, servers=[]).ask("hi")
    assert model.requests[1].tools == []


async def test_a_server_that_is_not_there_is_an_error_before_anything_is_asked(host: Host) -> None:
    model = scripted()
    with pytest.raises(UsageError, match=r"no server 'dmeo'\. Did you mean demo\?"):
        await talk(host, model, servers=["dmeo"]).ask("hi")
    assert model.requests == []


async def test_calls_of_one_round_run_at_the_same_time() -> None:
    server = Server("s")
    arrived, gate = [0], asyncio.Event()

    @server.tool
    async def meet() -> str:
        arrived[0] += 1
        if arrived[0] == 3:
            gate.set()
        await asyncio.wait_for(gate.wait(), 10)
        return "met"

    host = await connected({"s": server})
    try:
        uses = [use("s__meet", id=f"c{n}") for n in range(3)]
        turn = await talk(host, scripted(uses, "all met")).ask("go")
    finally:
        await host.aclose()
    assert [call.outcome for call in turn.calls] == ["ok"] * 3


async def test_tools_that_come_and_go_reach_the_model_with_its_next_round() -> None:
    server = Server("s")

    @server.tool
    async def grow(ctx: AsyncContext) -> str:
        """Grow."""
        server.tool("fresh")(lambda: "new")
        server.remove_tool("old")
        return "grown"

    server.tool("old")(lambda: "old")
    host = await connected({"s": server})
    watch = Watch()

    async def say(request: ModelRequest) -> Any:
        if len(request.messages) == 1:
            return [use("s__grow")]
        return "ok"

    try:
        model = ScriptedModel(say)
        await talk(host, model).ask("go", on_event=watch)
    finally:
        await host.aclose()
    [event] = [event for event in watch.events if isinstance(event, CatalogueChanged)]
    assert (event.changes.added, event.changes.removed) == (("s.fresh",), ("s.old",))
    assert [tool["name"] for tool in model.requests[1].tools] == ["s__grow", "s__fresh"]
    assert "The tools have changed since your last turn. new: s.fresh; gone: s.old." in (model.requests[1].system or "")


async def test_the_last_round_has_no_calls_and_the_turn_says_that_all_were_used(host: Host) -> None:
    model = ScriptedModel(lambda request: [use("demo__add", a=len(request.messages))])
    turn = await talk(host, model).ask("go", max_rounds=3)
    assert (turn.stop, turn.rounds) == ("rounds", 3)
    assert [call.outcome for call in turn.calls] == ["ok", "ok", "too many"]
    assert [dict(request.tool_choice or {}) for request in model.requests] == [
        {"mode": "auto"},
        {"mode": "auto"},
        {"mode": "none"},
    ]
    assert "answer now with what you have" in (model.requests[-1].system or "")
    assert turn.notes == ["scripted used all 3 rounds without an answer (--max-rounds allows more)."]


async def test_tokens_and_cost_of_all_rounds_are_added(host: Host) -> None:
    model = scripted(
        ModelReply([use("demo__add", a=1)], "m", "toolUse", Usage(10, 2, 0.01)),
        ModelReply([{"type": "text", "text": "3"}], "m", "endTurn", Usage(20, 3, None)),
    )
    turn = await talk(host, model).ask("go")
    assert (turn.spent.input_tokens, turn.spent.output_tokens, turn.cost) == (30, 5, 0.01)


async def test_what_nobody_knows_of_the_cost_is_unknown(host: Host) -> None:
    turn = await talk(host, scripted("hi")).ask("go")
    assert turn.cost is None


async def test_an_answer_that_was_cut_says_so(host: Host) -> None:
    model = scripted(ModelReply([{"type": "text", "text": "half an ans"}], "m", "maxTokens"))
    turn = await talk(host, model).ask("go")
    assert (turn.stop, turn.notes) == ("cut", ["The answer of scripted was cut at its greatest length."])


async def test_a_model_that_says_nothing_leaves_a_remark_and_a_conversation_that_goes_on(host: Host) -> None:
    model = scripted(ModelReply([], "m"), "here")
    conversation = talk(host, model)
    turn = await conversation.ask("go")
    assert (turn.stop, turn.text, turn.notes) == ("silent", "", ["scripted answered nothing."])
    assert (await conversation.ask("well?")).text == "here"


async def test_an_error_of_the_provider_is_raised_and_the_conversation_goes_on(host: Host) -> None:
    model = scripted(ProviderError("429 from the provider"), "back")
    conversation = talk(host, model)
    with pytest.raises(ProviderError, match="429"):
        await conversation.ask("first")
    assert conversation.turns[-1].stop == "failed"
    assert (await conversation.ask("second")).text == "back"
    assert [message["role"] for message in model.requests[-1].messages] == ["user", "assistant", "user"]


async def test_an_interrupt_in_a_call_cancels_it_and_the_conversation_goes_on() -> None:
    server = Server("s")
    begun, ended = asyncio.Event(), asyncio.Event()

    @server.tool
    async def forever() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    host = await connected({"s": server})
    try:
        model = scripted(["I look.", use("s__forever")], "What else?")
        conversation = talk(host, model)
        task = asyncio.ensure_future(conversation.ask("go"))
        await asyncio.wait_for(begun.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 10)
        turn = conversation.turns[0]
        assert (turn.stop, [call.outcome for call in turn.calls]) == ("interrupted", ["cancelled"])
        await conversation.ask("go on")
        messages = [dict(message) for message in model.requests[-1].messages]
        assert problems(messages) == []
        assert [text_of(message) for message in messages] == [
            "go",
            "I look.",
            "",
            "[interrupted by the person]",
            "go on",
        ]
    finally:
        await host.aclose()


async def test_an_interrupt_while_the_model_speaks_keeps_what_it_had_said(host: Host) -> None:
    spoken = asyncio.Event()

    class Slow(ScriptedModel):
        async def generate(
            self, request: Any, on_text: Any = None, on_note: Any = None, on_tool: Any = None
        ) -> ModelReply:
            if self.requests:
                return await super().generate(request, on_text)
            self.requests.append(request)
            on_text("Once upon")
            spoken.set()
            await asyncio.Event().wait()
            raise AssertionError

    conversation = talk(host, Slow(["", "a time"]))
    watch = Watch()
    task = asyncio.ensure_future(conversation.ask("tell", on_event=watch))
    await asyncio.wait_for(spoken.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.text for event in watch.events if isinstance(event, TextDelta)] == ["Once upon"]
    assert conversation.turns[0].text == "Once upon"
    assert text_of(conversation.messages[-1]) == "Once upon [interrupted by the person]"


async def test_two_questions_at_once_are_not_mixed(host: Host) -> None:
    gate = asyncio.Event()

    async def say(_: ModelRequest) -> str:
        await gate.wait()
        return "ok"

    conversation = talk(host, say)
    task = asyncio.ensure_future(conversation.ask("one"))
    await asyncio.sleep(0)
    with pytest.raises(UsageError, match="still busy with another question"):
        await conversation.ask("two")
    gate.set()
    assert (await task).text == "ok"


async def test_an_empty_question_is_none(host: Host) -> None:
    with pytest.raises(UsageError, match="no question"):
        await talk(host, scripted()).ask("  \n")


async def test_a_model_that_takes_no_tools_answers_without_them(host: Host) -> None:
    model = ScriptedModel(["hello"], supports=frozenset({"text"}))
    turn = await talk(host, model).ask("hi")
    assert (model.requests[0].tools, model.requests[0].tool_choice) == ([], None)
    assert turn.notes == ["scripted takes no tools: it answers without them."]


async def test_when_all_grows_too_long_old_results_are_left_out_and_words_are_kept(host: Host) -> None:
    long = "x" * 3_000
    model = scripted([use("demo__echo", text=long)], "read", [use("demo__echo", id="2", text="short")], "ok")
    conversation = talk(host, model, limits=Limits(history=6_050))
    await conversation.ask("read it")
    await conversation.ask("and now?")
    first, last = model.requests[1].messages, model.requests[3].messages
    assert first[2]["content"][0]["content"][0]["text"] == long
    assert last[2]["content"][0]["content"][0]["text"].startswith("[An earlier result, left out")
    assert text_of(last[3]) == "read"
    assert conversation.messages[2]["content"][0]["content"][0]["text"] == long


async def test_a_model_that_takes_little_is_shown_little_and_keeps_its_answers_short(host: Host) -> None:
    class Small(ScriptedModel):
        context = 2_000

    model = Small([[use("demo__echo", text="x" * 5_000)], "ok"])
    conversation = talk(host, model)
    turn = await conversation.ask("read it")
    [block] = model.requests[1].messages[-1]["content"]
    assert len(block["content"][0]["text"]) < 1_200
    assert turn.calls[0].result is not None
    assert len(turn.calls[0].result.text) == 5_000
    assert model.requests[0].max_tokens == 250
    conversation.model = scripted("ok")
    await conversation.ask("again")
    assert conversation.limits == Limits()


async def test_a_turn_without_a_known_context_has_the_usual_limits(host: Host) -> None:
    model = scripted("ok")
    await talk(host, model).ask("hi")
    assert model.requests[0].max_tokens is None
