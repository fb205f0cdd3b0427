"""One of several alternatives: a choice of which, and below it the fields of the one that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, AsJson, Draft, Picked
from jupyter_mcp.notebook.cards.controls import parts
from jupyter_mcp.notebook.cards.controls.base import WIDE, Control
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Union"]


class Union(Control):
    """A drop-down whose first line chooses nothing. What was filled in for another alternative is kept."""

    above = True

    def _prepare(self) -> None:
        self._pick: Any = None
        self._inner: dict[int, Control] = {}
        self._at: int | None = None

    def _show(self, draft: Draft) -> Sequence[Any]:
        if self._pick is None:
            none = "— choose —" if self.node.required else "— leave out —"
            labels = [(none, -1), *((flat(one.label, 120), at) for at, one in enumerate(self.node.branches))]
            self._pick = parts.select(labels, -1, label=self.node.label or "Alternative", width=WIDE)
            self._pick.observe(self._on_pick, names="value")
            self._below = parts.box([], "jmcp-group")
        picked = draft if isinstance(draft, Picked) else forms.draft(self.node, draft) if draft is not UNSET else UNSET
        if isinstance(picked, AsJson):
            picked = UNSET
        if isinstance(picked, Picked) and picked.at is not None:
            self._choose(picked.at, picked.draft)
        else:
            self._choose(None, UNSET)
        return [parts.box([self._pick, self._below], "jmcp-wide")]

    def _choose(self, at: int | None, draft: Draft) -> None:
        self._at = at
        self._pick.value = -1 if at is None else at
        if at is None:
            self._below.children = ()
            return
        from jupyter_mcp.notebook.cards.controls import control

        if at in self._inner:
            self._inner[at].draft = draft
        else:
            self._inner[at] = control(self.node.branches[at], self.setting, draft, bare=True, sole=True)
        self._shown(at)

    def _shown(self, at: int) -> None:
        branch = self.node.branches[at]
        help_ = [parts.text(said)] if (said := _help(branch)) else []
        self._below.children = (*help_, self._inner[at].root)
        parts.wire(self._below)

    def _on_pick(self, change: object) -> None:
        if self._quiet:
            return
        at: int = self._pick.value
        before, self._quiet = self._quiet, True
        try:
            if at < 0:
                self._at = None
                self._below.children = ()
            elif at in self._inner:
                self._at = at
                self._shown(at)
            else:
                self._choose(at, self._carried(at))
        finally:
            self._quiet = before
        self._on_value()

    def _carried(self, at: int) -> Draft:
        """What a fresh alternative starts with: what was filled in before, where both have a field of that name."""
        fresh = forms.draft(self.node.branches[at])
        old = self._inner.get(self._at) if self._at is not None else None
        branch = self.node.branches[at]
        if branch.kind != "object":
            return fresh
        start: dict[str, Draft] = {**mapping_of(fresh)}
        given: Mapping[str, Draft] = mapping_of(old.draft if old is not None else None)
        if old is None or old.node.kind != "object":
            return start
        kinds = {part.name: part for part in old.node.parts}
        for part in branch.parts:
            draft = given.get(part.name, UNSET)
            same = part.name in kinds and kinds[part.name].kind == part.kind and part.kind not in ("const", "choice")
            if same and draft is not UNSET and start.get(part.name, UNSET) is UNSET:
                start[part.name] = draft
        return start

    def _read(self) -> Draft:
        return UNSET if self._at is None else Picked(self._at, self._inner[self._at].draft)

    def _kept(self) -> Sequence[Any]:
        return [one.root for one in self._inner.values()]

    def inside(self) -> Sequence[Control]:
        return [] if self._at is None else [self._inner[self._at]]

    def _disable(self, disabled: bool) -> None:
        if self._pick is not None:
            self._pick.disabled = disabled
        for one in self._inner.values():
            one.lock(disabled)

    def _tell_inside(self, errors: Mapping[str, str], at: str) -> str | None:
        if self._at is None:
            return None
        inner = self._inner[self._at]
        inner.tell(errors, at)
        return None if inner.touched or at not in errors else errors[at]

    def tell(self, errors: Mapping[str, str], at: str) -> None:
        inner = self._inner.get(self._at) if self._at is not None and self._mode == "value" else None
        if inner is None:
            super().tell(errors, at)
            return
        inner.tell(errors, at)
        self._say("")


def _help(branch: forms.Node) -> str:
    from jupyter_mcp.notebook.cards.controls.heading import heading

    return heading(branch, named=False)
