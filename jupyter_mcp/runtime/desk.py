"""Puts a server's question before the person, wherever that person is, and brings the answer back.

    mode       auto      widgets where a front end can answer them, else `input()`, else nobody is asked
               widgets   always forms (a dashboard that shows widgets and allows no stdin)
               stdin     always `input()`
               decline   every question is declined
    where      the cell that waits for the call; else the cell that began it, as soon as no other cell is running
    how long   as long as the cell waits; else `limit` seconds
    nobody     (nbconvert, papermill, nbval): `cancel` at once, with one line that says how to script the answer

The form itself is drawn by `presenter`, which the notebook layer sets: this module knows no widgets. It decides nothing
that the host's policy decides, and it checks no answer.
"""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

from jupyter_mcp.host.listeners import tell
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.runtime import frontend, interrupts, place, pump
from jupyter_mcp.runtime.announce import Announcement
from jupyter_mcp.runtime.jobs import Job, board
from jupyter_mcp.runtime.thread import on_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.runtime.approving import Others
    from jupyter_mcp.runtime.place import Place

__all__ = ["Mode", "Presented", "Presenter", "QuestionDesk"]

log = logging.getLogger("jupyter_mcp.runtime")

Mode = Literal["auto", "widgets", "stdin", "decline"]
MODES: tuple[Mode, ...] = ("auto", "widgets", "stdin", "decline")
LIMIT_SECONDS = 600.0
ANNOUNCE_SECONDS = 1.0
"""How long a question waits for a foreign cell before a line says that it does."""


class Presented(Protocol):
    """A question on the page."""

    def close(self, answer: Answer | None) -> object:
        """Replace the live form by its record (None: withdrawn). Called on the main thread; once or twice."""
        ...


Presenter = "Callable[[Question, Callable[[Answer], None]], Presented]"


class QuestionDesk:
    """The `QuestionUI` of a kernel.

    Attributes:
        mode: see the top of this file; its first value comes from the environment variable JUPYTER_MCP_UI.
        limit: seconds a question stays open when no cell waits for it.
        presenter: draws a form and returns at once; None until the notebook layer is loaded.
        open: the questions that wait for an answer now, oldest first.
        listeners: called, on the runtime's thread, when `open` is another, or a question of it has been drawn.
    """

    def __init__(self) -> None:
        wanted = os.environ.get("JUPYTER_MCP_UI", "auto")
        self.mode: Mode = wanted if wanted in MODES else "auto"
        self.limit = LIMIT_SECONDS
        self.presenter: Callable[[Question, Callable[[Answer], None]], Presented] | None = None
        self.open: list[Question] = []
        self.listeners: list[Callable[[], object]] = []
        self._tickets: dict[tuple[str, str], _Ticket] = {}
        self._places: dict[str, Place] = {}

    def place_slot(self, server: str | None = None) -> Place:
        """In a cell: questions of `server` (or of any) that belong to no cell will be put here.

        Rarely needed: a call begun here, or a connection opened here, has its place here already.
        """
        where = place.here()
        self._places[server or ""] = where
        return where

    async def ask(self, question: Question) -> Answer:
        """Put the question and wait. Cancelling the awaiting task withdraws it from the page."""
        where = self._where(question)
        way = self._way(where)
        if way == "nobody":
            return Answer("cancel", by="headless")
        if way == "decline":
            return Answer("decline", by="script", remark="questions are declined (mode “decline”)")
        ticket = self._tickets[question.id, question.step] = _Ticket(question, where, way)
        self.open.append(question)
        self._tell()
        try:
            return await ticket.wait(self._show(ticket), self.limit)
        finally:
            self.open.remove(question)
            self._tickets.pop((question.id, question.step), None)
            self._tell()

    def _tell(self) -> None:
        tell(self.listeners, log=log, what="the desk")

    def reachable(self) -> bool:
        """Whether somebody can be asked, as far as that is known now."""
        if self.mode == "decline":
            return False
        return (self.mode == "widgets" and self.presenter is not None) or not frontend.headless()

    def shows_apps(self) -> bool:
        """Whether a page of a server could be shown beside a result: widgets, and somebody who sees them."""
        if self.presenter is None or not frontend.has_kernel() or self.mode not in ("auto", "widgets"):
            return False
        return (self.mode == "widgets" or frontend.allow_stdin()) and find_spec("anywidget") is not None

    def settle(self, question: Question, answer: Answer) -> bool:
        """Close an open question with an answer that came from elsewhere; False when it is not open."""
        ticket = self._tickets.get((question.id, question.step))
        if ticket is not None:
            ticket.answer(answer)
        return ticket is not None

    def presented(self, question: Question) -> Presented | None:
        """What an open question is drawn as, once it is on a page; None where it is asked by `input()`."""
        ticket = self._tickets.get((question.id, question.step))
        return ticket.presented if ticket is not None else None

    def cell_of(self, question: Question) -> str:
        """The id of the cell that an open question is put in, as its page gave it; "" where none is known."""
        ticket = self._tickets.get((question.id, question.step))
        message = ticket.place.target()[1] if ticket is not None else None
        cell = (message or {}).get("metadata", {}).get("cellId")
        return cell if isinstance(cell, str) else ""

    def _where(self, question: Question) -> Place:
        """The cell of the call that caused it; for what has no known cause, whichever cell is waiting."""
        mine = place.current.get()
        if mine is not None and (mine.waiting or question.cause is not None):
            return mine
        waiting = board.waiting_place
        if waiting is not None:
            return waiting
        return self._places.get(question.server) or self._places.get("") or mine or place.here()

    def _way(self, where: Place) -> Literal["widgets", "stdin", "nobody", "decline"]:
        if self.mode == "decline":
            return "decline"
        if self.mode == "widgets" and self.presenter is not None:
            return "widgets"
        if frontend.headless():
            return "nobody"
        page = self.mode == "auto" and self.presenter is not None and frontend.has_kernel()
        if page and (pump.find() is not None or not where.waiting):
            return "widgets"
        return "stdin"

    def _others(self, ticket: _Ticket) -> Others:
        """What waits besides a question that is about to be asked by `input()`. Main thread."""
        from jupyter_mcp.runtime.approving import Others

        waiting = [one for one in list(self._tickets.values()) if not one.answered]
        alike = [one for one in waiting if one.asks_leave and one.question.server == ticket.question.server]

        def deny(answer: Answer) -> None:
            for one in alike:
                if one is not ticket:
                    one.answer(answer)

        return Others(len(waiting), len(alike), deny)

    def _show(self, ticket: _Ticket) -> Job:
        if ticket.way == "stdin":
            return board.post(lambda: _by_input(ticket, self._others(ticket)), ticket.place, cell_only=True)
        presenter = self.presenter
        assert presenter is not None  # `_way` has looked

        def draw() -> None:
            try:
                ticket.presented = presenter(ticket.question, ticket.answer)
                ticket.on_loop(self._tell)  # it can be shown elsewhere now
            except Exception:
                log.exception("the form could not be drawn")
                ticket.answer(
                    Answer("cancel", by="headless", note=f"The form for {ticket.question.server} could not be drawn.")
                )

        return board.post(draw, ticket.place)


class _Ticket:
    """One question on its way to the person and back. Made on the runtime's loop."""

    def __init__(self, question: Question, where: Place, way: Literal["widgets", "stdin"]) -> None:
        self.question = question
        self.place = where
        self.way = way
        self.presented: Presented | None = None
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Answer] = self._loop.create_future()
        self._line: Announcement | None = None
        self._given = False

    def answer(self, answer: Answer) -> None:
        """Take an answer, from any thread; the first one counts."""
        self._given = True
        on_loop(self._loop, self._take, answer)

    def on_loop(self, function: Callable[[], object]) -> None:
        """Call something on the runtime's thread."""
        on_loop(self._loop, function)

    @property
    def answered(self) -> bool:
        """Whether it is over (a hint only, on other threads)."""
        return self._given or self._answer.done()

    @property
    def asks_leave(self) -> bool:
        """Whether somebody wants to do something, and does not only want to know."""
        return self.question.kind in ("approval", "server")

    def _take(self, answer: Answer) -> None:
        if not self._answer.done():
            self._answer.set_result(answer)

    async def wait(self, job: Job, limit: float) -> Answer:
        """The answer, or a cancel when nobody waits and the time is up."""
        answer: Answer | None = None
        try:
            if self.place.waiting:
                answer = await self._answer
            else:
                answer = await self._wait_unattended(job, limit)
            return answer
        finally:
            self._answer.cancel()
            if self.question.step != "wait":  # there the person agreed to a page, and gets the link in any case
                job.withdraw()
            self._close(answer)

    async def _wait_unattended(self, job: Job, limit: float) -> Answer:
        try:
            async with asyncio.timeout(limit):
                await asyncio.wait([self._answer], timeout=ANNOUNCE_SECONDS)
                if job.open and not self._answer.done():
                    self._line = Announcement(self.place, f"{self.question.server} asks something; {self._when()}")
                return await self._answer
        except TimeoutError:
            minutes = f"{limit / 60:.0f} minutes" if limit >= 90 else f"{limit:.0f} seconds"
            note = f"{self.question.server} asked and nobody answered within {minutes}; the question was cancelled."
            return Answer("cancel", by="headless", note=note)

    def _when(self) -> str:
        if self.way == "stdin":
            return "it will be asked at the beginning of the next cell."
        return "the form will be here when the running cell has ended."

    def _close(self, answer: Answer | None) -> None:
        if self._line is not None:
            outcome = {"accept": "answered", "decline": "declined"}.get(answer.action if answer else "", "not answered")
            self._line.change(f"{self.question.server} asked something: {outcome}.")
        if self.way != "widgets":
            return

        def close() -> None:
            if self.presented is not None:
                self.presented.close(answer)

        board.post(close, self.place)


def _by_input(ticket: _Ticket, others: Others) -> None:
    """The dialogue by `input()`, on the main thread, which it blocks; an interrupt ends it and what waits for it."""
    if ticket.answered:
        return
    from jupyter_mcp.runtime.prompts import Dialogue

    def exact(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        with suppress(Exception):
            sys.stdout.flush()

    def say(line: str) -> None:
        exact(_unsecret(line))

    def read(prompt: str) -> str:
        return input(_unsecret(prompt))

    try:
        with interrupts.raising():
            dialogue = Dialogue(read, say, getpass.getpass, lambda question: others, exact)
            if ticket.question.step == "wait":  # the server goes on by itself, so the cell must not be held
                dialogue.tell(ticket.question)
            else:
                ticket.answer(dialogue.ask(ticket.question))
    except KeyboardInterrupt:
        if not ticket.place.waiting:  # else the interrupted wait cancels its call, and the question with it
            ticket.answer(Answer("cancel"))
        raise
    except Exception:
        log.exception("the question could not be asked by input()")
        ticket.answer(Answer("cancel", by="headless"))


def _unsecret(text: str) -> str:
    """Without the secrets that were given to servers, which may say them back: what is printed is saved."""
    from jupyter_mcp.runtime.state import existing_host

    host = existing_host()
    return text if host is None else str(host.redactor.known(text))
