"""What becomes of a lost server: it is opened again when it is needed, or at once while something of it is watched.

There is one attempt at a time, shared by all who need it, and it goes on when they are cancelled. After a failure the
next attempt has to wait, longer each time: who needs the server meanwhile waits out a short pause, and gets the last
failure at once where it is a long one, so that a loop of calls does not become a storm of processes. A server that
comes up and goes away again and again is treated alike where nobody waits for it. The only timer here runs while a
watched server is away, or somebody waits for the next attempt.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_mcp.errors import AuthorizationFailed, ConnectionFailed, ConnectionLost, Denied, MCPError

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds
SHORT = 1.0  # seconds that somebody who needs it waits for the next attempt
MOST = 20  # attempts in a row that nobody asked for: about eight minutes
LONG_LIFE = 30.0  # seconds after which a connection counts as having worked
PATIENCE = 5.0  # seconds for a server that answered no pings to answer one now


def pause(failures: int) -> float:
    """Seconds to wait after so many failures in a row."""
    return 0.0 if failures <= 0 else min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, 30))


class Reconnect:
    """Opens one connection again.

    Args:
        clock: seconds, never going back; by default the loop's.
        later: runs a function after so many seconds; by default the loop does.
    """

    def __init__(
        self,
        connection: Connection,
        clock: Callable[[], float] | None = None,
        later: Callable[[float, Callable[[], None]], asyncio.TimerHandle] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._connection = connection
        self._clock = clock or loop.time
        self._later = later or loop.call_later
        self._failures = 0
        self._short_lives = 0
        self._opened_at: float | None = None
        self._not_before = 0.0
        self._error: ConnectionFailed | None = None
        self._attempt: asyncio.Task[None] | None = None
        self._unasked = False  # the attempt under way is one that nobody asked for
        self._timer: asyncio.TimerHandle | None = None

    # -- told by others -------------------------------------------------------------------------------------------

    def opened(self) -> None:
        """It is there, whoever opened it."""
        self._failures = 0
        self._error = None
        self._opened_at = self._clock()
        self._unschedule()

    def lost(self) -> None:
        """It went away."""
        opened_at, self._opened_at = self._opened_at, None
        lived = self._clock() - opened_at if opened_at is not None else LONG_LIFE
        self._short_lives = 0 if lived >= LONG_LIFE else self._short_lives + 1
        self._by_itself()

    def end(self) -> None:
        """It was closed: no more attempts."""
        self._unschedule()
        self._error = None
        self._failures = self._short_lives = 0
        if self._attempt is not None:
            self._attempt.cancel()

    # -- when it is needed ----------------------------------------------------------------------------------------

    async def ensure(self, on_status: Callable[[str], None] | None) -> None:
        """See `Connection.ensure`."""
        connection = self._connection
        if connection.state == "unresponsive" and await self._answers():
            return
        if connection.state == "ready":
            return
        if connection.session is None or connection.state in ("closed", "starting"):
            connection.current()  # raises
        if self._attempt is None:
            wait = self._not_before - self._clock()
            if self._error is not None and wait > SHORT:
                raise self._again(self._error, wait)
            if self._error is not None and wait > 0:
                await self._pause(wait)
                await self.ensure(on_status)
                return
            self._begin(on_status)
        assert self._attempt is not None
        await asyncio.shield(self._attempt)

    async def _pause(self, seconds: float) -> None:
        over = asyncio.get_running_loop().create_future()
        timer = self._later(seconds, lambda: None if over.done() else over.set_result(None))
        try:
            await over
        finally:
            timer.cancel()

    async def _answers(self) -> bool:
        """Ask a server that answered no pings once more; when it does not answer, it is given up."""
        life = self._connection.life
        try:
            await self._connection.ping(timeout=PATIENCE)
        except (ConnectionLost, TimeoutError):
            await life.give_up()
        except MCPError:  # an error is an answer
            life.revived()
        else:
            life.revived()
        return self._connection.state == "ready"

    def _again(self, error: ConnectionFailed, wait: float) -> ConnectionFailed:
        """The last failure, for somebody else."""
        name = self._connection.name
        hint = f"It is tried again in {wait:.1f} s at the earliest; %mcp reconnect {name} tries now."
        return ConnectionFailed(
            str(error),
            server=name,
            hint=hint,
            exit_code=error.exit_code,
            status=error.status,
            stderr=error.stderr,
            body=error.body,
        )

    # -- the attempts ---------------------------------------------------------------------------------------------

    def _begin(self, on_status: Callable[[str], None] | None, unasked: bool = False) -> None:
        self._unschedule()
        self._unasked = unasked
        self._attempt = asyncio.ensure_future(self._try(on_status))
        self._attempt.add_done_callback(self._done)

    async def _try(self, on_status: Callable[[str], None] | None) -> None:
        try:
            await self._connection.life.open(on_status, again=True)
        except Exception as error:
            failure = error if isinstance(error, ConnectionFailed) else ConnectionFailed(str(error))
            self._failures += 1
            self._error = failure
            self._not_before = self._clock() + pause(self._failures)
            raise

    def _done(self, attempt: asyncio.Task[None]) -> None:
        self._attempt = None
        if attempt.cancelled():
            return
        error = attempt.exception()  # whoever waits raises it; there may be nobody
        if self._unasked:
            self._connection.remark(f"It could not be opened again: {error}" if error else "It is there again.")
        asks = isinstance(error, AuthorizationFailed | Denied)  # nobody is asked to log in by a server that comes back
        if error is not None and not asks:
            self._by_itself()

    def _by_itself(self) -> None:
        """While something of it is watched, it is opened again without being asked to, after a pause."""
        connection = self._connection
        if not connection.watching.uris or connection.state != "lost" or self._attempt is not None:
            return
        failures = self._failures + self._short_lives
        if failures > MOST:
            connection.remark(f"It is not tried any more; %mcp reconnect {connection.name} tries again.")
            return
        self._unschedule()
        self._timer = self._later(pause(failures), self._now)

    def _now(self) -> None:
        self._timer = None
        if self._attempt is None and self._connection.state == "lost":
            self._connection.remark("It went away and is opened again, because something of it is watched.")
            self._begin(None, unasked=True)

    def _unschedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
