"""Tools, resources and prompts as lists that stay short: what it is called, what it does, what it takes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps import may_call
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, text_table, warning_line
from jupyter_mcp.notebook.render.servers import servers_piece
from jupyter_mcp.notebook.render.text import count, flat
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from jupyter_mcp.notebook.render.views import ExplorerView, ListView

__all__ = ["arguments_of", "explorer_piece", "list_piece", "title_of"]

MAX_ROWS = 60
MAX_PROBLEMS = 10
_WORDS = {"tools": "tool", "resources": "resource", "templates": "template", "prompts": "prompt"}
Row = tuple[str, Mapping[str, Any]]


def list_piece(view: ListView) -> Piece:
    """A list of one kind, its count first, and how to see the rest of a long one."""
    parts: list[Piece | None] = [_head(view)]
    if view.rows:
        parts.append(_TABLES[view.kind](view.rows, view))
    if view.templates:
        parts += [plain_line(count(len(view.templates), "template"), mark="b"), _templates(view.templates, view)]
    parts += [_problem(*problem) for problem in view.problems[:MAX_PROBLEMS]]
    if len(view.problems) > MAX_PROBLEMS:
        parts.append(warning_line(f"{len(view.problems) - MAX_PROBLEMS} more; %mcp log SERVER lists them"))
    return stack(parts)


def explorer_piece(view: ExplorerView) -> Piece:
    """The servers, and below them each list in a fold; as text the servers alone, which say how much they offer."""
    servers = servers_piece(view.servers)
    folds = [
        html.details(f"<b>{html.escape(_title(found))}</b>", list_piece(found).html)
        for found in view.lists
        if found.rows or found.templates
    ]
    return Piece(servers.html + "".join(folds), servers.text)


def _title(view: ListView) -> str:
    parts = [count(len(view.rows), _WORDS[view.kind])] if view.rows else []
    parts += [count(len(view.templates), "template")] if view.templates else []
    return ", ".join(parts)


def _head(view: ListView) -> Piece:
    number = count(len(view.rows), _WORDS[view.kind])
    having = [server for server, _ in (*view.rows, *view.templates)]
    asked = list(dict.fromkeys(having or view.servers))  # a server without any is none of those that offer something
    whose = f" of {asked[0]}" if len(asked) == 1 else (f" of {len(asked)} servers" if asked else "")
    narrowed = f" matching “{flat(view.search, 80)}”" if view.search else ""
    if not view.rows and not view.templates:
        none = "No server is connected. Start with: %mcp connect demo"
        return plain_line(f"No {view.kind}{whose}{narrowed}." if asked else none)
    markup = html.note(f"<b>{html.escape(number)}</b>{html.escape(whose + narrowed)}")
    return Piece(markup, f"{number}{whose}{narrowed}")


def _problem(server: str, name: str, reason: str) -> Piece:
    return warning_line(f"{flat(server, 40)}: {flat(name, 80)}: {flat(reason, 200)}")


def title_of(item: Mapping[str, Any]) -> str:
    """The title for a person when it says more than the name, else nothing."""
    title = flat(item.get("title") or mapping_of(item.get("annotations")).get("title") or "", 120)
    return "" if title == item.get("name") else title


def arguments_of(tool: Mapping[str, Any]) -> str:
    """ "city, days?" from a tool's schema, a question mark at what may be left out."""
    schema = mapping_of(tool.get("inputSchema"))
    wanted = as_list(schema.get("required"))
    names = [str(name) for name in mapping_of(schema.get("properties"))]
    ordered = [*(name for name in names if name in wanted), *(name for name in names if name not in wanted)]
    said = [f"{flat(name, 40)}{'' if name in wanted else '?'}" for name in ordered]
    return ", ".join(said[:12]) + (f", … {len(said) - 12} more" if len(said) > 12 else "")


def _told(item: Mapping[str, Any], limit: int = 160) -> str:
    title, told = title_of(item), flat(item.get("description") or "", limit)
    return f"{title}: {told}" if title and told and not told.startswith(title) else told or title


def _tools(rows: Sequence[Row], view: ListView) -> Piece:
    header = ["tool", "what it does", "arguments", "for models"]
    cells = [
        [_full(server, item), _told(item), arguments_of(item), _off(server, item, "name", view)]
        for server, item in rows[:MAX_ROWS]
    ]
    hint = "call one: %mcp call SERVER.TOOL name=value"
    return stack([_table(header, cells, mono=(0, 2)), _rest(len(rows), view, hint)])


def _prompts(rows: Sequence[Row], view: ListView) -> Piece:
    header = ["prompt", "what it does", "arguments", "for models"]
    cells = [
        [_full(server, item), _told(item), _prompt_arguments(item), _off(server, item, "name", view)]
        for server, item in rows[:MAX_ROWS]
    ]
    hint = "get one: %mcp prompt SERVER.PROMPT name=value"
    return stack([_table(header, cells, mono=(0, 2)), _rest(len(rows), view, hint)])


def _prompt_arguments(item: Mapping[str, Any]) -> str:
    named = [one for one in as_list(item.get("arguments")) if is_mapping(one)]
    return ", ".join(f"{flat(one.get('name') or '?', 40)}{'' if one.get('required') is True else '?'}" for one in named)


def _resources(rows: Sequence[Row], view: ListView) -> Piece:
    return _addresses("uri", rows, view, "read one: %mcp read SERVER URI")


def _templates(rows: Sequence[Row], view: ListView) -> Piece:
    return _addresses("uriTemplate", rows, view, "read one: %mcp read SERVER TEMPLATE name=value")


def _addresses(key: str, rows: Sequence[Row], view: ListView, hint: str) -> Piece:
    several = len({server for server, _ in rows}) > 1
    header = [*(["server"] if several else []), "URI" if key == "uri" else "template", "name", "what it is", "type"]
    header.append("for models")
    cells = [
        [
            *([server] if several else []),
            flat(item.get(key) or "", 300),
            title_of(item) or flat(item.get("name") or "", 120),
            flat(item.get("description") or "", 160),
            flat(item.get("mimeType") or "", 60),
            _off(server, item, key, view),
        ]
        for server, item in rows[:MAX_ROWS]
    ]
    mono = (1,) if several else (0,)
    return stack([_table(header, cells, mono=mono), _rest(len(rows), view, hint)])


_TABLES = {"tools": _tools, "resources": _resources, "prompts": _prompts}


def _off(server: str, item: Mapping[str, Any], key: str, view: ListView) -> str:
    if (server, str(item.get(key))) in view.off:
        return "off"
    return "" if may_call("model", item) else "no, its app's own"


def _full(server: str, item: Mapping[str, Any]) -> str:
    return f"{server}.{flat(item.get('name') or '?', 120)}"


def _table(header: Sequence[str], cells: Sequence[Sequence[str]], mono: Sequence[int]) -> Piece:
    """Columns that are empty throughout are left out."""
    kept = [at for at in range(len(header)) if at in mono[:1] or any(row[at] for row in cells)]
    safe = [[html.code(row[at]) if at in mono and row[at] else html.escape(row[at]) for at in kept] for row in cells]
    names = [header[at] for at in kept]
    return Piece(html.table(names, safe), text_table(names, [[row[at] for at in kept] for row in cells]))


def _rest(number: int, view: ListView, hint: str) -> Piece:
    narrow = f"… {number - MAX_ROWS:,} more; %mcp {view.kind} --search TEXT narrows the list"
    return plain_line(narrow if number > MAX_ROWS else hint, mark="small")
