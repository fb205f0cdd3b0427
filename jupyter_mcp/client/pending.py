"""Requests waiting for their answers, and the clock that ends the waiting.

One timer serves all of them: a timer per request would be the dearest part of a quick call. The clock stands still
while a question of the server is open, because then it is the person who takes the time.

Nothing is sent from here.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.jsonrpc import Id, match_id

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator, Iterator

    from jupyter_mcp.client.peer import Call


class Pending:
    """One request: its future gets the whole answer, a result or an error message, as it came."""

    __slots__ = ("call", "deadline", "future", "id", "limit", "method", "sent", "timeout")

    def __init__(
        self,
        id: Id,
        method: str,
        future: asyncio.Future[dict[str, Any]],
        timeout: float,
        limit: float,
        call: Call | None,
    ) -> None:
        self.id = id
        self.method = method
        self.future = future
        self.timeout = timeout
        self.deadline = inf
        self.limit = limit
        self.call = call
        self.sent = False


class Clock:
    """The loop's time without the spans during which it was stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._stops = 0
        self._since = 0.0
        self._skipped = 0.0

    @property
    def stopped(self) -> bool:
        return self._stops > 0

    def now(self) -> float:
        return (self._since if self._stops else self._loop.time()) - self._skipped

    def stop(self) -> None:
        """Stops add up."""
        if not self._stops:
            self._since = self._loop.time()
        self._stops += 1

    def go_on(self) -> None:
        """Undo one stop."""
        self._stops -= 1
        if not self._stops:
            self._skipped += self._loop.time() - self._since


class Waiting:
    """All requests of one connection that wait.

    Args:
        on_timeout: called with each that waited too long, after it has been taken out.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_timeout: Callable[[Pending], None]) -> None:
        self._loop = loop
        self._clock = Clock(loop)
        self._on_timeout = on_timeout
        self._by_id: dict[Id, Pending] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._at = inf

    def __iter__(self) -> Iterator[Pending]:
        return iter(tuple(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def stopped(self) -> bool:
        """Whether the time stands still."""
        return self._clock.stopped

    def add(self, id: Id, method: str, *, timeout: float, limit: float, call: Call | None = None) -> Pending:
        """Begin to wait for at most `timeout` without a sign of life and `limit` in all (seconds, may be inf)."""
        pending = Pending(id, method, self._loop.create_future(), timeout, inf, call)
        now = self._clock.now()
        pending.limit = now + limit
        pending.deadline = min(now + timeout, pending.limit)
        self._by_id[id] = pending
        if pending.deadline < self._at:
            self._schedule(pending.deadline)
        return pending

    def take(self, id: object) -> Pending | None:
        """The request that an answer with this id means, taken out; None for a stray one."""
        if id is None:  # an error about a message the server could not read: ours, if there is one only
            return self._by_id.popitem()[1] if len(self._by_id) == 1 else None
        key = match_id(self._by_id, id)
        return None if key is None else self._by_id.pop(key)

    def find(self, token: object) -> Pending | None:
        """The request a progress token means."""
        key = match_id(self._by_id, token)
        return None if key is None else self._by_id[key]

    def drop(self, pending: Pending) -> bool:
        """Stop waiting for it; False when it was not waited for any more."""
        return self._by_id.pop(pending.id, None) is not None

    def take_all(self) -> list[Pending]:
        """Stop waiting for anything."""
        everything = list(self._by_id.values())
        self._by_id.clear()
        self._unschedule()
        return everything

    def alive(self, pending: Pending) -> None:
        """A sign of life: its time begins anew, within its limit."""
        pending.deadline = min(self._clock.now() + pending.timeout, pending.limit)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let the time stand still."""
        self.stop()
        try:
            yield
        finally:
            self.go_on()

    def stop(self) -> None:
        """Let the time stand still; stops add up."""
        self._clock.stop()

    def go_on(self) -> None:
        """Undo one stop."""
        self._clock.go_on()
        if not self._clock.stopped:
            self._reschedule()

    def now(self) -> float:
        """Seconds of the loop's time without those when it stood still."""
        return self._clock.now()

    def _schedule(self, deadline: float) -> None:
        self._unschedule()
        if deadline < inf and not self._clock.stopped:
            self._at = deadline
            self._timer = self._loop.call_later(max(0.0, deadline - self._clock.now()), self._check)

    def _unschedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._at = inf

    def _reschedule(self) -> None:
        self._schedule(min((pending.deadline for pending in self._by_id.values()), default=inf))

    def _check(self) -> None:
        self._unschedule()
        if self._clock.stopped:
            return
        now = self._clock.now() + 0.001
        due = [pending for pending in self._by_id.values() if pending.deadline <= now]
        for pending in due:
            del self._by_id[pending.id]
            self._on_timeout(pending)
        self._reschedule()
