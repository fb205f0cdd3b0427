"""One tool: what it is, its form or its JSON, Call, and what came back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.browser import Outcome
from jupyter_mcp.notebook.cards.form import Form, missing_text
from jupyter_mcp.notebook.cards.spelling import magic_line, python_call
from jupyter_mcp.notebook.cards.switching import ModelSwitch
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.text import cut, flat
from jupyter_mcp.protocol.shapes import is_mapping, mapping_of

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
        self._name = str(tool.get("name") or "")
        self._runner = runner
        self._form = Form(forms.fields(tool.get("inputSchema")), self._refresh)
        self._json = kit.widgets.Textarea(
            description="Arguments as JSON", rows=10, continuous_update=True, layout={"width": "min(680px, 100%)"}
        )
        self._json_row = kit.row([self._json], "jmcp-control", "jmcp-code")
        kit.hide(self._json_row, True)
        self._as_json = kit.widgets.ToggleButton(
            False, description="Edit as JSON", tooltip="the same arguments, as JSON", layout={"width": "auto"}
        )
        self._status = kit.markup("")
        self._call = kit.button("Call", self._press, look="primary", tip=f"Call {server}.{self._name}")
        self._copy = kit.markup("")
        self._outcome = Outcome(self._refresh)
        self._leaving = False
        self.root = kit.column(
            [
                kit.markup(_about(server, tool), "jmcp-head"),
                self._form.root,
                self._json_row,
                self._status,
                kit.row([self._call, self._as_json]),
                ModelSwitch(runner, server, self._name).root,
                self._copy,
                self._outcome.root,
            ]
        )
        kit.watch(self._json, self._refresh)
        kit.watch(self._as_json, self._switch)
        self._refresh()

    def _arguments(self) -> tuple[dict[str, Any] | None, str]:
        """The arguments to send, or the reason why they cannot be sent."""
        if not self._as_json.value:
            return (self._form.values, "") if self._form.complete else (None, missing_text(self._form))
        return self._typed()

    def _typed(self) -> tuple[dict[str, Any] | None, str]:
        """What the JSON side says, or the reason why it says nothing."""
        try:
            value = forms.parse_json(self._json.value or "{}")
        except forms.FieldError as error:
            return None, str(error)
        return (dict(value), "") if is_mapping(value) else (None, "The arguments have to be one JSON object.")

    def _refresh(self) -> None:
        values, problem = self._arguments()
        busy = self._outcome.busy
        self._call.disabled = values is None or busy
        self._form.lock(busy)
        self._json.disabled = busy
        self._as_json.disabled = busy
        if not self._leaving:
            kit.paint(self._status, kit.status(problem, "error" if self._as_json.value and problem else "plain"))
        if values is not None:
            lines = f"{magic_line(self._server, self._name, values)}\n{python_call(self._server, self._name, values)}"
            kit.paint(self._copy, html.details(html.muted("the same call as a line to copy"), html.pre(lines)))

    def _switch(self) -> None:
        """Between form and JSON; what the form cannot show keeps the JSON side open."""
        if self._leaving:
            return
        if self._as_json.value:
            self._json.value = json.dumps(self._form.values, ensure_ascii=False, indent=2)
        elif not self._load():
            return
        kit.hide(self._form.root, bool(self._as_json.value))
        kit.hide(self._json_row, not self._as_json.value)
        self._refresh()

    def _load(self) -> bool:
        values, problem = self._typed()
        known = {field.name for field in self._form.fields}
        unknown = [name for name in values or {} if name not in known]
        if unknown:
            problem = f"The form has no field for {', '.join(unknown[:5])}; the JSON stays open."
        if problem:
            self._leaving = True
            self._as_json.value = True
            self._leaving = False
            kit.paint(self._status, kit.status(problem, "error"))
            return False
        self._form.set_values(values or {})
        return True

    def _press(self) -> None:
        values, _ = self._arguments()
        if values is None or self._outcome.busy:
            return
        label = f"{self._server}.{self._name}"
        self._outcome.run(label, lambda listen: self._runner.call(self._server, self._name, values, listen))


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
