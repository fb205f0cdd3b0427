"""A question that waits for an answer, seen from the explorer: the very card that stands in its cell, a second time.

The page draws the same widgets twice, so what is typed here is typed there, and whichever button is pressed first is
the answer. A question that has no card (yet), because another cell holds its own or since it is asked line by line,
is quoted, and can be declined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.questions import question_piece

if TYPE_CHECKING:
    from jupyter_mcp.host.questions import Question
    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.live import Card

__all__ = ["QuestionPane"]


class QuestionPane:
    """The pane of one open question."""

    def __init__(self, question: Question, source: Source) -> None:
        self._question, self._source = question, source
        self._card: Card | None = None
        self._over = False
        self._borrowed = kit.borrowed([])
        where = html.note("It has no form on a page: it is asked line by line, or waits until another cell has ended.")
        self._decline = kit.button("Decline", lambda: self._end("decline"), tip="Say no", look="danger")
        self._cancel = kit.button("Cancel", lambda: self._end("cancel"), tip="Choose nothing")
        quoted = kit.markup(question_piece(question).html + where, "jmcp-head")
        self._alone = kit.column([quoted, kit.row([self._decline, self._cancel])])
        self._said = kit.markup("")
        self.root = kit.column([self._borrowed, self._alone, self._said])
        self.refresh()

    def refresh(self) -> None:
        """It may have a card now, or be over. Any thread."""
        if self._over:
            return
        if self._question not in self._source.questions():
            self._finish("It has been answered.")
            return
        card = self._source.card(self._question)
        if card is not None and card is not self._card and not card.over:
            self._card = card
            card.on_over.append(lambda: self._finish("It has been answered."))
            self._borrowed.children = (card.root,)
            kit.hide(self._alone, True)

    def close(self) -> None:
        """The pane is gone; the card stays in its cell."""
        self._over = True
        self._borrowed.children = ()

    def _end(self, action: str) -> None:
        ended = self._source.answer_no(self._question, action)
        done = "Declined." if action == "decline" else "Cancelled."
        self._finish(done if ended else "It has been answered meanwhile.")

    def _finish(self, said: str) -> None:
        if self._over:
            return
        self._over = True
        self._borrowed.children = ()
        self._decline.disabled = self._cancel.disabled = True
        kit.paint(self._said, kit.status(said))
