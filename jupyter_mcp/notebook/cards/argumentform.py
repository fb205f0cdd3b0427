"""The arguments of a tool, in its own form or as JSON, whichever is open; both say the same.

The form is never a lie: arguments that it cannot show as they are open as JSON. What is typed as JSON stays as it was
typed until the form can show it. Who sends them, and whether they fit the whole schema, is decided elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms, visible
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.form import Form, missing_text
from jupyter_mcp.notebook.cards.jsoneditor import JsonEditor
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.notebook.cards.controls import Suggest, Variables

__all__ = ["ArgumentForm"]


class ArgumentForm:
    """A form with a switch to JSON.

    Args:
        schema: the tool's `inputSchema`, untrusted.
        changed: called after each change.
        given: arguments to start from, as they are: nothing is filled in. None starts from the schema's defaults.
        variables: where fields may take their values from; None: nowhere.
        suggest: who suggests how texts could go on.
        exact: what is written as JSON has to fit the schema here; else whoever sends it looks.

    Attributes:
        form: the fields. root: both sides, of which one is on the page. switch: the button between them.
        problem: the reason why the switch did not switch, until something is changed.
    """

    def __init__(
        self,
        schema: object,
        changed: Callable[[], object],
        given: Mapping[str, Any] | None = None,
        variables: Variables | None = None,
        suggest: Suggest | None = None,
        *,
        exact: bool = False,
    ) -> None:
        self._changed = changed
        self._exact = exact
        self._settling = True
        self._locked = False
        self.form = Form(forms.model(schema), self._on_change, variables=variables, full=True, suggest=suggest)
        self._editor: JsonEditor | None = None
        self._editor_place = kit.column([])
        self.switch = kit.widgets.ToggleButton(
            False, description="Edit as JSON", tooltip="the same arguments, as JSON", layout={"width": "auto"}
        )
        self.problem = ""
        self.root = kit.column([self.form.root, self._editor_place])
        kit.watch(self.switch, self._switched)
        if given is not None:
            self._start(given)
        self._show_side()
        self._settling = False

    @property
    def as_json(self) -> bool:
        """Whether the JSON side is open."""
        return bool(self.switch.value)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to fill in."""
        return not self.form.fields and self.form.node.kind == "object" and self.form.node.extra is None

    @property
    def taken(self) -> Mapping[str, str]:
        """Names of the notebook variables that fields take their values from, by JSON pointer."""
        return {} if self.as_json else self.form.taken

    def read(self) -> tuple[dict[str, Any] | None, str]:
        """The arguments, or the reason why there are none."""
        if self.as_json:
            return self._fitting(*self._typed())
        return (self.form.values, "") if self.form.complete else (None, missing_text(self.form))

    def settle(self) -> tuple[dict[str, Any] | None, str]:
        """The same at the moment of sending: variables are read again."""
        if not self.as_json and self.form.taken:
            self.form.refresh()
        return self.read()

    def lock(self, locked: bool) -> None:
        if locked == self._locked:
            return
        self._locked = locked
        self.form.lock(locked)
        if self._editor is not None:
            self._editor.lock(locked)
        self.switch.disabled = locked

    def _start(self, given: Mapping[str, Any]) -> None:
        """Show these in the form where it shows them as they are, else as JSON, which can escape what is not seen."""
        self.form.load(forms.draft(self.form.node, given))
        if visible.unseen(given) or not self.form.complete or not visible.same(self.form.values, dict(given)):
            self._open_editor(visible.exact(given))
            self.switch.value = True

    def _open_editor(self, text: str) -> None:
        if self._editor is None:
            self._editor = JsonEditor("Arguments as JSON", self._on_change)
            self._editor_place.children = (self._editor.root,)
            parts.wire(self._editor_place)
        self._editor.text = text

    def _typed(self) -> tuple[dict[str, Any] | None, str]:
        """What the JSON side says, or the reason why it says nothing."""
        assert self._editor is not None
        value, problem = self._editor.read()
        if problem:
            return None, problem
        return (dict(value), "") if is_mapping(value) else (None, "The arguments have to be one JSON object.")

    def _fitting(self, values: dict[str, Any] | None, problem: str) -> tuple[dict[str, Any] | None, str]:
        """What was typed as JSON, where it need not fit or does."""
        if values is None or not self._exact:
            return values, problem
        errors = forms.gather(self.form.node, forms.written(values)).errors
        return (None, f"{next(iter(errors.values()))}.") if errors else (values, "")

    def _on_change(self) -> None:
        if not self._settling:
            self.problem = ""
            self._changed()

    def _switched(self) -> None:
        if self._settling:
            return
        self._settling = True
        try:
            self.problem = ""
            if self.as_json:
                self._open_editor(visible.exact(self.form.values))
            else:
                self.problem = self._load()
                self.switch.value = bool(self.problem)
        finally:
            self._settling = False
        self._show_side()
        self._changed()

    def _load(self) -> str:
        """Put the JSON into the form, or say why it stays open."""
        values, problem = self._typed()
        if values is None:
            return problem
        draft = forms.draft(self.form.node, values)
        if isinstance(draft, forms.AsJson):
            unknown = self._unknown(values)
            what = f"no field for {visible.marked(', '.join(unknown[:5]))}" if unknown else "no fields for these"
            return f"The form has {what}; the JSON stays open."
        self.form.set_values(values)
        return ""

    def _unknown(self, values: Mapping[str, Any]) -> list[str]:
        known = {field.name for field in self.form.fields}
        return [name for name in values if name not in known] if known else []

    def _show_side(self) -> None:
        kit.hide(self.form.root, self.as_json)
        kit.hide(self._editor_place, not self.as_json)
