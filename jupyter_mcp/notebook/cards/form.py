"""A whole form as widgets: its draft, validated at every change, never sent by itself."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.controls import Setting, control
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.forms import Draft, Node
    from jupyter_mcp.notebook.cards.controls import Control, Suggest, Variables

__all__ = ["Form", "missing_text"]


class Form:
    """Controls for a schema's fields.

    Args:
        node: the form, from `forms.model`; it starts from the schema's defaults.
        changed: called after each change, when `values` and `errors` are up to date.
        problems: sentences by field name to show at once (the previous answer was refused).
        variables: where fields may take their values from; None: nowhere.
        full, suggest: as in `Setting`.

    Attributes:
        root: all of it. values: what would be sent, as far as it is right. errors: sentences by JSON pointer.
        needed: labels of what is still missing. taken: names of the variables in it, by JSON pointer.
    """

    def __init__(
        self,
        node: Node,
        changed: Callable[[], object],
        problems: Mapping[str, str] | None = None,
        *,
        variables: Variables | None = None,
        full: bool = False,
        suggest: Suggest | None = None,
    ) -> None:
        self.node = node
        self._changed = changed
        self._problems = dict(problems or {})
        self._guard = threading.RLock()
        self._variables = variables
        self.values: dict[str, Any] = {}
        self.errors: dict[str, str] = {}
        self.needed: list[str] = []
        self.taken: dict[str, str] = {}
        self._told: dict[str, str] = {}
        setting = Setting(self._on_change, variables, full, suggest)
        self._control: Control = control(node, setting, forms.draft(node), bare=True, sole=True)
        self.root = kit.column([self._control.root])  # of its own: it may be hidden
        self._validate()

    @property
    def fields(self) -> tuple[Node, ...]:
        """The fields at the top; none where the whole is a choice of alternatives."""
        return self.node.parts

    def load(self, draft: Draft) -> None:
        """Show this draft."""
        with self._guard:
            self._control.draft = draft
            self._validate()

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show these values (from the JSON side); what is not among them is untouched."""
        self.load(forms.draft(self.node, values))
        with self._guard:
            _touch(self._control)
            self._validate()

    @property
    def draft(self) -> Draft:
        return self._control.draft

    @property
    def complete(self) -> bool:
        """Whether `values` may be sent."""
        return not self.errors

    def refresh(self) -> None:
        """Read the variables again: their values may be others now."""
        with self._guard:
            self._validate()

    def lock(self, locked: bool) -> None:
        self._control.lock(locked)

    def _on_change(self) -> None:
        with self._guard:
            self._validate()
        self._changed()

    def _validate(self) -> None:
        read = self._variables.read if self._variables is not None else None
        found = forms.gather(self.node, self.draft, read)
        self.values = dict(mapping_of(found.value)) if found.value is not UNSET else {}
        self.errors, self.needed, self.taken = found.errors, found.missing, found.variables
        if found.errors or self._told or self._problems:
            self._control.tell(found.errors, "")
        self._told = found.errors
        self._tell_problems()

    def _tell_problems(self) -> None:
        """What was wrong with the answer before stands at its field until that is changed."""
        for name, one in getattr(self._control, "made", {}).items():
            if name in self._problems and not one.touched:
                one.complain(self._problems[name])


def _touch(one: Control) -> None:
    """A form that was filled from outside says what is wrong with it at once."""
    one.touched = True
    for inner in one.inside():
        _touch(inner)


def missing_text(form: Form) -> str:
    """ "Still needed: seat, date" / "Not valid yet: guests" / nothing when the form can be sent."""
    if form.needed:
        return f"Still needed: {', '.join(form.needed)}"
    if not form.errors:
        return ""
    labels = {field.name: field.label for field in form.fields}
    whole = [text for pointer, text in form.errors.items() if not pointer]
    names = [labels.get(name, name) for name in forms.by_field({p: t for p, t in form.errors.items() if p})]
    return f"Not valid yet: {', '.join(dict.fromkeys([*names, *whole]))}"
