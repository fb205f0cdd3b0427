"""A request for sampling from the policy to what the server gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_mcp.errors import InputRefused, ModelError, ProviderError, RequestError, UnsupportedContent, UsageError
from jupyter_mcp.host.acts import Running
from jupyter_mcp.host.events import CallEvent, QuestionClosed
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.models.base import ModelReply, ModelRequest, Usage
from jupyter_mcp.models.scripted import ScriptedModel
from tests.host.sampling.helpers import TOOL, YES, Person, asker, params, sample, text, user

pytestmark = pytest.mark.anyio
PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
SECRET = "sk-abcdefghijklmnop1234"


async def test_the_person_agrees_the_model_writes_the_person_looks_and_it_is_sent():
    model = ScriptedModel(["A fox."])
    person = Person(YES, YES)
    result = await sample(asker(model, ui=person), params(user("Sum up."), systemPrompt="Be brief", temperature=0.2))
    assert result == {"role": "assistant", "content": text("A fox."), "model": "scripted", "stopReason": "endTurn"}
    consent, review = person.asked
    assert (consent.step, review.step, consent.id) == ("consent", "review", review.id)
    assert consent.offer is not None
    assert (consent.offer.model, consent.offer.why) == ("scripted", "it is the only model configured")
    (request,) = model.requests
    assert (request.system, request.text, request.max_tokens, request.temperature) == ("Be brief", "Sum up.", 50, 0.2)


async def test_nothing_is_asked_of_the_model_before_the_person_agrees():
    model = ScriptedModel(["x"])
    with pytest.raises(InputRefused, match="request of demo for sampling was declined"):
        await sample(asker(model, ui=Person(Answer("decline"))))
    assert model.requests == []


async def test_an_answer_that_the_person_does_not_want_sent_is_not_sent():
    questioner = asker(ScriptedModel(["x"]), ui=Person(YES, Answer("decline")))
    with pytest.raises(InputRefused, match="declined"):
        await sample(questioner)
    assert questioner.journal.acts()[0].outcome == "decline"


async def test_what_the_person_changed_is_what_the_model_and_the_server_get():
    model, other = ScriptedModel([]), ScriptedModel(["a word"], name="other")
    edits = {"systemPrompt": None, "messages": [user("Shorter.")], "maxTokens": 7, "model": "other"}
    changed = Answer("accept", {"content": [text("the person's")]})
    result = await sample(
        asker(model, other, ui=Person(Answer("accept", edits), changed)), params(systemPrompt="be long")
    )
    (request,) = other.requests
    assert (request.system, request.text, request.max_tokens) == (None, "Shorter.", 7)
    assert (result["content"], result["model"]) == (text("the person's"), "other")


@pytest.mark.parametrize(
    ("edits", "field"),
    [
        ({"maxTokens": 51}, "maxTokens"),
        ({"messages": []}, "request"),
        ({"model": "none"}, "model"),
        ({"tools": []}, "tools"),
        ({"allowance": {"calls": 0}}, "allowance"),
    ],
)
async def test_changes_that_cannot_be_are_asked_again_with_what_is_wrong(edits: dict[str, Any], field: str):
    person = Person(Answer("accept", edits), Answer("decline"))
    with pytest.raises(InputRefused):
        await sample(asker(ScriptedModel([]), ui=person))
    assert list(person.asked[1].problems) == [field]
    assert person.asked[1].draft == edits


async def test_the_person_may_write_the_answer_instead_of_the_model():
    model = ScriptedModel([])
    result = await sample(asker(model, ui=Person(Answer("accept", {"text": "mine"}))))
    assert (result["content"], result["model"], model.requests) == (text("mine"), "human", [])


@pytest.mark.parametrize("models", [(), ("human",)])
async def test_without_a_model_the_person_writes_as_ever(models: tuple[str, ...]):
    person = Person(Answer("accept", {"text": "by hand"}))
    assert (await sample(asker(*models, ui=person)))["content"] == text("by hand")
    assert person.asked[0].offer is None


async def test_what_looks_secret_is_masked_for_the_model_unless_the_person_switches_that_off():
    asked = params(user(f"the key is {SECRET}", PICTURE), systemPrompt=f"use {SECRET}")
    for edits, seen in (({}, False), ({"redact": False}, True)):
        model = ScriptedModel(["ok"])
        person = Person(Answer("accept", edits), YES)
        await sample(asker(model, ui=person), asked)
        offer = person.asked[0].offer
        assert offer is not None
        assert offer.masks == 2
        assert SECRET not in str(offer.masked)
        assert (SECRET in str(model.requests[0])) is seen
        assert PICTURE in model.requests[0].messages[0]["content"], "pictures stay as they are"


async def test_a_rule_that_denies_refuses_before_a_script_or_a_model_is_asked():
    questioner = asker(ScriptedModel([]), ui=Person())
    questioner.answers.add("mine", kind="sampling")
    questioner.policy.deny("demo.sampling/*")
    with pytest.raises(InputRefused, match="refuses sampling for demo"):
        await sample(questioner)


async def test_a_rule_that_allows_lets_the_model_answer_and_the_call_shows_it():
    events: list[CallEvent] = []
    act = Running("demo", "tools/call", "sum", {}, events.append)
    questioner = asker(ScriptedModel(["done"]))
    questioner.policy.allow("demo.sampling/*")
    assert (await sample(questioner, act=act))["content"] == text("done")
    closed = [event for event in events if isinstance(event, QuestionClosed)]
    assert closed[0].answer is not None
    assert closed[0].answer.by == "model"
    assert act.notes == ["scripted answers a request of demo; nobody was asked."]
    assert "allow demo.sampling/*" in str(questioner.journal.acts()[0].remark)


async def test_a_script_says_yes_to_the_model_only_when_it_is_made_for_sampling():
    questioner = asker(ScriptedModel(["one"]))
    questioner.answers.add("accept")
    with pytest.raises(InputRefused):
        await sample(questioner)
    questioner.answers.add("accept", kind="sampling")
    assert (await sample(questioner))["content"] == text("one")


async def test_a_scripted_text_is_sent_and_no_model_is_asked_even_for_what_none_takes():
    model = ScriptedModel([], supports=frozenset({"text"}))
    questioner = asker(model)
    questioner.answers.add({"text": "scripted"}, kind="sampling")
    assert (await sample(questioner, params(user(PICTURE))))["content"] == text("scripted")


async def test_a_script_with_a_model_that_is_not_there_is_a_mistake():
    questioner = asker(ScriptedModel([]))
    questioner.answers.add(lambda question: Answer("accept", {"model": "gpt"}, by="script"), kind="sampling")
    with pytest.raises(UsageError, match="There is no model 'gpt'"):
        await sample(questioner)


async def test_headless_with_a_model_and_no_rule_says_how_to_let_it_answer():
    act = Running("demo", "tools/call", "sum", {})
    with pytest.raises(InputRefused):
        await sample(asker(ScriptedModel([])), act=act)
    assert 'mcp.allow("demo.sampling/*")' in act.notes[0]


# --- models ----------------------------------------------------------------------------------------------------------


async def test_a_model_that_does_not_take_it_is_passed_over_with_the_reason():
    blind = ScriptedModel([], name="blind", supports=frozenset({"text"}))
    seeing = ScriptedModel(["I see"], name="seeing")
    person = Person(YES, YES)
    await sample(asker(blind, seeing, ui=person), params(user("what?", PICTURE)))
    offer = person.asked[0].offer
    assert offer is not None
    assert (offer.model, offer.models) == ("seeing", ("seeing",))
    assert "blind does not take images" in offer.unable["blind"]


async def test_what_no_model_takes_is_an_error_to_the_server_and_a_line_to_the_person():
    act = Running("demo", "tools/call", "sum", {})
    person = Person()
    with pytest.raises(UnsupportedContent, match="does not take images"):
        await sample(asker(ScriptedModel([], supports=frozenset({"text"})), ui=person), params(user(PICTURE)), act=act)
    assert "does not take images" in act.notes[0]
    assert person.asked == []


async def test_what_is_not_well_formed_is_shown_to_nobody():
    person = Person()
    asked = params(user({"type": "tool_result", "toolUseId": "1", "content": []}), tools=[TOOL])
    with pytest.raises(RequestError, match="not well formed") as error:
        await sample(asker(ScriptedModel([]), ui=person), asked)
    assert (error.value.code, person.asked) == (-32602, [])


async def test_the_answer_streams_into_the_review_and_can_be_looked_at_while_it_is_written():
    go = asyncio.Event()

    class Slow:
        name, ranks, supports = "slow", ScriptedModel([]).ranks, ScriptedModel([]).supports

        async def generate(self, request: ModelRequest, on_text: Any = None, on_note: Any = None) -> ModelReply:
            on_note("it is being loaded")
            on_text("half ")
            await go.wait()
            return ModelReply([text("half done")], "slow")

    async def look(question: Question) -> Answer:
        live, told = question.live, asyncio.Event()
        assert live is not None
        live.listen(lambda: told.set() if live.text else None)
        await told.wait()
        assert (live.state, live.text, live.note) == ("writing", "half ", "it is being loaded")
        go.set()
        return YES

    assert (await sample(asker(Slow(), ui=Person(YES, look))))["content"] == text("half done")


async def test_a_no_while_the_model_writes_ends_the_writing():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def forever(request: ModelRequest) -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async def stop(question: Question) -> Answer:
        await begun.wait()
        return Answer("cancel")

    with pytest.raises(InputRefused):
        await sample(asker(ScriptedModel(forever), ui=Person(YES, stop)))
    await asyncio.wait_for(ended.wait(), 2)


async def test_a_model_that_fails_closes_the_review_and_is_told():
    seen: list[Answer] = []

    class Desk(Person):
        def __init__(self) -> None:
            super().__init__(YES, self.wait)
            self.given: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        async def wait(self, question: Question) -> Answer:
            return await self.given

        def settle(self, question: Question, answer: Answer) -> bool:
            seen.append(answer)
            self.given.set_result(answer)
            return True

    act = Running("demo", "tools/call", "sum", {})
    with pytest.raises(ProviderError, match="quota"):
        await sample(asker(ScriptedModel([ProviderError("over quota")]), ui=Desk()), act=act)
    assert (seen[0].action, seen[0].by) == ("cancel", "model")
    assert act.notes == ["over quota"]


async def test_a_model_that_raises_anything_is_one_line_and_no_script_that_does_not_fit():
    questioner = asker(ScriptedModel(["x"]))
    questioner.policy.allow("demo.sampling/*")

    def broken(request: ModelRequest) -> Any:
        raise KeyError("nope")

    questioner.models = asker(ScriptedModel(broken, name="broken")).models
    with pytest.raises(ModelError, match="broken"):
        await sample(questioner)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "1", "name": "other", "input": {}},
        {"type": "tool_use", "id": "1", "name": "look", "input": {}, "_meta": {"jupyter-mcp/invalid-input": "{"}},
    ],
)
async def test_a_call_that_no_server_should_run_is_not_sent(block: dict[str, Any]):
    questioner = asker(ScriptedModel([[block]]))
    questioner.policy.allow("demo.sampling/*")
    with pytest.raises(ProviderError, match="cannot be sent"):
        await sample(questioner, params(tools=[TOOL]))


async def test_the_calls_of_a_models_answer_are_sent_as_a_list():
    use = {"type": "tool_use", "id": "1", "name": "look", "input": {"x": 1}}
    questioner = asker(ScriptedModel([[use]]))
    questioner.policy.allow("demo.sampling/*")
    result = await sample(questioner, params(tools=[TOOL]))
    assert (result["content"], result["stopReason"]) == ([use], "toolUse")


async def test_context_is_ignored_and_the_person_is_told_so():
    person = Person(Answer("decline"))
    with pytest.raises(InputRefused):
        await sample(asker(ScriptedModel([]), ui=person), params(includeContext="allServers"))
    assert person.asked[0].offer is not None
    assert "it gets none" in person.asked[0].offer.ignored[0]


# --- always ----------------------------------------------------------------------------------------------------------


async def test_always_for_this_server_holds_until_its_budget_is_used_up_and_then_asks_again():
    model = ScriptedModel([ModelReply([text(str(n))], "m", usage=Usage(10, 10)) for n in range(9)])
    always = Answer("accept", {"allowance": {"calls": 2}}, scope="session")
    person = Person(always, YES, Answer("decline"))
    questioner = asker(model, ui=person)
    for _ in range(3):
        await sample(questioner)
    assert len(person.asked) == 2
    assert str(questioner.limits.server("demo")).startswith("2 of 2 calls, 40 of 50,000 tokens")
    with pytest.raises(InputRefused):
        await sample(questioner)
    assert person.asked[2].offer is not None
    assert "the 2 calls are used up" in person.asked[2].offer.reason


async def test_always_for_one_server_says_nothing_about_another():
    person = Person(Answer("accept", scope="session"), YES, Answer("decline"))
    questioner = asker(ScriptedModel(["a", "b"]), ui=person)
    await sample(questioner)
    with pytest.raises(InputRefused):
        await sample(questioner, server="other")
    assert [question.server for question in person.asked] == ["demo", "demo", "other"]


async def test_a_server_that_asks_too_fast_is_refused_with_one_line():
    notes: list[str] = []
    questioner = asker(ScriptedModel(lambda request: "ok"))
    questioner.note = lambda server, text: notes.append(text)
    questioner.policy.allow("demo.sampling/*")
    questioner.limits.allow("demo", per_minute=2)
    await sample(questioner)
    await sample(questioner)
    for _ in range(5):
        with pytest.raises(InputRefused, match="2 answers of a model a minute"):
            await sample(questioner)
    assert len(notes) == 1
    assert len(questioner.journal.acts()) == 2


async def test_a_flood_is_refused_beyond_the_queue_and_another_server_is_answered_meanwhile():
    notes: list[str] = []
    released = asyncio.Event()

    async def wait(question: Question) -> Answer:
        await released.wait()
        return Answer("decline")

    class Slow(Person):
        async def ask(self, question: Question) -> Answer:
            self.asked.append(question)
            return await wait(question) if question.server == "demo" else YES

    questioner = asker(ScriptedModel(lambda request: "ok"), ui=Slow())
    questioner.note = lambda server, text: notes.append(text)
    flood = [asyncio.ensure_future(sample(questioner)) for _ in range(100)]
    refused, _ = await asyncio.wait(flood, return_when=asyncio.FIRST_COMPLETED, timeout=30)
    assert len(refused) == 92
    assert (await sample(questioner, server="other"))["content"] == text("ok")
    released.set()
    results = await asyncio.gather(*flood, return_exceptions=True)
    assert all(isinstance(result, InputRefused) for result in results)
    assert [note[:40] for note in notes] == [
        "demo asks for more answers of a model th",
        "92 requests of demo for sampling were re",
    ]


async def test_one_question_of_a_server_is_put_at_a_time():
    open_now: list[int] = []

    class Careful(Person):
        def __init__(self) -> None:
            super().__init__()
            self.here = 0

        async def ask(self, question: Question) -> Answer:
            self.here += 1
            open_now.append(self.here)
            await asyncio.sleep(0)
            self.here -= 1
            return YES

    questioner = asker(ScriptedModel(lambda request: "ok"), ui=Careful())
    await asyncio.gather(*(sample(questioner) for _ in range(4)))
    assert open_now == [1] * 8


async def test_a_model_with_no_budget_left_answers_nothing_even_when_allowed():
    from jupyter_mcp.host.sampling.limits import Allowance

    questioner = asker(ScriptedModel(["a", "b"]))
    questioner.policy.allow("demo.sampling/*")
    questioner.limits.limit_model("scripted", Allowance(calls=1))
    await sample(questioner)
    with pytest.raises(ModelError, match="the 1 calls are used up"):
        await sample(questioner)
