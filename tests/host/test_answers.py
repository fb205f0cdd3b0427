"""Which scripted answer answers which question."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.answers import AnswerBook
from jupyter_mcp.host.questions import Answer, Question

pytestmark = pytest.mark.anyio


def ask(server: str = "demo", message: str = "Which seat?", kind: Any = "elicitation", **fields: Any) -> Question:
    schema = {"type": "object", "properties": fields or {"seat": {"type": "string", "title": "Your place"}}}
    return Question("q", kind, server, message, {"requestedSchema": schema, "message": message})


async def taken(book: AnswerBook, question: Question) -> Any:
    found = await book.take(question)
    return None if found is None else (found.answer.action, found.answer.content)


async def test_an_empty_book_has_no_answer():
    assert await AnswerBook().take(ask()) is None


async def test_a_mapping_accepts_and_words_say_no():
    book = AnswerBook()
    book.add({"seat": "a"})
    assert await taken(book, ask()) == ("accept", {"seat": "a"})
    book.add("decline")
    assert await taken(book, ask()) == ("decline", None)
    book.add("cancel")
    assert await taken(book, ask()) == ("cancel", None)
    book.add("accept")
    assert await taken(book, ask()) == ("accept", {})


async def test_the_most_specific_rule_wins_and_among_equals_the_latest():
    book = AnswerBook()
    book.add({"seat": "match"}, match="seat")
    book.add({"seat": "server"}, server="demo")
    book.add({"seat": "first"})
    book.add({"seat": "latest"})
    assert await taken(book, ask()) == ("accept", {"seat": "server"})
    assert await taken(book, ask(server="other", message="Where?")) == ("accept", {"seat": "match"})
    assert await taken(book, ask(server="other", message="Where?", seat={}, x={})) == ("accept", {"seat": "match"})
    book.add({"seat": "both"}, server="demo", match="seat")
    assert await taken(book, ask()) == ("accept", {"seat": "both"})


async def test_a_match_looks_at_message_names_and_titles_in_any_case():
    book = AnswerBook()
    book.add("decline", match="your PLACE")
    assert await taken(book, ask(message="?")) == ("decline", None)
    assert await taken(book, ask(message="?", other={})) is None


async def test_a_match_may_be_a_pattern_and_a_broken_pattern_is_plain_text():
    book = AnswerBook()
    book.add("decline", match=r"^Which \w+\?$")
    assert await taken(book, ask()) is not None
    book = AnswerBook()
    book.add("decline", match="(why")
    assert await taken(book, ask(message="so (why?")) is not None


async def test_times_limits_how_often_a_rule_answers():
    book = AnswerBook()
    book.add("decline")
    book.add({"seat": "once"}, times=1)
    assert [await taken(book, ask()) for _ in range(2)] == [("accept", {"seat": "once"}), ("decline", None)]


async def test_values_for_another_form_do_not_answer_this_one():
    book = AnswerBook()
    book.add({"city": "Paris"})
    assert await taken(book, ask()) is None
    assert await taken(book, ask(city={}, day={})) == ("accept", {"city": "Paris"})


async def test_a_function_answers_or_passes_the_question_on():
    book = AnswerBook()
    book.add("decline")
    seen: list[str] = []

    def function(question: Question) -> Any:
        seen.append(question.message)
        return {"seat": "f"} if "seat" in question.message else None

    book.add(function, times=1)
    assert await taken(book, ask(message="hm")) == ("decline", None)
    assert await taken(book, ask()) == ("accept", {"seat": "f"})
    assert await taken(book, ask()) == ("decline", None)
    assert seen == ["hm", "Which seat?"]


async def test_an_async_function_and_an_answer_are_answers_too():
    book = AnswerBook()

    async def function(question: Question) -> Answer:
        return Answer("decline", remark=question.server)

    book.add(function)
    found = await book.take(ask())
    assert found is not None
    assert found.answer == Answer("decline", remark="demo", by="script")


async def test_a_function_that_fails_or_returns_nonsense_is_one_clear_line():
    book = AnswerBook()

    def broken(question: Question) -> Any:
        raise KeyError("seat")

    book.add(broken)
    with pytest.raises(UsageError, match="scripted answer to demo failed with KeyError"):
        await book.take(ask())
    book = AnswerBook()
    book.add(lambda question: 5)
    with pytest.raises(UsageError, match="returned 5, which is no answer"):
        await book.take(ask())


async def test_sampling_takes_texts_and_no_form_values():
    book = AnswerBook()
    book.add({"seat": "a"})
    sampling = Question("q", "sampling", "demo", "", {"messages": []})
    assert await taken(book, sampling) is None
    book.add({"text": "hi"})
    assert await taken(book, sampling) == ("accept", {"text": "hi"})
    book.add("hello", kind="sampling")
    assert await taken(book, sampling) == ("accept", {"text": "hello"})


async def test_no_script_for_forms_approves_an_act():
    book = AnswerBook()
    book.add("accept")
    book.add({"seat": "a"})
    book.add(lambda question: "accept")
    approval = Question("q", "approval", "demo", "", {"tool": "x"})
    assert await taken(book, approval) is None
    book.add("accept", kind="approval")
    assert await taken(book, approval) == ("accept", None)


@pytest.mark.parametrize("answer", ["Paris", 5, None, ["a"]])
async def test_what_can_never_be_an_answer_is_refused_when_it_is_added(answer: Any):
    with pytest.raises(UsageError, match="is no answer") as error:
        AnswerBook().add(answer)
    assert "mcp.answer" in (error.value.usage or "")


async def test_the_description_of_a_rule_holds_no_values():
    book = AnswerBook()
    book.add({"pin": "1234"}, server="demo", match="pin", times=2)
    assert book.describe() == ["values for pin, server=demo, match=pin, times=2"]


def approval(tool: str = "book") -> Question:
    return Question("q", "approval", "demo", f"Run demo.{tool}?", {"tool": tool, "arguments": {"seats": 2}})


async def test_leave_to_act_is_given_only_where_it_is_named():
    book = AnswerBook()
    book.add("accept")
    book.add({"arguments": {"seats": 4}})
    assert await taken(book, approval()) is None
    book.add("accept", kind="approval")
    assert await taken(book, approval()) == ("accept", None)


async def test_an_approval_may_change_the_arguments_and_say_how_long_it_holds():
    book = AnswerBook()
    book.add({"arguments": {"seats": 4}}, kind="approval", match="demo.book", scope="notebook")
    found = await book.take(approval())
    assert found is not None
    assert found.answer == Answer("accept", {"arguments": {"seats": 4}}, scope="notebook", by="script")
    assert found.rule == "values for arguments, match=demo.book, kind=approval, scope=notebook"
    assert await taken(book, approval("delete")) is None


async def test_a_no_has_its_reason():
    book = AnswerBook()
    book.add("decline", kind="approval", reason="not on Sundays")
    found = await book.take(approval())
    assert found is not None
    assert found.answer == Answer("decline", remark="not on Sundays", by="script")


async def test_what_a_function_answers_is_no_persons_word():
    book = AnswerBook()
    book.add(lambda question: Answer("accept", scope="session"), kind="approval", scope="project")
    found = await book.take(approval())
    assert found is not None
    assert found.answer == Answer("accept", scope="session", by="script"), "its own scope comes first"


@pytest.mark.parametrize(
    ("answer", "options", "wrong"),
    [
        ({"seats": 4}, {"kind": "approval"}, "given whole"),
        ({"arguments": 3}, {"kind": "approval"}, "given whole"),
        ({"arguments": {}, "more": 1}, {"kind": "approval"}, "given whole"),
        ({"arguments": {}}, {"kind": "server"}, "cannot be changed"),
        ("accept", {"scope": "session"}, "for a yes to an act"),
        ("decline", {"kind": "approval", "scope": "session"}, "for a yes to an act"),
        ("accept", {"kind": "approval", "scope": "ever"}, "holds for once, session"),
        ("accept", {"kind": "approval", "reason": "no"}, "for an answer of"),
    ],
)
def test_what_makes_no_sense_for_an_act_is_refused_at_once(answer: Any, options: Any, wrong: str):
    with pytest.raises(UsageError, match=wrong):
        AnswerBook().add(answer, **options)
