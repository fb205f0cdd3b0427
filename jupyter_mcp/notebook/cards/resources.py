"""The pane of one resource, or of one template with its variables: read it, watch it, save it, take it into a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.untyped import template_schema
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.callform import CallForm, Ready
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.results.view import read_view
from jupyter_mcp.notebook.cards.spelling import python_read, read_line
from jupyter_mcp.notebook.cards.suggesting import Suggestions
from jupyter_mcp.notebook.cards.watching import WatchToggle
from jupyter_mcp.notebook.components.file import File
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import cut, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["ResourcePanel"]

MAX_FILES = 8


class ResourcePanel:
    """The pane.

    Args:
        server: whose it is.
        item: the resource or template as on the wire.
        runner: reads, and asks for suggestions.
        source: watches.
        changed: called when it is watched, or no longer.
    """

    def __init__(
        self,
        server: str,
        item: Mapping[str, Any],
        runner: Runner,
        source: Source,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        self._server, self._runner = server, runner
        self._template = item.get("uriTemplate") if isinstance(item.get("uriTemplate"), str) else None
        self._plain = str(item.get("uri") or "")
        schema = template_schema(self._template or "")
        self._suggestions = Suggestions(schema["properties"], self._suggest, lambda: self._form.arguments.form.values)
        self._form = CallForm(schema, self._refresh, self._spelled, options=False, suggest=self._suggestions)
        self._status = kit.markup("")
        self._address = kit.markup("")
        self._read = kit.button("Read", self._press, look="primary", tip="Read this resource")
        self._watch = WatchToggle(server, source, self._refresh, changed)
        self._outcome = Outcome(self._refresh)
        self.root = kit.column(
            [
                kit.markup(_about(server, item), "jmcp-head"),
                self._form.root,
                self._status,
                self._address,
                kit.row([self._read, self._watch.root, *self._form.buttons]),
                self._form.copy,
                self._watch.said,
                self._outcome.root,
            ]
        )
        self._refresh()
        self._suggestions.prime()

    @property
    def busy(self) -> bool:
        """Whether it is being read, or watched."""
        return self._outcome.busy or self._watch.on

    def close(self) -> None:
        """The pane is gone, and nobody is told of changes any more."""
        self._suggestions.close()
        self._watch.close()

    def _suggest(self, variable: str, value: str, others: Mapping[str, str]) -> Any:
        ref = {"type": "ref/resource", "uri": self._template}
        return self._runner.complete(self._server, ref, variable, value, others)

    def _address_of(self, ready: Ready | None, problem: str) -> tuple[str, str]:
        """The address to read, or why there is none yet."""
        if self._template is None:
            return self._plain, ""
        if ready is None:
            return "", problem
        from jupyter_mcp.protocol import uritemplate

        try:
            return uritemplate.expand(self._template, ready.arguments), ""
        except (MCPError, ValueError) as error:
            return "", str(error)

    def _refresh(self) -> None:
        uri, problem = self._address_of(*self._form.read())
        busy = self._outcome.busy
        self._read.disabled = bool(problem) or busy
        self._form.arguments.lock(busy)
        self._watch.at(uri)
        kit.paint(self._status, kit.status(problem, "error" if self._form.is_error and problem else "plain"))
        reads = html.note(f"{html.muted('reads')} {html.code(flat(uri, 600))}") if uri and self._template else ""
        kit.paint(self._address, reads)

    def _spelled(self, ready: Ready) -> tuple[str, str]:
        """The address, and the template only where its variables are those of the notebook."""
        if self._template is not None and ready.names:
            what = (self._server, self._template, ready.arguments, ready.names)
            return read_line(*what), python_read(*what)
        uri, _ = self._address_of(ready, "")
        return read_line(self._server, uri), python_read(self._server, uri)

    def _press(self) -> None:
        uri, problem = self._address_of(*self._form.settle())
        if problem:
            self._refresh()
            return
        self._watch.read()
        self._outcome.run(flat(uri, 200), lambda _: self._runner.read(self._server, uri), self._drawn)

    def _drawn(self, read: Any) -> Any:
        """What was read; a text can be saved as a file too (what else can be is saved where it is shown)."""
        files = [_file_of(part, read.uri) for part in read.contents[:MAX_FILES] if part.text]
        return kit.column([read_view(read, self._runner), *files])


def _file_of(part: Any, uri: str) -> Any:
    data = str(part.text).encode("utf-8", "replace")
    return File(str(part.raw.get("uri") or uri), len(data), lambda: data)


def _about(server: str, item: Mapping[str, Any]) -> str:
    uri = flat(item.get("uri") or item.get("uriTemplate") or "", 600)
    title = title_of(item) or flat(item.get("name") or "", 120)
    kind = flat(item.get("mimeType") or "", 60)
    told = item.get("description")
    body = html.prose(cut(told, 4_000)) if isinstance(told, str) and told else ""
    head = html.note(f"<b>{html.escape(title)}</b> {html.muted(html.escape(f'{server} {kind}'))}")
    return f'<div role="heading" aria-level="3">{head}</div>{html.note(html.code(uri))}{body}'
