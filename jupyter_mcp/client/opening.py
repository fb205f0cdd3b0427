"""Driving the probe: sends what the flow wants to try, waits as long as it says, starts the server again.

What to try and what the answers mean is `protocol.probe`; this is its loop, clock and pipe.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.errors import (
    AuthorizationFailed,
    ConnectionFailed,
    ConnectionLost,
    Denied,
    MCPError,
    UsageError,
)
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.probe import (
    Asked,
    Died,
    Event,
    Flow,
    Reply,
    ReplyError,
    Respawn,
    Silence,
    Try,
    Verdict,
    Wait,
)
from jupyter_mcp.transport.base import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from jupyter_mcp.client.link import Link
    from jupyter_mcp.client.options import ConnectOptions
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.protocol.probe_http import NoAnswer
    from jupyter_mcp.protocol.revisions import Era

LAST_NEWS = 3.0  # seconds
STANDING_STILL = 1.0  # seconds between two looks whether the time runs again
_MOST_REMEMBERED = 256
_remembered: dict[object, Era | Literal["sse"]] = {}


def remembered(key: object) -> Era | Literal["sse"] | None:
    """The era of a server that was connected before in this process (by its command or URL); "sse" is legacy over
    HTTP+SSE.
    """
    return _remembered.get(key)


def remember(key: object, era: Era | Literal["sse"] | None) -> None:
    """Keep (or, with None, forget) a verdict: the probe of a silent server costs seconds."""
    _remembered.pop(key, None)
    if era is not None and key is not None:
        if len(_remembered) >= _MOST_REMEMBERED:
            del _remembered[next(iter(_remembered))]
        _remembered[key] = era


class Opening:
    """Runs one flow to its verdict.

    Args:
        link: the open link to begin on; `link` is the one in use afterwards.
        respawn: ends a link and opens a new one to a fresh server.
        older: ends a link and opens one over HTTP+SSE to the same server.
    """

    def __init__(
        self,
        link: Link,
        options: ConnectOptions,
        respawn: Callable[[Link], Awaitable[Link]],
        older: Callable[[Link], Awaitable[Link]],
    ) -> None:
        self.link = link
        self._options = options
        self._respawn = respawn
        self._older = older
        self._asked: dict[Asked, Pending] = {}
        self._latest: Asked = "initialize"
        self._deadline = 0.0
        self._seconds = 0.0

    async def run(self, flow: Flow) -> Verdict:
        """Raises `ConnectionFailed` (from the flow)."""
        event: Event | None = None
        try:
            while True:
                step = flow.send(event)
                if isinstance(step, Try):
                    event = await self._try(step)
                elif isinstance(step, Wait):
                    event = await self._wait()
                elif isinstance(step, Respawn):
                    self._asked.clear()
                    self.link = await self._respawn(self.link)
                    event = None
                else:
                    event = await self._downgrade()
        except StopIteration as done:
            verdict: Verdict = done.value
            return verdict
        finally:
            for pending in self._asked.values():
                if self.link.waiting.drop(pending):
                    self.link.transport.cancel(pending.id)

    async def _downgrade(self) -> NoAnswer | None:
        from jupyter_mcp.protocol.probe_http import NoAnswer

        self._asked.clear()
        try:
            self.link = await self._older(self.link)
        except ConnectionFailed as error:
            return NoAnswer(error.message, hint=error.hint, status=error.status)
        return None

    async def _try(self, step: Try) -> Event:
        options = self._options
        self._seconds = options.probe_timeout if step.limit == "probe" else options.startup_timeout
        self._deadline = self.link.waiting.now() + self._seconds
        pending = self.link.begin(step.method)
        old = self._asked.pop(step.method, None)
        if old is not None:
            self.link.waiting.drop(old)
        self._asked[step.method] = pending
        self._latest = step.method
        try:
            await self.link.request(pending, step.params)
        except ConnectionLost:  # its end is about to be told, with the exit code
            del self._asked[step.method]
            self._deadline = self.link.waiting.now() + LAST_NEWS
        return await self._wait()

    async def _wait(self) -> Event:
        """The first answer to anything asked, or the end of the link, or of our patience."""
        gone = asyncio.ensure_future(self.link.gone.wait())
        try:
            while True:
                futures: dict[Any, Asked] = {pending.future: method for method, pending in self._asked.items()}
                waiting = asyncio.wait([*futures, gone], timeout=self._left(), return_when=asyncio.FIRST_COMPLETED)
                done, _ = await waiting
                for future, method in futures.items():
                    if future in done and future.exception() is None:
                        del self._asked[method]
                        return self._event(method, future.result())
                if gone in done or self.link.closed is not None:
                    closed = self.link.closed
                    assert closed is not None
                    return Died(closed.reason, closed.exit_code, closed.stderr)
                if not done and self._left() > 0:
                    continue
                if not done:
                    return Silence(self._seconds)
                failed: dict[Asked, BaseException | None] = {
                    method: future.exception() for future, method in futures.items() if future in done
                }
                for method in failed:
                    del self._asked[method]
                _end_if_unauthorized(failed.values())
                if self._latest in failed:
                    return _unanswered(failed[self._latest])
                nobody = (error for error in failed.values() if isinstance(error, ConnectionLost))
                if (error := next((one for one in nobody if not one.may_have_run), None)) is not None:
                    return _unanswered(error)  # what was asked since goes the same way
        finally:
            gone.cancel()

    def _left(self) -> float:
        """Seconds until it is time to look again; the time may stand still, for a person who logs in."""
        waiting = self.link.waiting
        return STANDING_STILL if waiting.stopped else max(0.0, self._deadline - waiting.now())

    def _event(self, method: Asked, message: dict[str, Any]) -> Event:
        to = None if method == self._latest else method
        if jsonrpc.kind(message) == "response":
            return Reply(message["result"], to)
        error = jsonrpc.parse_error(message)
        return ReplyError(error.code, error.message, error.data, to)


def _end_if_unauthorized(errors: Iterable[BaseException | None]) -> None:
    """No other way of asking lets us in: a login failed, a rule refuses it, a script for it does not fit."""
    for error in errors:
        if isinstance(error, AuthorizationFailed | Denied | UsageError):
            raise error


def _unanswered(error: BaseException | None) -> Event:
    """What a transport says instead of an answer, for the flow."""
    from jupyter_mcp.protocol.probe_http import NoAnswer, Status, who_asks

    if isinstance(error, Refused):
        hint = "" if error.advised else who_asks(error.authorized, error.challenge) if error.status == 401 else None
        return Status(error.status, error.reason, error.body, hint)
    reached = not isinstance(error, ConnectionLost) or error.may_have_run
    if isinstance(error, MCPError):
        return NoAnswer(error.message, reached, error.hint)
    return NoAnswer(str(error), reached)
