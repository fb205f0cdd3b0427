"""What a model may do wrong with tools: each has a stated outcome, and the conversation goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.conversation import Limits, ModelCall
from jupyter_mcp.host.conversation.calls import arguments_of
from jupyter_mcp.host.conversation.events import CallTold
from jupyter_mcp.host.events import Progress
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.server import AsyncContext, Server
from tests.host.conversation.helpers import Person, Watch, connected, demo, scripted, talk, use

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.host import Host
    from jupyter_mcp.models.base import ModelRequest

pytestmark = pytest.mark.anyio


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = await connected({"demo": demo()})
    yield host
    await host.aclose()


def told(model: ScriptedModel, round_: int = 1) -> list[str]:
    """What the model was told of its calls in its next round."""
    blocks = model.requests[round_].messages[-1]["content"]
    return ["".join(part["text"] for part in block["content"]) for block in blocks]


def errors(model: ScriptedModel, round_: int = 1) -> list[bool]:
    return [bool(block.get("isError")) for block in model.requests[round_].messages[-1]["content"]]


# --- a tool that does not exist, arguments that are none -------------------------------------------------------------


async def test_an_unknown_tool_is_answered_with_the_nearest_name(host: Host) -> None:
    model = scripted([use("demo__ad", a=1)], "sorry")
    turn = await talk(host, model).ask("go")
    assert [call.outcome for call in turn.calls] == ["unknown"]
    assert told(model) == ["There is no tool 'demo__ad'. Did you mean demo__add?"]
    assert errors(model) == [True]


async def test_a_tool_like_nothing_is_answered_with_those_there_are(host: Host) -> None:
    model = scripted([use("zzz")], "sorry")
    await talk(host, model).ask("go")
    assert told(model) == ["There is no tool 'zzz'. There are demo__add, demo__fail, demo__echo."]


async def test_without_any_tool_an_invented_one_is_answered_too() -> None:
    host = await connected({})
    model = scripted([use("search")], "sorry")
    turn = await talk(host, model).ask("go")
    assert told(model) == ["There is no tool 'search', and none at all right now."]
    assert turn.text == "sorry"


async def test_a_tool_outside_the_conversation_does_not_exist_for_it(host: Host) -> None:
    model = scripted([use("demo__echo", text="x")], "sorry")
    turn = await talk(host, model, tools=["add"]).ask("go")
    assert [call.outcome for call in turn.calls] == ["unknown"]
    assert [act for act in host.journal.acts() if act.method == "tools/call"] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('{"a": 1', "cannot read the arguments as JSON"),
        ('{"a": 1} {"b": 2}', "something follows the JSON of the arguments"),
        ('{"a": NaN}', "NaN is not valid JSON"),
        ('{"a": 1, "a": 2}', "'a' is given twice"),
        ("[1, 2]", "no JSON object"),
        ("add one", "cannot read the arguments as JSON"),
        ([1], "no JSON object"),
        (7, "no JSON object"),
    ],
)
async def test_broken_arguments_are_answered_with_where_they_break(host: Host, given: Any, said: str) -> None:
    model = scripted([{"type": "tool_use", "id": "c", "name": "demo__add", "input": given}], "sorry")
    turn = await talk(host, model).ask("go")
    assert [(call.full_name, call.outcome) for call in turn.calls] == [("demo.add", "unreadable")]
    assert said in told(model)[0]
    assert "Call it again with one" in told(model)[0]


@pytest.mark.parametrize("given", ['{"a": 1}', ' {"a": 1}\n', {"a": 1}])
def test_arguments_as_text_are_read(given: Any) -> None:
    call = ModelCall(1, "x")
    assert arguments_of(call, given) == ""
    assert call.arguments == {"a": 1}


@pytest.mark.parametrize("given", [None, "", "  ", {}])
def test_no_arguments_are_an_empty_object(given: Any) -> None:
    call = ModelCall(1, "x")
    assert arguments_of(call, given) == ""
    assert call.arguments == {}


async def test_arguments_that_the_schema_does_not_take_are_answered_in_the_hosts_words(host: Host) -> None:
    model = scripted([use("demo__add", a="one")], "sorry")
    turn = await talk(host, model).ask("go")
    assert [call.outcome for call in turn.calls] == ["error"]
    assert "argument a" in told(model)[0]


async def test_a_tool_that_fails_is_for_the_model_to_deal_with(host: Host) -> None:
    model = scripted([use("demo__fail")], "the table is locked")
    turn = await talk(host, model).ask("go")
    [call] = turn.calls
    assert (call.outcome, call.result is not None, errors(model)) == ("error", True, [True])
    assert "table is locked" in told(model)[0]


# --- a no ------------------------------------------------------------------------------------------------------------


async def test_a_rules_no_comes_back_to_the_model_in_words(host: Host) -> None:
    host.policy.deny("demo.add")
    model = scripted([use("demo__add", a=1)], "I may not")
    turn = await talk(host, model).ask("go")
    assert [call.outcome for call in turn.calls] == ["denied"]
    assert "demo.add" in told(model)[0]
    assert "den" in told(model)[0]


async def test_a_persons_no_comes_back_with_the_persons_words() -> None:
    person = Person(Answer("decline", remark="not on a Sunday"))
    host = await connected({"demo": demo()}, ui=person)
    try:
        model = scripted([use("demo__add", a=1)], "all right")
        turn = await talk(host, model).ask("go")
    finally:
        await host.aclose()
    [question] = person.asked
    assert (question.kind, question.params["tool"], question.params["origin"]) == ("approval", "add", "model")
    assert [call.outcome for call in turn.calls] == ["denied"]
    assert "not on a Sunday" in told(model)[0]
    assert turn.calls[0].approval == "refused by you"


async def test_a_person_is_not_asked_again_for_the_very_call_that_was_refused() -> None:
    person = Person(Answer("decline"))
    host = await connected({"demo": demo()}, ui=person)
    try:
        turn = await talk(host, scripted([use("demo__add", a=1)], [use("demo__add", a=1)])).ask("go")
    finally:
        await host.aclose()
    assert len(person.asked) == 1
    assert ([call.outcome for call in turn.calls], turn.stop) == (["denied", "repeated"], "loop")


async def test_arguments_that_the_person_changed_are_those_of_the_call() -> None:
    person = Person(Answer("accept", {"arguments": {"a": 5}}))
    host = await connected({"demo": demo()}, ui=person)
    try:
        turn = await talk(host, scripted([use("demo__add", a=1)], "seven")).ask("go")
    finally:
        await host.aclose()
    assert (turn.calls[0].arguments, turn.calls[0].data) == ({"a": 5}, 7)
    assert turn.calls[0].approval == "allowed by you, once"


async def test_where_nobody_can_be_asked_an_act_of_a_model_is_not_done() -> None:
    host = await connected({"demo": demo()})
    host.policy.reset()
    try:
        model = scripted([use("demo__add", a=1)], "I could not")
        turn = await talk(host, model).ask("go")
    finally:
        await host.aclose()
    assert [call.outcome for call in turn.calls] == ["denied"]
    assert 'mcp.allow("demo.add")' in turn.calls[0].said
    assert "mcp.allow" not in told(model)[0], "how to get around it is for the person"


# --- again and again, and all at once --------------------------------------------------------------------------------


async def test_a_model_in_a_loop_is_stopped(host: Host) -> None:
    model = ScriptedModel(lambda _: [use("demo__add", a=1)])
    turn = await talk(host, model).ask("go", max_rounds=50)
    assert [call.outcome for call in turn.calls] == ["ok", "ok", "ok", "repeated"]
    assert (turn.stop, turn.notes) == ("loop", ["scripted made the same call again and again; it was stopped."])


async def test_a_call_that_gives_something_new_each_time_is_no_loop() -> None:
    server, seen = Server("s"), [0]

    @server.tool
    def poll() -> str:
        seen[0] += 1
        return f"{seen[0]} of 6"

    host = await connected({"s": server})
    try:
        replies: list[Any] = [[use("s__poll")]] * 6
        turn = await talk(host, scripted(*replies, "done")).ask("go")
    finally:
        await host.aclose()
    assert ([call.outcome for call in turn.calls], turn.stop) == (["ok"] * 6, "answered")


async def test_a_model_that_stops_repeating_itself_goes_on(host: Host) -> None:
    again = [use("demo__add", a=1)]
    model = scripted(again, again, again, [*again, use("demo__echo", text="other")], "done")
    turn = await talk(host, model).ask("go")
    assert [call.outcome for call in turn.calls] == ["ok", "ok", "ok", "repeated", "ok"]
    assert turn.stop == "answered"


async def test_of_a_hundred_calls_at_once_a_rounds_worth_is_made_and_so_many_at_a_time() -> None:
    server, now, most = Server("s"), [0], [0]

    @server.tool
    async def work(n: int) -> int:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await asyncio.sleep(0)
        now[0] -= 1
        return n

    host = await connected({"s": server})
    try:
        model = scripted([use("s__work", id=f"c{n}", n=n) for n in range(100)], "done")
        turn = await talk(host, model, limits=Limits(at_once=4, calls=20)).ask("go")
    finally:
        await host.aclose()
    outcomes = [call.outcome for call in turn.calls]
    assert outcomes == ["ok"] * 20 + ["too many"] * 80
    assert 1 < most[0] <= 4
    assert len(told(model)) == 100
    assert told(model)[19:21] == ["19", "Not done: one round has at most 20 calls, and the last one has none."]


async def test_of_a_hundred_of_the_same_call_at_once_only_a_few_are_made(host: Host) -> None:
    model = scripted([use("demo__add", id=f"c{n}", a=1) for n in range(100)], "done")
    turn = await talk(host, model).ask("go")
    outcomes = [call.outcome for call in turn.calls]
    assert (outcomes.count("ok"), outcomes.count("repeated"), outcomes.count("too many")) == (3, 29, 68)


async def test_ids_that_the_model_gives_twice_are_made_unique(host: Host) -> None:
    model = scripted([use("demo__add", id="x", a=1), use("demo__add", id="x", a=2)], "done")
    await talk(host, model).ask("go")
    sent = [block["id"] for block in model.requests[1].messages[-2]["content"]]
    answered = [block["toolUseId"] for block in model.requests[1].messages[-1]["content"]]
    assert sent == answered
    assert len(set(sent)) == 2


# --- what is told meanwhile, what the model sees ---------------------------------------------------------------------


async def test_progress_of_a_call_is_told_to_whoever_watches() -> None:
    server = Server("s")

    @server.tool
    async def work(ctx: AsyncContext) -> str:
        await ctx.progress(1, 2, "half")
        return "worked"

    host = await connected({"s": server})
    watch = Watch()
    try:
        await talk(host, scripted([use("s__work")], "done")).ask("go", on_event=watch)
    finally:
        await host.aclose()
    told_ = [event.event for event in watch.events if isinstance(event, CallTold)]
    assert Progress(1, 2, "half") in told_


async def test_a_long_result_is_cut_for_the_model_and_whole_for_the_notebook(host: Host) -> None:
    long = "a" * 900 + "THE MIDDLE" + "z" * 900
    model = scripted([use("demo__echo", text=long)], "done")
    turn = await talk(host, model, limits=Limits(result=400)).ask("go")
    [seen] = told(model)
    assert len(seen) < 600
    assert seen.startswith("a" * 100)
    assert seen.endswith("z" * 90)
    assert "1,410 characters in the middle are not shown" in seen
    assert turn.calls[0].result is not None
    assert turn.calls[0].result.text == long


async def test_the_results_of_one_round_share_its_budget(host: Host) -> None:
    long = "b" * 1_000
    model = scripted([use("demo__echo", id=f"c{n}", text=f"{n}{long}") for n in range(4)], "done")
    await talk(host, model, limits=Limits(result=1_000, results=1_200)).ask("go")
    assert all(len(seen) < 450 for seen in told(model))


async def test_every_act_is_in_the_journal_as_the_models(host: Host) -> None:
    await talk(host, scripted([use("demo__add", a=1)], "done")).ask("go")
    [act] = [act for act in host.journal.acts() if act.method == "tools/call"]
    assert (act.name, act.origin, act.outcome) == ("add", "model", "ok")


async def test_after_a_search_of_many_tools_what_was_found_can_be_called() -> None:
    server = Server("many")
    for number in range(60):
        server.tool(f"tool_{number}", description=f"Does thing {number}")(lambda: "done")

    @server.tool
    def weather_forecast(city: str) -> str:
        """How the weather will be."""
        return f"sunny in {city}"

    def say(request: ModelRequest) -> Any:
        match len(request.messages):
            case 1:
                return [use("search_tools", query="weather")]
            case 3:
                return [use("many__weather_forecast", city="Paris")]
            case _:
                return "Sunny."

    host = await connected({"many": server})
    model = ScriptedModel(say)
    try:
        turn = await talk(host, model).ask("How will the weather be in Paris?")
    finally:
        await host.aclose()
    assert [call.outcome for call in turn.calls] == ["searched", "ok"]
    assert [tool["name"] for tool in model.requests[0].tools] == ["search_tools"]
    assert [tool["name"] for tool in model.requests[1].tools] == ["search_tools", "many__weather_forecast"]
    assert told(model) == ["You can call these now:\nmany__weather_forecast: How the weather will be."]
    assert "61 tools (servers: many)" in model.requests[0].tools[0]["description"]
