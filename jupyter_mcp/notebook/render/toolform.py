"""A tool's form as it is saved: what it takes, field by field, and the line that calls it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.lists import title_of
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, text_table
from jupyter_mcp.notebook.render.text import count, cut, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_mcp.host.forms import Node
    from jupyter_mcp.notebook.render.views import ToolFormView

__all__ = ["tool_form_piece"]

MAX_FIELDS = 60
MAX_DEPTH = 3
_HEADER = ("argument", "needed", "what it takes", "what it is")


def tool_form_piece(view: ToolFormView) -> Piece:
    """One tool: its name and description, its arguments as a table (nested ones under theirs), how it is called."""
    tool = view.tool
    name, title = f"{view.server}.{flat(tool.get('name') or '', 120)}", title_of(tool)
    head = f"<b>{html.escape(title)}</b> {html.code(name)}" if title else f"<b>{html.code(name)}</b>"
    told = tool.get("description")
    said = cut(told.strip(), 2_000) if isinstance(told, str) else ""
    rows = list(_rows(forms.model(tool.get("inputSchema"))))
    return stack(
        [
            Piece(html.note(head), f"{name}{f' — {title}' if title else ''}"),
            Piece(html.prose(said), said) if said else None,
            _table(rows[:MAX_FIELDS]) if rows else plain_line("It takes no arguments."),
            plain_line(f"… {count(len(rows) - MAX_FIELDS, 'more argument')}") if len(rows) > MAX_FIELDS else None,
            plain_line(f"call it: %mcp call {name}{' name=value' if rows else ''}", mark="small"),
        ]
    )


def _rows(node: Node, path: str = "", depth: int = 0) -> Iterator[tuple[str, str, str, str]]:
    for part in node.parts:
        name = f"{path}{part.name}"
        yield name, "yes" if part.required else "", _takes(part), flat(part.description or "", 300)
        inner = part.item if part.kind == "array" and part.item is not None else part
        if inner.kind == "object" and depth + 1 < MAX_DEPTH:
            yield from _rows(inner, f"{name}{'[]' if inner is not part else ''}.", depth + 1)


def _takes(node: Node) -> str:
    """Its kind, choices, bounds and default in words."""
    labels = [flat(label, 40) for label, _ in node.choices[:8]]
    one_of = f"{' or '.join(labels)}{' …' * (len(node.choices) > 8)}" if labels else ""
    default = "" if node.default is forms.UNSET or not labels else f"default {flat(node.default, 40)}"
    plain = {"array": "a list", "object": "a group", "union": "one of several"}.get(node.kind, "text")
    words = forms.constraints(node)
    return ", ".join(part for part in (one_of, words, default) if part) or plain


def _table(rows: list[tuple[str, str, str, str]]) -> Piece:
    kept: list[int] = [at for at in range(4) if at == 0 or any(row[at] for row in rows)]
    header = [_HEADER[at] for at in kept]
    cells: list[list[Any]] = [[html.code(row[at]) if at == 0 else html.escape(row[at]) for at in kept] for row in rows]
    return Piece(html.table(header, cells), text_table(header, [[row[at] for at in kept] for row in rows]))
