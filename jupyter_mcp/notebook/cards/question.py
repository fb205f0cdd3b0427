"""A server's question as a card in the running cell: what all kinds have in common, and which card a kind gets.

A card names who asks and during what, quotes the server's words as a quotation, keeps the three answers apart, answers
once however often a button is pressed, and leaves a static record. It decides nothing and checks nothing that the host
does not check again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from jupyter_mcp.host.questions import Action, Answer, Question
from jupyter_mcp.notebook.cards import kit, queue
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.questions import asked_by
from jupyter_mcp.notebook.render.text import cut, flat
from jupyter_mcp.notebook.render.views import QuestionRecord

__all__ = ["Presented", "QuestionCard", "present"]

log = logging.getLogger("jupyter_mcp.cards")
Reply = Callable[[Answer], None]
MAX_MESSAGE = 4_000


class Presented(Protocol):
    """A question on the page."""

    def close(self, answer: Answer | None) -> object:
        """Replace the live card by its record (None: withdrawn). Idempotent, any thread."""
        ...


class QuestionCard:
    """Base of the question cards: head, body of the kind, buttons.

    Args:
        question: what is asked.
        reply: called once with the person's answer, on whatever thread the button's message comes.
        place: display id of an output that this card takes the place of, if any.
    """

    def __init__(self, question: Question, reply: Reply, place: str | None = None) -> None:
        self.question = question
        self._reply = reply
        self._answered: Answer | None = None
        self._guard = threading.Lock()
        self._status = kit.markup("")
        self._buttons: list[Any] = []
        self._made = False
        self._looked_at = False
        self._at = queue.Standing(1, 1, 1)
        heading = kit.markup(f'<div role="heading" aria-level="3">{asked_by(question).html}</div>', "jmcp-head")
        self._standing = kit.markup("", "jmcp-help")
        body = self._body()
        self._inside = kit.column([*self._head(), *body, self._status, kit.row(self._foot())])
        self._look = kit.row([])
        if self.folds:
            tip = "Answer this one before those that came earlier"
            self._look = kit.row([kit.button("Look at it now", self._unfold, tip=tip)])
        kit.hide(self._look, True)
        root = kit.root([heading, self._standing, self._inside, self._look, kit.keyboard()])
        root.add_class("jmcp-asks")
        root.add_class(f"jmcp-asks-{question.id}")  # the page knows it by that: is it in sight?
        expired = QuestionRecord(question, None, "expired: the kernel ended before it was answered")
        self.card = Card(root, lambda: bundle(question), lambda: bundle(expired), place, waits=True)
        self._made = True

    folds = False
    """Whether it is folded while others are before it."""

    def _body(self) -> list[Any]:
        """The widgets of this kind of question."""
        raise NotImplementedError

    def _foot(self) -> list[Any]:
        """The buttons of this kind of question."""
        raise NotImplementedError

    def _head(self) -> list[Any]:
        question = self.question
        parts: list[Any] = []
        if question.message and question.kind in ("elicitation", "inputs", "url"):
            parts.append(kit.markup(html.quote(html.prose(cut(question.message, MAX_MESSAGE)))))
        warnings = [html.escape(text) for text in self._warnings()]
        if warnings:
            listed = warnings[0] if len(warnings) == 1 else f"<ul>{''.join(f'<li>{one}</li>' for one in warnings)}</ul>"
            parts.append(kit.markup(f"<b>Careful:</b> {listed}", "jmcp-warning"))
        return parts

    def _warnings(self) -> Sequence[str]:
        """What the person should look at twice, a sentence each."""
        return [self.question.warning] if self.question.warning else []

    def action(self, label: str, press: Callable[[], object], look: str = "", tip: str = "") -> Any:
        """A button that is locked when the question is answered."""
        made = kit.button(label, press, look=look, tip=tip)
        if label == "Cancel":
            made.add_class(kit.ESCAPE)
        self._buttons.append(made)
        return made

    def say(self, text: str, tone: str = "plain") -> None:
        """The line above the buttons."""
        kit.paint(self._status, kit.status(text, tone))

    def answer(self, action: Action, **more: Any) -> None:
        """Give the answer; a second press does nothing."""
        with self._guard:
            if self._answered is not None or self.card.over:
                return
            self._answered = Answer(action, **more)
        for made in self._buttons:
            made.disabled = True
        self.say("Sent; waiting for the server." if action == "accept" else "Sent.")
        queue.leave(self, onwards=True)
        self._reply(self._answered)

    def show(self) -> QuestionCard:
        if self.question.kind != "url" or self.question.step == "consent":  # a page that was agreed to asks no more
            queue.enter(self)
        self.card.show()
        return self

    # --- among others ------------------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether it waits for nobody any more."""
        return self._answered is not None or self.card.over

    @property
    def leave_for(self) -> str:
        """The server that it asks leave for; "" when it asks something else."""
        return ""

    def stand(self, standing: queue.Standing) -> None:
        """Show where it stands among the questions that wait. Any thread."""
        self._at = standing
        folded = self.folds and standing.at > 1 and not self._looked_at
        brief = f" · {flat(self._brief(), 100)}" if folded and self._brief() else ""
        said = html.escape(f"{standing.at} of {standing.of} questions{brief}")
        kit.paint(self._standing, said if standing.of > 1 else "")
        kit.hide(self._inside, folded)
        kit.hide(self._look, not folded)

    def _brief(self) -> str:
        """What a folded card says of itself."""
        return ""

    def take_focus(self) -> None:
        """Have the keyboard: the card, not a button of it, so that no key pressed meanwhile decides anything."""
        self.card.root.focus()

    def _unfold(self) -> None:
        self._looked_at = True
        self.stand(self._at)
        self.take_focus()

    def close(self, answer: Answer | None) -> None:
        """Leave the record: of the answer, or of the question having been withdrawn."""
        queue.leave(self)
        self.card.finish(bundle(QuestionRecord(self.question, answer)))


def present(question: Question, reply: Reply) -> Presented:
    """The card of a question, displayed in the current cell. Main thread."""
    from jupyter_mcp.notebook.cards.approval import ApprovalCard
    from jupyter_mcp.notebook.cards.elicitation import ElicitationCard, InputsCard
    from jupyter_mcp.notebook.cards.login import LoginCard
    from jupyter_mcp.notebook.cards.sampling import card_for
    from jupyter_mcp.notebook.cards.urlcard import UrlCard

    kinds: dict[str, type[QuestionCard]] = {
        "approval": ApprovalCard,
        "inputs": InputsCard,
        "login": LoginCard,
        "sampling": card_for(question),
        "server": ApprovalCard,
        "url": UrlCard,
    }
    return kinds.get(question.kind, ElicitationCard)(question, reply).show()
