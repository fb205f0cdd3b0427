"""All prompts of some servers: choose one, fill in its arguments with the server's suggestions, see its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.browser import Browser, Choice
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.spelling import prompt_line
from jupyter_mcp.notebook.cards.suggesting import SuggestingFields
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import cut, flat
from jupyter_mcp.protocol.shapes import as_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.views import ListView

__all__ = ["prompt_browser"]


def prompt_browser(view: ListView, runner: Runner | None = None) -> Card:
    """Display the prompts of a view."""
    acting = runner or HostRunner()
    choices = [Choice(*_line(server, prompt), (server, prompt)) for server, prompt in view.rows]
    browser = Browser("prompt", choices, lambda chosen: PromptPanel(*chosen, acting).root, lambda: bundle(view))
    return browser.card.show()


class PromptPanel:
    """The pane of one prompt."""

    def __init__(self, server: str, prompt: Mapping[str, Any], runner: Runner) -> None:
        self._server, self._name, self._runner = server, str(prompt.get("name") or ""), runner
        self._fields = SuggestingFields(_arguments(prompt), self._suggest, self._refresh)
        self._status = kit.markup("")
        self._get = kit.button("Get prompt", self._press, look="primary", tip=f"Get {server}.{self._name}")
        self._copy = kit.markup("")
        self._outcome = Outcome(self._refresh)
        self.root = kit.column(
            [
                kit.markup(_about(server, prompt), "jmcp-head"),
                self._fields.root,
                self._status,
                kit.row([self._get]),
                self._copy,
                self._outcome.root,
            ]
        )
        self._refresh()
        self._fields.prime()

    def _suggest(self, argument: str, value: str, others: Mapping[str, str]) -> Any:
        ref = {"type": "ref/prompt", "name": self._name}
        return self._runner.complete(self._server, ref, argument, value, others)

    def _refresh(self) -> None:
        needed, busy = self._fields.needed, self._outcome.busy
        self._get.disabled = bool(needed) or busy
        self._fields.lock(busy)
        kit.paint(self._status, kit.status(f"Still needed: {', '.join(needed)}" if needed else ""))
        line = prompt_line(self._server, self._name, self._fields.values)
        kit.paint(self._copy, html.details(html.muted("the same as a line to copy"), html.pre(line)))

    def _press(self) -> None:
        if self._fields.needed:
            return
        values = self._fields.values
        label = f"{self._server}.{self._name}"
        self._outcome.run(label, lambda _: self._runner.prompt(self._server, self._name, values))


def _arguments(prompt: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    found = [one for one in as_list(prompt.get("arguments")) if is_mapping(one) and isinstance(one.get("name"), str)]
    unique = {one["name"]: one for one in reversed(found)}
    return [
        (name, flat(one.get("description") or one.get("title") or "", 400), one.get("required") is True)
        for name, one in reversed(unique.items())
    ]


def _about(server: str, prompt: Mapping[str, Any]) -> str:
    title, name = title_of(prompt), f"{server}.{flat(prompt.get('name') or '', 120)}"
    head = f"<b>{html.escape(title)}</b> {html.code(name)}" if title else f"<b>{html.code(name)}</b>"
    told = prompt.get("description")
    body = html.prose(cut(told, 4_000)) if isinstance(told, str) and told else ""
    return f'<div role="heading" aria-level="3">{html.note(head)}</div>{body}'


def _line(server: str, prompt: Mapping[str, Any]) -> tuple[str, str]:
    name, title = flat(prompt.get("name") or "", 120), title_of(prompt)
    label = f"{server}.{name}{f' — {title}' if title else ''}"
    return label, f"{label} {flat(prompt.get('description') or '', 1_000)}".lower()
