"""A card's life: displayed live in a cell, replaced by its static bundle when its act is over.

While it lives, the output carries our text and HTML beside the widget view, so that a page that cannot run widgets
still shows the content, and a MIME type of ours (`CARD`), whose renderer (labextension/) shows that content when the
view's model is gone. When it ends, the view goes: without that renderer a saved view whose model is gone shows "Error
displaying widget" and nothing else. An explorer has no end and is saved as it stands, so its content is an output of
its own, which the page leaves out (style/) as long as the live one stands beside it.

A cell that is run again has lost the outputs that it had: the widgets of its cards are freed, but for a question's,
which waits for its answer. Nothing here knows what a card is about.
"""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.formatters import publish
from jupyter_mcp.runtime import frontend
from jupyter_mcp.runtime.cells import cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.render.bundles import Bundle

__all__ = ["CARD", "VIEW", "Card", "close_all", "free"]

VIEW = "application/vnd.jupyter.widget-view+json"
CARD = "application/vnd.jupyter-mcp.card+json"
"""`{"version": 1, "model_id": str | null, "explorer": bool}`, beside the view whose model it names."""
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
        waits: somebody is waited for, so it outlives its output: it is not freed when its cell is run again.

    Attributes:
        id: the display id of its output.
        on_over: each is called once when it is over, however it ended; on whatever thread that was.
    """

    def __init__(
        self,
        root: Any,
        static: Callable[[], Bundle],
        ended: Callable[[], Bundle] | None = None,
        place: str | None = None,
        *,
        waits: bool = False,
    ) -> None:
        self.root = root
        self.on_over: list[Callable[[], object]] = []
        self._waits = waits
        self._cell: dict[str, Any] | None = None  # the message that ran the cell it stands in
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
        publish({**contents, **self._views}, transient=self._transient, update=self._replaces)
        here = frontend.parent()
        self._cell = here[1] if here is not None else None
        with _lock:
            _live[self.id] = self
        if _free_of_rerun_cells not in cells.at_begin:
            cells.at_begin.append(_free_of_rerun_cells)
        return self

    def stay(self, bundle: Bundle) -> None:
        """What it was about is over, but somebody may still use it: from now on this is its plain side, and its end."""
        with self._guard:
            if self._over or not self._shown:
                return
            self._static = self._ended = lambda: bundle
            self._waits = False
        self.wire()
        publish({**bundle, **self._views}, transient=self._transient, update=True)

    @property
    def _views(self) -> dict[str, Any]:
        model: str = self.root.model_id
        return {
            CARD: {"version": 1, "model_id": model, "explorer": self._explorer},
            VIEW: {"version_major": 2, "version_minor": 0, "model_id": model},
        }

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
        if not self._begin_end():
            return False
        if self._shown and self._explorer:
            publish({"text/plain": "", "text/html": ""}, transient=self._transient, update=True)
            if bundle is not None:
                publish(_still(bundle), transient=self._transient_still, update=True)
        elif self._shown:
            publish(bundle if bundle is not None else self._ended(), transient=self._transient, update=True)
        self._end()
        return True

    def gone_from_page(self) -> bool:
        """Whether its output is no more, since its cell has been run again."""
        return self._cell is not None and not self._waits and cells.rerun(self._cell)

    def discard(self) -> None:
        """Its output is no more: free its widgets, without a word to the page. Any thread, idempotent."""
        if self._begin_end():
            self._end()

    def _begin_end(self) -> bool:
        with self._guard:
            if self._over:
                return False
            self._over = True
        with _lock:
            _live.pop(self.id, None)
        return True

    def _end(self) -> None:
        free(self.root)
        while self.on_over:
            self.on_over.pop()()


def _still(bundle: Bundle) -> Bundle:
    """The content of an explorer, marked so that the page can leave it out beside the live one."""
    return {**bundle, "text/html": f'<div class="jmcp-still">{bundle["text/html"]}</div>'}


def close_all() -> None:
    """Every live card becomes its static picture."""
    with _lock:
        cards = list(_live.values())
    for card in cards:
        card.finish()
    if _free_of_rerun_cells in cells.at_begin:
        cells.at_begin.remove(_free_of_rerun_cells)


def _free_of_rerun_cells() -> None:
    with _lock:
        cards = list(_live.values())
    for card in cards:
        if card.gone_from_page():
            card.discard()


def free(widget: Any) -> None:
    """Close a widget with all that is in it, but for what is shared between cards (`kit.root`) or `kit.borrowed`."""
    if getattr(widget, "jmcp_shared", False):
        return
    aside = getattr(widget, "jmcp_aside", tuple)  # what belongs to it and is not on the page now
    own = () if getattr(widget, "jmcp_borrows", False) else getattr(widget, "children", None) or ()
    for child in (*own, *aside()):
        free(child)
    for part in (getattr(widget, "style", None), getattr(widget, "layout", None), widget):
        close = getattr(part, "close", None)
        if callable(close):
            close()
