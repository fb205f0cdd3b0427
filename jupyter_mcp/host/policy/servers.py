"""A project's own servers: what the person has to see before one is started, and what a yes to it holds for. Pure.

A file that came with a project names a program to run. The person sees its command to the letter, the folder it starts
in and the names of its variables (or its URL and the names of its headers), and the yes is for exactly that content:
what is written in the file, placeholders unfilled, so that no secret is in it.
"""

from __future__ import annotations

import shlex
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.policy.deed import Deed, Origin
from jupyter_mcp.host.policy.sheet import canonical, digest
from jupyter_mcp.host.specs.login import AS_ANYBODY

if TYPE_CHECKING:
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["connect_deed", "project_server", "shown"]

_CONTENT = (
    "kind",
    "command",
    "args",
    "env",
    "pass_env",
    "env_file",
    "inherit_env",
    "cwd",
    "url",
    "headers",
    "transport",
    "roots",
    "folder",
)


def connect_deed(spec: ServerSpec, origin: Origin) -> Deed:
    """Starting or reaching a server, as the policy sees it.

    Args:
        spec: as written, unexpanded.
        origin: who wants it; "project" is a file that came with the project.
    """
    if origin == "project":
        return project_server(spec)
    return Deed(spec.name, "connect", "connect", origin=origin)


def project_server(spec: ServerSpec) -> Deed:
    """Starting a server that a project's file names; its fingerprint is that of everything that says what is run."""
    content: dict[str, Any] = {key: _plain(getattr(spec, key, None)) for key in _CONTENT}
    content |= {"way": repr(spec.way), "sandbox": repr(spec.sandbox)}
    if spec.login != AS_ANYBODY:
        content["login"] = list(map(str, astuple(spec.login)))
    return Deed(
        spec.name, "connect", "connect", origin="project", by_hand=False, fingerprint=digest(canonical(content))
    )


def shown(spec: ServerSpec, deed: Deed) -> dict[str, Any]:
    """What the person is shown: {"command", "words", "cwd", "env", "sandbox"} or {"url", "headers", "way"}, and
    {"source", "hash"}.

    Nothing of it is shortened or masked: it is this that is allowed.
    """
    told: dict[str, Any] = {"source": spec.source or "", "hash": deed.fingerprint or ""}
    if spec.kind == "http":
        way = " ".join(filter(None, (spec.way.describe(), spec.login.describe())))
        return {"url": spec.url, "headers": sorted(spec.headers), "way": way, **told}
    more = [*(["all of yours"] if spec.inherit_env else []), *([f"those in {spec.env_file}"] if spec.env_file else [])]
    names = [*spec.env, *spec.pass_env, *more]
    words = [spec.command, *spec.args]
    inside = spec.sandbox.describe() if spec.sandbox else ""
    return {
        "command": shlex.join(words),
        "words": words,
        "cwd": spec.cwd or "",
        "env": names,
        "sandbox": inside,
        **told,
    }


def _plain(value: Any) -> Any:
    return sorted(value.items()) if hasattr(value, "items") else value
