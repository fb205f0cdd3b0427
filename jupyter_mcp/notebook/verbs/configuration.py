"""discover, save: configuration files."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.verbs.base import Invocation, Verb


def discover(_call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    return api.discover()


def save(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    words = call.words
    is_file = bool(words) and words[0] not in api.servers and (words[0].endswith(".json") or "/" in words[0])
    names = words[1:] if is_file else words
    return api.save(words[0] if is_file else None, names or None)


VERBS = (
    Verb(
        "discover",
        "connections",
        "discover",
        "The servers that configuration files of this project, and your own, name; nothing is started.",
        discover,
        details=(
            ("project", ".mcp.json, .vscode, .cursor, .jupyter, pyproject.toml, server.json, from here upwards"),
            ("your own", "those of Claude Code, Claude Desktop, Cursor, VS Code, Copilot and Jupyter"),
        ),
        examples=("%mcp discover",),
        python=("discover",),
    ),
    Verb(
        "save",
        "connections",
        "save [FILE] [NAME…]",
        "Write servers of this notebook into .mcp.json, or FILE; the rest of it stays, and no secret is written.",
        save,
        most=None,
        details=(
            ("FILE", "a .json file; without it the nearest .mcp.json from the notebook's folder upwards"),
            ("NAME", "only these servers"),
        ),
        examples=("%mcp save", "%mcp save demo", "%mcp save .vscode/mcp.json demo"),
        completes=("server", "*"),
        python=("save",),
    ),
)
