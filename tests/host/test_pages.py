"""Pages to open with real servers, in both eras and over both ways of the older one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.errors import InputRefused
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import AsyncContext, Elicit, Server, UrlRequired

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

pytestmark = pytest.mark.anyio
PAGE = "https://login.example.org/"


class Person:
    """Agrees to every page, and then does what the test says."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.then: Callable[[Question], Answer | None] = lambda _: Answer("accept")
        self._open: dict[str, asyncio.Future[Answer]] = {}

    async def ask(self, question: Question) -> Answer:
        self.steps.append(question.step)
        answer = Answer("accept") if question.step == "consent" else self.then(question)
        if answer is None:
            self._open[question.id] = asyncio.get_running_loop().create_future()
            answer = await self._open[question.id]
        return answer

    def settle(self, question: Question, answer: Answer) -> bool:
        self._open[question.id].set_result(answer)
        return True


class Shop:
    """A server whose tools want the person signed in."""

    def __init__(self) -> None:
        self.server = Server("shop")
        self.signed_in = False
        self.asked, self.done = asyncio.Event(), asyncio.Event()

        @self.server.tool
        async def ask(ctx: AsyncContext) -> str:
            answer = await ctx.elicit_url("Sign in.", PAGE, elicitation_id="e1")
            self.asked.set()
            return f"{answer.action} {self.signed_in}"

        @self.server.tool
        async def hold(ctx: AsyncContext) -> str:
            answer = await ctx.elicit_url("Sign in.", PAGE, elicitation_id="e1")
            self.asked.set()
            await self.done.wait()
            return f"{answer.action} {self.signed_in}"

        @self.server.tool
        async def require() -> str:
            if not self.signed_in:
                self.asked.set()
                raise UrlRequired([Elicit("Sign in.", url=PAGE, elicitation_id="e1")])
            return "welcome"

    def sign_in(self, _: Question | None = None) -> Answer:
        self.signed_in = True
        self.done.set()
        return Answer("accept")


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = Host(Person(), options=ConnectOptions(timeout=2))
    yield host
    await host.aclose()


async def connect(host: Host, shop: Shop, era: str) -> Person:
    await host.connect(ServerSpec.parse("shop", shop.server, era=era))
    person = host.ui
    assert isinstance(person, Person)
    return person


async def test_modern_the_answer_goes_out_when_the_person_was_there(host: Host) -> None:
    shop = Shop()
    person = await connect(host, shop, "modern")
    person.then = shop.sign_in
    assert (await host.call_tool("shop", "ask")).text == "accept True"
    assert person.steps == ["consent", "retry"]


async def test_legacy_the_server_is_told_at_once_and_holds_the_call_longer_than_its_time(host: Host) -> None:
    shop = Shop()
    person = await connect(host, shop, "legacy")
    person.then = lambda _: None
    call = asyncio.create_task(host.call_tool("shop", "hold"))
    await asyncio.wait_for(shop.asked.wait(), 5)
    await asyncio.sleep(2.5)  # longer than a request may take: its clock stands still
    shop.sign_in()
    assert (await asyncio.wait_for(call, 30)).text == "accept True"
    assert person.steps == ["consent", "wait"]


async def test_legacy_an_error_that_wants_a_page_is_retried_when_the_person_was_there(host: Host) -> None:
    shop = Shop()
    person = await connect(host, shop, "legacy")
    person.then = shop.sign_in
    assert (await host.call_tool("shop", "require")).text == "welcome"
    assert person.steps == ["consent", "retry"]


async def test_legacy_or_when_the_server_says_that_the_page_is_done(host: Host) -> None:
    shop = Shop()
    person = await connect(host, shop, "legacy")

    def wait(_: Question) -> None:
        shop.sign_in()
        shop.server.elicitation_complete("e1")

    person.then = wait
    assert (await asyncio.wait_for(host.call_tool("shop", "require"), 5)).text == "welcome"
    assert [act.remark for act in host.journal.acts() if act.method == "elicitation/create"] == ["by server"]


@pytest.mark.parametrize(("era", "tool"), [("legacy", "require"), ("modern", "ask")])
async def test_giving_up_at_the_page_is_told_to_the_server_or_ends_the_call(host: Host, era: str, tool: str) -> None:
    shop = Shop()
    person = await connect(host, shop, era)
    person.then = lambda _: Answer("cancel")
    if era == "legacy":
        with pytest.raises(InputRefused, match="page"):
            await host.call_tool("shop", tool)
    else:
        assert (await host.call_tool("shop", tool)).text == "cancel False"
