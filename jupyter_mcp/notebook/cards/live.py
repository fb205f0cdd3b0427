"""A card's life: displayed live in a cell, replaced by its static bundle when its act is over.

While it lives, the output carries our text and HTML beside the widget view, so that a page that cannot run widgets
still shows the content. When it ends, the view goes: a saved view without its model would show "Error displaying
widget". An explorer has no end and is saved as it stands, and of such a view JupyterLab shows nothing but that error;
so its content is an output of its own, which the page leaves out (`kit`) as long as the live one stands beside it.
Nothing here knows what a card is about.
"""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.formatters import publish

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.render.bundles import Bundle

__all__ = ["Card", "close_all", "free"]

VIEW = "application/vnd.jupyter.widget-view+json"
_live: dict[str, Card] = {}
_lock = threading.Lock()


class Card:
    """One card.

    Args:
        root: its outermost widget.
        static: draws the card as it is now, for the plain side of the output.
        ended: draws its end without a result (the kernel ends, the extension is unloaded); None for an explorer, which
            has no end of its own.
        place: display id of an output that it takes the place of; by default it is an output of its own.

    Attributes:
        id: the display id of its output.
    """

    def __init__(
        self,
        root: Any,
        static: Callable[[], Bundle],
        ended: Callable[[], Bundle] | None = None,
        place: str | None = None,
    ) -> None:
        self.root = root
        self._static = static
        self._ended = ended or static
        self._explorer = ended is None
        if self._explorer:
            root.add_class("jmcp-explorer")
        self.id = place or f"jupyter-mcp-{uuid.uuid4().hex}"  # transient: Jupyter does not save it
        self._replaces = place is not None
        self._shown = False
        self._over = False
        self._guard = threading.Lock()

    @property
    def shown(self) -> bool:
        """Whether it has been displayed."""
        return self._shown

    @property
    def over(self) -> bool:
        """Whether it has been replaced by its static picture."""
        return self._over

    def show(self) -> Card:
        """Display it in the current cell. Main thread; twice is once."""
        with self._guard:
            if self._shown:
                return self
            self._shown = True
        self.wire()
        if self._explorer:
            publish(_still(self._static()), transient=self._transient_still)
        contents = {"text/plain": ""} if self._explorer else self._static()
        publish({**contents, VIEW: self._view}, transient=self._transient, update=self._replaces)
        with _lock:
            _live[self.id] = self
        return self

    def stay(self, bundle: Bundle) -> None:
        """What it was about is over, but somebody may still use it: from now on this is its plain side, and its end."""
        with self._guard:
            if self._over or not self._shown:
                return
            self._static = self._ended = lambda: bundle
        self.wire()
        publish({**bundle, VIEW: self._view}, transient=self._transient, update=True)

    @property
    def _view(self) -> dict[str, Any]:
        return {"version_major": 2, "version_minor": 0, "model_id": self.root.model_id}

    @property
    def _transient(self) -> dict[str, str]:
        return {"display_id": self.id}

    @property
    def _transient_still(self) -> dict[str, str]:
        return {"display_id": f"{self.id}-still"}

    def redraw(self) -> None:
        """What is saved of an explorer is its content as it is now. Any thread."""
        if self._shown and self._explorer and not self._over:
            publish(_still(self._static()), transient=self._transient_still, update=True)

    def wire(self, *more: Any) -> None:
        """Let the page choose the thread for these widgets' messages (ipykernel 7.4); also for widgets made later."""
        from jupyter_mcp.runtime.pump import unroute

        unroute(*(more or (self.root,)))

    def finish(self, bundle: Bundle | None = None) -> bool:
        """Replace it by a bundle (else by the picture of its end) and free its widgets. Any thread.

        Returns whether this call ended it; later ones do nothing.
        """
        with self._guard:
            if self._over:
                return False
            self._over = True
        with _lock:
            _live.pop(self.id, None)
        if self._shown and self._explorer:
            publish({"text/plain": "", "text/html": ""}, transient=self._transient, update=True)
            if bundle is not None:
                publish(_still(bundle), transient=self._transient_still, update=True)
        elif self._shown:
            publish(bundle if bundle is not None else self._ended(), transient=self._transient, update=True)
        free(self.root)
        return True


def _still(bundle: Bundle) -> Bundle:
    """The content of an explorer, marked so that the page can leave it out beside the live one."""
    return {**bundle, "text/html": f'<div class="jmcp-still">{bundle["text/html"]}</div>'}


def close_all() -> None:
    """Every live card becomes its static picture."""
    with _lock:
        cards = list(_live.values())
    for card in cards:
        card.finish()


def free(widget: Any) -> None:
    for child in getattr(widget, "children", None) or ():
        free(child)
    for part in (getattr(widget, "style", None), getattr(widget, "layout", None), widget):
        close = getattr(part, "close", None)
        if callable(close):
            close()
