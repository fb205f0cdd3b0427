"""A call that takes its time: progress, the server's words, the seconds, and a button that cancels it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from jupyter_mcp.notebook.appbelow import below_soon
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.meter import Meter
from jupyter_mcp.notebook.render.bundles import Bundle, bundle
from jupyter_mcp.notebook.render.views import CallView
from jupyter_mcp.runtime import place

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.objects.call import Call

__all__ = ["LiveCall", "follow"]

log = logging.getLogger("jupyter_mcp.cards")


class LiveCall:
    """The live card of one call.

    Args:
        label: what runs ("demo.slow").
        cancel: ends it; called once, by the button. Without it there is no button.
    """

    def __init__(self, label: str, cancel: Callable[[], object] | None = None) -> None:
        self._label = label
        self._meter = Meter(label)
        self._cancel = cancel
        self._leave: Callable[[], object] | None = None
        self._button = kit.button("Cancel call", self._press, look="warning", tip=f"Cancel {label}")
        self._leaver = kit.button("Leave", self._press_leave, tip=f"Stop waiting; {label} goes on at the server")
        kit.hide(self._leaver, True)
        parts = [self._meter.root, *([kit.row([self._leaver, self._button])] if cancel is not None else [])]
        ended = CallView(label, "ended with its kernel")
        self.card = Card(kit.root(parts), lambda: bundle(self._meter.gauge.view), lambda: bundle(ended))

    def show(self) -> LiveCall:
        """Display it in the current cell. Main thread; twice is once."""
        if not self.card.shown:
            self.card.show()
            self._meter.start()
        return self

    def event(self, event: object) -> None:
        """A `CallEvent`, from any thread. What comes after the end changes nothing."""
        self._meter.event(event)

    def offer_to_leave(self, leave: Callable[[], object]) -> None:
        """The call is a task now, which goes on by itself: a second button stops only the waiting. Any thread."""
        self._leave = leave
        self._button.description = "Cancel task"
        kit.hide(self._leaver, False)

    def finish(self, outcome: object = None) -> None:
        """Replace the card by the outcome's own picture; an error leaves nothing, because the cell shows it itself."""
        self.end(self._last(outcome))

    def end(self, picture: Bundle) -> None:
        """Replace the card by this picture. Any thread."""
        self._meter.stop()
        self.card.finish(picture)

    def _last(self, outcome: object) -> Bundle:
        if isinstance(outcome, BaseException):
            return {"text/plain": "", "text/html": ""}
        return bundle(outcome) if outcome is not None else bundle(CallView(self._label, "done"))

    def _press(self) -> None:
        if self._cancel is not None and not self._button.disabled:
            self._button.description = "Cancelling…"
            self._end_by(self._cancel)

    def _press_leave(self) -> None:
        if self._leave is not None and not self._button.disabled:
            self._end_by(self._leave)

    def _end_by(self, act: Callable[[], object]) -> None:
        self._button.disabled = self._leaver.disabled = True
        try:
            act()
        except Exception:
            log.exception("%s could not be ended", self._label)


def follow(call: Call) -> LiveCall:
    """The card of a background call, displayed here: it follows the call and becomes its picture at the end."""
    live = LiveCall(call.name, call.cancel).show()
    offered = ended = False
    told = 0
    guard = threading.Lock()
    where = place.here()

    def look(_: Call) -> None:
        nonlocal told, offered, ended
        with guard:  # the first look is the main thread's, the others are the runtime's
            events, told = call.events[told:], len(call.events)
            done = call.done
            last, ended = done and not ended, done
        for event in events:
            live.event(event)
        if call.task is not None and not offered:
            offered = True
            live.offer_to_leave(call.leave)
        if last:
            live.end(bundle(call))
            below_soon(call.__mcp_view__().outcome, where)

    call.on_change(look)
    look(call)
    return live
