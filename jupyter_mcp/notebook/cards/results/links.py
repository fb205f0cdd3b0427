"""A resource that a server names: its address, and a button that reads it through the host, never by the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.blocks import link_head, read_line
from jupyter_mcp.notebook.render.text import flat

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["Link"]


class Link:
    """
    Args:
        section: of kind "link".
        server: whose it is; without one it cannot be read.
        runner: reads it. The press of the button is the person's act, and the policy is asked as for any other.
    """

    def __init__(self, section: Section, server: str, runner: Runner) -> None:
        self._section, self._server, self._runner = section, server, runner
        self._outcome = Outcome(self._refresh)
        short = flat(section.uri, 80)
        self._read = kit.button("Read", self._press, tip=f"Read {short} of {flat(server, 40)}")
        self._read.disabled = not (server and section.uri)
        line = html.muted(f"in a cell: {html.code(read_line(server, flat(section.uri, 500)))}")
        head = kit.markup(html.note(f"{link_head(section)}<br>{line}"))
        self.root = kit.column([head, kit.row([self._read]), self._outcome.root], "jmcp-group")

    def _press(self) -> None:
        uri = self._section.uri
        self._outcome.run(f"read {flat(uri, 80)}", lambda _: self._runner.read(self._server, uri), self._drawn)

    def _drawn(self, read: Any) -> Any:
        from jupyter_mcp.notebook.cards.results.view import read_view

        return read_view(read, self._runner)

    def _refresh(self) -> None:
        self._read.disabled = self._outcome.busy
        self._read.description = "Read" if self._outcome.value is None else "Read again"
