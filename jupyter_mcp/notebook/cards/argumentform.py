"""The arguments of a tool, in its own form or as JSON, whichever is open; both say the same.

The form is never a lie: arguments that it cannot show as they are open as JSON, and what the form has no field for
keeps the JSON open. Who sends them, and whether they fit the whole schema, is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms, visible
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.form import Form, missing_text
from jupyter_mcp.protocol.shapes import is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ArgumentForm"]


class ArgumentForm:
    """A form with a switch to JSON.

    Args:
        schema: the tool's `inputSchema`, untrusted.
        changed: called after each change.
        given: arguments to start from, as they are: nothing is filled in. None starts from the schema's defaults.

    Attributes:
        form: the fields. root: both sides, of which one is on the page. switch: the button between them.
        problem: the reason why the switch did not switch, until something is changed.
    """

    def __init__(self, schema: object, changed: Callable[[], object], given: Mapping[str, Any] | None = None) -> None:
        self._changed = changed
        self._settling = True
        found = forms.fields(schema)
        self.form = Form(found if given is None else [_as_given(one, given) for one in found], self._on_change)
        self._json = kit.widgets.Textarea(
            description="Arguments as JSON", rows=10, continuous_update=True, layout={"width": "min(680px, 100%)"}
        )
        self._json_row = kit.row([self._json], "jmcp-control", "jmcp-code")
        self.switch = kit.widgets.ToggleButton(
            False, description="Edit as JSON", tooltip="the same arguments, as JSON", layout={"width": "auto"}
        )
        self.problem = ""
        self.root = kit.column([self.form.root, self._json_row])
        kit.watch(self._json, self._on_change)
        kit.watch(self.switch, self._switched)
        if given is not None:
            self._start(given)
        self._show_side()
        self._settling = False

    @property
    def as_json(self) -> bool:
        """Whether the JSON side is open."""
        return bool(self.switch.value)

    def read(self) -> tuple[dict[str, Any] | None, str]:
        """The arguments, or the reason why there are none."""
        if self.as_json:
            return self._typed()
        return (self.form.values, "") if self.form.complete else (None, missing_text(self.form))

    def lock(self, locked: bool) -> None:
        self.form.lock(locked)
        self._json.disabled = locked
        self.switch.disabled = locked

    def _start(self, given: Mapping[str, Any]) -> None:
        """Show these in the form where it shows them as they are, else as JSON, which can escape what is not seen."""
        self.form.load(forms.draft(self.form.fields, given))
        if visible.unseen(given) or not self.form.complete or not visible.same(self.form.values, dict(given)):
            self._json.value = visible.exact(given)
            self.switch.value = True

    def _typed(self) -> tuple[dict[str, Any] | None, str]:
        """What the JSON side says, or the reason why it says nothing."""
        try:
            value = forms.parse_json(self._json.value or "{}")
        except forms.FieldError as error:
            return None, str(error)
        return (dict(value), "") if is_mapping(value) else (None, "The arguments have to be one JSON object.")

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
                self._json.value = visible.exact(self.form.values)
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
        known = {field.name for field in self.form.fields}
        unknown = [name for name in values if name not in known]
        if unknown:
            return f"The form has no field for {visible.marked(', '.join(unknown[:5]))}; the JSON stays open."
        self.form.set_values(values)
        return ""

    def _show_side(self) -> None:
        kit.hide(self.form.root, self.as_json)
        kit.hide(self._json_row, not self.as_json)


def _as_given(field: forms.Field, given: Mapping[str, Any]) -> forms.Field:
    """The field for arguments that somebody chose: what they left out stays out, and lines of a text stay lines."""
    value = given.get(field.name)
    inner = mapping_of(value)
    default = f"left out, it is {visible.exact(field.default)}" if field.default is not forms.UNSET else ""
    told = " · ".join(part for part in (field.description, default) if part)
    several = field.kind == "text" and isinstance(value, str) and ("\n" in value or len(value) > 80)
    return replace(
        field,
        default=forms.UNSET,
        description=told,
        kind="multiline" if several else field.kind,
        parts=tuple(_as_given(part, inner) for part in field.parts),
    )
