"""The official clients against our demo server, in every era that each of them speaks.

A driver in the client's own environment plays one list of steps (drivers/steps.py); the tests look at what came of each.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.interop import programs

pytestmark = pytest.mark.interop

LIMIT = 120.0  # seconds for one driver
LEGACY, MODERN = "2025-11-25", "2026-07-28"


@dataclass(frozen=True)
class Client:
    """Somebody else's client: its environment, its driver, how it is to negotiate and what that must lead to."""

    name: str
    environment: str
    driver: str
    mode: str
    revision: str

    def __str__(self) -> str:
        return self.name


CLIENTS = [
    Client("mcp 2.3.0 auto", "mcp2", "mcp2.py", "auto", MODERN),
    Client("mcp 2.3.0 legacy", "mcp2", "mcp2.py", "legacy", LEGACY),
    Client("mcp 1.30.0", "mcp1", "mcp1.py", "legacy", LEGACY),
    Client("FastMCP 4.2.3 auto", "fastmcp", "fastmcp4.py", "auto", MODERN),
    Client("FastMCP 4.2.3 legacy", "fastmcp", "fastmcp4.py", "legacy", LEGACY),
]

BOOKING = {"city": "Barcelona"}
PROMPT = {"type": "ref/prompt", "name": "review"}
STEPS: dict[str, dict[str, Any]] = {
    "tools": {"do": "tools"},
    "resources": {"do": "resources"},
    "templates": {"do": "templates"},
    "prompts": {"do": "prompts"},
    "add": {"do": "call", "name": "add", "arguments": {"a": 2, "b": 3}},
    "weather": {"do": "call", "name": "weather", "arguments": {"city": "Paris"}},
    "wrong argument": {"do": "call", "name": "add", "arguments": {"a": "two", "b": 3}},
    "unknown tool": {"do": "call", "name": "no_such_tool", "arguments": {}},
    "table": {"do": "call", "name": "table", "arguments": {}},
    "chart": {"do": "call", "name": "chart", "arguments": {}},
    "slow": {"do": "call", "name": "slow", "arguments": {"seconds": 0.2, "steps": 4}},
    "book": {"do": "call", "name": "book", "arguments": BOOKING, "answer": {"elicit": {}}},
    "book declined": {"do": "call", "name": "book", "arguments": BOOKING, "answer": {"elicit": "decline"}},
    "book cancelled": {"do": "call", "name": "book", "arguments": BOOKING, "answer": {"elicit": "cancel"}},
    "summarise": {
        "do": "call",
        "name": "summarise",
        "arguments": {"text": "A long text about cats."},
        "answer": {"sample": "Cats."},
    },
    "read": {"do": "read", "uri": "notes://today"},
    "read nothing": {"do": "read", "uri": "notes://no-such-day"},
    "review": {"do": "prompt", "name": "review", "arguments": {"language": "python"}},
    "complete": {"do": "complete", "ref": PROMPT, "argument": "language", "value": "py"},
}


@cache
def played(client: Client) -> dict[str, Any]:
    """What the client's driver printed; it runs once for all tests."""
    plan = {"command": programs.demo_server(), "mode": client.mode, "steps": list(STEPS.values())}
    done = subprocess.run(
        [programs.peer_python(client.environment), str(programs.DRIVERS / client.driver)],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def outcome(client: Client, step: str) -> dict[str, Any]:
    return played(client)["steps"][list(STEPS).index(step)]


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


@pytest.fixture(params=CLIENTS, ids=str)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param
