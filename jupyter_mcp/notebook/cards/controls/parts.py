"""Small things that the controls of a form are made of, beside those of `kit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.runtime.pump import unroute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["buttons", "drop", "focus_into", "select", "small", "wire"]


def select(options: Sequence[tuple[str, Any]], value: Any, *, label: str = "", tip: str = "", width: str) -> Any:
    """A drop-down; `label` is what a screen reader calls it, `tip` where it is called by its title alone."""
    return kit.widgets.Dropdown(
        options=list(options), value=value, description=label, tooltip=tip or None, layout={"width": width}
    )


def small(label: str, press: Any, tip: str = "", *classes: str) -> Any:
    """A button of less weight than those of a card."""
    made = kit.button(label, press, tip=tip)
    for name in ("jmcp-small", *classes):
        made.add_class(name)
    return made


def wire(made: Any) -> None:
    """Let the page choose the thread for the messages of widgets that came after their card was shown."""
    unroute(made)


def buttons(children: Iterable[Any]) -> list[Any]:
    """The buttons that stand directly in rows among these."""
    found: list[Any] = []
    for child in children:
        if isinstance(child, kit.widgets.Button):
            found.append(child)
        elif isinstance(child, kit.widgets.HBox) and "jmcp-entry" not in child._dom_classes:
            found += [one for one in child.children if isinstance(one, kit.widgets.Button)]
    return found


def drop(roots: Iterable[Any]) -> None:
    """Free widgets that are no longer on the page."""
    from jupyter_mcp.notebook.cards.live import free

    for root in roots:
        free(root)


# A page makes the view of a new widget when it comes to it, and makes those anew that changed their place; so the
# keyboard is put where it belongs by the page itself, when the marked box is there.
_FOCUS = """<style onload="
const box=this.closest('.jmcp-focus-here');
if(box){{
 const found=[...box.querySelectorAll('{what}')].find(one=>!one.disabled&&one.offsetParent);
 if(found)found.focus();
}}
"></style>"""
_FIRST = "input,select,textarea,button"


def focus_into(box: Any, name: str = "", *, last: bool = False) -> None:
    """Put the keyboard into a box: its first control, its button of that class, or its last button."""
    what = f"button.{name},{_FIRST}" if name else "button" if last else _FIRST
    for child in box.children:
        if "jmcp-focus" in getattr(child, "_dom_classes", ()):
            box.children = tuple(one for one in box.children if one is not child)
            drop([child])
    box.add_class("jmcp-focus-here")
    marker = kit.widgets.HTML(_FOCUS.format(what=what), layout={"display": "none"})
    marker.add_class("jmcp-focus")
    box.children = (*box.children, marker)
    wire(marker)
