"""A question that waits for an answer, seen from the explorer: what is asked, where its form is, a way to say no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.questions import question_piece

if TYPE_CHECKING:
    from jupyter_mcp.host.questions import Question
    from jupyter_mcp.notebook.cards.explorer.source import Source

__all__ = ["QuestionPane"]


class QuestionPane:
    """The pane of one open question."""

    def __init__(self, question: Question, source: Source) -> None:
        self._question, self._source = question, source
        where = html.note("Its form is in the output of the cell, or of the card, that began the call.")
        self._decline = kit.button("Decline", lambda: self._end("decline"), tip="Say no", look="danger")
        self._cancel = kit.button("Cancel", lambda: self._end("cancel"), tip="Choose nothing")
        self._said = kit.markup("")
        self.root = kit.column(
            [
                kit.markup(question_piece(question).html + where, "jmcp-head"),
                kit.row([self._decline, self._cancel]),
                self._said,
            ]
        )

    def _end(self, action: str) -> None:
        self._decline.disabled = self._cancel.disabled = True
        ended = self._source.answer_no(self._question, action)
        done = "Declined." if action == "decline" else "Cancelled."
        kit.paint(self._said, kit.status(done if ended else "It has been answered meanwhile."))
