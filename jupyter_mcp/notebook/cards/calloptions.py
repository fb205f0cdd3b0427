"""How a call is made beside its arguments: `_meta`, timeout, as a task. A fold that is made when it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host import forms
from jupyter_mcp.host.meta import checked_meta
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.form import Form
from jupyter_mcp.notebook.cards.jsoneditor import JsonEditor
from jupyter_mcp.notebook.cards.runner import CallOptions

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OptionsFold", "spelled"]

_SCHEMA = {
    "type": "object",
    "properties": {
        "timeout": {
            "type": "number",
            "title": "Timeout",
            "description": "seconds without an answer or progress; blank for the server's own",
            "exclusiveMinimum": 0,
            "maximum": 86_400,
        },
        "task": {
            "type": "boolean",
            "title": "Run as a task",
            "description": "where the server lets us choose: it goes on when the connection is lost",
            "default": False,
        },
    },
}


class OptionsFold:
    """The fold.

    Args:
        changed: called after each change.

    Attributes:
        button: opens it. root: once opened, what is in it.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed = changed
        self._form: Form | None = None
        self._meta: JsonEditor | None = None
        self._inside = kit.column([], "jmcp-group")
        self.button = kit.widgets.ToggleButton(
            False, description="Options", tooltip="_meta, timeout, run as a task", layout={"width": "auto"}
        )
        kit.watch(self.button, self._toggle)
        kit.hide(self._inside, True)
        self.root = self._inside

    def read(self) -> tuple[CallOptions | None, str]:
        """The options (None for none), or the reason why they cannot be used. What was set holds also when folded."""
        if self._form is None or self._meta is None:
            return None, ""
        if self._form.errors:
            return None, f"Timeout: {next(iter(self._form.errors.values()))}"
        value, problem = self._meta.read()
        if problem:
            return None, f"_meta: {problem}"
        try:
            meta = checked_meta(value)
        except MCPError as error:
            return None, str(error)
        found = CallOptions(meta, self._form.values.get("timeout"), self._form.values.get("task", False))
        return (found, "") if found != CallOptions() else (None, "")

    def _toggle(self) -> None:
        if self._form is None:
            self._build()
        kit.hide(self._inside, not self.button.value)

    def _build(self) -> None:
        self._form = Form(forms.model(_SCHEMA), self._changed)
        self._meta = JsonEditor("_meta as JSON", self._changed, rows=4)
        head = "<b>_meta</b><div class='jmcp-help'>a JSON object that goes along with the request, of any depth</div>"
        self._inside.children = (self._form.root, kit.markup(head), self._meta.root)
        parts.wire(self._inside)


def spelled(options: CallOptions | None) -> dict[str, Any]:
    """The options as keyword arguments of `Tool.call`."""
    if options is None:
        return {}
    found = {"meta": options.meta, "timeout": options.timeout, "background": options.task or None}
    return {name: value for name, value in found.items() if value is not None}
