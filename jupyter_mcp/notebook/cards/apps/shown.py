"""One app that is shown: its page is read, each view of its widget gets it, and at the end each says goodbye."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.apps.app import open_app
from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook.cards.apps.view import View
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.components.frame import Frame
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.salvage import display_name
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from jupyter_mcp.host.apps.app import App, AppCall
    from jupyter_mcp.host.apps.shared import Word
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.notebook.render.bundles import Bundle
    from jupyter_mcp.runtime.place import Place

__all__ = ["ShownApp"]

log = logging.getLogger("jupyter_mcp.apps")
_MOST_VIEWS = 4


class ShownApp:
    """One app.

    Args:
        server, tool: whose it is, and the tool as listed.
        call: that it shows; see `changed`.
        place: the cell in which the questions of its calls appear; by default the current one.

    Attributes:
        frame: its widget.
    """

    def __init__(
        self,
        server: str,
        tool: Mapping[str, Any],
        call: AppCall,
        place: Place | None = None,
    ) -> None:
        from jupyter_mcp.runtime import place as places
        from jupyter_mcp.runtime.pump import unroute

        self._server, self._tool = server, tool
        self._call = call
        self._place = place or places.here()
        self._views: dict[str, View] = {}
        self._app: App | None = None
        self._word: Word | None = None
        self._trouble = ""
        self._card: Card | None = None
        title = flat(display_name(tool) or str(tool.get("name") or ""), 80)
        self.frame = Frame(title, self.name, server, self._heard, self._closing)
        unroute(self.frame)
        self._submit(self._open)

    @property
    def name(self) -> str:
        """`server.tool`."""
        return f"{self._server}.{flat(self._tool.get('name') or '', 120)}"

    def show(self) -> Card:
        """Display it as a card of its own, in the current cell."""
        self._card = Card(self.frame, self._static)
        return self._card.show()

    def changed(self) -> None:
        """More is known of its call. Any thread."""
        self._submit(self._follow_call)

    def ends(self, outcome: Result | BaseException) -> None:
        """Its call is over: with a result (an error of the tool has one too), or without. Any thread."""
        raw = outcome.raw if isinstance(outcome, Result) else getattr(getattr(outcome, "result", None), "raw", None)
        if is_mapping(raw):
            self._call.result = raw
        else:
            self._call.cancelled = str(outcome) or "It was cancelled."
        self.changed()

    def take_away(self) -> None:
        """Nobody is to see it any more, and nothing stays of it. Any thread."""
        self._submit(self._leave)
        if self._card is not None:
            self._card.finish({"text/plain": "", "text/html": ""})

    def _static(self) -> Bundle:
        """What a page shows that cannot run it, and what is saved: the result above says the rest."""
        from jupyter_mcp.host.apps import resource_uri

        said = f"The app of {self.name} ({flat(resource_uri(self._tool) or '', 200)}) runs in a live notebook only."
        return {"text/plain": said, "text/html": html.note(html.muted(html.escape(said)))}

    # --- on the runtime's loop ---------------------------------------------------------------------------------------

    def _submit(self, function: Callable[..., Awaitable[object]], *args: Any) -> None:
        from jupyter_mcp.runtime.thread import get_runtime

        get_runtime().submit_at(self._place, function, *args)

    @property
    def _host(self) -> Host:
        from jupyter_mcp.runtime import state

        return state.get_host()

    async def _open(self) -> None:
        """Read the page, and give it to the views that came meanwhile."""
        try:
            self._app = await open_app(self._host, self._server, self._tool, self._call)
            self._word = self._host.shared.join(self._server, self._app.name)
        except MCPError as error:
            self._trouble = f"The app cannot be shown: {error} The result above is all that its tool returned."
        except Exception:
            log.exception("the app of %s could not be read", self.name)
            self._trouble = "The app cannot be shown; the result above is all that its tool returned."
        for view in list(self._views.values()):
            await self._begin(view)

    async def _follow_call(self) -> None:
        for view in list(self._views.values()):
            view.follow_call()

    async def _begin(self, view: View) -> None:
        if self._app is not None and self._word is not None:
            await view.show(self._host, self._app, self._word)
        elif self._trouble:
            view.failed(self._trouble)

    def _heard(self, message: Mapping[str, Any]) -> None:
        """On whatever thread a message of a view comes."""
        self._submit(self._receive, message)

    async def _receive(self, message: Mapping[str, Any]) -> None:
        id, kind = message.get("view"), message.get("type")
        if not isinstance(id, str) or len(id) > 80:
            return
        view = self._views.get(id)
        if kind == "open" and view is None:
            await self._come(id, message.get("context"))
        elif view is None:
            return
        elif kind == "gone":
            del self._views[id]
            view.drop()
        elif kind == "close":
            await self._close()
        elif kind == "share":
            self._share(message.get("on") is True)
        elif kind == "permit":
            await self._permit(message.get("name"))
        else:
            await view.heard(message)

    async def _come(self, id: str, stands: object) -> None:
        if len(self._views) >= _MOST_VIEWS:  # a page that was loaded anew said nothing of the views that it had
            self._views.pop(next(iter(self._views))).drop("it is shown elsewhere since")
        view = self._views[id] = View(id, self.frame.tell, stands, self._one_is_over)
        await self._begin(view)

    def _one_is_over(self) -> None:
        """A page has ended by itself, or was too much: what it reported goes with it."""
        if self._word is not None and not any(view.live for view in self._views.values()):
            self._host.shared.leave(self._word)

    def _share(self, on: bool) -> None:
        """The person lets models know what the page reports, or not."""
        if self._word is not None:
            self._word.agreed = on

    async def _permit(self, name: object) -> None:
        """The person lets the page use something of the browser: it begins anew, in a frame that may."""
        if self._app is None:
            return
        try:
            self._app.grant(str(name))
        except UsageError:
            return
        for view in list(self._views.values()):
            await self._begin(view)

    # --- the end -----------------------------------------------------------------------------------------------------

    async def _close(self) -> None:
        """The person is done with it: what stays is that it was there."""
        await self._leave()
        if self._card is not None:
            self._card.finish(self._static())

    def _closing(self) -> None:
        """Its widget is to be closed (a card that goes, the end of the kernel)."""
        try:
            self._submit(self._end)
        except RuntimeError:  # the runtime's thread is over, and so are all pages
            self.frame.end()

    async def _end(self) -> None:
        try:
            await self._leave()
        finally:
            self.frame.end()

    async def _leave(self) -> None:
        views, self._views = list(self._views.values()), {}
        if self._word is not None:
            self._host.shared.leave(self._word)
        await asyncio.gather(*(view.end() for view in views))
