"""tools, resources, prompts: what is offered; tasks: what is still being done."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_SEARCH = Grammar(options=(Option("search", "TEXT", "only what has every word of it in name, title or description"),))


def _listed(call: Invocation, kind: str) -> Any:
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.objects.offered import Offered

    words = call.words
    search = call.option("search") or ""
    if not words:
        if not api.servers:
            api.no_servers()
        return Offered(kind, None, search)
    collection = getattr(api.server(words[0]), kind)
    len(collection)  # asks the server, whose failure is this line's
    return collection(search) if search else collection


def tools(call: Invocation) -> Any:
    return _listed(call, "tools")


def resources(call: Invocation) -> Any:
    return _listed(call, "resources")


def prompts(call: Invocation) -> Any:
    return _listed(call, "prompts")


def tasks(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.objects.task import Tasks, find

    words = call.words
    if len(words) == 1 and words[0] not in api.servers:
        return find(words[0])
    server = api.server(words[0]).name if words else None
    return find(words[1], server) if len(words) == 2 else Tasks(server)


def _verb(name: str, summary: str, run: Any, python: tuple[str, ...]) -> Verb:
    return Verb(
        name,
        "lists",
        f"{name} [SERVER] [--search TEXT]",
        summary,
        run,
        _SEARCH,
        most=1,
        examples=(f"%mcp {name}", f"%mcp {name} demo", f'%mcp {name} --search "two words"'),
        completes=("server",),
        python=python,
    )


VERBS = (
    _verb("tools", "The tools of all servers or of one.", tools, ("Server.tools", "host.catalogue")),
    _verb(
        "resources",
        "Resources and resource templates of all servers or of one.",
        resources,
        ("Server.resources", "Server.templates", "host.catalogue"),
    ),
    _verb("prompts", "The prompts of all servers or of one.", prompts, ("Server.prompts", "host.catalogue")),
    Verb(
        "tasks",
        "lists",
        "tasks [SERVER] [TASK]",
        "Tool calls that go on at their servers, of all servers or of one; or one task, which is followed again.",
        tasks,
        most=2,
        details=(("TASK", "its key in this kernel (t1), or the server's own id"),),
        examples=("%mcp tasks", "%mcp tasks demo", "%mcp tasks t1"),
        completes=("server or task", "task"),
        python=("Server.tasks", "Task.result", "Task.refresh"),
    ),
)
