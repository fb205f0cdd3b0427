"""Leave for what a client of our own server wants: once, for that client, for everyone, never."""

from __future__ import annotations

import pytest

from jupyter_mcp.errors import Denied
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question

pytestmark = pytest.mark.anyio


class Person:
    """Gives the same answer to everything and keeps what was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answer


async def want(host: Host, client: str = "agent", tool: str = "execute_code") -> str | None:
    return await host.consent("nb", tool, {"code": "1 + 1"}, client=client)


async def test_the_person_sees_who_wants_what() -> None:
    person = Person(Answer("accept"))
    await want(Host(ui=person))
    (question,) = person.asked
    assert (question.kind, question.server) == ("approval", "nb")
    assert dict(question.params["arguments"]) == {"code": "1 + 1"}
    assert question.params["client"] == "agent"


async def test_once_is_asked_again() -> None:
    person = Person(Answer("accept"))
    host = Host(ui=person)
    await want(host)
    await want(host)
    assert len(person.asked) == 2


async def test_a_yes_for_one_client_is_for_no_other_and_no_other_tool() -> None:
    person = Person(Answer("accept", scope="client"))
    host = Host(ui=person)
    await want(host)
    await want(host)
    assert len(person.asked) == 1
    await want(host, client="another")
    await want(host, tool="set_variable")
    assert len(person.asked) == 3


async def test_a_yes_for_the_notebook_is_for_every_client() -> None:
    person = Person(Answer("accept", remember=True))
    host = Host(ui=person)
    await want(host)
    await want(host, client="another")
    assert len(person.asked) == 1


async def test_never_is_a_rule_that_can_be_seen_and_taken_back() -> None:
    person = Person(Answer("decline", scope="never"))
    host = Host(ui=person)
    with pytest.raises(Denied, match="for good"):
        await want(host)
    with pytest.raises(Denied, match="by a rule"):
        await want(host, client="another")
    assert len(person.asked) == 1
    assert [str(rule) for rule in host.policy.rules] == ["deny nb.execute_code"]
    host.policy.allow("nb.execute_code")  # another word about the same thing takes the place of the first
    assert await want(host) == "allow nb.execute_code"


async def test_a_no_is_for_that_call_only() -> None:
    person = Person(Answer("decline"))
    host = Host(ui=person)
    with pytest.raises(Denied, match=r"nb\.execute_code was declined by the person"):
        await want(host)
    person.answer = Answer("accept")
    await want(host)


async def test_where_nobody_can_be_asked_nothing_is_allowed_but_by_a_rule() -> None:
    host = Host()
    with pytest.raises(Denied, match="nobody answered"):
        await want(host)
    host.policy.allow("nb.execute_code")
    assert await want(host) == "allow nb.execute_code"


async def test_what_was_approved_is_forgotten_with_the_rest() -> None:
    person = Person(Answer("accept", scope="client"))
    host = Host(ui=person)
    await want(host)
    host.policy.forget()
    await want(host)
    assert len(person.asked) == 2
