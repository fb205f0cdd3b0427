"""The pane of one prompt: its arguments with the server's suggestions, a look at its messages, and both as a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.untyped import prompt_schema
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.callform import CallForm, Ready
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.results.view import prompt_view
from jupyter_mcp.notebook.cards.spelling import prompt_line, python_prompt
from jupyter_mcp.notebook.cards.suggesting import Suggestions
from jupyter_mcp.notebook.components.newcell import NewCell
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import clean, cut, flat
from jupyter_mcp.protocol.shapes import is_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["PromptPanel", "as_markdown"]


class PromptPanel:
    """The pane of one prompt.

    Args:
        server: whose it is.
        prompt: as on the wire.
        runner: gets it, and asks for suggestions.
    """

    def __init__(self, server: str, prompt: Mapping[str, Any], runner: Runner) -> None:
        self._server, self._name, self._runner = server, str(prompt.get("name") or ""), runner
        schema = prompt_schema(prompt)
        self._suggestions = Suggestions(schema["properties"], self._suggest, lambda: self._form.arguments.form.values)
        self._form = CallForm(schema, self._refresh, self._spelled, options=False, suggest=self._suggestions)
        self._status = kit.markup("")
        self._get = kit.button("See its messages", self._press, look="primary", tip=f"Get {server}.{self._name}")
        self._messages = NewCell(
            [("messages", "Insert the messages as Markdown", "markdown"), ("ask", "Ask a model with it", "code")],
            self._written,
        )
        kit.hide(self._messages, True)
        self._outcome = Outcome(self._refresh)
        self.root = kit.column(
            [
                kit.markup(_about(server, prompt), "jmcp-head"),
                self._form.root,
                self._status,
                kit.row([self._get, *self._form.buttons]),
                self._form.copy,
                self._outcome.root,
                self._messages,
            ]
        )
        self._refresh()
        self._suggestions.prime()

    def _suggest(self, argument: str, value: str, others: Mapping[str, str]) -> Any:
        ref = {"type": "ref/prompt", "name": self._name}
        return self._runner.complete(self._server, ref, argument, value, others)

    def _refresh(self) -> None:
        busy = self._outcome.busy
        ready, problem = self._form.read()
        self._get.disabled = ready is None or busy
        self._form.arguments.lock(busy)
        kit.paint(self._status, kit.status(problem, "error" if self._form.is_error and problem else "plain"))
        kit.hide(self._messages, busy or not hasattr(self._outcome.value, "dicts"))

    @property
    def busy(self) -> bool:
        """Whether its messages are being asked for."""
        return self._outcome.busy

    def close(self) -> None:
        """The pane is gone; nothing is suggested any more."""
        self._suggestions.close()

    def _spelled(self, ready: Ready) -> tuple[str, str]:
        what = (self._server, self._name, ready.arguments, ready.names)
        return prompt_line(*what), python_prompt(*what)

    def _written(self, key: str) -> str:
        """What was last seen, for a cell."""
        prompt = self._outcome.value
        return f"%%mcp ask\n{prompt.text}" if key == "ask" else as_markdown(prompt.dicts)

    def _press(self) -> None:
        ready, _ = self._form.settle()
        if ready is None:
            self._refresh()
            return
        values = ready.arguments
        label = f"{self._server}.{self._name}"
        self._outcome.run(label, lambda _: self._runner.prompt(self._server, self._name, values), prompt_view)


def as_markdown(messages: Sequence[Mapping[str, Any]]) -> str:
    """The texts of messages (as on the wire) under their roles; what is no text is named."""
    parts: list[str] = []
    for message in messages:
        content = message.get("content")
        blocks = content if is_list(content) else [content]
        said = [block if isinstance(block, str) else _said(mapping_of(block)) for block in blocks]
        parts.append("\n\n".join([f"**{flat(message.get('role') or 'unknown role', 40)}**", *said]))
    return "\n\n".join(parts)


def _said(block: Mapping[str, Any]) -> str:
    text = block.get("text") if block.get("type") == "text" else mapping_of(block.get("resource")).get("text")
    return clean(text) if isinstance(text, str) else f"*({flat(block.get('type') or 'something', 60)})*"


def _about(server: str, prompt: Mapping[str, Any]) -> str:
    title, name = title_of(prompt), f"{server}.{flat(prompt.get('name') or '', 120)}"
    head = f"<b>{html.escape(title)}</b> {html.code(name)}" if title else f"<b>{html.code(name)}</b>"
    told = prompt.get("description")
    body = html.prose(cut(told, 4_000)) if isinstance(told, str) and told else ""
    return f'<div role="heading" aria-level="3">{html.note(head)}</div>{body}'
