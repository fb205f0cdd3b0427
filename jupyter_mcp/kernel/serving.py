"""Serving the notebook: from `serve` to `stop`, on the runtime's thread.

One endpoint a kernel, on 127.0.0.1, with a token. While it serves, the interpreter switches threads every millisecond,
so that a read does not wait long for a cell that computes in Python. The end says good-bye to those who listen, and
keeps port and token for the next kernel of this notebook, unless the person stopped it. RULES

- Called again it changes the choice, and nothing else moves: no client loses its connection.
- Whatever ends the runtime's thread (unloading, exit) ends it in good order; loading the extension again takes it up.
- A forked child serves nothing and leaves the parent's files alone.

Below: `book`, `identity`, `changes`, `plots`, `provider`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.host.listeners import tell
from jupyter_mcp.kernel import functions, identity, views
from jupyter_mcp.kernel.book import Choice, NotebookServer
from jupyter_mcp.kernel.changes import Changes
from jupyter_mcp.kernel.exposure import exposed
from jupyter_mcp.kernel.plots import Plots
from jupyter_mcp.runtime import made, state, wait
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server.http.guard import new_token
from jupyter_mcp.server.http.running import Running, serve_http

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.kernel.identity import Claim
    from jupyter_mcp.kernel.plots import Plot
    from jupyter_mcp.kernel.provider import Provider
    from jupyter_mcp.kernel.visitors import Visitor
    from jupyter_mcp.server import Server
    from jupyter_mcp.transport.base import Transport

__all__ = ["Serving", "again", "current", "last", "resume", "serve"]

SWITCH_SECONDS = 0.001
GRACE_SECONDS = 1.0
"""For requests that run when it ends."""
LIFE = secrets.token_hex(8)
"""Of this kernel's process: who serves again within it goes on, and after a restart it is another."""
_TOKEN_HINT = "The notebook's card shows it: %mcp serve, then Show URL and token."  # noqa: S105
MOST_OPEN = 512
MOST_SESSIONS = 128

log = logging.getLogger("jupyter_mcp.kernel")


class Serving:
    """A notebook that is served. Made by `serve`.

    Attributes:
        book: what is served.
        name: what the person called it, if they did.
        provider: lets people in who are not on this machine; None: nobody is.
    """

    def __init__(self, shell: Any, name: str | None, choice: Choice, provider: Provider | None = None) -> None:
        whose = identity.identify(shell, name)
        self._claim: Claim = identity.claim(whose)
        plots = Plots(shell, self._claim.plots)
        self.name = name
        self.provider = provider
        self.book = NotebookServer(shell, whose, self._claim.slug, plots, choice)
        self._changes = Changes(shell, self.book, views.fingerprint, self._aside)
        self._running: Running | None = None
        self._leave: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        self._interval: float | None = None
        self._forget = False

    def __repr__(self) -> str:
        return f"<Serving {self.slug!r} at {self.url or 'nowhere'}>"

    # --- what people and cards ask

    @property
    def alive(self) -> bool:
        """Whether it listens."""
        return self._running is not None

    @property
    def url(self) -> str:
        """Of the endpoint; "" when it has been stopped."""
        return self._running.url if self._running is not None else ""

    @property
    def token(self) -> str:
        """What clients must bring; "" when it has been stopped."""
        return (self._running.token or "") if self._running is not None else ""

    @property
    def slug(self) -> str:
        """The notebook's name in addresses."""
        return self.book.slug

    @property
    def server(self) -> Server:
        """What is served."""
        return self.book.server

    @property
    def clients(self) -> list[Visitor]:
        """Who came, the last one first."""
        return self.book.clients()

    # --- life

    def start(self) -> None:
        """Listen. Raises ConnectionFailed."""
        try:
            running = wait.run(self._open, label="serving this notebook")
        except BaseException:
            self._claim.release(forget=False)
            raise
        self._claim.publish(running.url, running.token or "")
        self._hook()

    def choose(self, choice: Choice) -> None:
        """Serve these variables from now on."""
        if choice != self.book.choice:
            self.book.choice = choice
            self._changes.chosen()

    async def serve_here(self, transport: Transport) -> None:
        """Serve one connection within this process, as long as the notebook is served. On the runtime's loop."""
        leave = self._leave
        if leave is None or not self.alive:
            return
        ends = {asyncio.ensure_future(self.server.serve(transport)), asyncio.ensure_future(leave.wait())}
        try:
            done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            for one in ends:
                one.cancel()
            await asyncio.wait(ends)

    def pause(self) -> None:
        """End it, and keep port and token for who serves this notebook next."""
        if self._running is not None:
            wait.run(self._close, label="serving anew")

    def stop(self) -> None:
        """End it, and give port and token up. Nothing happens the second time."""
        global _remembered
        _remembered = None
        self._forget = True
        if self._running is not None:
            wait.run(self._close, label="stopping to serve")
        else:
            self._claim.release(forget=True)

    def _hook(self) -> None:
        cells.watch()
        self.book.main.after.append(self._changes.look)
        self.book.visitors.on_watch = self._changes.sample
        self.book.plots.on_new = self._shown
        self.book.plots.install()
        views.captured_by(self.book.plots.image)
        self._changes.install()
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)

    def _unhook(self) -> None:
        views.captured_by(None)
        self.book.plots.uninstall()
        self._changes.uninstall()
        functions.book().detach(self.book.server)
        if self._changes.look in self.book.main.after:
            self.book.main.after.remove(self._changes.look)
        if self._interval is not None and abs(sys.getswitchinterval() - SWITCH_SECONDS) < SWITCH_SECONDS / 10:
            sys.setswitchinterval(self._interval)  # unless somebody has set it to something else
        self._interval = None

    def _aside(self, function: Callable[[], None]) -> None:
        if self._running is not None:
            get_runtime().submit(self._sample, function)
        else:
            self._changes.not_sampled()

    def _shown(self, plot: Plot) -> None:
        self._claim.count_plots(plot.number)
        self._changes.shown(plot.number)

    # --- on the runtime's loop

    async def _sample(self, function: Callable[[], None]) -> None:
        try:
            await self.book.aside(function)
        except views.ViewError as error:
            if error.reason == "busy":
                self._changes.not_sampled()

    async def _open(self) -> Running:
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[Running] = loop.create_future()
        self._leave = asyncio.Event()
        self._task = loop.create_task(self._serve(opened, self._leave))
        get_runtime().on_stop(self._close)
        return await opened

    async def _serve(self, opened: asyncio.Future[Running], leave: asyncio.Event) -> None:
        fixed = self.provider.port if self.provider is not None else 0
        port, token = fixed or self._claim.port, self._claim.token
        try:
            while True:
                try:
                    await self._listen(port, token, opened, leave)
                    return
                except ConnectionFailed:
                    if not port or fixed:
                        raise
                    port, token = 0, ""  # whoever has the port now may have been shown the token
        except BaseException as error:
            if opened.done():
                raise
            opened.set_exception(error if isinstance(error, Exception) else ConnectionFailed("It was cancelled."))

    async def _listen(self, port: int, token: str, opened: asyncio.Future[Running], leave: asyncio.Event) -> None:
        async with serve_http(
            self.book.server,
            port=port,
            token=token or new_token(),
            grace=GRACE_SECONDS,
            max_open=MOST_OPEN,
            max_sessions=MOST_SESSIONS,
            **(self.provider.options() if self.provider is not None else {}),
        ) as running:
            running.endpoint.on_refused = self.book.visitors.refused
            running.endpoint.token_hint = _TOKEN_HINT
            running.endpoint.life = LIFE
            self._running = running
            opened.set_result(running)
            try:
                await leave.wait()
            finally:
                self._running = None

    async def _close(self) -> None:
        task, leave = self._task, self._leave
        if task is None or leave is None:
            return
        self._task = None
        self._unhook()
        self._claim.release(forget=self._forget)
        leave.set()
        await asyncio.wait({task})
        _tell()


_serving: Serving | None = None
_remembered: tuple[str | None, Choice, Provider | None] | None = None
_lock = threading.RLock()


def serve(
    shell: Any,
    names: Sequence[str] = (),
    name: str | None = None,
    besides: Sequence[str] = (),
    allow_code: bool = False,
    provider: Provider | None = None,
) -> Serving:
    """Serve this notebook, or change what is served.

    Args:
        shell: IPython's.
        names: only these variables; all public ones when empty.
        name: what to call it, instead of the file's name. When it is served under another one, it is served anew; what
            was not to be seen before is not to be seen then either, unless names are given.
        besides: but not these.
        allow_code: let clients ask to run code and to set variables.
        provider: lets people in who are not on this machine. Another one than before: it is served anew, at the same
            port.

    Raises:
        UsageError: a name that is none, or is hidden because it looks like a secret; a provider that cannot be one.
        ConnectionFailed: it cannot listen.
        ConfigError: the runtime file cannot be written.
    """
    global _serving, _remembered
    with _lock:
        choice = Choice(tuple(names), tuple(besides), allow_code)
        if name is not None and not names:
            choice = _no_wider(shell, choice)
        _check(shell, choice)
        if provider is not None:
            provider.options()
        if _serving is not None and _serving.alive and name in (None, _serving.name):
            name = _serving.name
            if provider != _serving.provider:
                _serving.pause()
        else:
            _stop_other(name)
        if _serving is not None and _serving.alive:
            serving = _serving
            serving.choose(choice)
        else:
            serving = Serving(shell, name, choice, provider)
            serving.start()
            _serving = serving
        _remembered = (serving.name, choice, provider)
        state.desk().place_slot(serving.slug)  # what clients want allowed is asked below the latest serving cell
    _tell()
    return serving


def _no_wider(shell: Any, choice: Choice) -> Choice:
    """The choice for a line that gives a name and no variables: a name says nothing of what may be seen.

    Raises:
        UsageError: of the variables that were served none is there any more.
    """
    before = _serving.book.choice if _serving is not None and _serving.alive else Choice()
    besides = tuple(one for one in before.besides if one not in choice.besides)
    return Choice(_there(shell, before), (*choice.besides, *besides), choice.allow_code)


def _stop_other(name: str | None) -> None:
    if _serving is not None and _serving.alive and name != _serving.name:
        _serving.stop()


def _check(shell: Any, choice: Choice) -> None:
    """Raises UsageError."""
    before = (
        _serving.book.choice.besides if _serving is not None else ()
    )  # what was excluded may be gone, and come again
    besides = [name for name in choice.besides if name not in before]
    if unknown := [name for name in (*choice.names, *besides) if name not in shell.user_ns]:
        raise UsageError(f"There is no variable {unknown[0]!r} in this notebook.")
    values = {name: shell.user_ns[name] for name in choice.names}
    seen = exposed(values, only=choice.names, baseline=shell.user_ns_hidden).names
    if hidden := [name for name in choice.names if name not in seen]:
        raise UsageError(f"{hidden[0]!r} is not served: it is a module, private, or looks like a secret.")


def current() -> Serving | None:
    """What is being served, or None."""
    return _serving if _serving is not None and _serving.alive else None


def last() -> Serving | None:
    """What is served or was served last, or None."""
    return _serving


def again(shell: Any) -> Serving:
    """Serve as this kernel did last, for reading only and to nobody elsewhere; all that is public when it never did.

    Raises:
        UsageError: of the variables that were served none is there any more.
        ConnectionFailed, ConfigError: as `serve`.
    """
    if _serving is None:
        return serve(shell)
    if _serving.alive:
        return _serving
    before = _serving.book.choice
    return serve(shell, _there(shell, before), _serving.name, before.besides)


def resume(shell: Any) -> Serving | None:
    """Serve again as before the extension was unloaded; None when nothing was served then."""
    if _remembered is None or current() is not None:
        return current()
    name, choice, provider = _remembered
    try:
        names = _there(shell, choice)
    except UsageError:
        return None  # to serve everything instead was not asked for
    return serve(shell, names, name, choice.besides, choice.allow_code, provider)


def _there(shell: Any, choice: Choice) -> tuple[str, ...]:
    """The variables of a choice that are there; none when it is all that is public. Raises UsageError: all are gone."""
    there = tuple(name for name in choice.names if name in shell.user_ns)
    if choice.names and not there:
        names = ", ".join(choice.names)
        raise UsageError(f"Only {names} was served, and is not there any more.", hint="Name what shall be served.")
    return there


def _tell() -> None:
    tell(made.at_serving, log=log, what="how the notebook is served")


def _forget_in_child() -> None:
    """A forked child has no such thread, and the parent's runtime file is not its own."""
    global _serving, _remembered, _lock
    _abandoned.append(_serving)
    _serving, _remembered, _lock = None, None, threading.RLock()


_abandoned: list[Serving | None] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
