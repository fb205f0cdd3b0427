"""A connection to a process does not pay for what only HTTP, or a server that went away, needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import fakes

PROGRAM = """
import asyncio, json, sys
from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.transport.stdio import StdioTransport
from tests.client.peer import FakePeer

async def main():
    connection = Connection("x", lambda: StdioTransport(sys.argv[1], sys.argv[2:]), ConnectOptions(), FakePeer())
    await connection.open()
    await connection.list("tools")
    await connection.call_tool("echo", {"text": "x"})
    await connection.close()
    print(json.dumps(list(sys.modules)))

asyncio.run(main())
"""
NOT_NEEDED = ("cache", "failures", "header_tools", "heartbeat", "reconnect", "turning")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_what_is_not_needed_is_not_loaded(era: str) -> None:
    command, args = fakes.command(era=era)
    done = subprocess.run([sys.executable, "-c", PROGRAM, command, *args], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    wrong = {f"jupyter_mcp.client.{name}" for name in NOT_NEEDED} | {"jupyter_mcp.protocol.probe_http", "aiohttp"}
    if era == "legacy":
        wrong.add("jupyter_mcp.client.stream")
    assert not wrong & loaded
    assert not {name for name in loaded if name.startswith("jupyter_mcp.transport.http")}
