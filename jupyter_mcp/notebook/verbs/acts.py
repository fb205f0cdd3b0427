"""call, read, prompt, complete, watch, unwatch, ping, cancel: doing something with a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host import arguments
from jupyter_mcp.host.checking import usage
from jupyter_mcp.host.wording import decode_json, nearest, shorten
from jupyter_mcp.notebook.filling import FILL, filled
from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.catalogue import OfferKind
    from jupyter_mcp.notebook.objects.items import Item
    from jupyter_mcp.notebook.objects.server import Server


def call_tool(call: Invocation) -> Any:
    from jupyter_mcp.notebook.leaving import or_left
    from jupyter_mcp.notebook.objects.call import Call
    from jupyter_mcp.notebook.waiting import watched

    tool: Any = _item(call, "tool", call.words)
    both: list[Any] = [_arguments(call, tool, tool.input_schema), _meta(call)]
    sent, meta = filled(call, both)
    server: Server = tool.server
    how: dict[str, Any] = {
        "check": not call.line.flag("no-raise"),
        "yes": call.line.flag("yes"),
        "timeout": call.number("timeout"),
        "meta": meta,
    }
    if call.line.flag("background"):
        return Call.begin(server, tool.name, sent, **how, origin="person")
    acts = server.by("person")
    label = f"{server.name}.{tool.name}"
    return or_left(lambda: watched(label, lambda told: acts.call(tool.name, sent, **how, on_event=told)))


def prompt(call: Invocation) -> Any:
    from jupyter_mcp.notebook.waiting import watched

    found: Any = _item(call, "prompt", call.words)
    sent = filled(call, _arguments(call, found, found.schema))
    acts = found.server.by("person")
    return watched(
        f"{found.server.name}.{found.name}", lambda on_event: acts.prompt(found.name, sent, on_event=on_event)
    )


def read(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.objects.acts import ServerActs
    from jupyter_mcp.notebook.waiting import watched

    words = call.need(1, "URI")
    if len(words) == 1 and words[0] in api.servers:
        raise call.wrong("URI is missing.")
    server = api.server(words[0]).name if len(words) == 2 else None
    values = arguments.coerce({}, call.pairs())
    (uri,) = filled(call, [words[-1]])
    acts = ServerActs(server, "person")
    fresh = call.line.flag("fresh")
    return watched(uri, lambda on_event: acts.read(uri, values, fresh=fresh, on_event=on_event))


def complete(call: Invocation) -> Any:
    from jupyter_mcp.notebook.objects.table import Listing

    words = call.need(2, "what to complete (a prompt or a URI template, and its argument)")
    server, rest = _server_first(words)
    if len(rest) not in (2, 3):
        raise call.wrong("complete takes a prompt or template, an argument and what is typed of it.")
    target: Any = _completed(server, rest[0])
    context = {key: str(value) for key, value in arguments.coerce({}, call.pairs()).items()}
    values = target.server.complete(target, rest[1], rest[2] if len(rest) == 3 else "", context)
    return Listing("completions", f"{rest[1]} of {target.key}", ("value",), [(value,) for value in values])


def watch(call: Invocation) -> Any:
    server, uri = _uri(call, call.need(1, "URI"))
    return server.watch(uri)


def unwatch(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.objects.watch import active

    words = call.words
    server = api.server(words[0]) if words and words[0] in api.servers else None
    uri = words[-1] if words and (server is None or len(words) == 2) else None
    names = [server.name] if server is not None else list(api.servers)
    found = [watch for name in names for watch in active(name, uri)]
    if not found:
        raise call.wrong(f"{uri} is not watched." if uri else "Nothing is watched.")
    for watch in found:
        watch.stop()
    return Note(f"No longer watching {', '.join(watch.uri for watch in found)}.")


def ping(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    return (api.server(call.words[0]) if call.words else api.only_server()).ping()


def cancel(call: Invocation) -> Any:
    from jupyter_mcp.notebook.objects.call import running
    from jupyter_mcp.notebook.objects.task import known

    calls = running()
    words = call.words
    if words and (task := known(words[0])) is not None:
        if task.done:
            raise call.wrong(f"Task {task.key} has ended ({task.status}).")
        return task.cancel()
    if words:
        calls = [found for found in calls if words[0] in (str(found.number), found.name, found.server.name, found.tool)]
    if not calls:
        raise call.wrong(f"no call {words[0]!r} is under way." if words else "No background call is under way.")
    for found in calls:
        found.cancel()
    return Note(f"Cancelled {', '.join(found.name for found in calls)}.")


# --- what a line names -----------------------------------------------------------------------------------------------


def _item(call: Invocation, kind: OfferKind, words: list[str]) -> Item:
    """The tool or prompt of `server.name`, `server name` or a bare name."""
    from jupyter_mcp.notebook import api

    if not words:
        raise call.wrong(f"{kind.upper()} is missing.")
    if len(words) > 2:
        raise call.wrong(f"{words[2]!r} is not key=value; quote values with spaces.")
    if len(words) == 1:
        return api.find(kind, words[0])
    if words[0] not in api.servers:
        known = [*api.servers]
        near = nearest(words[0], known)
        if api.knows(kind, words[0]):
            raise call.wrong(f"{words[1]!r} is not key=value; quote values with spaces.")
        meant = f" Did you mean {near}?" if near else f" Connected: {', '.join(known)}." if known else ""
        raise call.wrong(f"There is no server {words[0]!r}.{meant}")
    return api.find(kind, words[1], words[0])


def _arguments(call: Invocation, item: Item, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the line (and the body)."""
    try:
        typed = dict(call.line.body) if call.line.body is not None else arguments.coerce(schema, call.pairs())
        more = {} if call.body is None else arguments.body(call.body, schema, call.names.read)
        twice = next((name for name in more if name in typed), None)
        if twice is not None:
            raise UsageError(f"{twice} is given twice, on the line and in the body.")
    except UsageError as error:
        error.usage = error.usage or f"%mcp {call.verb.name} {usage(item.full_name, schema)}"
        raise
    return {**typed, **more}


def _meta(call: Invocation) -> Mapping[str, Any] | None:
    """What `--meta` says: a JSON object, or a notebook object that is one."""
    from jupyter_mcp.host.meta import checked_meta

    text = call.line.last("meta")
    if text is None:
        return None
    typed = call.names.read(text)
    try:
        if typed.is_object:
            return checked_meta(typed.value)
        value, end = decode_json(typed.text.strip(), "--meta")
        if typed.text.strip()[end:].strip():
            raise UsageError(f"--meta is one JSON object; what is {shorten(typed.text.strip()[end:])}?")
        return checked_meta(value)
    except UsageError as error:
        error.usage = error.usage or call.verb.usage_line
        raise


def _uri(call: Invocation, words: list[str]) -> tuple[Server, str]:
    """The server and the URI of `[SERVER] URI`."""
    from jupyter_mcp.notebook import api

    if len(words) == 2:
        return api.server(words[0]), words[1]
    uri = words[0]
    if uri in api.servers:
        raise call.wrong("URI is missing.")
    if api.knows("resource", uri):
        return api.find("resource", uri).server, uri
    fitting = api.fitting_servers(uri)
    if len(fitting) == 1:
        return api.server(fitting[0]), uri
    return api.only_server(), uri


def _server_first(words: list[str]) -> tuple[Server | None, list[str]]:
    from jupyter_mcp.notebook import api

    return (api.server(words[0]), words[1:]) if words[0] in api.servers else (None, words)


def _completed(server: Server | None, text: str) -> Item:
    from jupyter_mcp.notebook import api

    name = server.name if server is not None else None
    return api.find("template" if "{" in text else "prompt", text, name)


VERBS = (
    Verb(
        "call",
        "acts",
        "call [SERVER.]TOOL [key=value… | JSON] [--background] [--no-raise] [--yes] [--timeout S] [--meta JSON]",
        "Call a tool; the result is shown and returned.",
        call_tool,
        Grammar(
            options=(
                Option("background", None, "return at once; the card shows how it goes"),
                Option("no-raise", None, "a failure of the tool is returned, not raised"),
                Option("yes", None, "consent to this call, where a rule would ask first"),
                Option("timeout", "S", "seconds without an answer or progress, instead of the server's own"),
                Option("meta", "JSON", "a JSON object (or $name) that goes along in the request's _meta"),
                FILL,
            ),
            pairs=True,
            json=True,
        ),
        most=None,
        body="the arguments: a JSON object, a Python dict, or `key: value` lines",
        details=(
            ("key=value", "the tool's schema decides what the value is; text stays text"),
            ("key:=JSON", "the value is JSON"),
            ("$name, {expression}", "a whole value may be a notebook object ($$ and {{ for the characters)"),
        ),
        examples=(
            "%mcp call demo.add a=1 b=2",
            'r = %mcp call demo weather {"city": "Paris", "days": 2}',
            "%mcp call demo.slow seconds=20 --background",
            '%mcp call demo.slow seconds=20 --timeout 30 --meta {"example.org/trace": "a1"}',
        ),
        completes=("tool",),
        python=("Tool.__call__", "Tool.call", "Tool.start"),
    ),
    Verb(
        "read",
        "acts",
        "read [SERVER] URI [key=value…] [--fresh]",
        "Read a resource; for a template, key=value gives its variables.",
        read,
        Grammar(
            options=(
                Option("fresh", None, "ask the server also while what it said last is good by its own word"),
                FILL,
            ),
            pairs=True,
        ),
        most=2,
        examples=("%mcp read demo notes://today", "%mcp read demo notes://{day} day=today"),
        completes=("resource",),
        python=("Server.read", "Resource.read", "Template.read"),
    ),
    Verb(
        "prompt",
        "acts",
        "prompt [SERVER.]PROMPT [key=value…]",
        "Get a prompt's messages.",
        prompt,
        Grammar(options=(FILL,), pairs=True, json=True),
        most=None,
        examples=("%mcp prompt demo.review language=python",),
        completes=("prompt",),
        python=("Prompt.__call__",),
    ),
    Verb(
        "complete",
        "acts",
        "complete [SERVER] PROMPT|TEMPLATE ARGUMENT [PREFIX] [key=value…]",
        "Ask the server how an argument could go on; key=value are the arguments chosen so far.",
        complete,
        Grammar(pairs=True),
        most=4,
        examples=("%mcp complete demo review language py",),
        completes=("prompt",),
        python=("Server.complete",),
    ),
    Verb(
        "watch",
        "acts",
        "watch [SERVER] URI",
        "Be told when a resource changes.",
        watch,
        most=2,
        examples=("%mcp watch demo notes://today",),
        completes=("resource",),
        python=("Server.watch",),
    ),
    Verb(
        "unwatch",
        "acts",
        "unwatch [SERVER] [URI]",
        "No longer be told; without a URI, of nothing at all.",
        unwatch,
        most=2,
        examples=("%mcp unwatch demo notes://today",),
        completes=("resource",),
        python=("Watch.stop",),
    ),
    Verb(
        "ping",
        "acts",
        "ping [SERVER]",
        "See whether a server answers.",
        ping,
        most=1,
        examples=("%mcp ping demo",),
        completes=("server",),
        python=("Server.ping",),
    ),
    Verb(
        "cancel",
        "acts",
        "cancel [NUMBER | TASK | [SERVER.]TOOL]",
        "Cancel a task, or background calls: one, or all.",
        cancel,
        most=1,
        examples=("%mcp cancel", "%mcp cancel demo.slow", "%mcp cancel t1"),
        completes=("running",),
        python=("Call.cancel", "Task.cancel"),
    ),
)
