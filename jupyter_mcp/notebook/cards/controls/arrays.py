"""A list of anything: a control for each entry, with buttons to add, remove and move them; the keyboard stays there.

A list that may be left out is left out while it has no entry; an empty list is asked for by the way its value is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, Draft
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.controls.base import Control
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import is_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Array"]

MAX_ROWS = 40
"""Entries that are shown as fields; a longer list is shown as JSON."""


class Array(Control):
    """The control of a list."""

    empties = True

    above = True

    def _prepare(self) -> None:
        self._entries: list[_Entry] = []
        self._body: Any = None

    def _take(self, draft: Draft) -> None:
        if is_list(draft) and len(draft) > MAX_ROWS:
            value, errors = forms.collect(self.node, draft, self._variables_read)
            if not errors:
                draft = forms.written(value)
        super()._take(draft)

    def _show(self, draft: Draft) -> Sequence[Any]:
        if self._body is None:
            self._add = parts.small(f"Add to {flat(self.node.label, 60)}", self._append, "Add an entry")
            self._foot = parts.line([self._add])
        if is_list(draft):
            kept = self._entries
            same = len(kept) == len(draft)
            if same:
                for entry, one in zip(kept, draft, strict=True):
                    entry.control.draft = one
            else:
                self._entries = [_Entry(self, at, one) for at, one in enumerate(draft)]
                parts.drop([entry.root for entry in kept])
        elif self._entries:
            parts.drop([entry.root for entry in self._entries])
            self._entries = []
        self._draw()
        return [self._body]

    def _draw(self) -> None:
        last = len(self._entries) - 1
        for at, entry in enumerate(self._entries):
            entry.stand(at, last)
        full = self.node.max_items is not None and len(self._entries) >= self.node.max_items
        self._add.disabled = self._locked or full or self.node.entry(len(self._entries)) is None
        children = (*(entry.root for entry in self._entries), self._foot)
        if self._body is None:
            self._body = parts.box(children, "jmcp-wide", "jmcp-group")
        else:
            self._body.children = children
            parts.wire(self._body)

    # --- what a person does ------------------------------------------------------------------------------------------

    def _append(self) -> None:
        at = len(self._entries)
        node = self.node.entry(at)
        if node is None:
            return
        if self._mode == "empty":
            self.draft = UNSET
        self._entries.append(_Entry(self, at, forms.draft(node)))
        self._draw()
        parts.focus_into(self._entries[-1].root)
        self._on_value()

    def remove(self, entry: _Entry) -> None:
        at = self._entries.index(entry)
        self._entries.remove(entry)
        self._draw()
        parts.drop([entry.root])
        if self._entries:
            parts.focus_into(self._entries[min(at, len(self._entries) - 1)].root, "jmcp-remove")
        else:
            parts.focus_into(self._foot)
        self._on_value()

    def move(self, entry: _Entry, by: int) -> None:
        at = self._entries.index(entry)
        to = at + by
        if not len(self.node.parts) <= min(at, to) or not 0 <= to < len(self._entries):
            return
        self._entries[at], self._entries[to] = self._entries[to], self._entries[at]
        self._draw()
        parts.focus_into(entry.root, *(("jmcp-up", "jmcp-down")[::-by]))
        self._on_value()

    # --- what all controls do ----------------------------------------------------------------------------------------

    def _read(self) -> Draft:
        return [entry.control.draft for entry in self._entries] or UNSET

    def inside(self) -> Sequence[Control]:
        return [entry.control for entry in self._entries]

    def _disable(self, disabled: bool) -> None:
        for entry in self._entries:
            entry.lock(disabled)
        if self._body is not None:
            self._add.disabled = disabled

    def lock(self, locked: bool) -> None:
        super().lock(locked)
        if not locked and self._body is not None and self._mode == "value":
            self._draw()

    def _tell_inside(self, errors: Mapping[str, str], at: str) -> str | None:
        for place, entry in enumerate(self._entries):
            entry.control.tell(errors, at + forms.step(place))
        return None


class _Entry:
    """One entry with its place and its buttons."""

    def __init__(self, owner: Array, at: int, draft: Draft) -> None:
        from jupyter_mcp.notebook.cards.controls import control

        node = owner.node.entry(at)
        assert node is not None
        called = replace(node, title=f"Entry of {owner.node.label}") if owner.node.label else node
        self.control = control(called, owner.setting, draft, bare=True)
        self._fixed = at < len(owner.node.parts)
        self._first = len(owner.node.parts)
        self._up = _tool("↑", lambda: owner.move(self, -1), "jmcp-up")
        self._down = _tool("↓", lambda: owner.move(self, 1), "jmcp-down")
        self._remove = _tool("✕", lambda: owner.remove(self), "jmcp-remove")
        self._number = parts.text(f"{at + 1}", "jmcp-number")
        how = self.control.hand_out_how()  # a whole group has room for it below the buttons, and no line of its own
        below = [] if how is None else [parts.line([how], "jmcp-control", "jmcp-beside")]
        looks = ("jmcp-tools", "jmcp-tall") if below else ("jmcp-tools",)
        tools = parts.line([self._up, self._down, self._remove, *below], *looks)
        self.root = parts.line(
            [self._number, self.control.root, tools], "jmcp-entry", align="flex-start", wrap="nowrap"
        )

    def stand(self, at: int, last: int) -> None:
        """Its place among the others."""
        self._number.value = f"{at + 1}"
        said = (f"Move entry {at + 1} up", f"Move entry {at + 1} down", f"Remove entry {at + 1}")
        for made, tip in zip((self._up, self._down, self._remove), said, strict=True):
            if made.tooltip != tip:
                made.tooltip = tip
        self._up.disabled = self._fixed or at <= self._first
        self._down.disabled = self._fixed or at >= last
        self._remove.disabled = self._fixed and at < last

    def lock(self, locked: bool) -> None:
        self.control.lock(locked)
        for made in (self._up, self._down, self._remove):
            made.disabled = locked


def _tool(sign: str, press: Any, name: str) -> Any:
    return parts.small(sign, press, "", name, "jmcp-tool")
