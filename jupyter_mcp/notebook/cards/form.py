"""A whole form as widgets: the drafts of its controls, validated at every change, never sent by itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.controls import control

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.forms import Field

__all__ = ["Form", "missing_text"]


class Form:
    """Controls for some fields.

    Args:
        fields: what to ask for; the drafts start from their defaults.
        changed: called after each change, when `values` and `errors` are up to date.
        problems: sentences by field name to show at once (the previous answer was refused).
    """

    def __init__(
        self, fields: Sequence[Field], changed: Callable[[], object], problems: Mapping[str, str] | None = None
    ) -> None:
        self.fields = list(fields)
        self._changed = changed
        self._problems = dict(problems or {})
        self._guard = threading.RLock()
        self._controls = [control(field, self._on_change) for field in self.fields]
        self.root = kit.column([one.root for one in self._controls])
        self.values: dict[str, Any] = {}
        self.errors: dict[str, str] = {}
        self.load(forms.draft(self.fields))

    def load(self, raws: Mapping[str, Any]) -> None:
        """Show these drafts."""
        with self._guard:
            for one in self._controls:
                one.raw = raws.get(one.field.name, forms.UNSET)
            self._validate()

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show these values (from the JSON side); what is not among them is untouched."""
        self.load(forms.draft(self.fields, values))
        for one in self._controls:
            one.touched = True
        self._validate()

    @property
    def raws(self) -> dict[str, Any]:
        return {one.field.name: one.raw for one in self._controls}

    @property
    def complete(self) -> bool:
        """Whether `values` may be sent."""
        return not self.errors

    @property
    def needed(self) -> list[str]:
        """Labels of what is still missing."""
        return forms.needed(self.fields, self.raws)

    def lock(self, locked: bool) -> None:
        for one in self._controls:
            one.lock(locked)

    def _on_change(self) -> None:
        with self._guard:
            self._validate()
        self._changed()

    def _validate(self) -> None:
        self.values, self.errors = forms.collect(self.fields, self.raws)
        for one in self._controls:
            shown = self.errors if one.touched else {}
            if not one.touched and one.field.name in self._problems:
                shown = {one.field.name: self._problems[one.field.name]}
            one.tell(shown)


def missing_text(form: Form) -> str:
    """ "Still needed: seat, date" / "Not valid yet: guests" / nothing when the form can be sent."""
    needed = form.needed
    if needed:
        return f"Still needed: {', '.join(needed)}"
    if not form.errors:
        return ""
    labels = {field.name: field.label for field in form.fields}
    names = [labels.get(name.split(".")[0], name) for name in form.errors]
    return f"Not valid yet: {', '.join(dict.fromkeys(names))}"
