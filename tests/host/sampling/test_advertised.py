"""What servers are told of sampling, and how they hear that it has changed; with real connections in both eras."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

import pytest

from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.errors import InputRefused, MCPError, ProviderError, UnsupportedContent
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.server import AsyncContext, Server
from tests.host.sampling.helpers import YES, Person

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio
Era = Literal["legacy", "modern"]
ERAS: tuple[Era, ...] = ("legacy", "modern")
PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


class Gate:
    """Where the tool `wait` waits."""

    def __init__(self) -> None:
        self.begun, self.go = asyncio.Event(), asyncio.Event()


def make_server(gate: Gate) -> Server:
    server = Server("demo")

    @server.tool
    async def told(ctx: AsyncContext) -> str:
        return f"{ctx.can('sampling')} {ctx.can('sampling', 'tools')}"

    @server.tool
    async def sum_up(ctx: AsyncContext) -> str:
        return (await ctx.sample("Sum up.", max_tokens=20)).text

    @server.tool
    async def look(ctx: AsyncContext) -> str:
        return (await ctx.sample([{"role": "user", "content": PICTURE}], max_tokens=20)).text

    @server.tool
    async def wait() -> str:
        gate.begun.set()
        await gate.go.wait()
        return "waited"

    return server


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = Host(options=ConnectOptions(timeout=10), environ={})
    yield host
    await host.aclose()


async def connect(host: Host, era: Era) -> Gate:
    gate = Gate()
    await host.connect(ServerSpec.parse("demo", make_server(gate), era=era))
    return gate


async def told(host: Host) -> str:
    return (await host.call_tool("demo", "told")).text


def said(host: Host) -> list[str]:
    return [line.text for line in host.find("demo").log if "of a change" in line.text]


@pytest.mark.parametrize("era", ERAS)
async def test_with_nobody_and_no_model_sampling_is_not_offered(host: Host, era: Era) -> None:
    await connect(host, era)
    assert await told(host) == "False False"


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_answers_without_tools_and_a_model_with_those_it_takes(host: Host, era: Era) -> None:
    host.ui = Person()
    await connect(host, era)
    assert await told(host) == "True False"
    host.models.set(ScriptedModel([], supports=frozenset({"text"})))
    assert await told(host) == "True False"
    host.models.set(ScriptedModel([], name="able"))
    assert await told(host) == "True True"


@pytest.mark.parametrize("era", ERAS)
async def test_a_model_that_is_set_later_is_announced_once_and_answers_the_next_call(host: Host, era: Era) -> None:
    await connect(host, era)
    assert await told(host) == "False False"
    host.models.set(ScriptedModel(["short"]))
    host.policy.allow("demo.sampling/*")
    [note] = said(host)
    assert "sampling is answered and sampling with tools is answered" in note
    assert ("connected anew" in note) is (era == "legacy")
    assert (await host.call_tool("demo", "sum_up")).text == "short"
    assert len(said(host)) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_rule_that_denies_takes_the_offer_back(host: Host, era: Era) -> None:
    host.models.set(ScriptedModel([]))
    await connect(host, era)
    assert await told(host) == "True True"
    host.policy.deny("demo.sampling/*")
    assert await told(host) == "False False"
    assert "sampling is not answered any more" in said(host)[0]


@pytest.mark.parametrize("era", ERAS)
async def test_a_last_scripted_answer_changes_nothing_of_what_was_told(host: Host, era: Era) -> None:
    host.answers.add({"text": "once"}, kind="sampling", times=1)
    await connect(host, era)
    assert (await host.call_tool("demo", "sum_up")).text == "once"
    assert await told(host) == "True False"
    assert said(host) == []


async def test_a_running_call_is_not_cut_by_a_change(host: Host) -> None:
    gate = await connect(host, "legacy")
    waiting = asyncio.ensure_future(host.call_tool("demo", "wait"))
    await asyncio.wait_for(gate.begun.wait(), 5)
    host.models.set(ScriptedModel([]))
    assert await told(host) == "False False", "on the old connection, because something runs there"
    gate.go.set()
    assert (await waiting).text == "waited"
    assert await told(host) == "True True"
    assert len(said(host)) == 1


async def test_a_person_who_comes_later_is_one_too(host: Host) -> None:
    class Desk(Person):
        here = False

        def reachable(self) -> bool:
            return self.here

    desk = host.ui = Desk()
    await connect(host, "legacy")
    assert await told(host) == "False False"
    desk.here = True
    assert await told(host) == "True False"
    desk.here = False
    assert await told(host) == "True False", "a person who steps out does not restart servers"


# --- what each era gets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_consent_model_and_review_end_to_end(host: Host, era: Era) -> None:
    person = host.ui = Person(YES, YES)
    host.models.set(ScriptedModel(["A fox."]))
    await connect(host, era)
    assert (await host.call_tool("demo", "sum_up")).text == "A fox."
    assert [question.step for question in person.asked] == ["consent", "review"]
    assert person.asked[0].cause is not None
    assert person.asked[0].cause.name == "sum_up"


@pytest.mark.parametrize("era", ERAS)
async def test_a_refusal_ends_the_call_and_not_the_connection(host: Host, era: Era) -> None:
    host.ui = Person(Answer("decline"))
    host.models.set(ScriptedModel([]))
    await connect(host, era)
    with pytest.raises(MCPError) as caught:
        await host.call_tool("demo", "sum_up")
    if era == "modern":
        assert isinstance(caught.value, InputRefused)
    else:
        replies = [entry.message for entry in host.journal.entries() if "error" in entry.message]
        assert replies[0]["error"]["code"] == -1
    assert await told(host) == "True True"


@pytest.mark.parametrize("era", ERAS)
async def test_a_picture_that_no_model_takes_is_an_error_and_a_line(host: Host, era: Era) -> None:
    host.ui = Person()
    host.models.set(ScriptedModel([], supports=frozenset({"text"})))
    await connect(host, era)
    with pytest.raises(MCPError) as caught:
        await host.call_tool("demo", "look")
    assert isinstance(caught.value, UnsupportedContent) is (era == "modern")
    assert any("does not take images" in line.text for line in host.find("demo").log)


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_provider_said_is_for_the_person_and_not_for_the_server(host: Host, era: Era) -> None:
    host.policy.allow("demo.sampling/*")
    host.models.set(ScriptedModel([ProviderError("https://secret.example answered 429")]))
    await connect(host, era)
    with pytest.raises(MCPError):
        await host.call_tool("demo", "sum_up")
    sent = [entry.message for entry in host.journal.entries() if entry.direction == "send"]
    assert "secret.example" not in str(sent)
    assert any("answered 429" in line.text for line in host.find("demo").log)
