"""`bundle(obj)`: any object of ours as a MIME bundle that survives saving. Pure.

text/plain is good on its own (terminals, nbval, screen readers), text/html for pages, a small JSON for programs and the
coming renderer. None of them holds a duration, an id, a port, a process id or a folder of this machine.
"""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.media import sniff_image, split_pictures
from jupyter_mcp.host.questions import Question
from jupyter_mcp.notebook.render import acts, conversation, html, lists, questions, results, served, servers
from jupyter_mcp.notebook.render.text import bounded, clean, cut, flat
from jupyter_mcp.notebook.render.views import (
    CallView,
    ConversationView,
    EndpointView,
    ExplorerView,
    HelpView,
    ListView,
    LogView,
    NoteView,
    QuestionRecord,
    ServersView,
    ServerView,
    TableView,
    ToolCallView,
    ToolFormView,
    WatchView,
)
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.notebook.render.piece import Piece

__all__ = ["MIME", "Bundle", "bundle", "of_piece"]

log = logging.getLogger("jupyter_mcp.render")
MIME = "application/vnd.jupyter-mcp+json"
Bundle = dict[str, Any]
MAX_PLAIN = 20_000
MAX_HTML = 48_000
MAX_PICTURE = 1_000_000  # bytes of a picture that is saved twice


def bundle(obj: object, include: object = None, exclude: object = None) -> Bundle:
    """The bundle of a `Result`, `Read`, `PromptResult`, error, view, or of anything with `__mcp_view__()`.

    Args:
        obj: what to draw. What is unknown, or cannot be drawn, is shown by its repr, and what its server
            cannot be asked for by that error: a display never fails.
        include, exclude: ignored; IPython passes them.
    """
    try:
        return _draw(_view_of(obj))
    except MCPError as error:  # the server that was to be asked for it
        return _draw(error)
    except Exception:
        log.exception("a %s could not be drawn", type(obj).__name__)
        return of_piece("value", acts.repr_piece(obj), {})


def _draw(shown: object) -> Bundle:
    for kind, draw in _VIEWS.items():
        if isinstance(shown, kind):
            return draw(shown)
    if isinstance(shown, BaseException):
        said = {"error": type(shown).__name__, "message": flat(shown, 2_000)}
        return of_piece("error", acts.error_piece(shown), said)
    draw = _HOST_VALUES.get(type(shown).__name__)
    return draw(shown) if draw is not None else of_piece("value", acts.repr_piece(shown), {})


def _view_of(obj: object) -> object:
    for _ in range(4):
        method = getattr(type(obj), "__mcp_view__", None)
        if method is None:
            break
        obj = method(obj)
    if is_list(obj) and obj:
        found = [one for one in map(_view_of, obj) if isinstance(one, ServerView)]
        if len(found) == len(obj):
            return ServersView(found)
    return obj


def of_piece(kind: str, piece: Piece, data: Mapping[str, Any]) -> Bundle:
    """A piece and its structured side as a bundle."""
    body, text = piece.html, clean(piece.text)
    if len(body) > MAX_HTML and "data:" not in body:
        body = html.pre(cut(text, MAX_HTML // 3))
    return {
        "text/plain": cut(text, MAX_PLAIN),
        "text/html": html.box(body),
        MIME: {"kind": kind, **bounded(dict(data))},
    }


def _result(result: Any) -> Bundle:
    raw = mapping_of(result.raw)
    data = {"server": result.server, "tool": result.tool, "isError": bool(result.is_error)}
    made = of_piece("result", results.result_piece(result), {**data, "content": _light(result.blocks)})
    if "structuredContent" in raw:
        made[MIME]["structuredContent"] = bounded(raw["structuredContent"], 8_000)
    return _with_image(made, result.images)


def _read(read: Any) -> Bundle:
    made = of_piece("resource", results.read_piece(read), {"uri": read.uri, "mimeType": read.mime_type})
    return _with_image(made, [part.image for part in read.contents if part.image is not None])


def _with_image(made: Bundle, images: Sequence[Any]) -> Bundle:
    """One picture goes along as a picture too: LaTeX, slides and viewers that drop `data:` addresses show that."""
    actual = images[0].actual_type if len(images) == 1 and len(images[0].data) <= MAX_PICTURE else None
    if actual not in ("image/png", "image/jpeg"):
        return made
    return {**made, actual: base64.b64encode(images[0].data).decode("ascii")}


def _light(blocks: object) -> list[Any]:
    """Content without its base64: the JSON side stays small."""
    return [
        {key: _lighter(key, value) for key, value in block.items() if key not in ("data", "blob")}
        for block in as_list(blocks)[:20]
        if is_mapping(block)
    ]


def _lighter(key: str, value: Any) -> Any:
    """Without the bytes that stand in an embedded resource, or as letters in a text."""
    if key == "resource" and is_mapping(value):
        return {name: inner for name, inner in value.items() if name != "blob"}
    if key != "text" or not isinstance(value, str):
        return value
    parts = split_pictures(value)
    return "".join(part if isinstance(part, str) else f"[{sniff_image(part)}]" for part in parts)


def _prompt(prompt: Any) -> Bundle:
    return of_piece("prompt", results.prompt_piece(prompt), {"prompt": prompt.prompt, "messages": len(prompt.dicts)})


def _entry(entry: Any) -> Bundle:
    from jupyter_mcp.notebook.objects.views import server_view

    return _server(server_view(entry))


def _table(view: TableView) -> Bundle:
    rows = [list(row) for row in view.rows[-100:]]
    data = {"title": view.title, "columns": list(view.columns), "rows": rows, "count": len(view.rows)}
    return of_piece(view.kind, acts.table_view_piece(view), data)


def _server(view: ServerView) -> Bundle:
    return of_piece("server", servers.server_piece(view), {**_who(view), "offers": dict(view.counts)})


def _who(view: ServerView) -> dict[str, Any]:
    return {"name": view.name, "state": view.state, "era": view.era, "revision": view.revision}


def _servers(view: ServersView) -> Bundle:
    return of_piece("servers", servers.servers_piece(view), {"servers": [_who(one) for one in view.servers]})


def _list(view: ListView) -> Bundle:
    key = "uri" if view.kind == "resources" else "name"
    names = [f"{server}.{item.get(key)}" for server, item in view.rows[:200]]
    return of_piece(view.kind, lists.list_piece(view), {"count": len(view.rows), "names": names})


def _explorer(view: ExplorerView) -> Bundle:
    made = _servers(view.servers)
    return {**of_piece("explorer", lists.explorer_piece(view), {}), MIME: {**made[MIME], "kind": "explorer"}}


def _form(view: ToolFormView) -> Bundle:
    from jupyter_mcp.notebook.render.toolform import tool_form_piece

    return of_piece("form", tool_form_piece(view), {"server": view.server, "tool": flat(view.tool.get("name"), 200)})


def _record(record: QuestionRecord) -> Bundle:
    question, answer = record.question, record.answer
    data = {"server": question.server, "question": question.kind, "action": answer.action if answer else None}
    return of_piece("question", questions.record_piece(record), data)


def _open_question(question: Question) -> Bundle:
    data = {"server": question.server, "question": question.kind}
    return of_piece("question", questions.question_piece(question), data)


def _call(view: CallView) -> Bundle:
    if view.status == "done" and view.outcome is not None:
        return bundle(view.outcome)
    return of_piece("call", acts.call_piece(view), {"label": view.label, "status": view.status})


def _log(view: LogView) -> Bundle:
    return of_piece("log", acts.log_piece(view), {"server": view.server, "lines": len(view.rows)})


def _help(view: HelpView) -> Bundle:
    return of_piece("help", acts.help_piece(view), {"title": view.title})


def _note(view: NoteView) -> Bundle:
    return of_piece("note", acts.note_piece(view), {"text": flat(view.text, 2_000), "tone": view.tone})


def _watch(view: WatchView) -> Bundle:
    data = {"server": view.server, "uri": flat(view.uri, 2_000), "changes": view.changes, "active": view.active}
    return of_piece("watch", acts.watch_piece(view), data)


def _endpoint(view: EndpointView) -> Bundle:
    data = {"name": view.name, "active": view.active, "variables": len(view.names), "allowCode": view.allow_code}
    return of_piece("endpoint", served.endpoint_piece(view), data)


def _conversation(view: ConversationView) -> Bundle:
    said = "\n\n".join(part for part in view.parts if isinstance(part, str))
    calls = [_called(part) for part in view.parts if isinstance(part, ToolCallView)]
    return of_piece(
        "conversation",
        conversation.conversation_piece(view),
        {"model": flat(view.model, 80), "text": cut(clean(said), MAX_PLAIN), "calls": calls[:50]},
    )


def _tool_call(view: ToolCallView) -> Bundle:
    return of_piece("call", conversation.call_piece(view), _called(view))


def _called(view: ToolCallView) -> dict[str, Any]:
    return {"label": flat(view.label, 160), "status": view.status}


_VIEWS: Mapping[type, Callable[[Any], Bundle]] = {
    ServerView: _server,
    ServersView: _servers,
    ListView: _list,
    ExplorerView: _explorer,
    ToolFormView: _form,
    QuestionRecord: _record,
    Question: _open_question,
    CallView: _call,
    LogView: _log,
    HelpView: _help,
    NoteView: _note,
    WatchView: _watch,
    TableView: _table,
    EndpointView: _endpoint,
    ConversationView: _conversation,
    ToolCallView: _tool_call,
}
# By name, so that drawing an error or a list does not import the host's result machinery.
_HOST_VALUES: Mapping[str, Callable[[Any], Bundle]] = {
    "Result": _result,
    "Read": _read,
    "PromptResult": _prompt,
    "ServerEntry": _entry,
}
