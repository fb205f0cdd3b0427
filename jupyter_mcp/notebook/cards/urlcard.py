"""A server asks the person to open a page: judged first, opened by the person's own click, then gone on from.

One card in three steps, each a question of the host's: Open, Decline, Cancel; then, with the link, Retry and Cancel, or
(when the server holds the call and goes on by itself) Close and Cancel call. A later step takes the place of the one
before it in the output. The page is never fetched, previewed or framed, and no link is on the card before the consent.

A server that holds the call need not wait for the person: it may be done as soon as it knows of the consent. A card
whose call is over before anybody can have been at the page stays, with its link, until it is closed; the plain side of
the output is the record by then.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import urls
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render.addresses import address_piece, link_piece, page_name
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.views import QuestionRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.questions import Question
    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.cards.question import Reply

__all__ = ["UrlCard"]

_agreed: dict[str, str] = {}  # id of a question -> display id of its card, between two steps
_MOST = 64
_left: list[Card] = []  # those whose call is over
_MOST_LEFT = 8
_SOON = 10.0  # seconds from the link to the end of the call, in which nobody is done at a page


class UrlCard(QuestionCard):
    """The card of one step."""

    _end_call: Any = None

    def __init__(self, question: Question, reply: Reply) -> None:
        self._address = urls.read(question.params.get("url"))
        self._begun = time.monotonic()
        super().__init__(question, reply, _agreed.pop(question.id, None) if question.step != "consent" else None)

    def _body(self) -> list[Any]:
        parts = [kit.markup(address_piece(self._address).html)]
        link = link_piece(self._address, css="jmcp-open")
        if self.question.step != "consent" and link is not None:
            parts.append(kit.markup(link.html))
        self.say(*self._words())
        return parts

    def _warnings(self) -> Sequence[str]:
        return self._address.warnings

    def _words(self) -> tuple[str, str]:
        server, site = self.question.server, page_name(self._address)
        if self._address.refusal is not None:
            return f"{self._address.refusal} Decline or cancel.", "error"
        match self.question.step:
            case "consent":
                return f"Open it only if you trust {site} with what it will ask. Nothing has been loaded yet.", "plain"
            case "retry":
                return f"Open the page and finish there; then press Retry, and {server} is asked again.", "plain"
            case _:
                return f"Open the page and finish there. {server} goes on by itself when it knows.", "plain"

    def _foot(self) -> list[Any]:
        server, site = self.question.server, page_name(self._address)
        match self.question.step:
            case "consent":
                open_ = self.action("Open", self._accept, "primary", f"Agree, and get the link to {site}")
                open_.disabled = self._address.refusal is not None
                decline = self.action("Decline", self._decline, "danger", "Say no; the server is told so")
                return [open_, decline, self._cancel("Cancel", "Close the question without a choice")]
            case "retry":
                retry = self.action("Retry", self._accept, "success", f"You are done there: ask {server} again")
                return [retry, self._cancel("Cancel", f"Give up; {server} is told so")]
            case _:
                close = self.action("Close", self._put_away, "", f"Close this card; {server} goes on")
                if self.question.cause is None:
                    return [close]
                self._end_call = self._cancel("Cancel call", f"End the call that {server} waits with")
                return [close, self._end_call]

    def _cancel(self, label: str, tip: str) -> Any:
        return self.action(label, lambda: self.answer("cancel"), "", tip)

    def _decline(self) -> None:
        self.answer("decline")

    def _accept(self) -> None:
        if self._address.refusal is None:
            self.answer("accept")

    def _put_away(self) -> None:
        if self.card in _left:
            _left.remove(self.card)
            self.card.finish()
        else:
            self._accept()

    def close(self, answer: Answer | None) -> None:
        """Leave the record, or the place for the next step; the link for who may not have opened the page yet."""
        if self.question.step == "wait" and answer is None and not self.card.over:
            if time.monotonic() - self._begun < _SOON:
                self._leave()
                return
            answer = Answer("accept")
        super().close(answer)
        agreed = answer is not None and answer.action == "accept" and self._address.refusal is None
        if agreed and self.question.step == "consent":
            _agreed[self.question.id] = self.card.id
            while len(_agreed) > _MOST:
                del _agreed[next(iter(_agreed))]

    def _leave(self) -> None:
        """The call is over, the card is not."""
        if self.card in _left:
            return
        if self._end_call is not None:
            self._end_call.layout.display = "none"
        self.say("The call is over. The page can still be opened.")
        self.card.stay(bundle(QuestionRecord(self.question, Answer("accept"))))
        _left.append(self.card)
        if len(_left) > _MOST_LEFT:
            _left.pop(0).finish()
