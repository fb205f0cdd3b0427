"""What all controls have in common: label, help above, the control, the way its value is given, the reason below.

A control keeps what the person typed or chose, untouched being a state of its own. Beside it stands how the value is
given, wherever there is more than one way: as it is, empty, null, from a variable of the notebook, as JSON. So "left
out", "null" and "" are three things that can be seen. A widget is made when it is first shown, and freed with the rest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, AsJson, Draft, Node, Variable
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.controls.heading import heading
from jupyter_mcp.notebook.render import html

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.notebook.cards.controls.setting import Setting

__all__ = ["WIDE", "Control"]

WIDE = "min(560px, 100%)"
How = Literal["value", "empty", "null", "variable", "json"]


class Control:
    """Base of the controls.

    Attributes:
        node: what it is for.
        root: all of it, label to error.
        touched: whether the person has changed it; an untouched one does not complain.
    """

    empties = False
    """Whether what is empty can be sent, and has to be asked for since blank means left out."""
    wrap = "wrap"
    """Whether what does not fit into the line of the control goes to the next ("nowrap": the control gets narrower)."""
    above = False
    """Whether how the value is given stands beside the label, and not beside the control, which is long."""
    _named = True  # the heading names the field; False when the control itself shows the name

    def __init__(
        self, node: Node, setting: Setting, draft: Draft = UNSET, *, bare: bool = False, sole: bool = False
    ) -> None:
        self.node = node
        self.setting = setting
        self.bare = bare
        self.touched = False
        self._mode: How = "value"
        self._made: Any = None
        self._quiet = True
        self._locked = False
        self._how: Any = None
        self._how_elsewhere = False
        self._variable: Any = None
        self._json: Any = None
        self._error: Any = None
        self._slot: Any = None
        self._title: Any = None
        self._null: Any = None
        self._prepare()
        self._ways = {"value": "value"} if sole else self._offered()
        self.draft = draft
        head = "" if bare else heading(node, self._named)
        title = [parts.text(head)] if head else []
        if self.above:
            self._title = parts.line([*title, *self._how_shown()], "jmcp-control", "jmcp-title")
            title = [self._title] if self._title.children else []
        self.root = parts.box([*title, self._slot], "jmcp-field")
        self.root.jmcp_aside = self._aside
        self._quiet = False

    # --- what a kind of control brings -------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Before anything is shown."""

    def _show(self, draft: Draft) -> Sequence[Any]:
        """The control's own widgets, showing a draft; made at the first call."""
        raise NotImplementedError

    def _read(self) -> Draft:
        """The draft that the widgets show."""
        raise NotImplementedError

    def _disable(self, disabled: bool) -> None:
        """No changes, or changes again."""
        for made in self._made or ():
            made.disabled = disabled

    def inside(self) -> Sequence[Control]:
        """The controls of what is inside, as far as they have been made."""
        return ()

    def _tell_inside(self, errors: Mapping[str, str], at: str) -> str | None:
        """Show the problems of what is inside; returns a problem that found no place there."""
        return None

    def _aside(self) -> Sequence[Any]:
        """The widgets that are kept and not shown now: they are freed with the others."""
        own = [self._title, self._how, self._variable, self._json, self._null]
        found = [*own, *(self._made or ()), *self._kept()]
        return [one for one in found if one is not None]

    def _kept(self) -> Sequence[Any]:
        """Those of a kind of control."""
        return ()

    # --- the draft ---------------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Draft:
        """What the person has done, as `forms.drafts` has it."""
        match self._mode:
            case "null":
                return None
            case "empty":
                return [] if self.node.types == ("array",) else ""
            case "variable":
                return Variable(self._variable.value.strip().removeprefix("$"))
            case "json":
                return AsJson(self._json.value)
            case _:
                return self._read()

    @draft.setter
    def draft(self, draft: Draft) -> None:
        before, self._quiet = self._quiet, True
        try:
            self._take(draft)
        finally:
            self._quiet = before

    def _take(self, draft: Draft) -> None:
        if draft is None and self.node.nullable and "null" in self._ways:
            self._go("null")
        elif isinstance(draft, Variable) and self.setting.variables is not None:
            self._go("variable")
            self._variable.value = draft.name
        elif isinstance(draft, AsJson):
            self._go("json", draft.text)
        elif draft in ("", []) and not isinstance(draft, bool) and "empty" in self._ways:
            self._go("empty")
        else:
            self._mode = "value"
            self._made = list(self._show(draft))
            self._place(self._made)

    def _on_value(self, change: object = None) -> None:
        """The person changed something."""
        if self._quiet:
            return
        self.touched = True
        if self._mode == "empty" and self._read() is not UNSET:
            self._mode = "value"
            self._set_how()
        self._after_change()
        self.setting.changed()

    def _after_change(self) -> None:
        """Bring the control in line with what has just been changed."""

    def listen(self, made: Any, trait: str = "value") -> Any:
        """Tell the form when this widget changes."""
        made.observe(self._on_value, names=trait)
        return made

    # --- how the value is given --------------------------------------------------------------------------------------

    def _offered(self) -> dict[str, str]:
        """The ways to give the value, each in a word."""
        node, full = self.node, self.setting.full
        ways = {"value": "value"}
        if self.empties and (full or node.required) and not node.min_length and not node.min_items:
            ways["empty"] = "empty list" if node.types == ("array",) else "empty text"
        if node.nullable and self._wants_null():
            ways["null"] = "null"
        if self.setting.variables is not None and node.kind != "const":
            ways["variable"] = "variable"
        if full and node.kind not in ("boolean", "const", "json"):
            ways["json"] = "JSON"
        return ways

    def _wants_null(self) -> bool:
        return True

    def _make_how(self) -> None:
        options = [(word, way) for way, word in self._ways.items()]
        self._how = parts.select(
            options, self._mode, label="how this value is given", width="108px", _dom_classes=self._how_looks()
        )
        self._how.observe(self._on_how, names="value")

    def _on_how(self, change: object) -> None:
        if self._quiet or self._how.value == self._mode:
            return
        way: How = self._how.value
        problem = self._change_to(way)
        self.touched = True
        if problem:
            self._set_how()
            self._say(problem)
            return
        self.setting.changed()

    def _change_to(self, way: How) -> str:
        """Change the way by hand, keeping what was there where the new way can say it; the reason why not, or ""."""
        before, self._quiet = self._quiet, True
        try:
            if self._mode == "json" and way == "value":
                if self._json.value.strip():
                    try:
                        value = forms.parse_json(self._json.value)
                    except forms.FieldError as error:
                        return str(error)
                    made = forms.draft(self.node, value)
                    if isinstance(made, AsJson):
                        return "The fields cannot show this value; it stays as JSON."
                    self._take(made)
                    return ""
                self._take(UNSET)
                return ""
            if way == "json":
                value, errors = forms.collect(self.node, self.draft, self._variables_read)
                self._go("json", _pretty(value) if not errors and value is not UNSET else "")
            elif way == "value":
                self._take(self._read() if self._made else UNSET)
            else:
                self._go(way)
            return ""
        finally:
            self._quiet = before

    @property
    def _variables_read(self) -> Callable[[str], Any] | None:
        return self.setting.variables.read if self.setting.variables is not None else None

    def _go(self, way: How, text: str | None = None) -> None:
        """Show a way that is not the control's own."""
        self._mode = way
        shown: list[Any] = []
        if way == "variable":
            shown = [self._variable_box()]
        elif way == "json":
            self._ways.setdefault("json", "JSON")
            shown = [self._json_box()]
            if text is not None:
                self._json.value = text
        elif way == "null":
            self._null = self._null or parts.text(html.muted("sends null"))
            shown = [self._null]
        elif way == "empty":  # whoever writes something into it means that
            shown = self._made = list(self._show(UNSET))
        self._place(shown)

    def _place(self, shown: Sequence[Any]) -> None:
        if self._how is None and len(self._ways) > 1:
            self._make_how()
        else:
            self._set_how()
        children = tuple(shown) if self.above else (*shown, *self._how_shown())
        if self.above and self._title is not None and not self._title.children and self._how_shown():
            self._title.children = self._how_shown()  # a way that came later: JSON that the fields cannot show
            self.root.children = (self._title, *self.root.children)
        if self._slot is None:
            self._slot = parts.line(children, "jmcp-control", wrap=self.wrap)
        elif self._slot.children != children:
            self._slot.children = children
            parts.wire(self._slot)
        if self._locked:
            self.lock(True)

    def _how_shown(self) -> tuple[Any, ...]:
        return (self._how,) if self._how is not None and not self._how_elsewhere else ()

    def hand_out_how(self) -> Any:
        """The choice of how the value is given, for whoever shows it in a better place; None where there is none.

        A control that stands below a line of its own for nothing but that gives the line up.
        """
        if not (self.above and self.bare) or self._how is None:
            return None
        self._how_elsewhere = True
        if self._title is not None:
            self._title.children = ()
            self.root.children = tuple(one for one in self.root.children if one is not self._title)
        return self._how

    def _set_how(self) -> None:
        if self._how is None:
            return
        before, self._quiet = self._quiet, True
        options = tuple((word, way) for way, word in self._ways.items())
        with self._how.hold_sync():  # what may be chosen and what is, in one message
            if tuple(self._how.options) != options:
                self._how.options = options
            self._how.value = self._mode
        self._how._dom_classes = self._how_looks()
        self._quiet = before

    def _how_looks(self) -> tuple[str, ...]:
        """As long as it says what everybody expects, it stands back."""
        return ("jmcp-how", "jmcp-usual") if self._mode == "value" else ("jmcp-how",)

    def _variable_box(self) -> Any:
        variables = self.setting.variables
        assert variables is not None
        if self._variable is None:
            self._variable = self.listen(
                parts.make(
                    "Combobox",
                    description=f"{self.node.label}: variable",
                    placeholder="name of a notebook variable",
                    layout=parts.look(width="min(320px, 100%)"),
                )
            )
        self._variable.options = tuple(variables.names())
        return self._variable

    def _json_box(self) -> Any:
        if self._json is None:
            self._json = self.listen(
                parts.make(
                    "Textarea",
                    description=f"{self.node.label} as JSON",
                    placeholder=f"JSON: {forms.shape(self.node.schema)}",
                    rows=4,
                    continuous_update=True,
                    layout=parts.look(width=WIDE),
                    _dom_classes=("jmcp-code",),
                )
            )
        return self._json

    # --- what is wrong, and what is locked ---------------------------------------------------------------------------

    def tell(self, errors: Mapping[str, str], at: str) -> None:
        """Show this field's problems, or none.

        Args:
            errors: sentences by JSON pointer, of the whole form. at: where this field stands.
        """
        inner = self._tell_inside(errors, at) if self._mode == "value" else None
        if self._mode != "value" and at not in errors:
            inner = next((text for place, text in errors.items() if place.startswith(f"{at}/")), None)
        problem = errors.get(at) or inner
        self._say(problem if problem and self.touched else "")

    def _say(self, problem: str) -> None:
        safe = f'<div role="alert" class="jmcp-error">{html.escape(problem)}</div>' if problem else ""
        if self._error is None:
            if not safe:
                return
            self._error = kit.markup(safe)
            self.root.children = (*self.root.children, self._error)
        kit.paint(self._error, safe)
        (self.root.add_class if problem else self.root.remove_class)("jmcp-bad")

    def complain(self, problem: str) -> None:
        """Show a sentence that is not of this form's making (the answer before was refused)."""
        self._say(problem)

    def lock(self, locked: bool) -> None:
        """No changes while something runs."""
        self._locked = locked
        self._disable(locked)
        for made in (self._how, self._variable, self._json):
            if made is not None:
                made.disabled = locked


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, (dict, list)) else None)
