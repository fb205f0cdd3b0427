"""Who answers a server's question, and what is sent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import InputRefused, RequestError, UsageError
from jupyter_mcp.host.acts import Acts, Running
from jupyter_mcp.host.answers import AnswerBook
from jupyter_mcp.host.events import CallEvent, QuestionClosed, QuestionOpened, Status
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.policy import Policy
from jupyter_mcp.host.questioner import Questioner
from jupyter_mcp.host.questions import Answer, Question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio

FORM = {
    "message": "Which seat?",
    "requestedSchema": {
        "type": "object",
        "properties": {"seats": {"type": "integer", "minimum": 1, "maximum": 3, "default": 2}},
        "required": ["seats"],
    },
}
ROOTS = [{"uri": "file:///w", "name": "w"}]


class Person:
    """Answers from a list and remembers what was asked."""

    def __init__(self, *answers: Answer | Callable[[Question], Awaitable[Answer]]) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        answer = self.answers.pop(0)
        return answer if isinstance(answer, Answer) else await answer(question)


@pytest.fixture
def questioner() -> Questioner:
    return Questioner(Policy(), AnswerBook(), Journal())


async def ask(
    questioner: Questioner,
    params: dict[str, Any] = FORM,
    method: str = "elicitation/create",
    act: Running | None = None,
    revision: str = "2025-11-25",
) -> dict[str, Any]:
    return await questioner.answer("demo", revision, method, params, act=act, roots=ROOTS)


def watched() -> tuple[Running, list[CallEvent]]:
    events: list[CallEvent] = []
    return Running("demo", "tools/call", "book", {"x": 1}, events.append), events


async def test_a_person_accepts_and_exact_values_are_sent(questioner: Questioner):
    person = questioner.ui = Person(Answer("accept", {"seats": 3.0}))
    result = await ask(questioner)
    assert result == {"action": "accept", "content": {"seats": 3}}
    assert isinstance(result["content"]["seats"], int)
    assert (person.asked[0].kind, person.asked[0].message, person.asked[0].server) == (
        "elicitation",
        "Which seat?",
        "demo",
    )


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_is_sent_without_content_and_the_remark_stays_here(questioner: Questioner, action: Any):
    questioner.ui = Person(Answer(action, {"seats": 1}, remark="none of your business"))
    assert await ask(questioner) == {"action": action}
    (act,) = questioner.journal.acts()
    assert (act.outcome, act.remark, act.origin) == (action, "none of your business", "server")


async def test_an_answer_that_does_not_fit_is_asked_again_with_what_is_wrong(questioner: Questioner):
    person = questioner.ui = Person(
        Answer("accept", {"seats": 9}), Answer("accept", {"x": 1}), Answer("accept", {"seats": 1})
    )
    assert (await ask(questioner))["content"] == {"seats": 1}
    assert [list(question.problems) for question in person.asked] == [[], ["seats"], ["x"]]


async def test_a_script_answers_before_the_person_and_gets_the_defaults(questioner: Questioner):
    questioner.ui = Person()
    questioner.answers.add("accept")
    assert await ask(questioner) == {"action": "accept", "content": {"seats": 2}}
    (act,) = questioner.journal.acts()
    assert (act.remark, act.reason) == ("by script", "wanted by a server; answered by a script")


async def test_a_script_fills_the_defaults_of_optional_fields_and_a_person_sends_what_is_there(questioner: Questioner):
    params = {
        "message": "Trip?",
        "requestedSchema": {"properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}}},
    }
    questioner.answers.add({"city": "Paris"}, times=1)
    assert (await ask(questioner, params))["content"] == {"city": "Paris", "days": 3}
    questioner.ui = Person(Answer("accept", {"city": "Paris"}))
    assert (await ask(questioner, params))["content"] == {"city": "Paris"}


async def test_a_wrong_script_is_one_line_that_names_the_field(questioner: Questioner):
    questioner.answers.add({"seats": 9})
    with pytest.raises(UsageError, match=r"scripted answer does not fit .*Which seat.*seats: ") as error:
        await ask(questioner)
    assert "\n" not in str(error.value)


async def test_a_rule_declines_before_anybody_is_asked(questioner: Questioner):
    questioner.ui = Person()
    questioner.answers.add({"seats": 1})
    questioner.policy.deny("demo.elicitation/*")
    assert await ask(questioner) == {"action": "decline"}


async def test_nobody_there_cancels_at_once_and_says_how_to_script(questioner: Questioner):
    notes: list[tuple[str, str]] = []
    questioner.note = lambda server, text: notes.append((server, text))
    act, events = watched()
    assert await ask(questioner, act=act) == {"action": "cancel"}
    assert 'mcp.answer({"seats": …}, server="demo")' in act.notes[0]
    assert notes == [("demo", act.notes[0])]
    assert [type(event) for event in events] == [QuestionOpened, QuestionClosed, Status]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, 'no scripted answer is for a question without fields; script it: mcp.answer("accept", server="demo")'),
        ({"other": {"type": "string"}}, 'no scripted answer has one of its fields; script it: mcp.answer({"other": …}'),
    ],
)
async def test_a_script_for_another_form_is_not_taken_and_that_is_said(
    questioner: Questioner, form: dict[str, Any], said: str
) -> None:
    questioner.answers.add({"seats": 1})
    act, _ = watched()
    asked = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": form}}
    assert await ask(questioner, asked, act=act) == {"action": "cancel"}
    assert said in act.notes[0]
    questioner.answers.clear()
    assert await ask(questioner, asked, act=act) == {"action": "cancel"}
    assert "no scripted answer" not in act.notes[1]


async def test_a_headless_ui_gets_a_note_of_its_own_or_ours(questioner: Questioner):
    act, _ = watched()
    questioner.ui = Person(Answer("cancel", by="headless", note="mine"), Answer("cancel", by="headless"))
    await ask(questioner, act=act)
    await ask(questioner, act=act)
    assert act.notes[0] == "mine"
    assert "mcp.answer" in act.notes[1]


async def test_the_question_names_the_act_that_caused_it(questioner: Questioner):
    act, events = watched()
    person = questioner.ui = Person(Answer("accept", {"seats": 1}))
    await ask(questioner, act=act)
    assert person.asked[0].cause == act.cause
    opened, closed = events
    assert isinstance(opened, QuestionOpened)
    assert isinstance(closed, QuestionClosed)
    assert closed.answer is not None
    assert closed.answer.action == "accept"


async def test_a_hunt_for_a_secret_is_warned_about(questioner: Questioner):
    person = questioner.ui = Person(Answer("decline"))
    await ask(questioner, {"message": "Log in", "requestedSchema": {"properties": {"password": {"type": "string"}}}})
    assert person.asked[0].warning


async def test_an_answer_that_holds_a_secret_is_not_kept(questioner: Questioner):
    questioner.ui = Person(Answer("accept", {"password": "hunter2secret"}))
    await ask(questioner, {"message": "", "requestedSchema": {"properties": {"password": {"type": "string"}}}})
    assert "hunter2" not in repr(questioner.journal.acts())


async def test_a_message_alone_can_be_confirmed(questioner: Questioner):
    questioner.ui = Person(Answer("accept"))
    assert await ask(questioner, {"message": "Sure?"}) == {"action": "accept", "content": {}}


# --- pages to open ---------------------------------------------------------------------------------------------------


async def test_a_page_to_open_is_a_question_with_a_warning_when_it_may_deceive(questioner: Questioner):
    person = questioner.ui = Person(Answer("accept", {"x": 1}))
    params = {"mode": "url", "message": "Sign in", "url": "https://xn--pple-43d.com/", "elicitationId": "e"}
    assert await ask(questioner, params) == {"action": "accept"}
    assert person.asked[0].kind == "url"
    assert "xn--pple-43d.com" in (person.asked[0].warning or "")


@pytest.mark.parametrize(
    "params", [{"mode": "url", "url": "javascript:alert(1)"}, {"mode": "url"}, {"mode": "telepathy"}]
)
async def test_what_is_no_web_address_is_never_put_to_the_person(questioner: Questioner, params: dict[str, Any]):
    questioner.ui = Person()
    act, _ = watched()
    with pytest.raises(RequestError) as error:
        await ask(questioner, {"message": "x", **params}, act=act)
    assert error.value.code == -32602
    assert act.notes == [error.value.message], "the person is told why"
    assert questioner.journal.acts()[-1].outcome == "refused"


# --- sampling and roots ----------------------------------------------------------------------------------------------


HELLO = {"role": "user", "content": {"type": "text", "text": "hello"}}


async def sample(questioner: Questioner, **params: Any) -> dict[str, Any]:
    return await ask(questioner, {"messages": [HELLO], "maxTokens": 5, **params}, "sampling/createMessage")


async def test_a_person_answers_sampling_as_the_model_human(questioner: Questioner):
    person = questioner.ui = Person(Answer("accept", {}), Answer("accept", {"text": "hi"}))
    result = await sample(questioner, systemPrompt="be brief", temperature=0)
    assert result == {
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
        "model": "human",
        "stopReason": "endTurn",
    }
    assert person.asked[0].params["systemPrompt"] == "be brief"
    assert person.asked[1].problems


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_to_sampling_is_a_refusal(questioner: Questioner, action: Any):
    questioner.ui = Person(Answer(action))
    with pytest.raises(InputRefused, match="request of demo for sampling was"):
        await sample(questioner)


async def test_sampling_with_no_model_and_nobody_there_says_so(questioner: Questioner):
    with pytest.raises(InputRefused, match="asked for sampling, and nobody could be asked whether a model may answer"):
        await sample(questioner)
    assert questioner.journal.acts()[0].outcome == "cancel"


async def test_roots_are_told_unless_a_rule_keeps_them(questioner: Questioner):
    assert await ask(questioner, {}, "roots/list") == {"roots": ROOTS}
    questioner.policy.deny("demo.roots/list")
    with pytest.raises(InputRefused, match="keeps the roots"):
        await ask(questioner, {}, "roots/list")


async def test_an_unknown_method_is_refused_with_its_code(questioner: Questioner):
    with pytest.raises(RequestError) as error:
        await ask(questioner, {}, "mind/read")
    assert error.value.code == -32601


# --- more than one at a time, and taking back ------------------------------------------------------------------------


async def test_two_questions_in_flight_get_their_own_answers(questioner: Questioner):
    both = asyncio.Event()

    class Two(Person):
        async def ask(self, question: Question) -> Answer:
            self.asked.append(question)
            if len(self.asked) == 2:
                both.set()
            await both.wait()
            return Answer("accept", {"seats": 1 if question.message == "first" else 2})

    person = questioner.ui = Two()
    first, second = await asyncio.gather(*(ask(questioner, {**FORM, "message": name}) for name in ("first", "second")))
    assert (first["content"]["seats"], second["content"]["seats"]) == (1, 2)
    assert person.asked[0].id != person.asked[1].id


async def test_a_question_is_withdrawn_when_its_act_ends(questioner: Questioner):
    open_, closed = asyncio.Event(), asyncio.Event()

    async def forever(question: Question) -> Answer:
        open_.set()
        try:
            await asyncio.Event().wait()
        finally:
            closed.set()
        raise AssertionError

    questioner.ui = Person(forever)
    act, events = watched()
    question = asyncio.create_task(ask(questioner, act=act))

    async def work() -> str:
        await open_.wait()
        return "done"

    with Acts().enter(act):
        assert await act.run(work) == "done"
    with pytest.raises(InputRefused, match="ended before its question"):
        await question
    assert closed.is_set()
    assert isinstance(events[-1], QuestionClosed)
    assert events[-1].answer is None


async def test_cancelling_the_asking_task_withdraws_the_question(questioner: Questioner):
    open_ = asyncio.Event()

    async def forever(question: Question) -> Answer:
        open_.set()
        await asyncio.Event().wait()
        raise AssertionError

    questioner.ui = Person(forever)
    act, events = watched()
    question = asyncio.create_task(ask(questioner, act=act))
    await open_.wait()
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    opened = events[0]
    assert isinstance(opened, QuestionOpened)
    assert events[-1] == QuestionClosed(opened.question, None)
    assert questioner.journal.acts()[0].outcome == "cancelled"


async def test_an_act_can_be_ended_with_an_error_of_ours():
    act, _ = watched()

    async def work() -> None:
        act.fail(UsageError("ours"))
        await asyncio.Event().wait()

    with pytest.raises(UsageError, match="ours"):
        await act.run(work)


async def test_a_watcher_that_fails_harms_nothing(caplog: pytest.LogCaptureFixture):
    def broken(event: CallEvent) -> None:
        raise RuntimeError("watcher")

    act = Running("demo", "tools/call", "book", {}, broken)
    act.note("a line")
    assert act.notes == ["a line"]
    assert "watcher" in caplog.text
