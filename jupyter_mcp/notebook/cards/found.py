"""What configuration files name, with a button to connect each. A button asks no less than a line does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.objects.found import shown_path
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.text import cut, flat

if TYPE_CHECKING:
    from concurrent.futures import Future

    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.objects.found import Candidate, Discovered

__all__ = ["found_card"]

_MOST = 60  # rows with a button; the others are connected by a line


def found_card(found: Discovered, runner: Runner | None = None) -> Card:
    """Display what was found."""
    return _Found(found, runner or HostRunner()).card.show()


class _Found:
    def __init__(self, found: Discovered, runner: Runner) -> None:
        self._found = found
        self._runner = runner
        self._said = kit.markup("")
        rows = [self._row(one) for one in list(found)[:_MOST]]
        more = len(found) - len(rows)
        also = [kit.markup(html.note(html.muted(f"and {more} more, by %mcp connect --from FILE NAME")))] if more else []
        title = html.note(html.tag("strong", html.escape(found.title)))
        hint = html.note(
            html.muted("Looking starts nothing. A project's server asks once more, with its exact command.")
        )
        self.card = Card(
            kit.root([kit.markup(title, "jmcp-head"), *rows, *also, self._said, kit.markup(hint)]),
            lambda: bundle(found),
        )

    def _row(self, one: Candidate) -> Any:
        """Its button, unless it could never be pressed; what it is; how connecting goes."""
        state = kit.markup("")
        text = kit.markup(self._text(one))
        text.layout.flex, text.layout.min_width = "1 1 240px", "0"
        if one.spec is None:
            return kit.row([text])
        label = f"Connect {cut(flat(one.name), 40)}"
        button = kit.button(label, lambda: self._connect(one, button, text, state))
        button.disabled = one.spec.disabled or one.connected
        return kit.row([button, text, state])

    def _text(self, one: Candidate) -> str:
        where = f"{shown_path(one.file, self._found.folder)}, {one.label}"
        about = html.muted(html.escape(f"{cut(flat(where), 160)} · {one.state}"))
        return html.note(f"<b>{html.escape(one.name or '–')}</b> {about}<br>{html.code(cut(flat(one.starts), 400))}")

    def _connect(self, one: Candidate, button: Any, text: Any, state: Any) -> None:
        if one.spec is None:
            return
        button.disabled = True
        kit.paint(state, kit.status("connecting …"))

        def over(done: Future[Any]) -> None:
            error = None if done.cancelled() else done.exception()
            button.disabled = error is None and not done.cancelled()
            said = str(error) if isinstance(error, MCPError) else f"{type(error).__name__}" if error else "connected"
            kit.paint(text, self._text(one))
            kit.paint(state, kit.status(cut(flat(said), 300), "error" if error else "plain"))
            self.card.redraw()

        self._runner.connect(one.spec, "person" if one.own else "project").add_done_callback(over)
