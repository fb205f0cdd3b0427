"""The model's answer as it is being written, then as the person may change it, send it, or keep it from the server.

The card grows while the model writes; stopping it, refusing and cancelling all end the writing. Nothing is sent before
"Send" is pressed.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.cards.sampling_edit import area
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import is_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.sampling.live import LiveReply

__all__ = ["ReviewCard"]

PAINT_SECONDS = 0.15


class ReviewCard(QuestionCard):
    """Send the answer, or not."""

    def _body(self) -> list[Any]:
        self._due = 0.0
        self._filled = False
        self._text = area("Answer", "", rows=6)
        self._row = kit.row([self._text], "jmcp-control")
        self._coming = kit.markup("")
        kit.watch(self._text, self._refresh)
        kit.hide(self._row, True)
        name = flat(self._live.model, 80)
        return [kit.markup(html.note(f"The answer of <b>{html.escape(name)}</b>")), self._coming, self._row]

    def _foot(self) -> list[Any]:
        self._send_button = self.action("Send", self._send, "primary", "Send this answer to the server")
        refuse = self.action("Refuse", lambda: self.answer("decline"), "danger", "Say no; the server is told so")
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Stop, and send nothing (Esc)")
        self._live.listen(self._changed)
        return [self._send_button, refuse, cancel]

    def _warnings(self) -> Sequence[str]:
        return [*super()._warnings(), *self.question.problems.values()]

    @property
    def _live(self) -> LiveReply:
        assert self.question.live is not None
        return self.question.live

    # --- while it is written -----------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Called for every piece, on the thread that writes; paints a few times a second, and the end always."""
        if self._made and self.card.over:
            return
        now = time.monotonic()
        if self._live.state == "writing" and now < self._due and not self._live.note:
            return
        self._due = now + PAINT_SECONDS
        if self._live.state == "written" and not self._filled:
            self._fill()
        self._refresh()

    def _fill(self) -> None:
        """It is there: from now on it can be changed."""
        self._filled = True
        draft = (self.question.draft or {}).get("content")
        reply = self._live.reply
        content = draft if is_list(draft) else list(reply.content) if reply is not None else []
        self._plain = len(content) == 1 and content[0].get("type") == "text"
        if not self._plain:
            self._text.add_class("jmcp-code")
        self._given = content[0]["text"] if self._plain else json.dumps(content, indent=2, ensure_ascii=False)
        self._text.rows = min(18, max(3, self._given.count("\n") + 1 + len(self._given) // 90))
        self._text.value = self._given
        kit.paint(self._coming, "")
        kit.hide(self._row, False)

    def _refresh(self) -> None:
        live = self._live
        content, problem = self._read() if self._filled else (None, "")
        self._send_button.disabled = not self._filled or bool(problem) or self._answered is not None
        if not self._filled:
            kit.paint(self._coming, html.quote(html.prose(live.text)) if live.text else "")
            waiting = live.note or f"{flat(live.model, 80)} is writing …"
            self.say(live.problem or waiting, "error" if live.problem else "plain")
        else:
            self.say(problem or ("Changed by you." if content is not None else ""), "error" if problem else "plain")

    def _read(self) -> tuple[list[Any] | None, str]:
        """The blocks as changed (None: as they came), or what is wrong with them."""
        if self._text.value == self._given and not self.question.draft:
            return None, ""
        if self._plain:
            return [{"type": "text", "text": self._text.value}], "" if self._text.value.strip() else "It is empty."
        try:
            found = json.loads(self._text.value)
        except ValueError as error:
            return None, f"This is no JSON: {error}"
        return (found, "") if is_list(found) else (None, "The answer is a JSON list of blocks.")

    def _send(self) -> None:
        content, problem = self._read()
        if problem:
            return
        self._text.disabled = True
        self.answer("accept", content=None if content is None else {"content": content})
