"""A text with a button that copies it, as HTML of a live card."""

from __future__ import annotations

from functools import cache

from jupyter_mcp.notebook.components import function
from jupyter_mcp.notebook.render import html

__all__ = ["copied"]

_PRE = "white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0"


@cache
def _handler() -> str:
    """What a click on the button does."""
    return (
        "const button=this,text=this.closest('.jmcp-copied').querySelector('pre').textContent;"
        f"({function('copyText')})(text).then((done)=>{{if(!done)return;"
        "button.textContent='Copied';setTimeout(()=>{button.textContent='Copy'},1500)})"
    )


def copied(label: str, text: str, what: str = "") -> str:
    """A text with a button that copies it.

    Args:
        label: stands before it; "" for nothing.
        text: as it is copied.
        what: what the button copies, for screen readers; the label when "".
    """
    looks = {"class": "jmcp-copy", "aria_label": f"Copy {what or label}"}
    button = html.tag("button", "Copy", type="button", onclick=_handler(), **looks)
    head = html.tag("span", html.escape(label), **{"class": "jmcp-help"}) if label else ""
    # a long one scrolls, so the keyboard has to reach it
    body = html.tag("pre", html.escape(text), _PRE, tabindex="0", role="group", aria_label=what or label)
    return f'<div class="jmcp-copied">{head}{body}{button}</div>'
