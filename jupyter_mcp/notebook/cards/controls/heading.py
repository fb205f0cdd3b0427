"""What stands above a control: label, machine name, "required" in words, the description, what is accepted. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import cut, flat

if TYPE_CHECKING:
    from jupyter_mcp.host.forms import Node

__all__ = ["heading"]

_SELF_SAID = frozenset(["boolean", "date", "object"])  # those controls show it themselves
_MARKDOWN = re.compile(r"[`*\[#|>]|\n\s*(-|\d+\.)\s|\n\s*\n|_\w[^_\n]*_(?!\w)")
_LONGEST = 2_000  # characters of a description
_FOLD = 400


def heading(node: Node, named: bool = True) -> str:
    """Safe HTML of what stands above a field's control; "" for nothing.

    Args:
        node: the field. named: whether its name is shown; False when the control itself shows it.
    """
    plain = node.name.replace("_", " ").replace("-", " ").casefold()
    name = f" {html.muted(html.code(node.name))}" if node.label.casefold() not in (node.name, plain) else ""
    required = f" {html.muted('(required)')}" if node.required else ""
    limits = "" if node.kind in _SELF_SAID else forms.constraints(node)
    told = [part for part in (_described(node.description), html.escape(limits), _examples(node)) if part]
    help_ = f'<div class="jmcp-help">{"<br>".join(told)}</div>' if told else ""
    label = f"<b>{html.escape(node.label)}</b>{name}{required}" if named and node.label else ""
    return f"<div>{label}{help_}</div>" if label or help_ else ""


def _described(text: str) -> str:
    """A server's description: Markdown where it is written so; a long one begins folded."""
    text = text.strip()
    if not text:
        return ""
    if len(text) > _FOLD:
        return html.details(html.escape(flat(text, 160)), _whole(text))
    return _whole(text) if _MARKDOWN.search(text) else html.escape(flat(text, _LONGEST))


def _whole(text: str) -> str:
    from jupyter_mcp.notebook.render.markdown import markdown

    return markdown(cut(text, _LONGEST), breaks=True)


def _examples(node: Node) -> str:
    said = [flat(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False), 60) for one in node.examples[:3]]
    return f"for example {html.escape(', '.join(said))}" if said else ""
