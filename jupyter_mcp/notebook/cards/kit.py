"""The few widgets that cards are made of. The only module that imports ipywidgets.

Widgets are untyped for us: they are `Any` here and everywhere in this room. Every HTML given to `markup` has to be safe
already (`render.html` makes it so). How they look is `notebook.style`'s.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook import style
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.formatters import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "ESCAPE",
    "borrowed",
    "button",
    "column",
    "hide",
    "keyboard",
    "markup",
    "paint",
    "root",
    "row",
    "status",
    "tick",
    "watch",
    "widgets",
]

widgets: Any = importlib.import_module("ipywidgets")

# The sheet is one widget for all cards, so that neither kernel nor page nor saved state holds it once a card.
_sheets: list[Any] = []

ESCAPE = "jmcp-escape"
"""The class of the button that the Escape key presses."""

# A card gets the keyboard when it appears, unless somebody is typing or is in another card: the card itself, so that
# no key meant for something else decides anything; Tab leads to its controls, Escape presses its Cancel.
_KEYBOARD = """<style onload="
const card=this.closest('.jmcp');
if(card&&!card.dataset.jmcpKeys){
 card.dataset.jmcpKeys='1';card.tabIndex=-1;card.setAttribute('role','group');
 const head=card.querySelector('[role=heading]');if(head)card.setAttribute('aria-label',head.textContent.trim());
 card.addEventListener('keydown',event=>{
  if(event.key!=='Escape'||event.defaultPrevented||event.isComposing)return;
  const found=[...card.querySelectorAll('button.jmcp-escape')].find(one=>!one.disabled&&one.offsetParent);
  if(found){event.preventDefault();event.stopPropagation();found.click();}
 });
 const at=document.activeElement;
 const busy=at&&(at.isContentEditable||/^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)||at.closest('.jmcp'));
 if(!busy)card.focus();
}">.jmcp-keys{}</style>"""


def keyboard() -> Any:
    """Makes the card that it is put into one that the keyboard reaches. Where the page allows no handler, Tab does."""
    return widgets.HTML(_KEYBOARD, layout=widgets.Layout(display="none"))


def root(children: Sequence[Any]) -> Any:
    """The outermost box of a card, with the style sheet."""
    return column([_sheet(), *children], "jmcp")


def _sheet() -> Any:
    if not _sheets or _sheets[-1].comm is None:  # none yet, or somebody has closed all widgets
        made = widgets.HTML(f"<style>{style.sheet()}</style>", layout=widgets.Layout(display="none"))
        made.jmcp_shared = True
        _sheets[:] = [made]
    return _sheets[-1]


def column(children: Sequence[Any], *classes: str) -> Any:
    return _classed(widgets.VBox(list(children), layout=widgets.Layout(overflow="visible")), classes)


def borrowed(children: Sequence[Any]) -> Any:
    """A column of widgets that belong to somebody else: they are not freed with it (`live.free`)."""
    made = column(children)
    made.jmcp_borrows = True
    return made


def row(children: Sequence[Any], *classes: str) -> Any:
    """Side by side; what does not fit goes to the next line."""
    layout = widgets.Layout(flex_flow="row wrap", align_items="center", overflow="visible", grid_gap="4px")
    return _classed(widgets.HBox(list(children), layout=layout), classes)


def markup(body: str = "", *classes: str, exact: bool = False) -> Any:
    """Safe HTML; an empty one takes no room. Secrets that a server says back are masked unless it has to be `exact`."""
    made = widgets.HTML(body if exact else masked(body))
    made.layout.display = None if body else "none"
    return _classed(made, classes)


def paint(target: Any, body: str, *, exact: bool = False) -> None:
    """Change a `markup`, and hide it when there is nothing in it. Any thread."""
    body = body if exact else masked(body)
    if target.value != body:
        target.value = body
    hide(target, not body)


def watch(made: Any, react: Callable[[], object], trait: str = "value") -> Any:
    """Call `react` without arguments when a widget's trait changes; returns the widget."""

    def changed(_: object) -> None:
        react()

    made.observe(changed, names=trait)
    return made


def hide(target: Any, hidden: bool) -> None:
    """Take something out of the page, or put it back."""
    wanted = "none" if hidden else None
    if target.layout.display != wanted:
        target.layout.display = wanted


def status(text: str, tone: str = "plain") -> str:
    """HTML of a line that screen readers announce when it changes."""
    return f'<div role="status" aria-live="polite">{html.note(html.escape(text), tone)}</div>' if text else ""


def button(label: str, press: Callable[[], object], *, look: str = "", tip: str = "", disabled: bool = False) -> Any:
    """A button; `press` is called without arguments, on whatever thread the message comes."""
    layout = widgets.Layout(width="auto")
    made = widgets.Button(description=label, button_style=look, tooltip=tip or label, disabled=disabled, layout=layout)

    def pressed(_: object) -> None:
        press()

    made.on_click(pressed)
    return made


def tick(label: str, *, on: bool = False, tip: str = "") -> Any:
    """A check box with its label beside it."""
    return widgets.Checkbox(on, description=label, indent=False, tooltip=tip or label, layout={"width": "auto"})


def _classed(made: Any, classes: Sequence[str]) -> Any:
    for name in classes:
        made.add_class(name)
    return made
