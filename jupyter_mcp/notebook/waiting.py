"""Wait for an act, with a live card when it takes longer than 0.4 s or tells something meanwhile.

    waiting   an act that tells nothing meanwhile (connecting)
    watched   an act that has to be told who listens
    expecting whether the value will be shown by the magic that runs

What is shown of a value stands in `showing`, how a card looks in `cards`. Where nobody can press a button there are no
live cards, so that what is saved does not depend on how fast a server was.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.errors import Cancelled
from jupyter_mcp.host.events import QuestionClosed, QuestionOpened, TaskChanged
from jupyter_mcp.notebook.leaving import Left
from jupyter_mcp.notebook.objects.act import Act
from jupyter_mcp.notebook.showing import can_use_cards, shown_already

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from jupyter_mcp.host.events import CallEvent
    from jupyter_mcp.host.tasks import HostTask
    from jupyter_mcp.notebook.cards.call import LiveCall
    from jupyter_mcp.runtime.jobs import Job

T = TypeVar("T")

LATE_SECONDS = 0.4
"""Longer than that, a person wants to see that something happens."""

_expected: ContextVar[bool] = ContextVar("jupyter_mcp_expected", default=False)


@contextmanager
def expecting(shown: bool) -> Generator[None]:
    """Inside, the value of a watched act will be shown (by the magic that runs): its card becomes its picture."""
    token = _expected.set(shown)
    try:
        yield
    finally:
        _expected.reset(token)


def waiting(act: Act[T]) -> T:
    """Wait for an act that tells nothing meanwhile (connecting)."""
    return watched(act.label, lambda _: act)


def watched(label: str, make: Callable[[Any], Act[T]], live: Callable[..., Any] | None = None) -> T:
    """Wait for an act, with a live card when it takes its time; a value that is not shown leaves nothing behind.

    Args:
        label: what it is ("demo.slow").
        make: the act, given who listens (None: nobody).
        live: makes the card from the label and what ends the act; by default that of a call.
    """
    if not can_use_cards():
        return make(None).now()
    shown = _expected.get()
    card = _Card(label, live)
    act = make(card.event)
    try:
        value = Act(act.label, lambda: card.accompany(act), act.after, act.left).now()
    except BaseException as error:
        card.finish(error)
        sentence = act.left() if card.left and isinstance(error, Cancelled) else None
        if sentence is not None:
            raise Left(f"{sentence}.", card.became) from None
        raise
    if card.finish(value if shown else None) and shown:
        from jupyter_mcp.notebook.appbelow import below

        shown_already(value)
        below(value)
    return value


class _Card:
    """A live card that is displayed only when it is worth it. Its events come on the runtime's thread."""

    def __init__(self, label: str, live: Callable[..., Any] | None) -> None:
        from jupyter_mcp.notebook import cards
        from jupyter_mcp.runtime import place

        self._label = label
        self._make = live or cards.live_call
        self._place = place.here()
        self._live: LiveCall | None = None
        self._events: list[CallEvent] = []
        self.left = False
        self._asked = False
        self._open = 0
        self.became: HostTask | None = None
        self._job: Job | None = None
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def accompany(self, act: Act[T]) -> T:
        """On the runtime's loop: do the act, and show the card when it is late."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        late = self._loop.call_later(LATE_SECONDS, self._show)
        try:
            return await act.start()
        finally:
            late.cancel()

    def event(self, event: CallEvent) -> None:
        if isinstance(event, QuestionOpened):
            self._open += 1
        elif isinstance(event, QuestionClosed):
            self._open -= 1
        elif isinstance(event, TaskChanged):
            self._is_task(event.task)
        if self._live is not None:
            self._live.event(event)
            return
        self._events.append(event)
        if isinstance(event, QuestionClosed) and self._loop is not None:
            self._loop.call_later(LATE_SECONDS, self._show)
        else:
            self._show()

    def cancel(self) -> None:
        """The button: end it; a task at the server too."""
        if self.became is None or self.became.ended:
            self._stop()
        else:
            from jupyter_mcp.notebook.objects.act import get_host
            from jupyter_mcp.runtime.thread import get_runtime

            get_runtime().submit(get_host().tasks.cancel, self.became)

    def leave(self) -> None:
        """The other button: stop waiting for a task."""
        self.left = True
        self._stop()

    def _stop(self) -> None:
        if self._task is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _is_task(self, task: HostTask) -> None:
        if self.became is None:
            self.became = task
            if self._live is not None:
                self._live.offer_to_leave(self.leave)

    def finish(self, outcome: object) -> bool:
        """On the main thread, when it is over. Returns whether the card was displayed."""
        self._asked = True
        if self._job is not None:
            self._job.withdraw()
        if self._live is None:
            return False
        from jupyter_mcp.notebook.cards.results.card import deserves_card

        live = deserves_card(outcome)  # it gets a card of its own, where the value is displayed
        if outcome is None or live:
            self._live.card.finish({"text/plain": ""})
        self._live.finish(outcome)
        return not live

    def _show(self) -> None:
        from jupyter_mcp.runtime import jobs

        if not self._asked and not self._open:  # while a question is open, its card shows that the call waits
            self._asked = True
            self._job = jobs.post(self._display, self._place)

    def _display(self) -> None:
        """On the main thread, in the cell."""
        live = self._make(self._label, self.cancel)
        if self.became is not None:
            live.offer_to_leave(self.leave)
        live.show()
        for event in self._events:
            live.event(event)
        self._live = live
