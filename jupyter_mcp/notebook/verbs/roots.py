"""roots: the folders that servers are told about."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_DEEDS = ("add", "remove", "list", "reset")


def roots(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    table, server = api.host.roots, call.option("server")
    shown = table if server is None else table.of(server)
    deed, folders = _said(call)
    if deed == "list" or (deed == "" and not folders):
        if folders:
            raise call.wrong("list takes no folder.")
        return shown
    if deed == "reset":
        if folders:
            raise call.wrong("reset takes no folder.")
        return table.set(None, server)
    if deed in ("add", "remove"):
        if not folders:
            raise call.wrong(f"{deed} which FOLDER?")
        for folder in folders:
            shown = getattr(table, deed)(folder, server)
        return shown
    return table.set([] if folders == ["none"] else folders, server)


def _said(call: Invocation) -> tuple[str, list[Any]]:
    """add, remove, list, reset or nothing; and the folders of the line and the body."""
    words = list(call.line.words)
    deed = words.pop(0).text if words and words[0].bare and words[0].text in _DEEDS else ""
    lines = [line.strip() for line in (call.body or "").splitlines()]
    return deed, [*map(call.value, words), *(line for line in lines if line and not line.startswith("#"))]


VERBS = (
    Verb(
        "roots",
        "decisions",
        "roots [add | remove] [FOLDER… | none] [--server S] | roots list | roots reset",
        "The folders that servers are told about (until you say: the notebook's and those in a server's command).",
        roots,
        Grammar(options=(Option("server", "S", "what this server alone is told"),)),
        most=None,
        body="one folder a line",
        details=(
            ("add, remove", "one folder more or less; FOLDER alone: these and no others; none: no folder"),
            ("reset", "as it was before you said anything"),
        ),
        examples=("%mcp roots", "%mcp roots add data", "%mcp roots data results", "%mcp roots reset"),
        python=("host.roots",),
    ),
)
