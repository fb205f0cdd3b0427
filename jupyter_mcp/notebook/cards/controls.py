"""One field of a form as widgets: label, help above the control, the control, the reason it does not fit below.

A control keeps what the person typed or chose, untouched being a state of its own; what that means as JSON is decided
in `host.forms`. Nothing looks chosen that is not: a choice without a default starts at "choose", a yes-or-no without a
default has neither side pressed.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, Field
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import as_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Control", "control"]

Raw = Any
MAX_BOXES = 8  # choices up to here are check boxes, more are a list
_WIDE = "min(560px, 100%)"


class Control:
    """Base of the controls.

    Attributes:
        field: what it is for.
        root: all of it, label to error.
        touched: whether the person has changed it; an untouched one does not complain.
    """

    def __init__(self, field: Field, changed: Callable[[], object]) -> None:
        self.field = field
        self.touched = False
        self._changed = changed
        self._quiet = False
        self._null: Any = None
        self._error = kit.markup("")
        parts = self._parts()
        self.root = kit.column([kit.markup(_heading(field, self._named)), *parts, self._error], "jmcp-field")

    # --- what a kind of control brings -------------------------------------------------------------------------------

    def _inputs(self) -> list[Any]:
        """Make the control's own widgets."""
        raise NotImplementedError

    def _read(self) -> Raw:
        """The draft that the widgets show."""
        raise NotImplementedError

    def _write(self, raw: Raw) -> None:
        """Show a draft."""
        raise NotImplementedError

    def _disable(self, disabled: bool) -> None:
        for made in self._own:
            made.disabled = disabled

    # --- what all of them do -----------------------------------------------------------------------------------------

    def _parts(self) -> list[Any]:
        self._own = self._inputs()
        parts = list(self._own)
        if self.field.nullable and self._wants_null:
            self._null = self.listen(kit.tick("null", tip=f"send JSON null for {self.field.label}"))
            parts.append(self._null)
        return [kit.row(parts, "jmcp-control")]

    _wants_null = True
    _named = True  # the heading names the field; False when the control itself shows the name

    def listen(self, made: Any) -> Any:
        """Tell the form when this widget's value changes."""
        made.observe(self._on_value, names="value")
        return made

    def _on_value(self, change: object) -> None:
        if self._quiet:
            return
        self.touched = True
        self._after_change()
        self._changed()

    def _after_change(self) -> None:
        if self._null is not None:
            self._disable(bool(self._null.value))

    @property
    def raw(self) -> Raw:
        """UNSET when untouched or blank, None for a chosen null, else what is there."""
        if self._null is not None and self._null.value:
            return None
        return self._read()

    @raw.setter
    def raw(self, raw: Raw) -> None:
        self._quiet = True
        try:
            if self._null is not None:
                self._null.value = raw is None
            self._write(UNSET if raw is None and self._null is not None else raw)
            self._after_change()
        finally:
            self._quiet = False

    def tell(self, problems: Mapping[str, str]) -> None:
        """Show this field's problem, or none."""
        problem = problems.get(self.field.name)
        safe = f'<div role="alert" class="jmcp-error">{html.escape(problem)}</div>' if problem else ""
        kit.paint(self._error, safe)
        (self.root.add_class if problem else self.root.remove_class)("jmcp-bad")

    def lock(self, locked: bool) -> None:
        """No changes while something runs."""
        self._disable(locked)
        if self._null is not None:
            self._null.disabled = locked


def _heading(field: Field, named: bool) -> str:
    """Label, machine name, "required" in words, then the description and what is accepted: above the control."""
    plain = field.name.replace("_", " ").replace("-", " ").casefold()
    name = f" {html.muted(html.code(field.name))}" if field.label.casefold() not in (field.name, plain) else ""
    required = f" {html.muted('(required)')}" if field.required else ""
    limits = "" if field.kind in ("boolean", "date") else forms.constraints(field)  # those controls show it themselves
    told = [part for part in (flat(field.description, 600), limits) if part]
    help_ = f'<div class="jmcp-help">{"<br>".join(html.escape(part) for part in told)}</div>' if told else ""
    label = f"<b>{html.escape(field.label)}</b>{name}{required}" if named else ""
    return f"<div>{label}{help_}</div>" if label or help_ else ""


class _Text(Control):
    """One line or several: text, numbers, addresses, moments, lists, JSON."""

    _several = frozenset(["multiline", "list", "json"])

    def _inputs(self) -> list[Any]:
        field = self.field
        common: dict[str, Any] = {
            "description": field.label,
            "placeholder": _placeholder(field),
            "continuous_update": True,
            "layout": {"width": _WIDE},
        }
        if field.secret:
            made = kit.widgets.Password(**common)
        elif field.kind in self._several:
            made = kit.widgets.Textarea(rows=4 if field.kind == "json" else 3, **common)
        elif field.choices:
            made = kit.widgets.Combobox(options=[str(value) for _, value in field.choices], **common)
        else:
            made = kit.widgets.Text(**common)
        if field.kind == "json":
            made.add_class("jmcp-code")
        self._box = self.listen(made)
        self._empty: Any = None
        if _may_be_empty(field):
            word = "send an empty list" if field.kind == "list" else "send empty text"
            self._empty = self.listen(
                kit.widgets.Checkbox(False, description=word, indent=False, layout={"width": "auto"})
            )
            return [self._box, self._empty]
        return [self._box]

    def _read(self) -> Raw:
        if self._box.value:
            return self._box.value
        if self._empty is not None and self._empty.value:
            return [] if self.field.kind == "list" else ""
        return UNSET

    def _write(self, raw: Raw) -> None:
        self._box.value = raw if isinstance(raw, str) else ""
        if self._empty is not None:
            self._empty.value = raw in ("", [])
            kit.hide(self._empty, bool(self._box.value))

    def _after_change(self) -> None:
        super()._after_change()
        if self._empty is not None:
            kit.hide(self._empty, bool(self._box.value))


def _may_be_empty(field: Field) -> bool:
    """A required text or list can only be sent empty if the person can say so."""
    if not field.required:
        return False
    return (field.kind in ("text", "multiline") and not field.min_length) or (
        field.kind == "list" and not field.min_items
    )


def _placeholder(field: Field) -> str:
    words = {
        "date-time": "2026-03-01T10:00:00Z",
        "email": "name@example.org",
        "uri": "https://",
        "json": "JSON",
        "list": "one per line",
    }
    return words.get(field.kind, "")


class _YesNo(Control):
    """A check box where the schema says what it starts as, else two radio buttons with neither pressed."""

    _wants_null = False

    def _inputs(self) -> list[Any]:
        field = self.field
        if isinstance(field.default, bool) and not field.nullable:
            made = kit.tick(field.label, on=field.default)
            self._options: list[tuple[str, Any]] | None = None
            self._named = False
        else:
            self._options = [("yes", True), ("no", False)]
            self._options += [("null", None)] if field.nullable else []
            self._options += [] if field.required else [("leave out", UNSET)]
            made = kit.widgets.RadioButtons(
                options=[label for label, _ in self._options],
                value=None,
                description=field.label,
                layout={"width": "auto"},
            )
            if made.has_trait("orientation"):
                made.orientation = "horizontal"
        self._box = self.listen(made)
        return [self._box]

    def _read(self) -> Raw:
        if self._options is None:
            return bool(self._box.value)
        at: int | None = self._box.index
        return UNSET if at is None else self._options[at][1]

    def _write(self, raw: Raw) -> None:
        if self._options is None:
            self._box.value = bool(raw)
            return
        found = [at for at, (_, value) in enumerate(self._options) if value is raw]
        self._box.index = found[0] if found else None


class _Choice(Control):
    """A drop-down whose first line chooses nothing."""

    _wants_null = False

    def _inputs(self) -> list[Any]:
        none = "— choose —" if self.field.required and self.field.default is UNSET else "— leave out —"
        self._options = [(none, UNSET), *self.field.choices]
        self._options += [("null", None)] if self.field.nullable else []
        labels = [(flat(label, 120), at) for at, (label, _) in enumerate(self._options)]
        self._box = self.listen(
            kit.widgets.Dropdown(options=labels, value=0, description=self.field.label, layout={"width": _WIDE})
        )
        return [self._box]

    def _read(self) -> Raw:
        return self._options[self._box.value or 0][1]

    def _write(self, raw: Raw) -> None:
        found = [at for at, (_, value) in enumerate(self._options) if value is raw or _same(value, raw)]
        self._box.value = found[0] if found else 0


class _Choices(Control):
    """Check boxes for a few, a list for many; nothing ticked means left out."""

    def _inputs(self) -> list[Any]:
        field = self.field
        labels = [flat(label, 120) for label, _ in field.choices]
        self._empty: Any = None
        if field.required and not field.min_items:
            self._empty = self.listen(kit.tick("none of these"))
        extra = [self._empty] if self._empty is not None else []
        if len(labels) <= MAX_BOXES:
            self._boxes = [self.listen(kit.tick(label)) for label in labels]
            self._list: Any = None
            return [*self._boxes, *extra]
        self._boxes = []
        options = [(label, at) for at, label in enumerate(labels)]
        self._list = self.listen(
            kit.widgets.SelectMultiple(options=options, rows=8, description=field.label, layout={"width": _WIDE})
        )
        return [self._list, *extra]

    def _read(self) -> Raw:
        ticked = (
            list(self._list.value)
            if self._list is not None
            else [at for at, box in enumerate(self._boxes) if box.value]
        )
        if ticked:
            return [self.field.choices[at][1] for at in sorted(ticked)]
        return [] if self._empty is not None and self._empty.value else UNSET

    def _write(self, raw: Raw) -> None:
        chosen = as_list(raw)
        ticked = [at for at, (_, value) in enumerate(self.field.choices) if any(_same(value, one) for one in chosen)]
        if self._list is not None:
            self._list.value = tuple(ticked)
        for at, box in enumerate(self._boxes):
            box.value = at in ticked
        if self._empty is not None:
            self._empty.value = raw == []


class _Date(Control):
    """The page's own date picker."""

    def _inputs(self) -> list[Any]:
        self._box = self.listen(kit.widgets.DatePicker(description=self.field.label, layout={"width": "200px"}))
        return [self._box]

    def _read(self) -> Raw:
        return self._box.value.isoformat() if self._box.value is not None else UNSET

    def _write(self, raw: Raw) -> None:
        try:
            self._box.value = date.fromisoformat(raw) if isinstance(raw, str) else None
        except ValueError:
            self._box.value = None


class _Group(Control):
    """An object of a few parts, each with its own control."""

    _wants_null = True

    def _inputs(self) -> list[Any]:
        self._controls = [control(part, self._part_changed) for part in self.field.parts]
        self._column = kit.column([one.root for one in self._controls], "jmcp-group")
        return [self._column]

    def _part_changed(self) -> None:
        self._on_value(None)

    def _disable(self, disabled: bool) -> None:
        for one in self._controls:
            one.lock(disabled)

    def _read(self) -> Raw:
        return {one.field.name: one.raw for one in self._controls}

    def _write(self, raw: Raw) -> None:
        values = mapping_of(raw)
        for one in self._controls:
            one.raw = values.get(one.field.name, UNSET)

    def tell(self, problems: Mapping[str, str]) -> None:
        super().tell(problems)
        head = f"{self.field.name}."
        inner = {name[len(head) :]: text for name, text in problems.items() if name.startswith(head)}
        for one in self._controls:
            one.tell(inner if one.touched else {})


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


_KINDS: Mapping[str, type[Control]] = {
    "boolean": _YesNo,
    "choice": _Choice,
    "choices": _Choices,
    "date": _Date,
    "group": _Group,
}


def control(field: Field, changed: Callable[[], object]) -> Control:
    """The control of a field; `changed` is called after each change by the person."""
    return _KINDS.get(field.kind, _Text)(field, changed)
