"""The apps of a model's calls: each stands below the answer as soon as its call is written or made, and stays there.

A page hears what the model writes, the arguments that are sent, and how the call ends. One of a call that somebody has
to be asked about is shown when the yes is there, not before. Events come on the runtime's thread, in order.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps.app import AppCall
from jupyter_mcp.host.conversation.events import CallEnded, CallSent, CallWritten
from jupyter_mcp.notebook.appbelow import MOST, listed_with_page, shown_while_made
from jupyter_mcp.notebook.objects.conversation import masked
from jupyter_mcp.protocol.shapes import is_mapping
from jupyter_mcp.runtime import jobs, state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.conversation import ModelCall
    from jupyter_mcp.notebook.cards.apps.shown import ShownApp
    from jupyter_mcp.runtime.place import Place

__all__ = ["AnswerApps"]


@dataclass(eq=False)
class _Followed:
    """One call and its app, once that is on the page."""

    server: str
    tool: Mapping[str, Any]
    call: AppCall
    app: ShownApp | None = None


class AnswerApps:
    """The apps of one answer.

    Args:
        place: the cell in which they are shown.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._guard = threading.RLock()
        self._calls: dict[int, _Followed] = {}
        self._all: list[_Followed] = []
        self._gone = False

    def take(self, event: object) -> None:
        """A `ConversationEvent`."""
        with self._guard:
            match event:
                case CallWritten(number, server, tool, arguments):
                    one = self._of(number, server, tool)
                    if one is not None and one.call.arguments is None:
                        one.call.written = arguments
                        self._tell(one)
                case CallSent(call, arguments):
                    one = self._of(call.number, call.server, call.tool)
                    if one is not None:
                        shown_while_made.add(call)
                        one.call.arguments = state.get_host().redactor.clean(dict(arguments))
                        self._tell(one)
                case CallEnded(call):
                    self._ended(call)
                case _:
                    pass

    def over(self) -> None:
        """The answer has ended: what was only being written is no call any more."""
        with self._guard:
            for one in self._all:
                self._cancel(one, "It was not called: the answer ended before.")

    def take_away(self) -> None:
        """The answer is not to be seen, and neither are its apps."""
        with self._guard:
            self._gone = True
            for one in self._all:
                if one.app is not None:
                    one.app.take_away()

    def _of(self, number: int, server: str, tool: str) -> _Followed | None:
        """The followed call of this number, a new one where its tool has a page and there is room."""
        one = self._calls.get(number)
        if one is not None and (one.server, one.tool.get("name")) == (server, tool):
            return one
        if one is not None:  # the model was asked again, and wrote something else
            self._cancel(one, "It was not called: the model wrote something else.")
            del self._calls[number]
        item = listed_with_page(server, tool)
        if item is None or len(self._all) >= MOST:
            return None
        one = self._calls[number] = _Followed(server, item, AppCall())
        self._all.append(one)
        jobs.post(lambda: self._show(one), self._place)
        return one

    def _show(self, one: _Followed) -> None:
        """On the main thread: put it on the page."""
        from jupyter_mcp.notebook.cards.apps.shown import ShownApp

        with self._guard:
            if not self._gone:
                one.app = ShownApp(one.server, one.tool, one.call, self._place)
                one.app.show()

    def _ended(self, call: ModelCall) -> None:
        one = self._calls.get(call.number)
        if one is None or one.call.over:
            return
        raw = call.result.raw if call.result is not None else None
        if is_mapping(raw) and one.call.arguments is not None:
            one.call.result = raw
            self._tell(one)
        else:
            self._cancel(one, masked(call.said) or "It was not called.")

    def _cancel(self, one: _Followed, reason: str) -> None:
        if not one.call.over:
            one.call.cancelled = reason
            self._tell(one)

    def _tell(self, one: _Followed) -> None:
        if one.app is not None:
            one.app.changed()
