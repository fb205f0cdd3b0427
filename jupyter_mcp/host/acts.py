"""Acts in flight: who watches them, which questions hang on them, and how one is ended from outside.

One `Running` is one call, read or prompt from its beginning to its end. It carries no result and decides nothing.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import logging
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import CancelScope

from jupyter_mcp.errors import Cancelled, InputRefused
from jupyter_mcp.host.events import CallEvent, OnEvent, Progress, Status
from jupyter_mcp.host.listeners import tell
from jupyter_mcp.host.questions import Cause

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence

    from jupyter_mcp.host.tasks import HostTask

__all__ = ["Acts", "Running"]

T = TypeVar("T")
_numbers = itertools.count(1)
_log = logging.getLogger("jupyter_mcp.host")
_current: ContextVar[Running | None] = ContextVar("jupyter_mcp_act", default=None)


@dataclass(eq=False)
class Running:
    """One act in flight.

    Attributes:
        server, method, name, arguments: what is done.
        on_event: who watches, or None.
        complain: takes a sentence for the log of the server, when the watcher itself fails.
        notes: lines of ours that belong to the result (how to script an answer …).
        context: of whoever began it; questions are asked in it, so that a UI can know where they belong.
        task: the server's task that it became, or None.
        leaves: what goes along besides the arguments' own words, for whoever approves it ("what docs.read returned").
        meta: what goes along in the request's `_meta`, as the person or a program gave it.
        away: says whether the server is away now, once it is known which one it is.
        on_leave: told the arguments when the act may be done and is about to be; None for nobody.
        request: JSON-RPC id of the request, of the last one when it took several; None before it was sent.
        number: counts the acts of this process, so that one can be named from outside.
        began: when it was let go on (`time.monotonic`); None while somebody is asked whether it may.
        progress: what was last heard of how far it is, or None.
        changed: called when one of the two is another; set by the `Acts` that it is in.
        over: it has ended; nothing can hang on it any more.
    """

    server: str
    method: str
    name: str
    arguments: Mapping[str, Any]
    on_event: OnEvent | None = None
    complain: Callable[[str], object] | None = None
    notes: list[str] = field(default_factory=list[str])
    task: HostTask | None = None
    leaves: Sequence[str] = ()
    meta: Mapping[str, Any] | None = None
    away: Callable[[], bool] = bool
    on_leave: Callable[[Mapping[str, Any]], object] | None = None
    request: int | str | None = None

    def __post_init__(self) -> None:
        self.context = contextvars.copy_context()
        self.number = next(_numbers)
        self.began: float | None = None
        self.progress: Progress | None = None
        self.changed: Callable[[], object] = bool
        self.over = False
        self._scope = CancelScope()
        self._questions: set[CancelScope] = set()
        self._failure: Exception | None = None

    @property
    def cause(self) -> Cause:
        """The act as the person is told about it."""
        return Cause(self.method, self.name, self.arguments)

    def emit(self, event: CallEvent) -> None:
        """Tell whoever watches; what goes wrong there is logged and harms nothing here."""
        if isinstance(event, Progress):
            self.progress = event
            self.changed()
        if self.on_event is not None:
            self._call("on_event", self.on_event, event)

    def allowed(self) -> None:
        """Tell whoever wants to know that it may be done, and begins now."""
        if self.on_leave is not None:
            self._call("on_leave", self.on_leave, self.arguments)

    def _call(self, what: str, callback: Callable[[Any], object], told: object) -> None:
        try:
            callback(told)
        except Exception as error:
            _log.exception("an %s callback of %s.%s failed", what, self.server, self.name)
            if self.complain is not None:
                self.complain(f"An {what} callback of {self.name} failed: {type(error).__name__}: {error}")

    def sent(self, request: int | str) -> None:
        """It went out under this JSON-RPC id."""
        self.request = request

    def note(self, text: str) -> None:
        """One line of ours: to the watcher now, to the result later."""
        if text not in self.notes:
            self.notes.append(text)
        self.emit(Status(text))

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the act's work; `fail` ends it with an error of ours, and its open questions are withdrawn at the end."""
        token = _current.set(self)
        self.began = time.monotonic()
        self.changed()
        try:
            with self._scope:
                return await work()
        except Exception as error:
            # The request may have ended by an error of its own while it was being cancelled; ours is the cause.
            if self._failure is not None and error is not self._failure:
                raise self._failure from None
            raise
        finally:
            _current.reset(token)
            self.over = True
            for question in list(self._questions):
                question.cancel()
        assert self._failure is not None  # only `fail` cancels this scope
        raise self._failure

    def fail(self, error: Exception) -> None:
        """End the act with this error: the request is cancelled, the server told so."""
        self._failure = error
        self._scope.cancel()

    async def hang(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask something that is withdrawn when the act ends. Raises `InputRefused` when that happens."""
        with CancelScope() as scope:
            self._questions.add(scope)
            if self.over:
                scope.cancel()
            try:
                return await ask()
            finally:
                self._questions.discard(scope)
        raise InputRefused(f"{self.server}.{self.name} ended before its question was answered.", server=self.server)


class Acts:
    """The acts in flight of one kernel; touched on the runtime loop only.

    Attributes:
        listeners: called when one begins, ends, or is another; often, so they have to be quick.
    """

    def __init__(self) -> None:
        self.listeners: list[Callable[[], object]] = []
        self._running: list[Running] = []

    def __iter__(self) -> Iterator[Running]:
        """All of them, oldest first."""
        return iter(list(self._running))

    @contextlib.contextmanager
    def enter(self, act: Running) -> Generator[Running]:
        """The act is in flight inside the block."""
        self._running.append(act)
        act.changed = self._tell
        try:
            yield act
        finally:
            self._running.remove(act)
            self._tell()

    def cancel(self, number: int, text: str) -> bool:
        """End the act of that number with `Cancelled` and this sentence; the server is told. False when it is over."""
        act = next((one for one in self._running if one.number == number), None)
        if act is None or act.began is None:
            return False
        act.fail(Cancelled(text, server=act.server))
        return True

    def _tell(self) -> None:
        tell(self.listeners, log=_log, what="the acts")

    def find(self, server: str, method: str | None = None, name: str | None = None) -> Running | None:
        """The act a message of `server` belongs to, if it can be known: this task's, the named one, or the only one."""
        mine = [act for act in self._running if act.server == server]
        current = _current.get()
        if current in mine:
            return current
        if method is not None:
            mine = [act for act in mine if act.method == method and name in (None, act.name)]
        return mine[0] if len(mine) == 1 else None

    def of(self, server: str) -> list[Running]:
        """All acts in flight with a server."""
        return [act for act in self._running if act.server == server]
