"""Pages to open: after the consent the call waits for the person, or for the server's word, in both eras."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Cancelled, InputRefused
from jupyter_mcp.host.acts import Acts, Running
from jupyter_mcp.host.answers import AnswerBook
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.pages import Pages
from jupyter_mcp.host.policy import Policy
from jupyter_mcp.host.questioner import Questioner
from jupyter_mcp.host.questions import Answer, Question

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.anyio

PAGE = {"mode": "url", "message": "Sign in", "url": "https://login.example.org/", "elicitationId": "e1"}


class Person:
    """Answers each step when the test says so."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[tuple[Question, asyncio.Future[Answer]]] = asyncio.Queue()
        self.settled: list[tuple[str, Answer]] = []
        self._open: dict[str, asyncio.Future[Answer]] = {}

    async def ask(self, question: Question) -> Answer:
        reply: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[question.id] = reply
        self.asked.put_nowait((question, reply))
        return await reply

    def settle(self, question: Question, answer: Answer) -> bool:
        self.settled.append((question.step, answer))
        self._open[question.id].set_result(answer)
        return True

    async def next(self, step: str) -> asyncio.Future[Answer]:
        async with asyncio.timeout(30):
            question, reply = await self.asked.get()
        assert question.step == step
        return reply


class Clocks:
    """Counts how often the clocks stand still now, and did."""

    def __init__(self) -> None:
        self.now = self.ever = 0

    @contextmanager
    def paused(self) -> Generator[None]:
        self.now += 1
        self.ever += 1
        try:
            yield
        finally:
            self.now -= 1


class Server:
    """A questioner, a person, and one act of a server that asks for a page."""

    def __init__(self, again: bool) -> None:
        self.questioner = Questioner(Policy(), AnswerBook(), Journal())
        self.person = self.questioner.ui = Person()
        self.clocks = Clocks()
        self.over = asyncio.Event()
        self.act = Running("demo", "tools/call", "login", {})
        self._again = again
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            answer = await self.questioner.answer(
                "demo",
                "2025-11-25",
                "elicitation/create",
                PAGE,
                act=self.act,
                roots=[],
                again=self._again,
                paused=self.clocks.paused,
            )
            if not self._again:  # the server holds the call until it is done
                await self.over.wait()
            return answer

        with Acts().enter(self.act):
            return await self.act.run(work)

    async def answer(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            return await self._task

    def complete(self) -> None:
        self.questioner.visits.pages.completed("demo", "e1")


async def test_the_request_goes_out_again_when_the_person_says_so():
    server = Server(again=True)
    (await server.person.next("consent")).set_result(Answer("accept"))
    retry = await server.person.next("retry")
    assert not server._task.done(), "nothing goes out before the person was there"  # pyright: ignore[reportPrivateUsage]
    retry.set_result(Answer("accept"))
    assert await server.answer() == {"action": "accept"}


async def test_or_when_the_server_says_that_the_page_is_done():
    server = Server(again=True)
    (await server.person.next("consent")).set_result(Answer("accept"))
    await server.person.next("retry")
    server.complete()
    assert await server.answer() == {"action": "accept"}
    assert server.person.settled == [("retry", Answer("accept", by="server"))]
    assert server.questioner.journal.acts()[0].remark == "by server"


async def test_a_server_that_said_so_before_anybody_waited_is_believed():
    server = Server(again=True)
    consent = await server.person.next("consent")
    server.complete()
    consent.set_result(Answer("accept"))
    assert await server.answer() == {"action": "accept"}


async def test_cancelling_at_the_page_cancels_the_answer():
    server = Server(again=True)
    (await server.person.next("consent")).set_result(Answer("accept"))
    (await server.person.next("retry")).set_result(Answer("cancel"))
    assert await server.answer() == {"action": "cancel"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_without_consent_there_is_no_second_step(action: Any):
    server = Server(again=True)
    (await server.person.next("consent")).set_result(Answer(action))
    assert await server.answer() == {"action": action}
    assert server.person.asked.empty()


async def test_a_script_goes_on_at_once():
    server = Server(again=True)
    server.questioner.answers.add("accept", kind="url")
    assert await server.answer() == {"action": "accept"}
    assert server.person.asked.empty()


async def test_a_server_that_holds_the_call_is_told_at_once_and_the_clock_stands_still_until_it_is_done():
    server = Server(again=False)
    (await server.person.next("consent")).set_result(Answer("accept"))
    wait = await server.person.next("wait")
    assert server.clocks.now == 1
    server.complete()
    await asyncio.wait([wait], timeout=30)
    server.over.set()
    assert await server.answer() == {"action": "accept"}
    assert (server.clocks.now, server.clocks.ever) == (0, 1)


async def test_the_card_of_a_held_call_is_withdrawn_when_the_call_is_over():
    server = Server(again=False)
    (await server.person.next("consent")).set_result(Answer("accept"))
    wait = await server.person.next("wait")
    server.over.set()
    await server.answer()
    await asyncio.wait([wait], timeout=30)
    assert wait.cancelled()
    assert server.clocks.now == 0


async def test_cancelling_at_the_page_ends_the_held_call():
    server = Server(again=False)
    (await server.person.next("consent")).set_result(Answer("accept"))
    (await server.person.next("wait")).set_result(Answer("cancel"))
    with pytest.raises(Cancelled, match=r"demo\.login was cancelled"):
        await server.answer()


async def test_nothing_hangs_on_an_act_that_is_over():
    act = Running("demo", "tools/call", "login", {})

    async def nothing() -> None:
        pass

    await act.run(nothing)
    with pytest.raises(InputRefused):
        await act.hang(asyncio.Event().wait)


async def test_a_page_without_an_id_waits_for_the_person():
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await Pages().until_done("demo", {"elicitationId": 3})


async def test_one_word_of_the_server_ends_all_that_wait_for_this_page_and_no_other():
    pages = Pages()
    same = [asyncio.create_task(pages.until_done("demo", PAGE)) for _ in range(2)]
    other = asyncio.create_task(pages.until_done("demo", {"elicitationId": "e2"}))
    foreign = asyncio.create_task(pages.until_done("other", PAGE))
    await asyncio.sleep(0)
    assert pages.completed("demo", "e1")
    await asyncio.wait(same, timeout=30)
    assert not other.done()
    assert not foreign.done()
    other.cancel()
    foreign.cancel()


@pytest.mark.parametrize("id", [None, 3, {}, ["e1"]])
async def test_an_odd_id_completes_nothing(id: Any):
    assert not Pages().completed("demo", id)


async def test_what_nobody_waits_for_is_remembered_within_bounds():
    pages = Pages()
    for number in range(1_000):
        pages.completed("demo", f"e{number}")
    async with asyncio.timeout(30):
        await pages.until_done("demo", {"elicitationId": "e999"})
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await pages.until_done("demo", {"elicitationId": "e1"})
