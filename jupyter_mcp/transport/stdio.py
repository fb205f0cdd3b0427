"""A server that is a process of ours, one JSON message a line on its stdin and stdout.

Reading is pushed: the loop hands over bytes, they are cut into lines, parsed and given to the receiver in the same
call (`stdout`), without a task or a queue in between. Writing is a plain write; it waits only while the pipe is full.

Ending is the hard part. One task per process, started with it, waits for its end or for ours (`close`), keeps what the
process said last, and leaves nothing of its tree alive: end of input, then TERM, then KILL, as the specification wants
(basic/transports, stdio, shutdown). Should this interpreter end without closing or be killed, the guard of `posix` or
the job object of `windows` does the same; `kill_all` is for whoever ends the interpreter in good order (`runtime`).

What a command, an environment and a process tree are is in `launch`, `posix` and `windows`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.protocol.jsonrpc import encode
from jupyter_mcp.transport.base import Closed, Receiver
from jupyter_mcp.transport.launch import Launch, LaunchError, check_folder, environment
from jupyter_mcp.transport.stderr import Tail
from jupyter_mcp.transport.stdout import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

if TYPE_CHECKING or sys.platform != "win32":
    from jupyter_mcp.transport import posix as system
else:
    from jupyter_mcp.transport import windows as system

MARKER = "JUPYTER_MCP_SERVER"

# Seconds. Together they stay below six, within which nothing of a server may be left.
EOF_GRACE = 2.0  # after the end of its input
TERM_GRACE = 1.5  # after TERM
INPUT_GRACE = 1.0  # for the answers of a server that closed its input
LAST_WORDS = 0.3  # for what is still in the pipes of a dead process whose children hold them open
MOST_LAST_WORDS = 5  # times that, while they still bring something

_owner_pid = os.getpid()
_guard = system.Guard()
_live: set[StdioTransport] = set()


class StdioTransport:
    """One server process.

    Args:
        command: a program on PATH or a path (`~` is expanded).
        args: its arguments.
        env: variables to set for it.
        pass_env: names of our own variables to hand over, beside the allowed ones.
        inherit_env: hand over all of ours.
        cwd: its working folder.
        within: makes of the command (as it was found) and its folder the command line that runs it inside of a
            sandbox; may raise `LaunchError`.
    """

    kind = "stdio"

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        pass_env: Iterable[str] = (),
        inherit_env: bool = False,
        cwd: str | None = None,
        within: Callable[[Sequence[str], str | None], list[str]] | None = None,
    ) -> None:
        self._within = within
        self.command = command
        self.args = tuple(args)
        self._env = dict(env or {})
        self._pass_env = tuple(pass_env)
        self._inherit_env = inherit_env
        self._cwd = cwd
        self._tail = Tail(self._on_stderr)
        self._process: _Process | None = None
        self._receiver: Receiver | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._life: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def stderr(self) -> Sequence[str]:
        return tuple(self._tail.lines)

    @property
    def key(self) -> object:
        """What is the same for the same server: a connection remembers its era by it."""
        return ("stdio", self.command, self.args, self._cwd)

    @property
    def tree(self) -> system.Tree | None:
        """The processes, once started."""
        return self._process.tree if self._process else None

    async def open(self, receiver: Receiver) -> None:
        """Start the process. Raises `ConnectionFailed` when that cannot be done, saying why and what to do."""
        self._receiver = receiver
        try:
            process = await self._spawn(receiver)
        except LaunchError as error:
            raise ConnectionFailed(f"The server cannot be started: {error.message}", hint=error.hint) from None
        self._process = process
        self._stdin = process.stdin
        self._life = asyncio.get_running_loop().create_task(self._run(process, receiver), name="mcp stdio server")
        if self._closing:
            process.ending.set()

    async def _spawn(self, receiver: Receiver) -> _Process:
        marker = (MARKER, f"{os.getpid()}-{secrets.token_hex(4)}")
        env = environment(self._env, pass_env=self._pass_env, inherit=self._inherit_env)
        cwd = check_folder(self._cwd)
        launch = system.prepare(self.command, self.args, env, cwd)
        if self._within is not None:
            launch = replace(launch, argv=self._within(launch.argv, cwd))
        options = {**system.spawn_options(), "env": {**env, marker[0]: marker[1]}, "cwd": cwd}
        try:
            transport, protocol = await _execute(launch, lambda: _Process(self, receiver), options)
        except OSError as error:
            raise system.explain(error, launch) from None
        except ValueError as error:  # a NUL in an argument or a variable
            raise LaunchError(f"{error}.") from None
        protocol.started(transport, marker)
        _guard.watch(protocol.tree.pid)
        _live.add(self)
        return protocol

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Write one message; waits only while the pipe is full."""
        data = encode(message)
        stdin = self._stdin
        if stdin is None or stdin.is_closing():
            raise self._lost()
        stdin.write(data + b"\n")
        process = self._process
        if process is not None and process.full is not None:
            await process.full.wait()
        return len(data)

    def _lost(self) -> ConnectionLost:
        if self._process is None:
            return ConnectionLost("The server is not running.", may_have_run=False)
        closed = self._process.describe()
        return ConnectionLost(
            f"The server {closed.reason}.", may_have_run=False, exit_code=closed.exit_code, stderr=closed.stderr
        )

    def cancel(self, request_id: int | str) -> None:
        """Nothing is held for one request."""

    async def close(self) -> None:
        """End the process and all it started; returns when they are gone, within six seconds."""
        self._closing = True
        if self._life is None or self._process is None:
            return
        self._process.ending.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(self._life)
            return
        if not self._life.cancelled():  # the caller was cancelled; the end goes on without it
            raise asyncio.CancelledError

    # -- the life of the process ----------------------------------------------------------------------------------

    async def _run(self, process: _Process, receiver: Receiver) -> None:
        """From its start to its last trace."""
        try:
            await process.ending.wait()
            if not self._closing:  # it ended, or closed its output, by itself
                await process.exited_within(LAST_WORDS)
                await process.finished_within(LAST_WORDS)
                self._report(process, receiver)
            await self._end(process)
        finally:
            self._report(process, receiver)
            self._forget(process)

    async def _end(self, process: _Process) -> None:
        tree = process.tree
        tree.alive()  # remember its children while their parents are there to be asked
        process.stdin.close()
        await process.exited_within(EOF_GRACE)
        if not process.exited.is_set() or tree.alive():
            tree.terminate()
            await process.gone_within(TERM_GRACE)
        if not process.exited.is_set() or tree.alive():
            tree.kill()
            await process.exited_within(1.0)
        await process.finished_within(LAST_WORDS)

    def _report(self, process: _Process, receiver: Receiver) -> None:
        if not process.reported:
            process.reported = True
            closed = process.describe()
            process.finish()
            receiver.on_closed(replace(closed, stderr=self.stderr))

    def _forget(self, process: _Process) -> None:
        """Let go of everything; after a cancellation (the loop is ending) by force."""
        if not process.exited.is_set():
            process.tree.kill()
        process.transport.close()
        process.tree.close()
        _guard.release(process.tree.pid)
        _live.discard(self)

    # -- what the process says ------------------------------------------------------------------------------------

    def on_stderr_data(self, data: bytes | None) -> None:
        """Bytes of its stderr; None at its end."""
        if data is None:
            self._tail.eof()
        else:
            self._tail.feed(data)

    def _on_stderr(self, line: str) -> None:
        if self._receiver is not None:
            self._receiver.on_stderr(line)


class _Process(asyncio.SubprocessProtocol):
    """The asyncio side of one process: its pipes, its end, as events."""

    transport: asyncio.SubprocessTransport
    stdin: asyncio.WriteTransport
    tree: system.Tree

    def __init__(self, owner: StdioTransport, receiver: Receiver) -> None:
        self._owner = owner
        self._output = Output(receiver)
        self._open = {1, 2}
        self.exited = asyncio.Event()
        self.ending = asyncio.Event()  # it exited, its stdout ended, or we want it to end
        self.finished = asyncio.Event()  # both its pipes ended
        self.full: asyncio.Event | None = None
        self.heard = False
        self.reported = False

    def started(self, transport: asyncio.SubprocessTransport, marker: tuple[str, str]) -> None:
        """It runs."""
        self.transport = transport
        self.stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        self.tree = system.Tree(transport.get_pid(), marker)

    # asyncio calls these

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.heard = True
        if fd not in self._open:  # children of a dead server go on talking
            return
        if fd == 1:
            self._output.feed(data)
        else:
            self._owner.on_stderr_data(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:  # what it has read already it may still answer
            self._release_writers()
            asyncio.get_running_loop().call_later(INPUT_GRACE, self.ending.set)
            return
        self._end_of(fd)
        if fd == 1:
            self.ending.set()

    def process_exited(self) -> None:
        self._release_writers()
        self.exited.set()
        self.ending.set()

    def pause_writing(self) -> None:
        self.full = asyncio.Event()

    def resume_writing(self) -> None:
        self._release_writers()

    def _release_writers(self) -> None:
        full, self.full = self.full, None
        if full is not None:
            full.set()

    # the owner calls these

    def finish(self) -> None:
        """Nothing more is wanted from its pipes: deliver what has no line end yet."""
        for fd in (1, 2):
            self._end_of(fd)

    def _end_of(self, fd: int) -> None:
        if fd not in self._open:
            return
        self._open.discard(fd)
        if fd == 1:
            self._output.eof()
        else:
            self._owner.on_stderr_data(None)
        if not self._open:
            self.finished.set()

    async def exited_within(self, seconds: float) -> bool:
        """Wait for the end of the process itself."""
        return await _within(self.exited, seconds)

    async def finished_within(self, seconds: float) -> bool:
        """Wait for the end of its output, which a child of it may hold open; as long as something still comes."""
        for _ in range(MOST_LAST_WORDS):
            self.heard = False
            if await _within(self.finished, seconds):
                return True
            if not self.heard:
                return False
        return False

    async def gone_within(self, seconds: float) -> bool:
        """Wait for the end of the whole tree."""
        deadline = time.monotonic() + seconds
        pause = 0.01
        while not self.exited.is_set() or self.tree.alive():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.2)
        return True

    def describe(self) -> Closed:
        """Why it is gone, as far as is known."""
        code = self.transport.get_returncode()
        deaf = code is None and 1 in self._open
        return Closed("closed its input" if deaf else _reason(code), code, self._owner.stderr)


async def _execute(
    launch: Launch, factory: Callable[[], _Process], options: Mapping[str, Any]
) -> tuple[asyncio.SubprocessTransport, _Process]:
    loop = asyncio.get_running_loop()
    if launch.line:
        return await loop.subprocess_shell(factory, launch.line, **options)
    return await loop.subprocess_exec(factory, *launch.argv, **options)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _reason(code: int | None) -> str:
    if code is None:
        return "closed its output"
    if code >= 0:
        return f"exited with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"was ended by signal {name}"


def kill_all(grace: float = 1.0) -> None:
    """End every server still running, by force after `grace` seconds. For interpreter exit, from any thread.

    Nothing is registered here: whoever runs the loop closes its connections first and calls this last.
    """
    if os.getpid() != _owner_pid:  # a fork of ours ends: they are not its servers
        return
    trees = [tree for transport in list(_live) if (tree := transport.tree) is not None]
    for tree in trees:
        tree.terminate()
    deadline = time.monotonic() + grace
    while any(tree.alive() for tree in trees) and time.monotonic() < deadline:
        time.sleep(0.02)
    for tree in trees:
        tree.kill()
