"""A real kernel for the notebook's rows: one that serves its notebook, and runs cells when it is told to.

Another Jupyter Server may have started it (then the peer reads the very same kernel); cells go to it by jupyter_client
in either case. Everything it writes stays in a folder that goes with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

if TYPE_CHECKING:
    from collections.abc import Generator

LIMIT = 60.0  # seconds for a start, or for a cell
SPEC = "bench"
CELLS = {  # each is over after so many seconds, whatever happens
    "sleeping": "import time; print('begun', flush=True); time.sleep({seconds})",
    "computing": "import time; print('begun', flush=True); end = time.monotonic() + {seconds}\n"
    "while time.monotonic() < end: n = sum(i * i for i in range(100))",
}


class Kernel:
    """One kernel, asked by the client that a page would be."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client

    def run(self, code: str) -> str:
        """What a cell printed. Raises RuntimeError when it fails."""
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            said.append(message["content"].get("text", "") if message["msg_type"] == "stream" else "")

        reply = self.client.execute_interactive(code, timeout=LIMIT, output_hook=hear, allow_stdin=False)
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join(reply["content"].get("traceback", ["the cell was aborted"])))
        return "".join(said).strip()

    def data(self, code: str) -> Any:
        """The JSON that a cell printed."""
        return json.loads(self.run(code))

    @contextmanager
    def busy(self, how: str, seconds: float) -> Generator[None]:
        """While a cell runs: from when it has begun; at the end it is waited for. Raises when it was over too soon."""
        cell = self.client.execute(CELLS[how].format(seconds=seconds))
        while True:
            message = self.client.get_iopub_msg(timeout=LIMIT)
            if message["parent_header"].get("msg_id") == cell and message["msg_type"] == "stream":
                break
        begun = time.monotonic()
        yield
        while (reply := self.client.get_shell_msg(timeout=LIMIT))["parent_header"].get("msg_id") != cell:
            pass
        assert reply["content"]["status"] == "ok", reply
        assert time.monotonic() - begun > seconds * 0.8, "the cell did not run as long as it should"


@contextmanager
def folder() -> Generator[Path]:
    """Where everything is that Jupyter reads and writes; the environment points there."""
    kept = {name: os.environ.get(name) for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_PATH", "IPYTHONDIR")}
    with tempfile.TemporaryDirectory(prefix="bench") as name:
        place = Path(name)
        spec = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]}
        spec |= {"display_name": SPEC, "language": "python", "env": {"JPY_SESSION_NAME": f"{place}/bench.ipynb"}}
        (place / "kernels" / SPEC).mkdir(parents=True)
        (place / "kernels" / SPEC / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        (place / "runtime").mkdir(mode=0o700)
        os.environ |= {
            "JUPYTER_RUNTIME_DIR": f"{place}/runtime",
            "JUPYTER_PATH": name,
            "IPYTHONDIR": f"{place}/ipython",
        }
        try:
            yield place
        finally:
            for key, value in kept.items():
                os.environ.pop(key) if value is None else os.environ.update({key: value})


@contextmanager
def own_kernel(place: Path) -> Generator[Kernel]:
    """A kernel of nobody's server."""
    manager = KernelManager(kernel_name=SPEC)
    manager.start_kernel(cwd=str(place), stderr=subprocess.DEVNULL)
    try:
        with talking_to(manager.connection_file) as kernel:
            yield kernel
    finally:
        manager.shutdown_kernel(now=True)


@contextmanager
def talking_to(connection_file: str | Path) -> Generator[Kernel]:
    """The kernel that listens as this file says."""
    client = BlockingKernelClient(connection_file=str(connection_file))
    client.load_connection_file()
    client.start_channels()
    try:
        until_ready(client, time.monotonic() + LIMIT)
        yield Kernel(client)
    finally:
        client.stop_channels()


def until_ready(client: BlockingKernelClient, deadline: float) -> None:
    """Wait for a kernel that may have to start yet. Raises RuntimeError at the deadline."""
    while True:
        try:
            client.wait_for_ready(timeout=LIMIT)
            return
        except RuntimeError:  # it has no process to look at, and takes one that still starts for dead
            if time.monotonic() > deadline:
                raise
