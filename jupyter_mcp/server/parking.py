"""Handlers that wait for an answer between two requests (2026-07-28), and go on where they stopped.

A round that ends with questions leaves its handler waiting here, and the name it is held under in the signed state that
goes to the client. The request that brings the state back takes the handler out and is answered by it. RULES:

- A name is good once. The same state again, by a retry that arrived twice or an answer that was thought better of, is
  refused by a clear error: the handler must not do twice, unseen, what it does once.
- A handler is ended when the state expires, when its tool is no more, and when the server stops.
- At most so many wait; a handler beyond that is given up and runs again when the answer comes. A thread that waits is
  one that no other handler can have, so fewer of those do.
- A state that names a handler which is not here (another process, a restart) has the handler run again.

Above: `dispatch`. Below: `run`. Source: spec 2026-07-28 "Multi Round-Trip Requests".
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.server.detached import DetachedRun
from jupyter_mcp.server.rounds import InvalidState
from jupyter_mcp.server.workers import MAX_THREADS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.run import Run
    from jupyter_mcp.server.signature import Handler

MAX_PARKED = 64
_THREADS = 4  # one in so many of those that wait, and of all threads, may be a thread
_MOST_USED = 65536  # names remembered as used


@dataclass(slots=True)
class _Held:
    """A run between two requests."""

    run: DetachedRun
    handler: Handler
    timer: asyncio.TimerHandle


class Parking:
    """The handlers of one server that wait for answers.

    Args:
        limit: how many may; 0 has every handler run again.
    """

    def __init__(self, limit: int = MAX_PARKED) -> None:
        self._limit = limit
        self._threads = min(limit, MAX_THREADS) // _THREADS
        self._waiting: dict[str, _Held] = {}
        self._admitted: dict[DetachedRun, Handler] = {}
        self._used: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def new(self, exchange: Exchange, handler: Handler, main: Callable[[Run], Awaitable[Any]]) -> DetachedRun:
        """A run that waits here when it asks, if there is room by then."""
        run = DetachedRun(exchange, main, may_wait=lambda: self._admit(run, handler))  # asked when it runs
        return run

    def _admit(self, run: DetachedRun, handler: Handler) -> bool:
        threads = sum(1 for one in self._admitted.values() if not one.is_async)
        if len(self._admitted) >= self._limit or (not handler.is_async and threads >= self._threads):
            return False
        self._admitted[run] = handler
        return True

    def release(self, run: DetachedRun) -> None:
        """It has ended, and its outcome is known to whom it concerns."""
        self._admitted.pop(run, None)

    def hold(self, run: DetachedRun, seconds: float) -> str:
        """Keep a run for so many seconds; the name to find it by."""
        name = secrets.token_urlsafe(12)
        timer = run.loop.call_later(seconds, self.expire, name)
        self._waiting[name] = _Held(run, self._admitted[run], timer)
        return name

    def take(self, exchange: Exchange, handler: Handler) -> DetachedRun | None:
        """The run that a request's state names, now the request's and with its answers; None when it is not here.

        Raises:
            InvalidState: the state was used before.
        """
        ledger = exchange.ledger
        if ledger is None or ledger.held is None:
            return None
        if ledger.held in self._used:
            raise InvalidState("requestState was used before, and is good once; call again from the beginning")
        held = self._waiting.pop(ledger.held, None)
        if held is None:
            return None
        run = held.run
        self._remember(ledger.held, held.timer.when())
        same = held.handler is handler and run.exchange.peer.revision == exchange.peer.revision
        if run.loop is not exchange.loop or not same or run.cancelled:
            _later(run.loop, self._drop, held)
            return None
        held.timer.cancel()
        run.adopt(exchange)
        responses: Mapping[str, Any] = exchange.params.get("inputResponses") or {}
        run.receive(responses, ledger.asked)
        return run

    async def close(self) -> None:
        """End all that wait."""
        waiting, self._waiting = self._waiting, {}
        here = asyncio.get_running_loop()
        for held in waiting.values():
            if held.run.loop is here:
                self._drop(held)
            else:
                _later(held.run.loop, self._drop, held)
        ends = [held.run.let_end() for held in waiting.values() if held.run.loop is here]
        await asyncio.gather(*ends)

    def _remember(self, name: str, until: float) -> None:
        """The name is used up. Those of expired states are forgotten: nobody can bring them any more."""
        now = asyncio.get_running_loop().time()
        while self._used and (next(iter(self._used.values())) < now or len(self._used) >= _MOST_USED):
            self._used.popitem(last=False)
        self._used[name] = until

    def expire(self, name: str) -> None:
        """End the run of that name, if it waits."""
        held = self._waiting.pop(name, None)
        if held is not None:
            self._drop(held)

    def _drop(self, held: _Held) -> None:
        held.timer.cancel()
        held.run.cancel()
        self.release(held.run)


def _later(loop: asyncio.AbstractEventLoop, callback: Callable[[_Held], None], held: _Held) -> None:
    try:
        loop.call_soon_threadsafe(callback, held)
    except RuntimeError:
        pass  # the loop is closed, and its tasks with it
