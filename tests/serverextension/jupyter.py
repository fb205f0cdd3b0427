"""A real Jupyter Server with this package's extension, and kernels of it, for tests."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 120.0  # seconds; a busy machine starts a server slowly


class Jupyter:
    """`jupyter server` in folders of its own.

    Attributes:
        url: without a slash at its end, the base URL in it.
        token: lets one in.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/base"
        self._log = folder / "server.log"
        arguments = [
            *("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={folder}"),
            "--ServerApp.base_url=/base/",
            "--ServerApp.jpserver_extensions=jupyter_mcp.serverextension=True",
        ]
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
        environment |= {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        environment["IPYTHONDIR"] = str(folder / "ipython")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server", *arguments],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        self._wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)

    def _wait(self) -> None:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and self._process.poll() is None:
            try:
                if self.ask("api")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        pytest.fail(f"the Jupyter Server did not start:\n{self._log.read_text()[-3000:]}")

    @property
    def log(self) -> str:
        return self._log.read_text()

    def ask(
        self, path: str, *, method: str = "GET", body: Any = None, token: str | None = "", follow: bool = False
    ) -> tuple[int, str, Any]:
        """Status, text and headers of an answer; without a token, as a stranger."""
        request = urllib.request.Request(f"{self.url}/{path}", method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
        if token is not None:
            request.add_header("Authorization", f"token {token or self.token}")
        opener = urllib.request.build_opener(urllib.request.HTTPHandler if follow else _Stay)
        try:
            with opener.open(request, timeout=LIMIT) as response:
                return response.status, response.read().decode(), response.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers

    def kernel(self) -> Kernel:
        """A new kernel."""
        status, text, _ = self.ask("api/kernels", method="POST", body={})
        assert status == 201, text
        return Kernel(self, json.loads(text)["id"])


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirects are answers."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Kernel:
    """A kernel of the server, and a client that runs cells in it."""

    def __init__(self, jupyter: Jupyter, kernel_id: str) -> None:
        self.id = kernel_id
        self._jupyter = jupyter
        self._connect()

    def _connect(self) -> None:
        self.client: Any = BlockingKernelClient(
            connection_file=str(self._jupyter.folder / "runtime" / f"kernel-{self.id}.json")
        )
        self.client.load_connection_file()
        self.client.start_channels(hb=False)  # a busy machine's kernel misses a beat and counts as dead
        self.client.wait_for_ready(timeout=LIMIT)

    def run(self, code: str) -> str:
        """Run a cell; what it printed."""
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])

        reply = self.client.execute_interactive(code, timeout=LIMIT, output_hook=hear)
        assert reply["content"]["status"] == "ok", "\n".join(reply["content"]["traceback"])
        return "".join(said)

    def begin(self, code: str) -> str:
        """Run a cell without waiting; the id of its message."""
        return self.client.execute(code)

    def until_said(self, words: str) -> str:
        """What the cells print, until these words come."""
        said = ""
        end = time.monotonic() + LIMIT
        while words not in said:
            message = self.client.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
            if message["msg_type"] == "stream":
                said += message["content"]["text"]
        return said

    def restart(self) -> None:
        """As the button of a notebook does; waits until it is ready again."""
        status, text, _ = self._jupyter.ask(f"api/kernels/{self.id}/restart", method="POST", body={})
        assert status == 200, text
        self.client.stop_channels()
        self._connect()

    def close(self) -> None:
        self.client.stop_channels()
        self._jupyter.ask(f"api/kernels/{self.id}", method="DELETE")
