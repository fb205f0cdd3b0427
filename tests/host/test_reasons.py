"""An act on record says why it was let pass and who answered: connections, questions of servers, sampling, roots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import InputRefused
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.server import Server
from tests.host.sampling.helpers import asker, params, sample, user
from tests.host.test_questioner import Person, ask, questioner

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_mcp.host.questioner import Questioner

__all__ = ["questioner"]  # a fixture

pytestmark = pytest.mark.anyio


def spec(name: str = "demo") -> ServerSpec:
    return ServerSpec.parse(name, Server(name))


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("person", "answered by the person"),
        ("headless", "nobody was there to be asked"),
    ],
)
async def test_a_question_says_who_answered_it(questioner: Questioner, by: str, told: str) -> None:
    questioner.ui = Person(Answer("accept", {"seats": 1})) if by == "person" else None
    await ask(questioner)
    (act,) = questioner.journal.acts()
    assert (act.rule, act.reason) == (None, f"wanted by a server; {told}")


async def test_a_question_that_a_rule_refuses_names_the_rule(questioner: Questioner) -> None:
    rule = questioner.policy.deny("demo.elicitation/*")
    assert await ask(questioner) == {"action": "decline"}
    (act,) = questioner.journal.acts()
    assert (act.outcome, act.rule, act.reason) == ("decline", str(rule), str(rule))


async def test_sampling_says_which_rule_let_a_model_answer() -> None:
    asking = asker(ScriptedModel(["done"]))
    rule = asking.policy.allow("demo.sampling/*")
    await sample(asking, params(user("x")))
    (act,) = asking.journal.acts()
    assert act.rule == str(rule)
    assert act.reason == f"{rule}; answered by a model, nobody was asked"


async def test_sampling_that_a_person_agreed_to_says_so() -> None:
    asking = asker(ScriptedModel(["done"]), ui=Person(Answer("accept"), Answer("accept")))
    await sample(asking, params(user("x")))
    assert asking.journal.acts()[0].reason == "wanted by a server; answered by the person"


async def test_an_act_that_nothing_answered_has_the_policys_reason() -> None:
    asking = asker(ScriptedModel([]))  # it has no reply left
    asking.policy.allow("demo.sampling/*")
    with pytest.raises(Exception, match=r"."):
        await sample(asking, params(user("x")))
    act = asking.journal.acts()[0]
    assert (act.outcome, act.reason) == ("error", act.rule)


@pytest.mark.parametrize("verdict", ["deny", "declined", "agreed"])
async def test_roots_that_are_not_free_are_an_act_on_record(questioner: Questioner, verdict: str) -> None:
    rule: Any = None
    if verdict == "deny":
        rule = questioner.policy.deny("demo.roots/list")
    else:
        rule = questioner.policy.ask_first("demo.roots/list")
        questioner.ui = Person(Answer("accept" if verdict == "agreed" else "decline", remark="mine"))
    if verdict == "agreed":
        await ask(questioner, {}, "roots/list")
    else:
        with pytest.raises(InputRefused):
            await ask(questioner, {}, "roots/list")
    (act,) = questioner.journal.acts()
    assert (act.method, act.rule, act.origin) == ("roots/list", str(rule), "server")
    assert act.outcome == ("accept" if verdict == "agreed" else "refused")
    assert act.reason == (str(rule) if verdict == "deny" else f"{rule}; answered by the person")


async def test_a_connection_says_who_began_it_and_by_which_rule() -> None:
    host = Host()
    try:
        await host.connect(spec())
        await host.connect(spec("other"), origin="code")
        await host.reconnect("demo")
        reasons = [act.reason for act in host.journal.acts() if act.method == "connect"]
        assert reasons == ["begun by the person", "begun by the notebook's code", "begun by the person"]
    finally:
        await host.aclose()


async def test_a_server_of_the_project_says_that_it_was_approved_and_by_whom(tmp_path: Path) -> None:
    person = Person(Answer("accept", scope="session"))
    host = Host(person)
    server = ServerSpec.parse("theirs", ["/nowhere/to/be/found"], cwd=str(tmp_path))
    try:
        [error] = await host.connect_many([server], origin="project")
        assert isinstance(error, Exception), "there is no such program; the leave came before"
        (act,) = host.journal.acts()
        assert act.reason == "theirs comes from a file of the project; approved by the person"
    finally:
        await host.aclose()
