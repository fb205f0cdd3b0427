"""`jupyter-mcp-host run`: a kernel of its own for a notebook, its cells run once, then what it declares is served.

The kernel listens itself; this process starts it, waits, and ends it. On stdio it is the bridge between the two, which
answers the client from the start and lets it wait for the notebook's cells. Nobody sits in front of it: a cell that
asks is answered by nothing, and one that fails ends it all with its error.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import queue
import re
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from jupyter_mcp.errors import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from types import FrameType

    from jupyter_mcp.kernel.identity import Live

START_SECONDS = 120.0
LOOK_SECONDS = 0.5
KEY_BYTES = 32
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TOKEN, _KEY = "JUPYTER_MCP_TOKEN", "JUPYTER_MCP_STATE_KEY"
_SERVE = "_served = __import__('jupyter_mcp.kernel.deployed', fromlist=['deploy']).deploy(**{})"
_SERVED = "get_ipython().user_ns.pop('_served')"


class DeployFailed(MCPError):
    """The notebook cannot be served."""


class Deployed:
    """A notebook in a kernel of its own.

    Args:
        path: of the notebook.
        name: of the server; by default the file's.

    Raises:
        DeployFailed: the file is no notebook.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path.resolve()
        self.name = name or path.stem
        self._notebook = _read(path)
        self._manager: Any = None
        self._client: Any = None
        self._ending = False
        self._place = ""

    # --- the kernel

    def start(self) -> None:
        """Start the kernel. Raises DeployFailed."""
        try:
            from jupyter_client.kernelspec import NoSuchKernel
            from jupyter_client.manager import KernelManager
        except ImportError:
            raise DeployFailed("Running a notebook needs ipykernel, which is not installed.") from None
        spec: dict[str, Any] = self._notebook.get("metadata", {}).get("kernelspec") or {}
        manager: Any = KernelManager(kernel_name=str(spec.get("name") or "python3"), **self._private_channels())
        environment = {key: value for key, value in os.environ.items() if key != "JPY_SESSION_NAME"}
        try:
            manager.start_kernel(cwd=str(self.path.parent), env=environment)
        except NoSuchKernel:
            raise DeployFailed(
                f"There is no kernel {manager.kernel_name!r} here, which {self.path.name} wants."
            ) from None
        self._manager = manager
        self._client = manager.client()
        self._client.start_channels()
        try:
            self._client.wait_for_ready(timeout=START_SECONDS)
        except RuntimeError as error:
            raise DeployFailed(f"The kernel did not start: {error}") from None

    def _private_channels(self) -> dict[str, Any]:
        """Sockets in a folder that is ours alone, where there are such, instead of ports that everybody may try."""
        if sys.platform == "win32":
            return {}
        self._place = tempfile.mkdtemp(prefix="mcp")
        return {"transport": "ipc", "connection_file": f"{self._place}/k.json"}

    def run_cells(self) -> None:
        """Run all code cells, in order. What they print goes to stderr. Raises DeployFailed at the first that fails."""
        for number, code in enumerate(_cells(self._notebook), 1):
            self._execute(code, f"Cell {number} of {self.path.name} failed")

    def serve(self, **where: Any) -> dict[str, str]:
        """Serve what was declared; `url`, and `token` when it was made now. Raises DeployFailed."""
        code = _SERVE.replace("{}", repr({"name": self.name, **where}))
        told = self._execute(code, f"{self.path.name} cannot be served", served=_SERVED)["served"]
        return ast.literal_eval(told["data"]["text/plain"])

    def _execute(self, code: str, what: str, **expressions: str) -> dict[str, Any]:
        """The values of the expressions after the code. Raises DeployFailed."""
        keep = not expressions
        asked = self._client.execute(code, store_history=keep, allow_stdin=False, user_expressions=expressions)
        while True:
            message = self._next(asked, self._client.get_iopub_msg)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            _to_stderr(message)
        reply = self._next(asked, self._client.get_shell_msg)["content"]
        if reply["status"] != "ok":
            raise DeployFailed(f"{what}: {reply.get('ename', reply['status'])}: {reply.get('evalue', '')}")
        return reply["user_expressions"]

    def _next(self, asked: str, get: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        """The next message that answers a request. Raises DeployFailed when there will be none."""
        while True:
            try:
                message = get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if self._ending or not self.alive:
                    raise DeployFailed("The kernel has ended.") from None
                continue
            if message["parent_header"].get("msg_id") == asked:
                return message

    @property
    def alive(self) -> bool:
        """Whether the kernel is there."""
        return self._manager is not None and bool(self._manager.is_alive())

    def watch(self) -> None:
        """Return when `stop` was called; raise DeployFailed when the kernel ends before."""
        while not self._ending:
            if not self.alive:
                raise DeployFailed("The kernel has ended.")
            time.sleep(LOOK_SECONDS)

    def leave(self) -> None:
        """Whoever waits for the kernel waits no more. Any thread."""
        self._ending = True

    def stop(self) -> None:
        """End the kernel: it finishes the requests it is working on, then it goes."""
        self.leave()
        if self._client is not None:
            self._client.stop_channels()
        if self._manager is not None and self._manager.has_kernel:
            self._manager.shutdown_kernel(now=not self.alive)
        if self._place:
            shutil.rmtree(self._place, ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    """Raises DeployFailed."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DeployFailed(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(cast("dict[str, Any]", found).get("cells"), list):
        raise DeployFailed(f"{path} is not a notebook.")
    return cast("dict[str, Any]", found)


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and cast("dict[str, Any]", cell).get("cell_type") == "code":
            source: Any = cast("dict[str, Any]", cell).get("source", "")
            code = source if isinstance(source, str) else "".join(source)
            if code.strip():
                yield code


def _to_stderr(message: dict[str, Any]) -> None:
    """What a cell prints, and how it fails."""
    content = message["content"]
    if message["msg_type"] == "stream":
        print(content["text"], end="", file=sys.stderr, flush=True)
    elif message["msg_type"] == "error":
        text = "\n".join(content["traceback"])
        print(text if sys.stderr.isatty() else _COLOURS.sub("", text), file=sys.stderr, flush=True)


# --- the two ways to serve it


def over_http(path: Path, name: str | None, port: int, *, host: str, hosts: Sequence[str]) -> int:
    """Serve it over HTTP until Ctrl-C or SIGTERM. Returns the exit code."""
    from jupyter_mcp.server.http.running import announcement

    signal.signal(signal.SIGTERM, _interrupt)
    notebook: Deployed | None = None
    try:
        _check_key()
        token = os.environ.get(_TOKEN, "")
        notebook = Deployed(path, name)
        notebook.start()
        notebook.run_cells()
        found = notebook.serve(port=port, host=host, hosts=tuple(hosts))
        text = announcement(notebook.name, found["url"], found["token"] or token, told=bool(found["token"]))
        print(text, file=sys.stderr, flush=True)
        notebook.watch()
        return 0
    except KeyboardInterrupt:
        return 0
    except DeployFailed as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        if notebook is not None:
            notebook.stop()


def over_stdio(path: Path, name: str | None) -> int:
    """Serve it on stdin and stdout until the client is gone. Returns the exit code."""
    from jupyter_mcp.errors import ConnectionFailed
    from jupyter_mcp.server.stdio import StdioServerTransport

    signal.signal(signal.SIGTERM, _interrupt)
    try:
        notebook = Deployed(path, name)
        os.environ.pop(_TOKEN, None)  # this way is nobody else's
        asyncio.run(_bridged(notebook, StdioServerTransport()))
    except KeyboardInterrupt:
        return 0
    except (DeployFailed, ConnectionFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


async def _bridged(notebook: Deployed, transport: Any) -> None:
    """Raises DeployFailed when the notebook fails, or its kernel ends, before the client does."""
    from jupyter_mcp.cli.bridge.relay import Bridge

    bridge = Bridge(str(notebook.path.parent), name=notebook.name)
    begun = partial(asyncio.get_running_loop().call_soon_threadsafe, bridge.begin)
    running = asyncio.create_task(asyncio.to_thread(_run, notebook, begun))
    serving = asyncio.create_task(bridge.serve(transport))
    try:
        await asyncio.wait({running, serving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        notebook.leave()
        serving.cancel()
        await asyncio.wait({running, serving})
        await bridge.notebooks.close()
        await asyncio.to_thread(notebook.stop)
    if not serving.cancelled() and serving.exception() is None:
        return  # the client is gone
    await running


def _run(notebook: Deployed, begun: Callable[[Live], object]) -> None:
    """Start it, tell where it is served, and wait for its end. Raises DeployFailed."""
    from jupyter_mcp.kernel.identity import Live

    notebook.start()
    notebook.run_cells()
    found = notebook.serve()
    begun(
        Live(
            notebook=notebook.name,
            slug=notebook.name,
            folder=str(notebook.path.parent),
            url=found["url"],
            token=found["token"],
            pid=os.getpid(),
            started=time.time(),
        )
    )
    notebook.watch()


def _check_key() -> None:
    key = os.environ.get(_KEY)
    if key is not None and len(key.encode()) < KEY_BYTES:
        raise DeployFailed(f"{_KEY} needs at least {KEY_BYTES} bytes.")


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
