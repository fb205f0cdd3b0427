"""serve."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_SERVE = Grammar(
    options=(
        Option("name", "N", "what the notebook is called in addresses, instead of its file's name"),
        Option("except", "NAMES", "not these variables: one, or several with commas", repeat=True),
        Option("read-only", None, "clients may read and call the notebook's functions; the default"),
        Option("allow-code", None, "clients may ask to run code and to set variables; you are asked each time"),
        Option("issuer", "URL", "an identity provider whose access tokens are taken too, behind a proxy"),
        Option("resource", "URL", "with --issuer: the notebook's URL as clients outside use it; tokens are for it"),
        Option("user", "NAME", "with --issuer: who may come: a token's subject or verified mail; '*' all", repeat=True),
        Option("scope", "NAME", "with --issuer: what a token must allow", repeat=True),
        Option("port", "N", "with --issuer: where to listen, so that the proxy knows"),
        Option("stop", None, "serve no longer; port and token are given up"),
    ),
)


def serve(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    if call.line.flag("stop"):
        if call.line.words or len(call.line.options) > 1:
            raise call.wrong("--stop goes alone.")
        return _stop()
    if call.line.flag("read-only") and call.line.flag("allow-code"):
        raise call.wrong("--read-only and --allow-code contradict each other.")
    excluded = [name.strip() for text in call.options("except") for name in text.split(",")]
    return api.serve(
        *(name for word in call.words for name in word.split(",") if name),
        name=call.option("name"),
        exclude=[name for name in excluded if name],
        allow_code=call.line.flag("allow-code"),
        issuer=call.option("issuer"),
        resource=call.option("resource") or "",
        users=call.options("user"),
        scopes=call.options("scope"),
        port=_port(call),
    )


def _port(call: Invocation) -> int:
    given = call.option("port")
    if given is None:
        return 0
    if not given.isdecimal():
        raise call.wrong("--port wants a number.")
    return int(given)


def _stop() -> Note:
    from jupyter_mcp.notebook import api

    endpoint = api.endpoint()
    if endpoint is None:
        return Note("This notebook is not served.")
    endpoint.stop()
    return Note(f"{endpoint.name} is no longer served.")


VERBS = (
    Verb(
        "serve",
        "this notebook",
        "serve [NAMES…] [options]",
        "Serve this notebook to MCP clients: its variables, plots and functions, also while a cell runs.",
        serve,
        _SERVE,
        most=None,
        details=(
            ("NAMES", "only these variables; without any, all public ones (never modules, _names and secrets)"),
            ("again", "the last line counts: it says anew what may be seen; clients stay connected"),
            ("--name N alone", "again: only the name is another; what may be seen stays"),
        ),
        examples=(
            "%mcp serve",
            "%mcp serve df model --name sales",
            "%mcp serve --except scratch,tmp",
            "%mcp serve --allow-code",
            "%mcp serve df --issuer https://login.example.org --resource https://hub.example.org/df/mcp --user ada",
            "%mcp serve --stop",
        ),
        completes=("variable", "*"),
        python=("serve", "Endpoint.stop"),
    ),
)
