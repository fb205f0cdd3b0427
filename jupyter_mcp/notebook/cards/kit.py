"""The few widgets that cards are made of, and their one style sheet. The only module that imports ipywidgets.

Widgets are untyped for us: they are `Any` here and everywhere in this room. Every HTML given to `markup` has to be safe
already (`render.html` makes it so). No asset is loaded; colours come from the page's `--jp-*` variables, so cards
follow the light and the dark theme.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.formatters import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "ESCAPE",
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

_STYLE = """<style>
.jmcp{border:1px solid var(--jp-border-color1,#bbb);border-radius:4px;padding:8px 12px;max-width:860px;
 background:var(--jp-layout-color1,transparent);color:var(--jp-ui-font-color1,inherit);
 font-family:var(--jp-ui-font-family,sans-serif);font-size:var(--jp-ui-font-size1,13px);overflow:visible}
.jmcp .widget-html{margin:0;height:auto;min-width:0;flex:0 0 auto}
.jmcp .widget-html-content{line-height:1.45;overflow-wrap:anywhere;font-size:var(--jp-ui-font-size1,13px)}
.jmcp .widget-html-content p{margin:2px 0}
.jmcp .widget-html-content pre{background:var(--jp-layout-color2,rgba(128,128,128,.12));padding:4px 8px;
 font-size:var(--jp-code-font-size,13px);max-height:420px;overflow:auto;color:inherit}
.jmcp .widget-html-content pre[style*="font-family:inherit"]{background:none;padding:0;max-height:none}
.jmcp .widget-html-content code{background:var(--jp-layout-color2,rgba(128,128,128,.12));padding:0 3px;color:inherit;
 font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px)}
.jmcp .widget-html-content blockquote{max-height:320px;overflow:auto}
.jmcp .widget-html-content table{border-collapse:collapse;margin:4px 0}
.jmcp .widget-html-content td,.jmcp .widget-html-content th{padding:2px 10px 2px 0;
 border-bottom:1px solid var(--jp-border-color2,rgba(128,128,128,.4))}
.jmcp .widget-html-content img{max-width:100%;height:auto}
.jmcp .widget-html-content a{color:var(--jp-content-link-color,#1565c0);text-decoration:underline}
.jmcp .widget-html-content a.jmcp-open{display:inline-block;padding:5px 14px;margin:4px 0;border-radius:3px;
 background:var(--jp-brand-color1,#1976d2);color:var(--jp-ui-inverse-font-color1,#fff);text-decoration:none;
 font-weight:600}
.jmcp .widget-html-content a.jmcp-open:hover{text-decoration:underline}
.jmcp .widget-html-content progress{width:min(420px,100%);height:14px;accent-color:var(--jp-brand-color1,#1976d2)}
.jmcp .jmcp-copied{display:grid;grid-template-columns:1fr auto;gap:0 8px;align-items:start;margin:4px 0}
.jmcp .jmcp-copied .jmcp-help{grid-column:1/-1}
.jmcp .jmcp-copied pre{user-select:all;margin:0!important}
.jmcp .jmcp-copy{font:inherit;padding:3px 12px;border:1px solid var(--jp-border-color1,#aaa);border-radius:2px;
 background:var(--jp-layout-color2,rgba(128,128,128,.12));color:var(--jp-ui-font-color1,inherit);cursor:pointer}
.jmcp .jmcp-head p{font-size:var(--jp-ui-font-size2,15px)}
.jmcp .jmcp-warning .widget-html-content{border-left:4px solid var(--jp-warn-color1,#f57c00);padding:4px 10px;
 background:var(--jp-warn-color3,rgba(245,124,0,.14));color:var(--jp-ui-font-color1,inherit)}
body[data-jp-theme-light="false"] .jmcp .jmcp-warning .widget-html-content{background:rgba(245,124,0,.18)}
.jmcp .jmcp-warning ul{margin:2px 0;padding-left:20px}
.jmcp .jmcp-field{margin:5px 0}
.jmcp .jmcp-help{color:var(--jp-ui-font-color2,inherit)}
.jmcp .jmcp-error{color:var(--jp-error-color1,#d32f2f)}
.jmcp .jmcp-group{border-left:2px solid var(--jp-border-color2,#ccc);padding-left:12px}
.jmcp .jmcp-field,.jmcp .jmcp-wide{width:100%;min-width:0}
.jmcp .jmcp-field .jmcp-control{width:100%}
.jmcp .jmcp-control .jmcp-how{flex:0 0 98px}
.jmcp .jmcp-control .jmcp-how select{color:var(--jp-ui-font-color2,inherit);background-color:transparent;
 border-color:var(--jp-border-color2,#ccc)}
.jmcp .jmcp-entry{align-items:flex-start;width:100%;padding:2px 0;border-bottom:1px solid var(--jp-border-color3,#e0e0e0)}
.jmcp .jmcp-entry>.jmcp-field{flex:1 1 240px;width:auto;margin:0}
.jmcp .jmcp-entry>.jmcp-control{flex:0 0 auto}
.jmcp .jmcp-entry>.jmcp-number{flex:0 0 20px;text-align:right;line-height:28px;color:var(--jp-ui-font-color2,inherit)}
.jmcp .jmcp-tools{flex:0 0 auto;flex-wrap:nowrap}
.jmcp .jmcp-small{height:26px;line-height:24px;padding:0 10px;border:1px solid var(--jp-border-color1,#aaa);
 background:transparent;color:var(--jp-ui-font-color1,inherit)}
.jmcp .jmcp-tool{padding:0;width:26px}
.jmcp .jmcp-help details{margin:0}
.jmcp .jmcp-control .widget-label{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);margin:0}
.jmcp .jmcp-control textarea{font-family:inherit;min-height:56px}
.jmcp .jmcp-control.jmcp-code textarea,
.jmcp .jmcp-control .jmcp-code textarea{
 font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px)}
.jmcp .jmcp-control input:not([type=checkbox]):not([type=radio]),
.jmcp .jmcp-control textarea,.jmcp .jmcp-control select{
 color:var(--jp-ui-font-color1,inherit);background-color:var(--jp-layout-color0,transparent);font-family:inherit;
 border:1px solid var(--jp-border-color1,#aaa);border-radius:2px}
.jmcp .jmcp-bad input:not([type=checkbox]):not([type=radio]),.jmcp .jmcp-bad textarea,.jmcp .jmcp-bad select{
 border-color:var(--jp-error-color1,#d32f2f)}
.jmcp input[type=checkbox],.jmcp input[type=radio]{accent-color:var(--jp-brand-color1,#1976d2)}
.jmcp .widget-checkbox{height:auto;margin:0 10px 0 0}
.jmcp .widget-checkbox .widget-label-basic{white-space:normal;color:inherit;height:auto;line-height:22px}
.jmcp .widget-radio-box label,.jmcp .widget-radio-box{color:inherit}
.jmcp .jmcp-list select{overflow:auto;color:var(--jp-ui-font-color1,inherit);
 background-color:var(--jp-layout-color0,transparent)}
.jmcp .jmcp-list option{padding:2px 4px}
.jmcp .widget-dropdown select{appearance:auto;background-image:none;padding-right:4px}
.jp-OutputArea:has(.jmcp-explorer) .jp-OutputArea-child:has(.jmcp-still),
.cell_container:has(.jmcp-explorer) .jmcp-still{display:none}
.jmcp :focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:1px}
.jmcp button:disabled{opacity:.55;cursor:not-allowed}
.jmcp .jupyter-widgets-disconnected::before{content:none;display:none}
.jmcp.jupyter-widgets-disconnected>*{pointer-events:none;opacity:.6}
.jmcp.jupyter-widgets-disconnected::before{
 content:"Expired: the kernel of this card is gone; nothing here answers any more.";
 font:inherit;color:var(--jp-error-color1,#d32f2f);padding:2px 0}
@media (prefers-reduced-motion:reduce){.jmcp *{animation:none!important;transition:none!important}}
</style>"""


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
}">.jmcp:focus{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-2px}</style>"""


def keyboard() -> Any:
    """Makes the card that it is put into one that the keyboard reaches. Where the page allows no handler, Tab does."""
    return widgets.HTML(_KEYBOARD, layout=widgets.Layout(display="none"))


def root(children: Sequence[Any]) -> Any:
    """The outermost box of a card, with the style sheet."""
    return column([widgets.HTML(_STYLE, layout=widgets.Layout(display="none")), *children], "jmcp")


def column(children: Sequence[Any], *classes: str) -> Any:
    return _classed(widgets.VBox(list(children), layout=widgets.Layout(overflow="visible")), classes)


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
