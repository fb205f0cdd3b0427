"""A server asks for a model's answer and a person gives it: all that was sent is shown before a word goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.results import message_piece
from jupyter_mcp.notebook.render.text import cut, flat, pretty
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SamplingCard"]

MAX_MESSAGES = 30
_PARAMETERS = ("maxTokens", "temperature", "stopSequences", "includeContext", "toolChoice", "metadata")


class SamplingCard(QuestionCard):
    """System prompt, messages, parameters; the reply and the name of who (or what) wrote it."""

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
            *_asked(params),
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


def _asked(params: Mapping[str, Any]) -> list[Any]:
    parts: list[Any] = []
    system = params.get("systemPrompt")
    if isinstance(system, str) and system:
        parts.append(kit.markup(html.note("<b>system prompt</b>") + html.quote(html.prose(cut(system, 8_000)))))
    messages = [one for one in as_list(params.get("messages")) if is_mapping(one)]
    if len(messages) > MAX_MESSAGES:
        parts.append(kit.markup(html.muted(f"… {len(messages) - MAX_MESSAGES} earlier messages")))
    shown = "".join(message_piece(one).html for one in messages[-MAX_MESSAGES:])
    parts.append(kit.markup(shown or html.note("<i>no messages</i>")))
    rows = [
        [f"<b>{name}</b>", html.escape(_short(params[name]))] for name in _PARAMETERS if params.get(name) is not None
    ]
    rows += _preferences(params)
    if rows:
        parts.append(kit.markup(html.details("parameters", html.table([], rows))))
    return parts


def _preferences(params: Mapping[str, Any]) -> list[list[str]]:
    preferences = mapping_of(params.get("modelPreferences"))
    hints = [flat(mapping_of(hint).get("name") or "", 60) for hint in as_list(preferences.get("hints"))]
    rows = [["<b>model hints</b>", html.escape(", ".join(hint for hint in hints if hint))]] if any(hints) else []
    tools = [flat(mapping_of(tool).get("name") or "", 60) for tool in as_list(params.get("tools"))]
    return [*rows, *([["<b>tools</b>", html.escape(", ".join(tools))]] if tools else [])]


def _short(value: Any) -> str:
    return cut(value if isinstance(value, str) else pretty(value), 500)
