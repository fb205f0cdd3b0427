"""datalayer's jupyter-mcp-server, set up as its documentation says: a Jupyter Server with a token, and the MCP server
on pipes beside it. It reads a variable by running code in the kernel. Both come from its own environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import raw_client
from notebook_kernel import LIMIT, SPEC, Kernel, talking_to

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from raw_client import Session


class Lab:
    """A running Jupyter Server."""

    def __init__(self, port: int, token: str) -> None:
        self.url, self.token = f"http://127.0.0.1:{port}", token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Its REST API. Raises OSError."""
        head = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.url + path, data, head, method=method), timeout=LIMIT) as response:
            return json.loads(response.read() or b"null")


class Peer:
    """Its MCP server, attached to one kernel."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def execute(self, code: str) -> str:
        """What a cell shows: how its users read a variable."""
        result = await self._session.request("tools/call", {"name": "execute_code", "arguments": {"code": code}})
        return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


@asynccontextmanager
async def peer(interpreter: str, place: Path) -> AsyncGenerator[tuple[Kernel, Peer]]:
    """A kernel of its Jupyter Server, and its MCP server attached to it."""
    with jupyter_server(interpreter, place) as lab:
        kernel_id = lab.ask("POST", "/api/kernels", {"name": SPEC})["id"]
        command = [interpreter, "-m", "jupyter_mcp_server", "start", "--transport", "stdio"]
        environment = os.environ | {"JUPYTER_URL": lab.url, "JUPYTER_TOKEN": lab.token}
        how: dict[str, Any] = {"env": environment, "cwd": place, "stderr": subprocess.DEVNULL}
        with talking_to(place / "runtime" / f"kernel-{kernel_id}.json") as kernel:
            async with raw_client.connect(command, patience=1.0, **how) as session:
                use = {"notebook_name": "nb", "notebook_path": "nb.ipynb", "mode": "create", "kernel_id": kernel_id}
                await asyncio.wait_for(session.request("tools/call", {"name": "use_notebook", "arguments": use}), LIMIT)
                yield kernel, Peer(session)
        lab.ask("DELETE", f"/api/kernels/{kernel_id}")


@contextmanager
def jupyter_server(interpreter: str, place: Path) -> Generator[Lab]:
    """Started, answering, and ended."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        lab = Lab(free.getsockname()[1], secrets.token_hex(16))
    options = [f"--port={lab.url.rpartition(':')[2]}", f"--ServerApp.root_dir={place}", "--ServerApp.ip=127.0.0.1"]
    command = [interpreter, "-m", "jupyter_server", "--no-browser", "--allow-root", *options]
    environment = os.environ | {"JUPYTER_TOKEN": lab.token}
    with (place / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=place, env=environment, stdout=log, stderr=log)
    try:
        while not answers(lab):
            if process.poll() is not None:
                raise RuntimeError((place / "server.log").read_text(encoding="utf-8")[-2000:])
            time.sleep(0.1)
        yield lab
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(lab: Lab) -> bool:
    try:
        return bool(lab.ask("GET", "/api/status"))
    except OSError:
        return False
