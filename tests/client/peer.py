"""A host for tests: writes down what it is told and answers from a list or a function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.protocol.capabilities import client_capabilities
from jupyter_mcp.transport.mock import ScriptTransport, Step, client, server
from jupyter_mcp.transport.stdio import StdioTransport
from tests import fakes

if TYPE_CHECKING:
    from jupyter_mcp.client.peer import Call
    from jupyter_mcp.transport.base import Transport
    from jupyter_mcp.transport.traffic import HttpEvent

Answerer = Callable[[str, dict[str, Any], "Call | None"], Awaitable[dict[str, Any]]]
QUICK = ConnectOptions(timeout=5.0, startup_timeout=5.0, probe_timeout=0.3)  # for scripts, which answer at once
PATIENT = ConnectOptions(timeout=10.0, startup_timeout=20.0, probe_timeout=10.0)  # for processes on a busy machine
INFO = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}


class Told:
    """A callback that writes down what it is called with."""

    def __init__(self) -> None:
        self.all: list[tuple[Any, ...]] = []

    def __call__(self, *told: Any) -> None:
        self.all.append(told)


@dataclass
class FakePeer:
    """Implements `ServerPeer`."""

    answer: Answerer | None = None
    declared: Mapping[str, Any] | None = None
    notices: list[tuple[str, dict[str, Any], Call | None]] = field(default_factory=list[Any])
    traffic: list[HttpEvent] = field(default_factory=list[Any])
    wired: list[tuple[str, dict[str, Any], int]] = field(default_factory=list[Any])
    lines: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    states: list[str] = field(default_factory=list[str])
    questions: list[tuple[str, dict[str, Any], Call | None]] = field(default_factory=list[Any])
    event: asyncio.Event = field(default_factory=asyncio.Event)
    noted: asyncio.Event = field(default_factory=asyncio.Event)

    def capabilities(self, revision: str) -> dict[str, Any]:
        return dict(self.declared) if self.declared is not None else client_capabilities(revision)

    async def question(
        self, connection: Connection, method: str, params: dict[str, Any], cause: Call | None
    ) -> dict[str, Any]:
        self.questions.append((method, params, cause))
        self.event.set()
        if self.answer is None:
            raise AssertionError("nobody expected a question")
        return await self.answer(method, params, cause)

    def notify(self, connection: Connection, method: str, params: dict[str, Any], call: Call | None) -> None:
        self.notices.append((method, params, call))
        self.event.set()

    def wire(
        self, connection: Connection, direction: Literal["send", "receive"], message: dict[str, Any], size: int
    ) -> None:
        self.wired.append((direction, message, size))

    def http(self, connection: Connection, event: HttpEvent) -> None:
        self.traffic.append(event)
        self.event.set()

    def changed(self, connection: Connection) -> None:
        if not self.states or self.states[-1] != connection.state:
            self.states.append(connection.state)
        self.event.set()

    def stderr(self, connection: Connection, line: str) -> None:
        self.lines.append(line)
        self.event.set()

    def note(self, connection: Connection, text: str) -> None:
        self.notes.append(text)
        self.noted.set()

    async def until(self, condition: Callable[[], object], seconds: float = 40.0) -> None:
        """Wait until `condition` holds, asking again whenever something was told."""
        async with asyncio.timeout(seconds):
            while not condition():
                self.event.clear()
                await self.event.wait()


# -- connections over a script ------------------------------------------------------------------------------------


def silent(message: Any) -> None:
    """The free play of a server that answers nothing."""


def legacy_start(capabilities: Mapping[str, Any] | None = None, revision: str = "2025-11-25") -> list[Step]:
    """The handshake of a legacy server."""
    result = {"protocolVersion": revision, "capabilities": capabilities or {}, "serverInfo": {"name": "s"}}
    return [client("initialize"), server(result=result), client("notifications/initialized")]


def modern_start(capabilities: Mapping[str, Any] | None = None) -> list[Step]:
    """The answer of a modern server to server/discover."""
    result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities or {}}
    return [client("server/discover"), server(result={**result, "_meta": INFO, "ttlMs": 0, "cacheScope": "private"})]


@asynccontextmanager
async def scripted(
    *steps: Step,
    era: Literal["legacy", "modern"] = "legacy",
    capabilities: Mapping[str, Any] | None = None,
    revision: str = "2025-11-25",
    peer: FakePeer | None = None,
    options: ConnectOptions = QUICK,
    answer: Any = None,
    kind: str = "stdio",
) -> AsyncGenerator[tuple[Connection, ScriptTransport, FakePeer]]:
    """An open connection to a script that goes on with `steps`; at the end the script must be over."""
    caps: Mapping[str, Any] = {"tools": {}} if capabilities is None else capabilities
    start = legacy_start(caps, revision) if era == "legacy" else modern_start(caps)
    transport = ScriptTransport(*start, *steps, answer=answer, kind=kind)
    told = peer or FakePeer()
    connection = Connection("demo", lambda: transport, replace(options, era=era), told)
    await connection.open()
    try:
        yield connection, transport, told
    except BaseException as error:
        if transport.failures:
            raise AssertionError(f"{transport.failures}") from error
        raise
    finally:
        await connection.close()
    transport.check()


def transports(*made: Transport) -> Callable[[], Transport]:
    """Gives these transports one after the other."""
    left = list(made)
    return lambda: left.pop(0)


# -- connections to fake processes --------------------------------------------------------------------------------


@asynccontextmanager
async def process(
    peer: FakePeer | None = None, choose: ConnectOptions = PATIENT, **faults: Any
) -> AsyncGenerator[tuple[Connection, FakePeer]]:
    """An open connection to `tests/fakes/server.py`."""
    command, args = fakes.command(**faults)
    told = peer or FakePeer()
    connection = Connection("fake", lambda: StdioTransport(command, args), choose, told)
    try:
        await connection.open()
        yield connection, told
    finally:
        await connection.close()


async def text(connection: Connection, tool: str, **arguments: Any) -> str:
    """The text a tool answers."""
    result = await connection.call_tool(tool, arguments)
    return str(result["content"][0]["text"])
