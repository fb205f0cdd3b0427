"""One tool: what it is, its form or its JSON, Call, what came back of each call, and the log of its server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.callform import CallForm, Ready
from jupyter_mcp.notebook.cards.calloptions import spelled
from jupyter_mcp.notebook.cards.explorer.serverpane import LogFold
from jupyter_mcp.notebook.cards.explorer.source import HostSource
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.results.view import ResultView
from jupyter_mcp.notebook.cards.spelling import magic_line, python_call
from jupyter_mcp.notebook.cards.switching import ModelSwitch
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import cut, flat
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["ToolPanel"]

_HINTS = (
    ("readOnlyHint", True, "says it is read-only"),
    ("destructiveHint", True, "says it may destroy things"),
    ("idempotentHint", True, "says repeating it changes nothing more"),
    ("openWorldHint", True, "says it reaches outside systems"),
)


class ToolPanel:
    """The pane of one tool.

    Args:
        server: whose it is.
        tool: as on the wire.
        runner: calls it.
    """

    def __init__(self, server: str, tool: Mapping[str, Any], runner: Runner) -> None:
        self._server = server
        self._tool = tool
        self._name = str(tool.get("name") or "")
        self._runner = runner
        self._form = CallForm(tool.get("inputSchema"), self._refresh, self._spelled)
        self._status = kit.markup("")
        self._call = kit.button("Call", self._press, look="primary", tip=f"Call {server}.{self._name}")
        self._outcome = Outcome(self._refresh, several=True)
        self._log = LogFold(server, HostSource())
        self.root = kit.column(
            [
                kit.markup(_about(server, tool), "jmcp-head"),
                self._form.root,
                self._status,
                kit.row([self._call, *self._form.buttons]),
                self._form.copy,
                self._outcome.root,
                self._log.root,
                ModelSwitch(runner, server, self._name).root,
            ]
        )
        self._refresh()

    @property
    def busy(self) -> bool:
        """Whether a call of it runs."""
        return self._outcome.busy

    def close(self) -> None:
        """The pane is gone; calls that run go on."""
        self._log.close()

    def _refresh(self) -> None:
        ready, problem = self._form.read()
        self._call.disabled = ready is None or self._outcome.full
        self._call.description = "Call again" if self._outcome.busy else "Call"
        kit.paint(self._status, kit.status(problem, "error" if self._form.is_error and problem else "plain"))

    def _spelled(self, ready: Ready) -> tuple[str, str]:
        what = (self._server, self._name, ready.arguments, ready.names, spelled(ready.options))
        return magic_line(*what), python_call(*what)

    def _press(self) -> None:
        ready, _ = self._form.settle()
        if ready is None:
            self._refresh()
            return
        arguments, options = ready.arguments, ready.options
        label = f"{self._server}.{self._name}"
        self._outcome.run(
            label,
            lambda listen: self._runner.call(self._server, self._name, arguments, listen, options),
            lambda result: self._drawn(arguments, result),
        )

    def _drawn(self, arguments: Mapping[str, Any], result: Any) -> Any:
        """The result, and below it the app of the tool, if it has one."""
        from jupyter_mcp.notebook.cards import apps

        root = ResultView(result, self._runner, named=False).root
        app = apps.for_call(self._server, self._tool, arguments, result, self._runner)
        return root if app is None else kit.column([root, app])


def _about(server: str, tool: Mapping[str, Any]) -> str:
    """Title, machine name, the server's own hints as what they are, and its description."""
    name = f"{server}.{flat(tool.get('name') or '', 120)}"
    title = title_of(tool)
    head = f"<b>{html.escape(title)}</b> {html.code(name)}" if title else f"<b>{html.code(name)}</b>"
    annotations = mapping_of(tool.get("annotations"))
    hints = [words for key, value, words in _HINTS if annotations.get(key) is value]
    said = html.note(html.muted(html.escape(f"{server} {', '.join(hints)}"))) if hints else ""
    told = tool.get("description")
    body = html.prose(cut(told.strip(), 4_000)) if isinstance(told, str) and told.strip() else ""
    return f'<div role="heading" aria-level="3">{html.note(head)}</div>{said}<div class="jmcp-plain">{body}</div>'
