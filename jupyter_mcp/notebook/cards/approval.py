"""May this call be made? Server, tool and arguments, and how long the yes holds.

What a client of ours wants is shown whole, each argument as it is: it is this that is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import cut, pretty

__all__ = ["ApprovalCard"]


class ApprovalCard(QuestionCard):
    """Allow once, allow for this kernel, or deny; for a client of ours also: allow this client, deny for good."""

    def _body(self) -> list[Any]:
        arguments = self.question.params.get("arguments")
        if self._client:
            given: Mapping[str, Any] = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
            return [
                kit.markup(html.note(html.muted(html.escape(name))) + html.pre(_whole(given[name]))) for name in given
            ]
        shown = cut(pretty(arguments), 8_000) if arguments else "no arguments"
        message = [kit.markup(html.prose(cut(self.question.message, 1_000)))] if self.question.message else []
        return [*message, kit.markup(html.note(html.muted("arguments")) + html.pre(shown))]

    def _foot(self) -> list[Any]:
        server, tool = self.question.server, self.question.params.get("tool")
        again = f"Do not ask again for {server}.{tool} until this kernel ends"
        once = self.action("Allow once", lambda: self.answer("accept"), "primary", "Make this one call")
        deny = self.action("Deny", lambda: self.answer("decline"), "danger", "Do not make the call")
        if not self._client:
            kernel = self.action("Allow for this kernel", lambda: self.answer("accept", remember=True), "", again)
            return [once, kernel, deny]
        client = f"Do not ask again while the client calls itself {self._client!r}, until this kernel ends"
        never = f"Deny, and deny {server}.{tool} from now on: a rule"
        return [
            once,
            self.action("Allow this client", lambda: self.answer("accept", scope="client"), "", client),
            self.action("Allow in this notebook", lambda: self.answer("accept", remember=True), "", again),
            deny,
            self.action("Never", lambda: self.answer("decline", scope="never"), "danger", never),
        ]

    @property
    def _client(self) -> str:
        """Who wants it, when it is a client of ours."""
        return cut(str(self.question.params.get("client") or ""), 60)


def _whole(value: Any) -> str:
    return value if isinstance(value, str) else pretty(value)
