"""The second step of serving a notebook, as a person takes it: what its card prints, pasted into a client.

Nothing is made up here: a line or a file is read as the client that it is for reads it, and what it says is used.
"""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Pasted", "from_json", "from_line"]


@dataclass(frozen=True)
class Pasted:
    """What a line or a file says.

    Attributes:
        name: what the server is to be called.
        command: of the bridge; empty when there is a URL.
        url, headers: where it is, and what to send along.
    """

    name: str
    command: list[str] = field(default_factory=list[str])
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def plan(self) -> dict[str, Any]:
        """For a driver."""
        if self.command:
            return {"way": "stdio", "command": self.command}
        return {"way": "http", "url": self.url, "headers": self.headers}


def from_line(line: str) -> Pasted:
    """`claude mcp add NAME -- COMMAND…`, or `claude mcp add --transport http NAME URL --header "NAME: VALUE"`."""
    words = shlex.split(line)
    assert words[:3] == ["claude", "mcp", "add"]
    if "--" in words:
        place = words.index("--")
        [name] = words[3:place]
        return Pasted(name, command=words[place + 1 :])
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("url")
    parser.add_argument("--transport", choices=["http"], required=True)
    parser.add_argument("--header", action="append", required=True)
    given = parser.parse_args(words[3:])
    headers = dict(header.split(": ", 1) for header in given.header)
    return Pasted(given.name, url=given.url, headers=headers)


def from_json(text: str) -> Pasted:
    """An `.mcp.json`: its one entry."""
    [(name, entry)] = json.loads(text)["mcpServers"].items()
    if entry["type"] == "stdio":
        assert set(entry) == {"type", "command", "args"}
        return Pasted(name, command=[entry["command"], *entry["args"]])
    assert set(entry) == {"type", "url", "headers"} and entry["type"] == "http"
    return Pasted(name, url=entry["url"], headers=entry["headers"])
