"""One act, as it is being put together: its arguments, how it is made, and the same act as a line to keep.

A tool's call, a prompt, a template's address: one form for all. It sends nothing: `settle` says what would be sent, at
the moment of sending.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.argumentform import ArgumentForm
from jupyter_mcp.notebook.cards.calloptions import OptionsFold
from jupyter_mcp.notebook.cards.variables import NotebookVariables
from jupyter_mcp.notebook.render import html

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.notebook.cards.controls import Suggest
    from jupyter_mcp.notebook.cards.runner import CallOptions

__all__ = ["CallForm", "Ready"]


@dataclass(frozen=True)
class Ready:
    """An act that can be begun.

    Attributes:
        arguments: as they would be sent. options: how a call is made; None for as usual.
        names: of the notebook variables that arguments come from, by JSON pointer.
    """

    arguments: dict[str, Any]
    options: CallOptions | None = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])


class CallForm:
    """The form of an act.

    Args:
        schema: of its arguments, untrusted.
        changed: called after each change.
        spell: the act as a `%mcp` line and as a line of Python.
        options: whether it takes the options of a call, whose arguments are checked again when it is made; without
            them what is written as JSON has to fit here.
        suggest: who suggests how texts could go on.

    Attributes:
        root: arguments and options. buttons: between form and JSON, and for the options. copy: the act as lines, with
            buttons.
    """

    def __init__(
        self,
        schema: object,
        changed: Callable[[], object],
        spell: Callable[[Ready], tuple[str, str]],
        *,
        options: bool = True,
        suggest: Suggest | None = None,
    ) -> None:
        self._spelling = spell
        self.arguments = ArgumentForm(
            schema, changed, variables=NotebookVariables(), suggest=suggest, exact=not options
        )
        self._options = OptionsFold(changed) if options else None
        switch = [] if self.arguments.empty else [self.arguments.switch]
        fold = [self._options] if self._options is not None else []
        self.buttons = (*switch, *(one.button for one in fold))
        self.root = kit.column([self.arguments.root, *(one.root for one in fold)])
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
        options, wrong = self._options.read() if self._options is not None else (None, "")
        problem = self.arguments.problem or problem or wrong
        ready = Ready(values, options, self.arguments.taken) if values is not None and not wrong else None
        self._spell(ready)
        return ready, problem

    def _spell(self, ready: Ready | None) -> None:
        self._shown = {}
        if ready is not None:
            magic, python = self._spelling(ready)
            self._shown = {"magic": magic, "python": f"import jupyter_mcp as mcp\n\nresult = {python}"}
        if self._cells is not None:
            self._cells.disabled = ready is None
        lines = "\n".join(dict.fromkeys(self._shown.values()))
        folded = html.details(html.muted("the same as a line to copy"), html.pre(lines)) if lines else ""
        kit.paint(self._lines, folded)


def _cell_buttons(give: Callable[[str], str]) -> Any:
    """Buttons that put the act into a cell below, or on the clipboard; None where the page has no anywidget."""
    if importlib.util.find_spec("anywidget") is None:
        return None
    from jupyter_mcp.notebook.components.newcell import NewCell

    return NewCell([("magic", "Copy as magic", "code"), ("python", "Copy as Python", "code")], give)
