"""May this call be made? Server, tool and arguments, and how long the yes holds."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import cut, pretty

__all__ = ["ApprovalCard"]


class ApprovalCard(QuestionCard):
    """Allow once, allow for this kernel, or deny."""

    def _body(self) -> list[Any]:
        arguments = self.question.params.get("arguments")
        shown = cut(pretty(arguments), 8_000) if arguments else "no arguments"
        message = [kit.markup(html.prose(cut(self.question.message, 1_000)))] if self.question.message else []
        return [*message, kit.markup(html.note(html.muted("arguments")) + html.pre(shown))]

    def _foot(self) -> list[Any]:
        tool = self.question.params.get("tool")
        again = f"Do not ask again for {self.question.server}.{tool} until this kernel ends"
        return [
            self.action("Allow once", lambda: self.answer("accept"), "primary", "Make this one call"),
            self.action("Allow for this kernel", lambda: self.answer("accept", remember=True), "", again),
            self.action("Deny", lambda: self.answer("decline"), "danger", "Do not make the call"),
        ]
