"""Notebooks as files, deployed by the command in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol import headers, modern
from jupyter_mcp.protocol.sse import Event, SseDecoder

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    import httpx

TOKEN, KEY = "a-token-that-all-copies-share", "a-key-that-all-copies-share-0123"
CELLS = (
    """
import jupyter_mcp as mcp
mcp.serve()
print('a cell says hello')
""",
    """
import os
from typing import Literal
from jupyter_mcp.server import AsyncContext

secret_of_the_notebook = 'not for clients'

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b

@mcp.tool
def who() -> int:
    return os.getpid()

@mcp.tool
async def paint(pet: str, ctx: AsyncContext) -> str:
    colour = await ctx.elicit(f'{os.getpid()} asks the colour of {pet}', Literal['red', 'green'], key='colour')
    return f'{colour.data} {os.getpid()}'

@mcp.prompt
def hello(name: str) -> str:
    return f'Say hello to {name}.'

@mcp.resource('notes://today')
def today() -> str:
    return 'nothing'
""",
)


def write(path: Path, cells: Sequence[str] = CELLS, kernel: str = "python3") -> Path:
    """A notebook's file."""
    made: list[dict[str, Any]] = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "outputs": [], "execution_count": None, "source": code}
        for number, code in enumerate(cells)
    ]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}))
    return path


@dataclass
class Copy:
    """One process that serves a notebook over HTTP."""

    process: subprocess.Popen[str]
    url: str
    said: list[str]


def command(path: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "jupyter_mcp.cli", "run", str(path), *more]


@contextmanager
def running(path: Path, *more: str, **environment: str) -> Generator[Copy]:
    """A copy that listens; ended by SIGTERM."""
    process = subprocess.Popen(
        command(path, "--http", "0", *more), stderr=subprocess.PIPE, text=True, env=os.environ | environment
    )
    assert process.stderr is not None
    said: list[str] = []
    try:
        url = ""
        while not url:
            line = process.stderr.readline()
            assert line, said
            said.append(line)
            found = re.search(r"listens at (\S+)", line)
            url = found[1] if found else ""
        reader = threading.Thread(target=said.extend, args=(process.stderr,))
        reader.start()
        yield Copy(process, url, said)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, said
        reader.join(10)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stderr.close()


class Client:
    """Requests of the modern era, one by one, each on its own."""

    def __init__(self, http: httpx.AsyncClient, url: str, token: str = TOKEN) -> None:
        self._http = http
        self._url = url
        self._token = token
        self.status = 0

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The whole response; {} when the status says that there is none."""
        given = modern.envelope(
            params, revision="2026-07-28", client_info={"name": "c"}, capabilities={"elicitation": {"form": {}}}
        )
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
        sent = headers.for_request(message) | {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self._token}",
        }
        answer = await self._http.post(self._url, json=message, headers=sent, timeout=60)
        self.status = answer.status_code
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            events = [one for one in SseDecoder().feed(answer.content) if isinstance(one, Event)]
            return json.loads(events[-1].data)
        return answer.json() if answer.headers.get("content-type", "").startswith("application/json") else {}

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's result."""
        answer = await self.request("tools/call", {"name": tool, "arguments": arguments})
        return answer["result"]["content"][0]["text"]
