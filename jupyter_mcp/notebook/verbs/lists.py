"""tools, resources, prompts: what is offered."""

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
    return collection(search) if search else collection


def tools(call: Invocation) -> Any:
    return _listed(call, "tools")


def resources(call: Invocation) -> Any:
    return _listed(call, "resources")


def prompts(call: Invocation) -> Any:
    return _listed(call, "prompts")


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
)
