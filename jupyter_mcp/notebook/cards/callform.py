"""One call, as it is being put together: its arguments, how it is made, and the same call as a line to keep.

It sends nothing: `settle` says what would be sent, at the moment of sending.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.argumentform import ArgumentForm
from jupyter_mcp.notebook.cards.calloptions import OptionsFold, spelled
from jupyter_mcp.notebook.cards.spelling import magic_line, python_call
from jupyter_mcp.notebook.cards.variables import NotebookVariables
from jupyter_mcp.notebook.render import html

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.cards.runner import CallOptions

__all__ = ["CallForm", "Ready"]


@dataclass(frozen=True)
class Ready:
    """A call that can be made."""

    arguments: dict[str, Any]
    options: CallOptions | None = None


class CallForm:
    """The form of a tool's call.

    Args:
        server, tool: whose, and which.
        schema: its `inputSchema`, untrusted.
        changed: called after each change.

    Attributes:
        root: arguments and options. buttons: between form and JSON, and for the options. copy: the call as lines, with
            buttons.
    """

    def __init__(self, server: str, tool: str, schema: object, changed: Callable[[], object]) -> None:
        self._server, self._tool = server, tool
        self.arguments = ArgumentForm(schema, changed, variables=NotebookVariables())
        self._options = OptionsFold(changed)
        self.buttons = (self.arguments.switch, self._options.button)
        self.root = kit.column([self.arguments.root, self._options.root])
        self._lines = kit.markup("")
        self._shown: dict[str, str] = {}
        self._cells = _cell_buttons(lambda key: self._shown.get(key, ""))
        self.copy = kit.column([*([self._cells] if self._cells is not None else []), self._lines])

    def read(self) -> tuple[Ready | None, str]:
        """The call as it stands, or the reason why it cannot be made; the lines to copy follow."""
        return self._read(*self.arguments.read())

    def settle(self) -> tuple[Ready | None, str]:
        """The same at the moment of sending: variables are read again."""
        return self._read(*self.arguments.settle())

    @property
    def is_error(self) -> bool:
        """Whether what is wrong is a mistake, and not only something missing."""
        return bool(self.arguments.problem) or self.arguments.as_json

    def _read(self, values: dict[str, Any] | None, problem: str) -> tuple[Ready | None, str]:
        options, wrong = self._options.read()
        problem = self.arguments.problem or problem or wrong
        ready = Ready(values, options) if values is not None and not wrong else None
        self._spell(ready)
        return ready, problem

    def _spell(self, ready: Ready | None) -> None:
        if ready is None:
            self._shown = {}
        else:
            names, more = self.arguments.taken, spelled(ready.options)
            python = python_call(self._server, self._tool, ready.arguments, names, more)
            magic = python if more else magic_line(self._server, self._tool, ready.arguments, names)
            self._shown = {"magic": magic, "python": f"import jupyter_mcp as mcp\n\nresult = {python}"}
        if self._cells is not None:
            self._cells.disabled = ready is None
        lines = "\n".join(dict.fromkeys(self._shown.values()))
        folded = html.details(html.muted("the same call as a line to copy"), html.pre(lines)) if lines else ""
        kit.paint(self._lines, folded)


def _cell_buttons(give: Callable[[str], str]) -> Any:
    """Buttons that put the call into a cell below, or on the clipboard; None where the page has no anywidget."""
    if importlib.util.find_spec("anywidget") is None:
        return None
    from jupyter_mcp.notebook.components.newcell import NewCell

    return NewCell([("magic", "Copy as magic", "code"), ("python", "Copy as Python", "code")], give)
