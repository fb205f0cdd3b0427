"""A text with a button that copies it, as HTML of a live card."""

from __future__ import annotations

from jupyter_mcp.notebook.render import html

__all__ = ["copied"]

_PRE = "white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0"
# A page at http://some-host has no clipboard; there the text is selected, which any browser can copy.
_COPY = (
    "const t=this.closest('.jmcp-copied').querySelector('pre');"
    "const r=document.createRange();r.selectNodeContents(t);"
    "const s=getSelection();s.removeAllRanges();s.addRange(r);"
    "const done=()=>{this.textContent='Copied';setTimeout(()=>{this.textContent='Copy'},1500)};"
    "const old=()=>{if(document.execCommand('copy'))done()};"
    "navigator.clipboard?navigator.clipboard.writeText(t.textContent).then(done,old):old()"
)


def copied(label: str, text: str, what: str = "") -> str:
    """A text with a button that copies it.

    Args:
        label: stands before it; "" for nothing.
        text: as it is copied.
        what: what the button copies, for screen readers; the label when "".
    """
    button = html.tag(
        "button", "Copy", type="button", onclick=_COPY, aria_label=f"Copy {what or label}", **{"class": "jmcp-copy"}
    )
    head = html.tag("span", html.escape(label), **{"class": "jmcp-help"}) if label else ""
    # a long one scrolls, so the keyboard has to reach it
    body = html.tag("pre", html.escape(text), _PRE, tabindex="0", role="group", aria_label=what or label)
    return f'<div class="jmcp-copied">{head}{body}{button}</div>'
