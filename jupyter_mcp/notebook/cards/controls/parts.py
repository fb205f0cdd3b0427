"""Small things that the controls of a form are made of, beside those of `kit`.

A form has many widgets, and each model costs the kernel and the page time. So what looks the same shares its layout and
its style, for as long as the kernel lives, and a widget is made with all it begins with instead of being told so later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render.formatters import masked
from jupyter_mcp.runtime.pump import unroute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["box", "buttons", "drop", "focus_into", "line", "look", "make", "select", "small", "text", "tick", "wire"]

_kept: dict[tuple[Any, ...], Any] = {}


def look(**layout: str) -> Any:
    """The layout of these words, one for all widgets that have it: not to be changed."""
    return _shared(kit.widgets.Layout, **layout)


def make(kind: str, *args: Any, **more: Any) -> Any:
    """A widget of ipywidgets by its name, with the style that all of that kind share."""
    made = getattr(kit.widgets, kind)
    return made(*args, style=_shared(made.style.klass), **more)


def _shared(kind: Any, **words: str) -> Any:
    key = (kind, *sorted(words.items()))
    found = _kept.get(key)
    if found is None or found.comm is None:
        found = _kept[key] = kind(**words)
        found.close = _stay  # a card that is freed closes its widgets with their layouts
    return found


def _stay() -> None:
    """Others use it."""


def box(children: Sequence[Any], *classes: str) -> Any:
    """Below one another."""
    return kit.widgets.VBox(list(children), layout=look(overflow="visible"), _dom_classes=classes)


def line(children: Sequence[Any], *classes: str, align: str = "center", wrap: str = "wrap") -> Any:
    """Side by side; what does not fit goes to the next line, if it may."""
    layout = look(flex_flow=f"row {wrap}", align_items=align, overflow="visible", grid_gap="4px")
    return kit.widgets.HBox(list(children), layout=layout, _dom_classes=classes)


def text(body: str, *classes: str) -> Any:
    """Safe HTML that is always in sight."""
    return make("HTML", masked(body), layout=look(), _dom_classes=classes)


def select(
    options: Sequence[tuple[str, Any]], value: Any, *, label: str = "", tip: str = "", width: str, **more: Any
) -> Any:
    """A drop-down; `label` is what a screen reader calls it, `tip` where it is called by its title alone."""
    return make(
        "Dropdown",
        options=list(options),
        value=value,
        description=label,
        tooltip=tip or None,
        layout=look(width=width),
        **more,
    )


def tick(label: str, *, on: bool = False) -> Any:
    """A check box with its label beside it."""
    return make("Checkbox", on, description=label, indent=False, tooltip=label, layout=look(width="auto"))


def small(label: str, press: Callable[[], object], tip: str = "", *classes: str, disabled: bool = False) -> Any:
    """A button of less weight than those of a card."""
    made = make(
        "Button",
        description=label,
        tooltip=tip or label,
        disabled=disabled,
        layout=look(width="auto"),
        _dom_classes=("jmcp-small", *classes),
    )

    def pressed(_: object) -> None:
        press()

    made.on_click(pressed)
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
for(const what of box?{what}:[]){{
 const found=[...box.querySelectorAll(what)].find(one=>!one.disabled&&one.offsetParent);
 if(found){{found.focus();break;}}
}}
"></style>"""
_FIRST = "input,select,textarea,button"


def focus_into(box: Any, *names: str) -> None:
    """Put the keyboard into a box: its button of the first of these classes that can be pressed, else its control."""
    what = [*(f"button.{name}" for name in names), _FIRST]
    for child in box.children:
        if "jmcp-focus" in getattr(child, "_dom_classes", ()):
            box.children = tuple(one for one in box.children if one is not child)
            drop([child])
    box.add_class("jmcp-focus-here")
    marker = kit.widgets.HTML(_FOCUS.format(what=what), layout={"display": "none"})
    marker.add_class("jmcp-focus")
    box.children = (*box.children, marker)
    wire(marker)
