"""The verbs of `%mcp`, one module for each family, as one table."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OVERVIEW", "Invocation", "Verb", "find", "table"]


def _overview(call: Invocation) -> object:
    from jupyter_mcp.notebook.verbs.connections import overview

    return overview(call)


OVERVIEW = Verb(
    "", "connections", "[VERB …]", "The explorer: all servers, all they offer, what waits for an answer.", _overview
)
"""`%mcp` alone."""


@cache
def table() -> Mapping[str, Verb]:
    """Name -> verb, in the order of the help."""
    from jupyter_mcp.notebook.verbs import (
        acts,
        asking,
        configuration,
        connections,
        decisions,
        happened,
        help,
        lists,
        models,
        roots,
        rules,
        serving,
    )

    modules = (
        connections,
        configuration,
        lists,
        acts,
        asking,
        decisions,
        rules,
        roots,
        models,
        serving,
        happened,
        help,
    )
    return {verb.name: verb for module in modules for verb in module.VERBS}


def find(name: str) -> Verb:
    """The verb of that name. Raises `UsageError` with the nearest one."""
    verbs = table()
    if name in verbs:
        return verbs[name]
    near = nearest(name, list(verbs))
    usage = verbs[near].usage_line if near else "%mcp VERB …"
    meant = f"Did you mean {near}?" if near else f"There are: {', '.join(verbs)}."
    raise UsageError(f"There is no verb {name!r}. {meant}", usage=usage)
