"""A handler in a task of its own: its questions wait for whoever brings the answers.

It goes on where it stopped when the next request of the same call brings them (`parking`), or an update of a task
(`tasks`). Progress, log and cancelling belong to the request that it was adopted by last.

Above: `parking`, `tasks`, `dispatch`. Below: `run`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Cancelled
from jupyter_mcp.server.rounds import Asked, NeedInput
from jupyter_mcp.server.run import PAUSE, Run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from jupyter_mcp.server.exchange import Exchange

_TURNS = 3  # of the loop, in which the tasks of a handler may ask at once
_ENDED = "The call that this belongs to has ended."
_LAST_STEPS = 0.5  # seconds for a cancelled handler to clean up


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that waits for its answer: its key in the ledger, and what to ask."""

    key: str
    asked: Asked


class DetachedRun(Run):
    """A handler in a task of its own, whose questions wait for whoever brings the answers. Loop only.

    Args:
        exchange: the request it begins with.
        main: runs the handler with this run.
        may_wait: asked before the first question waits; False has the handler run again instead.
        lasting: it outlives all requests (a task): no key is asked twice, and a handler that asks by its own hand is
            run again here.
        on_turn: called when there are new questions (those that are asked at once come together), and at the end.

    Attributes:
        pending: the questions that wait, by the key on the wire.
    """

    __slots__ = (
        "_keys",
        "_lasting",
        "_main",
        "_may_wait",
        "_task",
        "_turned",
        "_waiters",
        "_waits",
        "on_turn",
        "pending",
    )

    def __init__(
        self,
        exchange: Exchange,
        main: Callable[[Run], Awaitable[Any]],
        *,
        may_wait: Callable[[], bool] = lambda: True,
        lasting: bool = False,
        on_turn: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(exchange)
        self.pending: dict[str, Pending] = {}
        self.on_turn = on_turn
        self._main = main
        self._may_wait = may_wait
        self._lasting = lasting
        self._waits = lasting
        self._keys: set[str] = set()
        self._task: asyncio.Task[Any] | None = None
        self._turned: asyncio.Future[None] | None = None
        self._waiters: set[asyncio.Future[None]] = set()

    # --- life

    def start(self) -> None:
        """Run the handler from now on."""
        self._task = self.loop.create_task(self._start())
        self._task.add_done_callback(self._ended)

    async def _start(self) -> Any:
        return await self._main(self)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            task.exception()  # it is whoever asks for the outcome who hears of it; a cancelled run's is nobody's
        for waiter in self._waiters:  # of tasks that the handler left behind
            if not waiter.done():
                waiter.set_exception(Cancelled(_ENDED))
        self._turn()

    @property
    def done(self) -> bool:
        """Whether the handler has ended."""
        return self._task is not None and self._task.done()

    def cancel(self) -> None:
        """End the handler: `CancelledError` where it awaits, `Cancelled` where its thread waits in the context."""
        super().cancel()
        if self._task is not None:
            self._task.cancel()

    async def outcome(self) -> Any:
        """Wait for the end; what the handler returned, or raised."""
        assert self._task is not None
        if not self._task.done():
            await asyncio.wait({self._task})
        return self._task.result()

    async def let_end(self) -> None:
        """Give a cancelled handler a moment to clean up."""
        if self._task is not None and not self._task.done():
            await asyncio.wait({self._task}, timeout=_LAST_STEPS)

    # --- requests

    def adopt(self, exchange: Exchange) -> None:
        """From now on it runs for this request."""
        self.leave()
        self.exchange = exchange
        exchange.ledger = self.ledger
        exchange.on_cancel(self.cancel)

    def leave(self) -> None:
        """The request it ran for is answered: it reports nothing to it any more, and is not cancelled with it."""
        self.exchange.over = True
        self.exchange.forget(self.cancel)

    async def round(self) -> Any:
        """Wait for the outcome, for the request that adopted it.

        Raises:
            NeedInput: the round ends here with questions, and the handler waits.
            BaseException: what the handler raised.
        """
        if self._task is None:
            self.start()
        try:
            while not self.done:
                self._turned = self.loop.create_future()
                await self._turned
                if self.pending:
                    break
        except asyncio.CancelledError:
            self.cancel()
            await self.let_end()
            raise
        finally:
            self._turned = None
        if self.done:
            return await self.outcome()
        self.leave()
        raise NeedInput({key: one.asked for key, one in self.pending.items()}, self)

    # --- questions and answers

    def receive(self, responses: Mapping[str, Any], asked: Mapping[str, str] | None = None) -> None:
        """Bring answers; what nobody asked for is ignored, and what is missing is asked again.

        Args:
            responses: wire key -> the client's bare result.
            asked: wire key -> digest of the questions that are answered; by default all that wait.
        """
        if asked is None:
            asked = {key: one.asked.digest for key, one in self.pending.items()}
        keys = {wire: self.pending[wire].key if wire in self.pending else wire for wire in asked}
        self.ledger.asked = {keys[wire]: digest for wire, digest in asked.items()}
        self.ledger.responses = {}
        self.ledger.receive({keys[wire]: responses[wire] for wire in asked if wire in responses})
        for wire, one in list(self.pending.items()):
            if one.key in self.ledger.responses:
                del self.pending[wire]
        self._wake()

    async def _unanswered(self, need: NeedInput) -> None:
        if self.done:
            raise Cancelled(_ENDED)
        if not self._waits:
            self._waits = self._may_wait()
            if not self._waits:
                raise need
        known = {one.key for one in self.pending.values()}
        for key, asked in need.questions.items():
            if key not in known:
                self.pending[self._wire_key(key)] = Pending(key, asked)
        waiter: asyncio.Future[None] = self.loop.create_future()
        self._waiters.add(waiter)
        self._settle(_TURNS)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    async def _again_by_hand(self, asked: dict[str, Asked]) -> None:
        if not self._lasting:
            raise NeedInput(asked)
        self._count_round(asked)
        answers: dict[str, Any] = {}
        try:
            while missing := {key: one for key, one in asked.items() if key not in answers}:
                await self._unanswered(NeedInput(missing))
                answers.update({key: one for key, one in self.ledger.responses.items() if key in asked})
        finally:
            self._leave(asked)
        self.ledger.responses = answers
        if not asked:
            await asyncio.sleep(PAUSE)

    def _wire_key(self, key: str) -> str:
        """The key to ask under: the ledger's, but for tasks, which never ask twice under the same one."""
        wire = key
        while self._lasting and wire in self._keys:
            wire = f"{key}.{len(self._keys)}"
        self._keys.add(wire)
        return wire

    def _leave(self, keys: Iterable[str]) -> None:
        gone = set(keys)
        left = [wire for wire, one in self.pending.items() if one.key in gone]
        for wire in left:
            del self.pending[wire]
        if left:
            self._wake()  # somebody else may ask under the same key

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _settle(self, turns: int) -> None:
        """Have the questions asked, a few turns of the loop later: other tasks of the handler may ask as well."""
        if turns:
            self.loop.call_soon(self._settle, turns - 1)
        elif self.pending and not self.done:
            self._turn()

    def _turn(self) -> None:
        if self._turned is not None and not self._turned.done():
            self._turned.set_result(None)
        self.on_turn()
