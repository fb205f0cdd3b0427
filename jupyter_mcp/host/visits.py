"""What comes after the person agreed to open a page: when does the call go on?

    retry   the server holds nothing (a modern round, or the error -32042): the request goes out again when the person
            says so, or when the server says that the page is done
    wait    the server holds the call (a legacy request): it is told of the consent at once and goes on by itself; the
            person sees that it waits, and can cancel

Neither opens anything: the person's own click on a link does. Above: `questioner`.

Source: spec "Elicitation / URL mode" and "URL elicitation required error" (2025-11-25), "URL mode" (2026-07-28).
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from jupyter_mcp.errors import Cancelled, InputRefused
from jupyter_mcp.host.pages import Pages
from jupyter_mcp.host.questions import Answer, Question

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.questioner import Questioner

__all__ = ["Visits"]

_LONGEST = 1_800.0  # seconds that a call stands still for a page, unless its cell is interrupted before


class Visits:
    """The pages that are being visited, for all connections of one host.

    Attributes:
        pages: which of them the servers have called done.
    """

    def __init__(self, questioner: Questioner) -> None:
        self.pages = Pages()
        self._questioner = questioner
        self._followed: set[asyncio.Task[None]] = set()

    async def after_consent(
        self,
        question: Question,
        answer: Answer,
        act: Running | None,
        again: bool,
        paused: Callable[[], AbstractContextManager[object]],
    ) -> Answer:
        """What to send, when the time has come.

        Args:
            question, answer: the consent.
            act: the act during which it was given.
            again: see `Questioner.answer`.
            paused: lets the clocks of the connection stand still.
        """
        if again:
            return await self._until_done(replace(question, step="retry"), act)
        begun = asyncio.Event()
        task = asyncio.create_task(self._follow(replace(question, step="wait"), act, paused, begun))
        self._followed.add(task)
        task.add_done_callback(self._followed.discard)
        task.add_done_callback(lambda _: begun.set())
        await begun.wait()  # a server that does not wait may be done at once, and the person has to get the link
        return answer

    def end(self) -> None:
        """Nobody waits any more."""
        for task in self._followed:
            task.cancel()

    async def _until_done(self, question: Question, act: Running | None) -> Answer:
        """The person's word, or the server's that the page is done, whichever comes first."""
        asking = asyncio.ensure_future(self._questioner.ask(question, act))
        done = asyncio.ensure_future(self.pages.until_done(question.server, question.params))
        try:
            await asyncio.wait((asking, done), return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            answer = Answer("accept", by="server")
            settle = getattr(self._questioner.ui, "settle", None)
            return await asking if settle is not None and settle(question, answer) else answer
        finally:
            for task in (asking, done):
                task.cancel()
            await asyncio.wait((asking, done), timeout=1.0)

    async def _follow(
        self,
        question: Question,
        act: Running | None,
        paused: Callable[[], AbstractContextManager[object]],
        begun: asyncio.Event,
    ) -> None:
        """Beside the call: show that it waits, until it is over, the server calls the page done, or the person ends it.

        It takes as long as a person needs for a page, so meanwhile the call's clock stands still.
        """

        async def wait() -> Answer:
            asyncio.get_running_loop().call_soon(lambda: asyncio.get_running_loop().call_soon(begun.set))
            return await self._until_done(question, act)

        with contextlib.suppress(InputRefused, TimeoutError), paused():  # refused: the act is over, which is well
            async with asyncio.timeout(_LONGEST):
                answer = await (act.hang(wait) if act is not None else wait())
            if act is not None and answer.action == "cancel" and answer.by == "person":
                act.fail(Cancelled(f"{act.server}.{act.name} was cancelled.", server=act.server))
