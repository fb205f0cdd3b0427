"""`Session`: does for one view of a page what its bridge says, by the host and the person. On the runtime's loop.

    tools/call, resources/read           the page's own server alone, through the policy, as "app"
    open-link, message, download-file    the person is asked, one thing at a time; who says no often is not asked again
    update-model-context                 kept; goes to models only when the person has switched that on
    the rest                             the screen's: sizes, modes

Every act is journalled. The `Screen` is whatever draws the page: `notebook.cards.apps`, or a test.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.errors import Denied, MCPError, RequestError, UsageError
from jupyter_mcp.host.apps import asking
from jupyter_mcp.host.apps.bridge import Bridge
from jupyter_mcp.host.apps.events import (
    Asked,
    Ended,
    Flooded,
    Logged,
    Opened,
    Reported,
    Resized,
    Send,
    WantsToGo,
    Withdrawn,
)
from jupyter_mcp.host.apps.messages import ERROR, Refusal
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.apps.app import App
    from jupyter_mcp.host.apps.asking import Wish
    from jupyter_mcp.host.apps.events import Event, Id
    from jupyter_mcp.host.apps.limits import Limits
    from jupyter_mcp.host.apps.shared import Word
    from jupyter_mcp.host.host import Host

__all__ = ["Screen", "Session"]

GOODBYE_SECONDS = 2.0
"""How long a page may take to put away what it has."""

_MOST_REFUSALS = 3
_WIRE_ONLY = ("resultType", "ttlMs", "cacheScope")


class Screen(Protocol):
    """What draws a page. All of it is called on the runtime's loop."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send the frame a message."""
        ...

    def resize(self, width: int | None, height: int | None) -> None:
        """The page's contents have this size, in CSS pixels."""
        ...

    async def confirm(self, wish: Wish) -> bool:
        """Ask the person whether a wish may be granted, and grant it: the link is opened, the files are given.

        Being cancelled takes the question away.
        """
        ...

    async def show_as(self, mode: str) -> str:
        """Show the page as "inline" or "fullscreen"; how it is shown then."""
        ...

    def opened(self, name: str) -> None:
        """The page is there, under the name that it gives itself, untrusted."""
        ...

    def reported(self, word: Word) -> None:
        """The page reports something for models, or nothing any more."""
        ...

    def stop(self, reason: str) -> None:
        """The page is ended: take its frame away and say why ("": by the person, or by itself)."""
        ...


class Session:
    """One view of a page.

    Args:
        host: does what the page asks its server for.
        app: what is shown.
        resource: the params of `sandbox-resource-ready` for this view.
        screen: draws it.
        word: where it reports to.
        limits: how much it may send.
        clock: seconds.
    """

    def __init__(
        self,
        host: Host,
        app: App,
        resource: Mapping[str, Any],
        screen: Screen,
        word: Word,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from jupyter_mcp._version import __version__

        self._host = host
        self._app = app
        self._screen = screen
        self._word = word
        self._clock = clock
        self._tasks: dict[Id, asyncio.Task[None]] = {}
        self._asking = False
        self._refusals = 0
        self._ended = asyncio.Event()
        self._going: asyncio.Task[None] | None = None
        self._gone = False
        us = {"name": "jupyter-mcp", "version": __version__}
        self.bridge = Bridge(resource, host=us, capabilities=app.capabilities(), tool=app.tool_info, limits=limits)
        self.follow_call()

    # --- from the page -----------------------------------------------------------------------------------------------

    async def receive(self, message: object) -> None:
        """A message of the frame."""
        self._follow(self.bridge.receive(message, self._clock()))

    def follow_call(self) -> None:
        """More may be known of the call: the page is told what it has not been told."""
        call, bridge = self._app.call, self.bridge
        if call.arguments is not None:
            self._follow(bridge.input(call.arguments))
        elif call.written is not None:
            self._follow(bridge.partial(call.written))
        if call.result is not None:
            self._follow(bridge.result(call.result))
        elif call.cancelled:
            self._follow(bridge.cancelled(call.cancelled))

    async def stands(self, reported: object) -> None:
        """Where the page stands now (see `context.read`)."""
        self._follow(self.bridge.stands(reported))

    async def shown_as(self, mode: str) -> None:
        """The person, or the browser, has changed how it is shown."""
        self._follow(self.bridge.shown_as(mode))

    async def end(self, reason: str = "") -> None:
        """Tell the page that it goes, wait a little for what it has to put away, and take it away."""
        self._follow(self.bridge.teardown())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), GOODBYE_SECONDS)
        self.drop(reason)

    def drop(self, reason: str = "") -> None:
        """Take it away at once."""
        if self._gone:
            return
        self._gone = True
        self._follow(self.bridge.close())
        for task in list(self._tasks.values()):
            task.cancel()
        self._screen.stop(reason)

    # --- what follows ------------------------------------------------------------------------------------------------

    def _follow(self, events: Sequence[Event]) -> None:
        for event in events:
            match event:
                case Send():
                    self._screen.send(event.message)
                case Asked():
                    self._tasks[event.id] = asyncio.ensure_future(self._work(event))
                case Withdrawn():
                    if (task := self._tasks.get(event.id)) is not None:
                        task.cancel()
                case Opened():
                    self._screen.opened(event.name)
                case Reported():
                    self._word.content, self._word.structured = event.content, event.structured
                    self._screen.reported(self._word)
                case Logged():
                    self._log(event)
                case Resized():
                    self._screen.resize(event.width, event.height)
                case WantsToGo():
                    self._going = asyncio.ensure_future(self.end())
                case Ended():
                    self._ended.set()
                case Flooded():
                    self.drop("it sent more than can be worked on")

    def _log(self, event: Logged) -> None:
        text = event.data if isinstance(event.data, str) else repr(event.data)
        self._host.find(self._app.server).say("server", text, level=event.level, logger=event.logger or "app")

    async def _work(self, asked: Asked) -> None:
        """Do what was asked and bring the answer back."""
        try:
            self._follow(self.bridge.answer(asked.id, await self._do(asked.method, asked.params)))
        except asyncio.CancelledError:
            raise
        except Refusal as refusal:
            self._follow(self.bridge.refuse(asked.id, refusal))
        except Exception as error:
            self._follow(self.bridge.refuse(asked.id, _refusal(error)))
        finally:
            if self._tasks.get(asked.id) is asyncio.current_task():
                del self._tasks[asked.id]

    async def _do(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        server = self._app.server
        match method:
            case "tools/call":
                result = await self._host.call_tool(
                    server, params["name"], params["arguments"], origin="app", check=False
                )
                return _plain(result.raw)
            case "resources/read":
                return _plain((await self._host.read(server, params["uri"], origin="app")).raw)
            case "ui/request-display-mode":
                return {"mode": await self._show_as(params["mode"])}
            case "ui/open-link":
                return await self._grant(asking.link(self._app, params["url"]))
            case "ui/download-file":
                return await self._grant(await asking.files(self._host, self._app, params["files"]))
            case _:
                return await self._say(params["content"])

    async def _show_as(self, mode: str) -> str:
        shown = await self._screen.show_as(mode)
        self._follow(self.bridge.shown_as(shown))
        return shown

    async def _say(self, content: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        answer = await self._grant(asking.message(self._app, content))
        if not answer:
            self._host.shared.say(self._word, content)
        return answer

    async def _grant(self, wish: Wish) -> Mapping[str, Any]:
        """Ask the person. {} when the wish was granted; that it was not is a result, too."""
        if self._asking:
            raise Refusal("The person is being asked something else.", ERROR)
        if self._refusals >= _MOST_REFUSALS:
            raise Refusal("The person has said no before, and is not asked again.", ERROR)
        journal = self._host.journal
        number = journal.begin(self._app.server, wish.method, wish.subject, "app")
        self._asking, outcome = True, "cancelled"
        try:
            granted = await self._screen.confirm(wish)
            outcome = "ok" if granted else "denied"
        finally:
            self._asking = False
            journal.end(number, outcome, reason="the person was asked")
        self._refusals = 0 if granted else self._refusals + 1
        return {} if granted else {"isError": True}


def _plain(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result without what only the wire to the server needs."""
    return {key: value for key, value in raw.items() if key not in _WIRE_ONLY}


def _refusal(error: Exception) -> Refusal:
    """What a page gets to read of an error: our one sentence, nothing of what is behind it."""
    if isinstance(error, RequestError):
        return Refusal(error.message, error.code)
    if isinstance(error, UsageError):
        return Refusal(str(error), INVALID_PARAMS)
    if isinstance(error, Denied):
        return Refusal(error.message, ERROR)
    return Refusal(str(error), ERROR) if isinstance(error, MCPError) else Refusal("This failed.", INTERNAL_ERROR)
