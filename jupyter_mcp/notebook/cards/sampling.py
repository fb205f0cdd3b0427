"""A server asks for a model's answer and a person gives it: all that was sent is shown before a word goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.cards.sampling_consent import ConsentCard
from jupyter_mcp.notebook.cards.sampling_review import ReviewCard
from jupyter_mcp.notebook.render.sampling import parameters_html, request_html

if TYPE_CHECKING:
    from jupyter_mcp.host.questions import Question

__all__ = ["SamplingCard", "card_for"]


def card_for(question: Question) -> type[QuestionCard]:
    """The card of a request for sampling: a model would answer it, or has, or the person does."""
    if question.offer is None:
        return SamplingCard
    return ReviewCard if question.step == "review" else ConsentCard


class SamplingCard(QuestionCard):
    """The person writes: system prompt, messages, parameters; the reply and the name of who (or what) wrote it."""

    def _body(self) -> list[Any]:
        params = self.question.params
        self._text = kit.widgets.Textarea(
            description="Reply", placeholder="the assistant's reply", rows=5, continuous_update=True,
            layout={"width": "min(680px, 100%)"},
        )  # fmt: skip
        kit.watch(self._text, self._refresh)
        self._model = kit.widgets.Text(
            "human", description="Model", tooltip="named in the reply as the model", layout={"width": "220px"}
        )
        self._send_button = self.action("Send", self._send, "primary", "Send this reply to the server")
        self._refresh()
        return [
            kit.markup(request_html(params)),
            kit.markup(parameters_html(params)),
            kit.markup("<b>Your reply</b>"),
            kit.row([self._text], "jmcp-control"),
            kit.row([kit.markup("written by (model name)"), self._model], "jmcp-control"),
        ]

    def _foot(self) -> list[Any]:
        refuse = self.action("Refuse", lambda: self.answer("decline"), "danger", "Say no; the server is told so")
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Close the question without a choice")
        return [self._send_button, refuse, cancel]

    def _refresh(self) -> None:
        missing = not self._text.value.strip()
        self._send_button.disabled = missing or self._answered is not None
        self.say("Still needed: a reply" if missing else "")

    def _send(self) -> None:
        if not self._text.value.strip():
            return
        self._text.disabled = True
        reply = {
            "role": "assistant",
            "content": {"type": "text", "text": self._text.value},
            "model": self._model.value.strip() or "human",
            "stopReason": "endTurn",
        }
        self.answer("accept", content=reply)
