"""Real kernels for tests, of any ipykernel version, driven message by message as a page would."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.manager import KernelManager

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from jupyter_client.blocking.client import BlockingKernelClient

ROOT = Path(__file__).parents[2]
CURRENT = version("ipykernel")
VERSIONS = ("6.29.5", "6.31.0", "7.0.1", "7.2.0", "7.3.0", CURRENT)
SECONDS = 40.0

# ipykernel 7.0 to 7.3 send replies past the stream of the shell socket, which may swallow the wake-up for a request
# that comes at that moment: the kernel then sleeps with the request unread, whoever runs in it (mended in 7.4.0).
# So that our tests test us, something in those kernels looks at the socket again and again.
STRANDS_REQUESTS = ("7.0.", "7.1.", "7.2.", "7.3.")
LOOK_SECONDS = 0.25
LOOK_AGAIN = f"""
def _look_again():
    import time, zmq
    kernel = get_ipython().kernel
    while True:
        time.sleep({LOOK_SECONDS})
        kernel.shell_channel_thread.io_loop.add_callback(kernel.shell_stream.flush, zmq.POLLIN)
import threading
threading.Thread(target=_look_again, daemon=True, name="look again").start()
del threading, _look_again
"""


@dataclass
class Run:
    """One executed cell and what it has put out so far."""

    id: str
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Contents of the messages of one type."""
        return [message["content"] for message in self.messages if message["header"]["msg_type"] == kind]

    @property
    def text(self) -> str:
        """What it printed."""
        return "".join(content["text"] for content in self.of("stream"))

    @property
    def displays(self) -> list[str]:
        """Plain text of what it displayed and returned."""
        shown = [*self.of("display_data"), *self.of("execute_result")]
        return [content["data"].get("text/plain", "") for content in shown]

    @property
    def error(self) -> str | None:
        """Name and text of the error it ended with."""
        found = self.of("error")
        return f"{found[0]['ename']}: {found[0]['evalue']}" if found else None

    @property
    def traceback(self) -> list[str]:
        """The lines a page shows for the error."""
        return self.of("error")[0]["traceback"]

    @property
    def idle(self) -> bool:
        """Whether the kernel has said that it is done with it."""
        return any(content["execution_state"] == "idle" for content in self.of("status"))


class LiveKernel:
    """A running kernel."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.strands = False
        self._runs: dict[str, Run] = {}
        self.other: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def start(self, code: str, *, allow_stdin: bool = False, cell_id: str | None = None) -> Run:
        """Send a cell and return at once."""
        content: dict[str, Any] = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": allow_stdin,
            "stop_on_error": True,
        }
        message = self.client.session.msg("execute_request", content)
        if cell_id is not None:
            message["metadata"]["cellId"] = cell_id
        self.client.shell_channel.send(message)
        return self._runs.setdefault(message["header"]["msg_id"], Run(message["header"]["msg_id"]))

    def finish(self, run: Run, seconds: float = SECONDS) -> Run:
        """Wait for the end of a cell."""
        self.until(lambda: run.idle, seconds, lambda: f"the cell did not end; it said {run.text!r}")
        return run

    def run(self, code: str, *, allow_stdin: bool = False, cell_id: str | None = None) -> Run:
        """Run a cell to its end; it has to end well."""
        run = self.finish(self.start(code, allow_stdin=allow_stdin, cell_id=cell_id))
        assert run.error is None, "\n".join(run.traceback)
        return run

    @contextmanager
    def computing(self, inside: str = "time.sleep(0.02)") -> Generator[Run]:
        """A cell that runs from the first to the last line of the block, however slow the machine is.

        Args:
            inside: what it does over and over.
        """
        with tempfile.TemporaryDirectory() as folder:
            gate = Path(folder) / "end"
            waits = f"while not os.path.exists({str(gate)!r}):\n    {inside}"
            run = self.start(f"import os, time\nprint('begun', flush=True)\n{waits}")
            self.until(lambda: "begun" in run.text)
            try:
                yield run
                self.settle(0)
                assert not run.idle
            finally:
                gate.touch()
                self.finish(run)

    def until(
        self, true: Callable[[], bool], seconds: float = SECONDS, why: Callable[[], str] = lambda: "it never came true"
    ) -> None:
        """Read messages until something is true of them."""
        end = time.monotonic() + seconds
        while not true():
            left = end - time.monotonic()
            assert left > 0, why()
            try:
                self._read(min(left, 0.5))
            except Empty:
                assert self.manager.is_alive(), "the kernel died"

    def _read(self, seconds: float) -> None:
        message = self.client.get_iopub_msg(timeout=seconds)
        parent = message["parent_header"].get("msg_id", "")
        if parent in self._runs:
            self._runs[parent].messages.append(message)
        else:
            self.other[parent].append(message)

    def until_read(self) -> None:
        """Until the kernel has read what was sent to it. Nothing tells; one that strands requests has looked again."""
        self.settle(3 * LOOK_SECONDS if self.strands else 0)

    def settle(self, seconds: float = 0.3) -> None:
        """Read what is still on its way."""
        try:
            while True:
                self._read(seconds)
        except Empty:
            return

    def comm(self, comm_id: str, data: Any, kind: str = "comm_msg") -> str:
        """Send what a widget on the page would send."""
        message = self.client.session.msg(kind, {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def answer(self, text: str) -> str:
        """Wait for an `input()` and answer it; returns its prompt."""
        prompt = self.client.get_stdin_msg(timeout=SECONDS)["content"]["prompt"]
        self.client.input(text)
        return prompt

    def interrupt(self) -> None:
        """What the interrupt button does."""
        self.manager.interrupt_kernel()


@contextmanager
def live_kernel(wanted: str = CURRENT, setup: str = "") -> Generator[LiveKernel]:
    """Start a kernel of that ipykernel version; skips when it is not installed."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([*_folder(wanted), str(ROOT)])
    environment["JUPYTER_MCP_TEST"] = "1"
    environment.pop("JUPYTER_MCP_UI", None)
    place = tempfile.mkdtemp(prefix="k", dir="/tmp" if Path("/tmp").is_dir() else None)
    # Sockets with names instead of ports, which the kernel of another test could take first; names have to be short.
    manager = KernelManager(kernel_name="python3", transport="ipc", connection_file=f"{place}/k.json")
    manager.start_kernel(env=environment)
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        kernel = LiveKernel(manager, client)
        found = kernel.run("import ipykernel; print(ipykernel.__version__)")
        assert found.text.strip() == wanted
        if wanted.startswith(STRANDS_REQUESTS):
            kernel.run(LOOK_AGAIN)
            kernel.strands = True
        if setup:
            kernel.run(setup)
        yield kernel
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        shutil.rmtree(place, ignore_errors=True)


def _folder(wanted: str) -> list[str]:
    if wanted == CURRENT:
        return []
    folder = ROOT / "build" / "kernels" / wanted
    if not folder.is_dir():
        pytest.skip(f"ipykernel {wanted} is not in build/kernels (python scripts/kernels.py)")
    return [str(folder)]
