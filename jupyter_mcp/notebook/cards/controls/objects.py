"""An object: its members as fields, those that the schema does not name as rows, deep parts made when asked for.

An object that may be left out is left out until somebody says that it is there; then even an empty one is sent. In a
long form the optional members wait behind a button that names them, and what they start as.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, Draft, Members, Node
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.controls.base import Control
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import count, flat
from jupyter_mcp.protocol.shapes import is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Object"]

SHOWN = 5
"""Members of a long form that are shown at once, required ones aside."""


class Object(Control):
    """The control of an object, and of a whole form."""

    above = True

    def _prepare(self) -> None:
        self._there = False
        self._whole = self.node.name == ""
        self._drafts: dict[str, Draft] = {}
        self._made_parts: dict[str, Control] = {}
        self._rows: list[_Row] = []
        self._body: Any = None
        self._folded: list[Node] = []

    @property
    def _optional(self) -> bool:
        return not self.node.required and not self._whole

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show(self, draft: Draft) -> Sequence[Any]:
        members = draft if isinstance(draft, Members) else self._members(mapping_of(draft))
        self._there = draft is not UNSET or not self._optional
        self._drafts = dict(members.parts)
        for name, one in self._made_parts.items():
            one.draft = self._drafts.get(name, UNSET)
        self._rows = [_Row(self, name, one) for name, one in members.rows] if self.node.extra is not None else []
        self._draw()
        return [self._body]

    def _members(self, draft: Mapping[str, Draft]) -> Members:
        named = {part.name for part in self.node.parts}
        return Members(draft, [(name, one) for name, one in draft.items() if name not in named])

    def _draw(self) -> None:
        if not self._there:
            self._fill([self._button(f"Set {flat(self.node.label, 60)}", self._appear)])
            return
        every = [part for part in self.node.parts if not self._goes_without_saying(part)]
        shown = [part for part in every if self._at_once(part, every)]
        self._folded = [part for part in every if part not in shown]
        children: list[Any] = [self._part(part).root for part in shown]
        if self._folded:
            children += [parts.text(_folded_words(self._folded, self._drafts), "jmcp-help")]
            children += [self._button(f"Show {count(len(self._folded), 'more field')}", self._unfold)]
        children += [row.root for row in self._rows]
        if self.node.extra is not None and (self.node.open or self._rows):
            word = "a member" if self._whole or not self.node.label else f"to {flat(self.node.label, 60)}"
            children.append(self._button(f"Add {word}", self._add_row))
        if self._optional:
            children.append(self._button(f"Leave {flat(self.node.label, 60)} out", self._vanish))
        self._fill(children)
        if self._locked:
            self._disable(True)

    def _fill(self, children: Sequence[Any]) -> None:
        if self._body is None:
            self._body = parts.box(children, "jmcp-wide", *(() if self._whole else ("jmcp-group",)))
            return
        self._body.children = tuple(children)
        parts.wire(self._body)

    def _goes_without_saying(self, part: Node) -> bool:
        """The constant that sets an alternative apart from the others was chosen with it."""
        return self.bare and part.kind == "const" and not self._whole

    def _at_once(self, part: Node, parts: list[Node]) -> bool:
        if not self.setting.full or part.required or part.name in self._made_parts:
            return True
        optional = [one for one in parts if not one.required]
        if len(optional) <= SHOWN + 2 or optional.index(part) < SHOWN:
            return True
        draft = self._drafts.get(part.name, UNSET)
        return draft is not UNSET and part.default is UNSET

    def _part(self, part: Node) -> Control:
        from jupyter_mcp.notebook.cards.controls import control

        if part.name not in self._made_parts:
            self._made_parts[part.name] = control(part, self.setting, self._drafts.get(part.name, UNSET))
        return self._made_parts[part.name]

    def _button(self, label: str, press: Any) -> Any:
        return parts.line([parts.small(label, press)])

    # --- what a person does ------------------------------------------------------------------------------------------

    def _appear(self) -> None:
        fresh = forms.draft(self.node)
        start = fresh if is_mapping(fresh) else {part.name: forms.draft(part) for part in self.node.parts}
        self._there, self._drafts = True, dict(start)
        self._draw()
        parts.focus_into(self._body)
        self._on_value()

    def _vanish(self) -> None:
        self._there = False
        dropped, self._made_parts, self._rows = list(self._body.children), {}, []
        self._draw()
        parts.drop(dropped)
        parts.focus_into(self._body)
        self._on_value()

    def _unfold(self) -> None:
        first = self._folded[0]
        for part in self._folded:
            self._part(part)
        self._draw()
        parts.focus_into(self._made_parts[first.name].root)

    def _add_row(self) -> None:
        self._rows.append(_Row(self, "", UNSET))
        self._draw()
        parts.focus_into(self._rows[-1].root)
        self._on_value()

    def drop_row(self, row: _Row) -> None:
        self._rows.remove(row)
        self._draw()
        parts.drop([row.root])
        parts.focus_into(self._body, "jmcp-add")
        self._on_value()

    # --- what all controls do ----------------------------------------------------------------------------------------

    def _read(self) -> Draft:
        if not self._there:
            return UNSET
        drafts = {**self._drafts, **{name: one.draft for name, one in self._made_parts.items()}}
        known = {part.name: drafts.get(part.name, UNSET) for part in self.node.parts}
        rows = [(row.name, row.control.draft) for row in self._rows]
        return Members(known, rows) if rows else known

    @property
    def made(self) -> Mapping[str, Control]:
        """The controls of the described members, as far as they have been made."""
        return self._made_parts

    def inside(self) -> Sequence[Control]:
        return [*self._made_parts.values(), *(row.control for row in self._rows)]

    def _disable(self, disabled: bool) -> None:
        for one in (*self._made_parts.values(), *(row.control for row in self._rows)):
            one.lock(disabled)
        for made in parts.buttons(self._body.children if self._body is not None else ()):
            made.disabled = disabled
        for row in self._rows:
            row.box.disabled = disabled

    def _tell_inside(self, errors: Mapping[str, str], at: str) -> str | None:
        for name, one in self._made_parts.items():
            one.tell(errors, at + forms.step(name))
        for place, row in enumerate(self._rows):
            row.tell(errors, f"{at}/~r{place}", at + forms.step(row.name))
        claimed = tuple(at + forms.step(name) for name in self._made_parts)
        claimed += tuple(f"{at}/~r{place}" for place in range(len(self._rows)))
        claimed += tuple(at + forms.step(row.name) for row in self._rows)
        for place, text in errors.items():
            inside = place.startswith(f"{at}/") and not any(place == c or place.startswith(f"{c}/") for c in claimed)
            if inside:
                return text
        return None


class _Row:
    """A member that the schema does not name: its name, its value, and a button that takes it away."""

    def __init__(self, owner: Object, name: str, draft: Draft) -> None:
        from jupyter_mcp.notebook.cards.controls import control

        assert owner.node.extra is not None
        self.control = control(owner.node.extra, owner.setting, draft, bare=True)
        self.box = owner.listen(
            parts.make(
                "Text",
                name,
                description="Name",
                placeholder="name",
                continuous_update=True,
                layout=parts.look(width="160px"),
            )
        )
        remove = parts.small("✕", lambda: owner.drop_row(self), "Remove this member", "jmcp-tool")
        self.root = parts.line(
            [parts.line([self.box], "jmcp-control"), self.control.root, remove], "jmcp-entry", align="flex-start"
        )

    @property
    def name(self) -> str:
        return str(self.box.value)

    def tell(self, errors: Mapping[str, str], at: str, pointer: str) -> None:
        self.control.touched = True
        moved = {f"{pointer}{place[len(at) :]}": text for place, text in errors.items() if place.startswith(at)}
        self.control.tell({**errors, **moved}, pointer)


def _folded_words(folded: list[Node], drafts: Mapping[str, Draft]) -> str:
    names = [flat(part.label, 40) for part in folded[:12]]
    more = f" and {len(folded) - 12} more" if len(folded) > 12 else ""
    start = [
        f"{part.label} = {flat(str(drafts[part.name]), 30)}"
        for part in folded
        if drafts.get(part.name, UNSET) is not UNSET
    ]
    sent = f"<br>{html.escape('Sent as they start: ' + ', '.join(start[:12]))}" if start else ""
    return f"{html.escape('Optional: ' + ', '.join(names) + more)}{sent}"
