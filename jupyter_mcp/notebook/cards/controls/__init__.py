"""The fields of a form as widgets, one control for each kind of node; `control` makes the right one.

What a draft means as JSON is decided in `host.forms`; a control shows a draft and says what became of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host.forms import UNSET
from jupyter_mcp.notebook.cards.controls.base import Control
from jupyter_mcp.notebook.cards.controls.setting import Setting, Suggest, Variables

if TYPE_CHECKING:
    from jupyter_mcp.host.forms import Draft, Node

__all__ = ["Control", "Setting", "Suggest", "Variables", "control"]


def control(node: Node, setting: Setting, draft: Draft = UNSET, *, bare: bool = False, sole: bool = False) -> Control:
    """The control of a field.

    Args:
        node: what it is for.
        setting: what all controls of a form share.
        draft: what it shows at first.
        bare: without label and help, which stand somewhere else (an entry of a list, a chosen alternative).
        sole: without a choice of how the value is given, which is made somewhere else (a whole form, an alternative).
    """
    from jupyter_mcp.notebook.cards.controls import arrays, objects, simple, unions

    kinds: dict[str, type[Control]] = {
        "boolean": simple.YesNo,
        "choice": simple.Choice,
        "const": simple.Const,
        "multichoice": simple.Choices,
        "date": simple.Day,
        "color": simple.Color,
        "object": objects.Object,
        "array": arrays.Array,
        "union": unions.Union,
    }
    return kinds.get(node.kind, simple.Text)(node, setting, draft, bare=bare, sole=sole)
