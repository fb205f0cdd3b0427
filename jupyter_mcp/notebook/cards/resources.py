"""Resources and templates of some servers: choose one, fill in a template's variables, read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.browser import Browser, Choice
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.spelling import read_line
from jupyter_mcp.notebook.cards.suggesting import SuggestingFields
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import cut, flat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.views import ListView

__all__ = ["resource_browser"]


def resource_browser(view: ListView, runner: Runner | None = None) -> Card:
    """Display the resources and templates of a view."""
    acting = runner or HostRunner()
    rows = [*view.rows, *view.templates]
    choices = [Choice(*_line(server, item), (server, item)) for server, item in rows]
    browser = Browser("resource", choices, lambda chosen: ResourcePanel(*chosen, acting).root, lambda: bundle(view))
    return browser.card.show()


class ResourcePanel:
    """The pane of one resource, or of one template with its variables."""

    def __init__(self, server: str, item: Mapping[str, Any], runner: Runner) -> None:
        self._server, self._runner = server, runner
        self._template = item.get("uriTemplate") if isinstance(item.get("uriTemplate"), str) else None
        self._plain = str(item.get("uri") or "")
        spared = _optional(self._template or "")
        names = [(name, "", name not in spared) for name in _variables(self._template or "")]
        self._fields = SuggestingFields(names, self._suggest, self._refresh)
        self._status = kit.markup("")
        self._read = kit.button("Read", self._press, look="primary", tip="Read this resource")
        self._copy = kit.markup("")
        self._outcome = Outcome(self._refresh)
        self.root = kit.column(
            [
                kit.markup(_about(server, item), "jmcp-head"),
                self._fields.root,
                self._status,
                kit.row([self._read]),
                self._copy,
                self._outcome.root,
            ]
        )
        self._refresh()
        self._fields.prime()

    def _suggest(self, variable: str, value: str, others: Mapping[str, str]) -> Any:
        ref = {"type": "ref/resource", "uri": self._template}
        return self._runner.complete(self._server, ref, variable, value, others)

    def _uri(self) -> tuple[str, str]:
        """The address to read, or why there is none yet. Optional parts of a template may stay empty."""
        if self._template is None:
            return self._plain, ""
        if self._fields.needed:
            return "", f"Still needed: {', '.join(self._fields.needed)}"
        from jupyter_mcp.protocol import uritemplate

        try:
            return uritemplate.expand(self._template, self._fields.values), ""
        except (MCPError, ValueError) as error:
            return "", str(error)

    def _refresh(self) -> None:
        uri, problem = self._uri()
        busy = self._outcome.busy
        self._read.disabled = bool(problem) or busy
        self._fields.lock(busy)
        kit.paint(self._status, kit.status(problem))
        if uri:
            line = read_line(self._server, uri)
            kit.paint(self._copy, html.details(html.muted("the same as a line to copy"), html.pre(line)))
        else:
            kit.paint(self._copy, "")

    def _press(self) -> None:
        uri, problem = self._uri()
        if not problem:
            self._outcome.run(flat(uri, 200), lambda _: self._runner.read(self._server, uri))


def _variables(template: str) -> list[str]:
    from jupyter_mcp.protocol import uritemplate

    try:
        return list(dict.fromkeys(uritemplate.variables(template)))
    except (MCPError, ValueError):
        return []


def _optional(template: str) -> set[str]:
    """Variables of query parts (`{?page,size}`, `{&x}`): a URI is whole without them."""
    import re

    names = [name for part in re.findall(r"\{[?&]([^}]*)\}", template) for name in part.split(",")]
    return {re.sub(r"(\*|:\d+)$", "", name.strip()) for name in names}


def _about(server: str, item: Mapping[str, Any]) -> str:
    uri = flat(item.get("uri") or item.get("uriTemplate") or "", 600)
    title = title_of(item) or flat(item.get("name") or "", 120)
    kind = flat(item.get("mimeType") or "", 60)
    told = item.get("description")
    body = html.prose(cut(told, 4_000)) if isinstance(told, str) and told else ""
    head = html.note(f"<b>{html.escape(title)}</b> {html.muted(html.escape(f'{server} {kind}'))}")
    return f'<div role="heading" aria-level="3">{head}</div>{html.note(html.code(uri))}{body}'


def _line(server: str, item: Mapping[str, Any]) -> tuple[str, str]:
    uri = flat(item.get("uri") or item.get("uriTemplate") or "", 300)
    name = title_of(item) or flat(item.get("name") or "", 120)
    told = " (template)" if item.get("uriTemplate") else ""
    label = f"{server}: {uri}{told}{f' — {name}' if name and name != uri else ''}"
    return label, f"{label} {flat(item.get('description') or '', 1_000)}".lower()
