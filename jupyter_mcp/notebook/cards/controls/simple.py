"""Controls of single values: texts and numbers, yes or no, choices, days, colours.

Nothing looks chosen that is not: a choice without a default starts at "choose", a yes-or-no without a default has
neither side pressed.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, AsJson, Draft
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.controls.base import WIDE, Control
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import as_list

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Choice", "Choices", "Color", "Const", "Day", "Text", "YesNo"]

MAX_BOXES = 8  # choices up to here are check boxes, more are a list
_SEVERAL = frozenset(["multiline", "json"])
_HINTS = {
    "date-time": "2026-03-01T10:00:00Z",
    "time": "10:00:00",
    "email": "name@example.org",
    "uri": "https://",
    "json": "text, or JSON",
    "color": "#1976d2",
}


class Text(Control):
    """One line or several: text, numbers, addresses, moments, any JSON value."""

    wrap = "nowrap"

    def _prepare(self) -> None:
        self.empties = self.node.kind in ("text", "multiline") and self.node.types in ((), ("string",))
        self._box: Any = None
        self._lines = False
        suggest = self.setting.suggest
        self._suggest = suggest if suggest is not None and self.node.name in suggest.names else None
        if self._suggest is not None:
            self._suggest.join(self.node.name, self._offer)

    def _show(self, draft: Draft) -> Sequence[Any]:
        text = draft if isinstance(draft, str) else ""
        lines = self.node.kind in _SEVERAL or "\n" in text
        if self._box is None or (lines and not self._lines):
            self._lines = lines
            self._box = self.listen(self._new(lines, text))
        self._box.value = text
        return [self._box]

    def _new(self, lines: bool, text: str) -> Any:
        node = self.node
        common: dict[str, Any] = {
            "description": node.label,
            "placeholder": "JSON" if node.types and node.kind == "json" else _HINTS.get(node.kind, ""),
            "continuous_update": True,
            "layout": parts.look(width=WIDE),
            "value": text,
        }
        if node.secret:
            return parts.make("Password", **common)
        if lines:
            look = ("jmcp-code",) if node.kind == "json" else ()
            return parts.make("Textarea", rows=2 if node.kind == "json" else 4, _dom_classes=look, **common)
        known = [str(value) for _, value in node.choices] or [one for one in node.examples if isinstance(one, str)]
        if known or self._suggest is not None:
            return parts.make("Combobox", options=known, **common)
        return parts.make("Text", **common)

    def _read(self) -> Draft:
        return self._box.value if self._box is not None and self._box.value else UNSET

    def _after_change(self) -> None:
        if self._suggest is not None and self._mode == "value":
            self._suggest.typed(self.node.name, self._box.value)

    def _offer(self, options: Sequence[str]) -> None:
        """Show what is suggested. Any thread."""
        if self._box is not None and self._box.has_trait("options") and tuple(self._box.options) != tuple(options):
            self._box.options = tuple(options)


class YesNo(Control):
    """A check box where the schema says what it starts as, else two radio buttons with neither pressed."""

    def _prepare(self) -> None:
        self._box: Any = None
        self._options: list[tuple[str, Any]] | None = None
        if isinstance(self.node.default, bool) and not self.node.nullable and not self.setting.full:
            self._named = False
            return
        self._options = [("yes", True), ("no", False)]
        self._options += [("null", None)] if self.node.nullable else []
        self._options += [] if self.node.required else [("leave out", UNSET)]

    def _wants_null(self) -> bool:
        return False

    def _show(self, draft: Draft) -> Sequence[Any]:
        if self._box is None:
            self._box = self.listen(self._new())
        if self._options is None:
            self._box.value = self.node.default if draft is UNSET else bool(draft)
        else:
            found = [at for at, (_, value) in enumerate(self._options) if value is draft and draft is not UNSET]
            self._box.index = found[0] if found else None
        return [self._box]

    def _new(self) -> Any:
        if self._options is None:
            return parts.tick(self.node.label, on=self.node.default)
        options = [label for label, _ in self._options]
        made = parts.make(
            "RadioButtons",
            options=options,
            value=None,
            description=self.node.label,
            layout=parts.look(width="auto"),
        )
        if made.has_trait("orientation"):
            made.orientation = "horizontal"
        return made

    def _read(self) -> Draft:
        if self._options is None:
            return bool(self._box.value)
        at: int | None = self._box.index
        return UNSET if at is None else self._options[at][1]


class Const(Control):
    """The one value there can be: it is sent, and only shown."""

    def _show(self, draft: Draft) -> Sequence[Any]:
        return [parts.text(html.code(flat(self.node.choices[0][0], 200)))]

    def _read(self) -> Draft:
        return self.node.choices[0][1]

    def _disable(self, disabled: bool) -> None:
        pass


class Choice(Control):
    """A drop-down whose first line chooses nothing."""

    wrap = "nowrap"

    def _prepare(self) -> None:
        node = self.node
        none = "— choose —" if node.required and node.default is UNSET else "— leave out —"
        self._options: list[tuple[str, Any]] = [(none, UNSET), *node.choices]
        self._options += [("null", None)] if node.nullable else []
        self._box: Any = None

    def _wants_null(self) -> bool:
        return False

    def _show(self, draft: Draft) -> Sequence[Any]:
        if self._box is None:
            labels = [(flat(label, 120), at) for at, (label, _) in enumerate(self._options)]
            self._box = self.listen(parts.select(labels, 0, label=self.node.label, width=WIDE))
        found = [at for at, (_, value) in enumerate(self._options) if value is draft or _same(value, draft)]
        self._box.value = found[0] if found else 0
        return [self._box]

    def _read(self) -> Draft:
        return self._options[self._box.value or 0][1]


class Choices(Control):
    """Check boxes for a few, a list for many; nothing ticked means left out. The order of ticking is kept."""

    empties = True

    def _prepare(self) -> None:
        self._boxes: list[Any] = []
        self._list: Any = None
        self._order: list[int] = []

    def _take(self, draft: Draft) -> None:
        places = [self._place_of(one) for one in as_list(draft)]
        twice = len(set(places)) < len(places)
        super()._take(forms.written(draft) if twice else draft)

    def _place_of(self, value: Any) -> int:
        return next((at for at, (_, known) in enumerate(self.node.choices) if _same(known, value)), -1)

    def _show(self, draft: Draft) -> Sequence[Any]:
        labels = [flat(label, 120) for label, _ in self.node.choices]
        if not self._boxes and self._list is None:
            if len(labels) <= MAX_BOXES:
                self._boxes = [self.listen(parts.tick(label)) for label in labels]
            else:
                options = [(label, at) for at, label in enumerate(labels)]
                self._list = self.listen(
                    parts.make(
                        "SelectMultiple",
                        options=options,
                        rows=8,
                        description=self.node.label,
                        layout=parts.look(width=WIDE),
                    )
                )
        self._order = [at for at in map(self._place_of, as_list(draft)) if at >= 0]
        if self._list is not None:
            self._list.value = tuple(self._order)
        for at, box in enumerate(self._boxes):
            box.value = at in self._order
        return self._boxes or [self._list]

    def _read(self) -> Draft:
        boxes = [at for at, box in enumerate(self._boxes) if box.value]
        ticked = list(self._list.value) if self._list is not None else boxes
        kept = [at for at in self._order if at in ticked]
        self._order = [*kept, *sorted(at for at in ticked if at not in kept)]
        return [self.node.choices[at][1] for at in self._order] or UNSET


class Day(Control):
    """The page's own date picker."""

    def _prepare(self) -> None:
        self._box: Any = None

    def _take(self, draft: Draft) -> None:
        fits = not isinstance(draft, str) or re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", draft)
        super()._take(draft if fits and _day(draft) is not False else AsJson(forms.written(draft).text))

    def _show(self, draft: Draft) -> Sequence[Any]:
        if self._box is None:
            self._box = self.listen(
                parts.make("DatePicker", description=self.node.label, layout=parts.look(width="200px"))
            )
        self._box.value = _day(draft) or None
        return [self._box]

    def _read(self) -> Draft:
        return self._box.value.isoformat() if self._box.value is not None else UNSET


def _day(draft: Draft) -> date | bool | None:
    """The day of a draft; None for none, False for one that no calendar has."""
    if not isinstance(draft, str):
        return None
    try:
        return date.fromisoformat(draft)
    except ValueError:
        return False


_HEX = re.compile(r"#[0-9A-Fa-f]{6}")


class Color(Text):
    """A colour by name or number, with the page's own picker beside it."""

    def _show(self, draft: Draft) -> Sequence[Any]:
        [box] = super()._show(draft)
        if not hasattr(self, "_picker"):
            self._picker = parts.make(
                "ColorPicker",
                concise=True,
                value="black",
                description=f"Pick {self.node.label}",
                layout=parts.look(width="34px"),
            )
            self._picker.observe(self._on_pick, names="value")
        self._follow()
        return [box, self._picker]

    def _on_pick(self, change: object) -> None:
        if not self._quiet:
            self._box.value = self._picker.value

    def _after_change(self) -> None:
        super()._after_change()
        self._follow()

    def _follow(self) -> None:
        """The picker shows what was typed, where it is a colour that it knows."""
        before, self._quiet = self._quiet, True
        if _HEX.fullmatch(self._box.value):
            self._picker.value = self._box.value
        self._quiet = before


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right
