"""What a client's configuration has to say to reach this notebook, to the letter. Pure.

Two ways lead there. The bridge is a command: no port, no token, nothing that must be kept secret or changes. The URL is
for clients on other terms (no process of their own), and comes with the token.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.kernel import identity
from jupyter_mcp.protocol.secrets import MASK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CLIENTS", "COMMAND", "Recipe", "Setup", "agent_command", "bridge_command", "find", "shell_line"]

COMMAND = "jupyter-mcp-host"
_PLACES = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME", "JUPYTER_PLATFORM_DIRS")
"""What moves Jupyter's runtime folder. Agents pass on a few variables only (HOME, PATH and the like)."""
_RESERVED = frozenset(("workspace", "claude-in-chrome", "ide", "computer-use"))
"""Names that Claude Code keeps for itself."""


class Setup(str):
    """The text of a configuration, as it is; its repr has the token masked, so that no output keeps it by accident."""

    shown: str

    def __new__(cls, text: str, shown: str) -> Setup:
        made = super().__new__(cls, text)
        made.shown = shown
        return made

    def __repr__(self) -> str:
        return self.shown


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one client is told.

    Attributes:
        key: its name for `Endpoint.config`.
        title: what people call it.
        where: the file it goes to, or "" for a line to be typed in a terminal.
        bridge: makes the text from a name and the bridge's command.
        direct: makes it from a name, URL and token.
    """

    key: str
    title: str
    where: str
    bridge: Callable[[str, Sequence[str]], str]
    direct: Callable[[str, str, str], str]

    def text(self, slug: str, command: Sequence[str]) -> str:
        """For the bridge."""
        return self.bridge(_name(slug), command)

    def text_with_token(self, slug: str, url: str, token: str) -> Setup:
        """For the URL."""
        name = _name(slug)
        return Setup(self.direct(name, url, token), self.direct(name, url, MASK))


def find(client: str) -> Recipe:
    """The recipe of that name. Raises UsageError with the nearest one."""
    for recipe in CLIENTS:
        if recipe.key == client:
            return recipe
    keys = [recipe.key for recipe in CLIENTS]
    near = nearest(client, keys)
    meant = f"Did you mean {near!r}?" if near else f"There are: {', '.join(keys)}."
    raise UsageError(f"No configuration is known for {client!r}. {meant}")


def bridge_command(slug: str) -> list[str]:
    """What starts the bridge to that notebook from anywhere: by absolute path, for agents have another PATH."""
    script = Path(sys.executable).with_name(f"{COMMAND}.exe" if os.name == "nt" else COMMAND)
    start = [str(script)] if script.is_file() else [sys.executable, "-m", "jupyter_mcp.cli"]
    return [*start, "stdio", "--notebook", slug]


def agent_command(slug: str) -> list[str]:
    """The same as an agent has to start it: where Jupyter's runtime folder was moved, agents do not know that."""
    if os.name == "nt" or not any(os.environ.get(name) for name in _PLACES):
        return bridge_command(slug)
    return ["env", f"JUPYTER_RUNTIME_DIR={identity.folder().parent.absolute()}", *bridge_command(slug)]


def shell_line(words: Sequence[str]) -> str:
    """Words as one would type them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _name(slug: str) -> str:
    return f"{slug}-notebook" if slug in _RESERVED else slug


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _started(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _codex_bridge(name: str, command: Sequence[str]) -> str:
    rows = [f"[mcp_servers.{name}]", f"command = {json.dumps(command[0])}", f"args = {json.dumps(list(command[1:]))}"]
    return "\n".join(rows)


def _codex_direct(name: str, url: str, token: str) -> str:
    header = json.dumps(f"Bearer {token}", ensure_ascii=False)
    return f"[mcp_servers.{name}]\nurl = {json.dumps(url)}\nhttp_headers = {{ Authorization = {header} }}"


def _line_direct(name: str, url: str, token: str) -> str:
    words = ["claude", "mcp", "add", "--transport", "http", name, url]
    return f'{shell_line(words)} --header "Authorization: Bearer {token}"'


CLIENTS = (
    Recipe(
        "claude-code",
        "Claude Code",
        "",
        lambda name, command: shell_line(["claude", "mcp", "add", name, "--", *command]),
        _line_direct,
    ),
    Recipe(
        "mcp.json",
        ".mcp.json",
        ".mcp.json",
        lambda name, command: _json({"mcpServers": {name: {"type": "stdio", **_started(command)}}}),
        lambda name, url, token: _json({"mcpServers": {name: {"type": "http", "url": url, "headers": _bearer(token)}}}),
    ),
    Recipe(
        "cursor",
        "Cursor",
        ".cursor/mcp.json",
        lambda name, command: _json({"mcpServers": {name: _started(command)}}),
        lambda name, url, token: _json({"mcpServers": {name: {"url": url, "headers": _bearer(token)}}}),
    ),
    Recipe(
        "vscode",
        "VS Code",
        ".vscode/mcp.json",
        lambda name, command: _json({"servers": {name: {"type": "stdio", **_started(command)}}}),
        lambda name, url, token: _json({"servers": {name: {"type": "http", "url": url, "headers": _bearer(token)}}}),
    ),
    Recipe("codex", "Codex", "~/.codex/config.toml", _codex_bridge, _codex_direct),
)
"""In the order in which the card shows them."""
