"""JSON as it is typed: lines with numbers, the wrong line marked, and never rewritten by us.

The component `code` shows it where the page has anywidget; a plain text area does elsewhere. What was typed and what it
means are two things: a text that is no JSON (yet) is kept, and yields no value, never an older one.
"""

from __future__ import annotations

import importlib.util
import logging
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.cards import kit

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["JsonEditor"]

log = logging.getLogger("jupyter_mcp.cards")
_AT = re.compile(r"line (\d+), column (\d+)")


class JsonEditor:
    """One JSON value as text.

    Args:
        label: what a screen reader calls it.
        changed: called after each change by the person.
        rows: lines that are in sight at once.

    Attributes:
        root: the widget.
    """

    def __init__(self, label: str, changed: Callable[[], object], rows: int = 10) -> None:
        self._box = _box(label, rows)
        self._own = 0
        self._changed = changed
        self.root = kit.row([self._box], "jmcp-control", "jmcp-code")
        kit.watch(self._box, self._on_change)

    @property
    def text(self) -> str:
        """What is there, as it was typed."""
        return str(self._box.value)

    @text.setter
    def text(self, text: str) -> None:
        self._own += 1
        try:
            self._box.value = text
            self._mark("")
        finally:
            self._own -= 1

    def read(self) -> tuple[Any, str]:
        """The value, an empty object for no text; or (None, the reason with line and column)."""
        try:
            value: Any = forms.parse_json(self.text or "{}")
        except forms.FieldError as error:
            return None, str(error)
        return value, ""

    def lock(self, locked: bool) -> None:
        self._box.disabled = locked

    def _on_change(self) -> None:
        if self._own:
            return
        self._mark(self.read()[1])
        self._changed()

    def _mark(self, problem: str) -> None:
        """Mark the line that is wrong, where the page can."""
        if not self._box.has_trait("line"):
            return
        found = _AT.search(problem)
        self._box.line, self._box.column = (int(found[1]), int(found[2])) if found else (0, 0)


def _box(label: str, rows: int) -> Any:
    if importlib.util.find_spec("anywidget") is not None:
        from jupyter_mcp.notebook.components.code import Code

        return Code(description=label, rows=rows, layout={"width": "min(680px, 100%)"})
    return kit.widgets.Textarea(
        description=label, rows=rows, continuous_update=True, layout={"width": "min(680px, 100%)"}
    )
