"""A transport that plays a written exchange instead of talking to anybody: the mock beside the real ones.

    transport = ScriptTransport(
        client("server/discover"),
        server(error={"code": -32601, "message": "what?"}),
        client("initialize"),
        server(result={"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}),
        client("notifications/initialized"),
    )

The exchange goes step by step: what the server says is delivered at once, what the client must say is waited for and
compared. A message that the next step does not expect is a failure that `check` reports. For free play give `answer`,
which is asked for replies to every message that no step is waiting for.

With `kind="http"` it can also fail one request as HTTP does (`fails`), and name an older transport to fall back to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.protocol.framing import parse_line
from jupyter_mcp.protocol.jsonrpc import encode
from jupyter_mcp.transport.base import Closed, Message, Noise, Receiver

Answer = Callable[[Message], "Iterable[Message | Closed | Exception] | None"]


@dataclass(frozen=True, slots=True)
class ClientStep:
    """What must come from the client: its method (None for an answer) and a part of the message."""

    method: str | None
    part: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServerStep:
    """What the server says; with `method` None it answers the client's latest request."""

    message: Message
    answers: bool


@dataclass(frozen=True, slots=True)
class OtherStep:
    """Noise, a line of stderr, or the end."""

    event: Noise | str | Closed


@dataclass(frozen=True, slots=True)
class FailStep:
    """The client's latest request gets no answer; with `stream` it is the session's own stream that fails."""

    error: Exception
    stream: bool = False


Step = ClientStep | ServerStep | OtherStep | FailStep


def client(method: str | None = None, **part: Any) -> ClientStep:
    """The client must send `method`; `part` is compared with the message as a subset, at every depth."""
    return ClientStep(method, part)


def server(method: str | None = None, **fields: Any) -> ServerStep:
    """The server says this; without `method` and `id` it answers the client's latest request."""
    message = {"jsonrpc": "2.0", **({"method": method} if method else {}), **fields}
    return ServerStep(message, answers=method is None and "id" not in fields)


def fails(error: Exception) -> FailStep:
    """The client's latest request ends with a `Refused`, a `SessionEnded`, a `ConnectionLost` … and no answer."""
    return FailStep(error)


def stream_fails(error: Exception) -> FailStep:
    """The stream of the session is gone for good."""
    return FailStep(error, stream=True)


def noise(text: str) -> OtherStep:
    """A line on stdout that is no message."""
    return OtherStep(Noise("stdout", text))


def stderr(line: str) -> OtherStep:
    """A line on stderr."""
    return OtherStep(line)


def dies(code: int | None = 1, *lines: str) -> OtherStep:
    """The server ends with this exit code, having written these lines to stderr."""
    return OtherStep(Closed(f"exited with code {code}", code, lines))


_Event = Message | Closed | Noise | str | tuple["int | str | None", Exception]


@dataclass
class ScriptTransport:
    """Plays `steps`; see the module.

    Attributes:
        sent: everything the client sent, in order.
        failures: what was not as written.
        learned: what `learn_tools` was told last.
    """

    steps: list[Step]
    sent: list[Message] = field(default_factory=list[Message])
    failures: list[str] = field(default_factory=list[str])

    def __init__(
        self,
        *steps: Step,
        answer: Answer | None = None,
        refuses: ConnectionFailed | None = None,
        kind: str = "stdio",
        key: object = None,
        older: ScriptTransport | None = None,
    ) -> None:
        self.kind = kind
        self.key = key
        self.learned: Sequence[Mapping[str, Any]] | None = None
        self._older = older
        self.steps = list(steps)
        self.sent = []
        self.failures = []
        self.cancelled: list[int | str] = []
        self.closed = False
        self._answer = answer
        self._refuses = refuses
        self._stderr: list[str] = []
        self._receiver: Receiver | None = None
        self._latest: int | str | None = None
        self._changed = asyncio.Event()

    @property
    def stderr(self) -> Sequence[str]:
        return self._stderr

    async def open(self, receiver: Receiver) -> None:
        """Begin to play."""
        if self._refuses is not None:
            raise self._refuses
        self._receiver = receiver
        self._advance()

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Take a message of the client and go on playing."""
        data = encode(message)
        if self.closed:
            raise ConnectionLost("The server is gone.", may_have_run=False)
        for item in parse_line(data).messages:
            self._take(item)
        return len(data)

    def _take(self, message: Message) -> None:
        self.sent.append(message)
        if "method" in message and "id" in message:
            self._latest = message["id"]
        step = self.steps[0] if self.steps else None
        if isinstance(step, ClientStep) and self._fits(step, message):
            self.steps.pop(0)
            self._advance()
        elif self._answer is not None:
            for reply in self._answer(message) or ():
                self._later((message.get("id"), reply) if isinstance(reply, Exception) else reply)
        else:
            wanted = f"expected {step}" if step else "the script is over"
            self.failures.append(f"{wanted}, but the client sent {message}")
        self._changed.set()

    def _fits(self, step: ClientStep, message: Message) -> bool:
        return message.get("method") == step.method and not difference(step.part, message)

    def _advance(self) -> None:
        while self.steps and not isinstance(self.steps[0], ClientStep):
            step = cast("ServerStep | OtherStep | FailStep", self.steps.pop(0))
            if isinstance(step, ServerStep):
                self.say({**step.message, "id": self._latest} if step.answers else step.message)
            elif isinstance(step, FailStep):
                self._later((None if step.stream else self._latest, step.error))
            else:
                self._later(step.event)

    def say(self, message: Message | Closed) -> None:
        """Let the server say something now, out of the script."""
        self._later(message)

    def fail(self, request_id: int | str | None, error: Exception) -> None:
        """Let a request (None: the session's stream) get no answer, out of the script."""
        self._later((request_id, error))

    def alive(self, request_id: int | str | None = None) -> None:
        """Let there be a sign of life that is no message."""
        if self._receiver is not None:
            self._receiver.on_alive(request_id)

    def downgraded(self) -> ScriptTransport | None:
        """The older transport to the same server, if there is one."""
        return self._older

    def learn_tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Note what was listed."""
        self.learned = tools

    def _later(self, event: _Event) -> None:
        asyncio.get_running_loop().call_soon(self._deliver, event)

    def _deliver(self, event: _Event) -> None:
        receiver = self._receiver
        if receiver is None or self.closed:
            return
        if isinstance(event, Closed):
            self._stderr.extend(event.stderr)
            self.closed = True
            receiver.on_closed(event)
        elif isinstance(event, Noise):
            receiver.on_noise(event)
        elif isinstance(event, str):
            self._stderr.append(event)
            receiver.on_stderr(event)
        elif isinstance(event, tuple):
            receiver.on_request_failed(*event)
        else:
            data = encode(event)
            receiver.on_message(parse_line(data).messages[0], len(data))

    def cancel(self, request_id: int | str) -> None:
        """Note who gave up."""
        self.cancelled.append(request_id)

    async def close(self) -> None:
        """The end, from our side."""
        if not self.closed and self._receiver is not None:
            self.closed = True
            self._receiver.on_closed(Closed("was closed"))

    async def until(self, condition: Callable[[], bool], seconds: float = 3.0) -> None:
        """Wait until `condition` holds, asking again after every message of the client."""
        async with asyncio.timeout(seconds):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def played(self, seconds: float = 3.0) -> None:
        """Wait until the script is over and check that all was as written."""
        await self.until(lambda: not self.steps or bool(self.failures), seconds)
        self.check()

    def check(self) -> None:
        """Fail when something was not as written, or steps are left."""
        if self.failures:
            raise AssertionError("; ".join(self.failures))
        if self.steps:
            raise AssertionError(f"not reached: {self.steps}")

    def methods(self) -> list[str]:
        """The methods the client sent, in order; "reply" for an answer."""
        return [str(message.get("method", "reply")) for message in self.sent]


def difference(part: Any, whole: Any, path: str = "") -> str | None:
    """Where `whole` does not contain `part`; None when it does. Callables in `part` are asked about the value."""
    if callable(part):
        return None if part(whole) else f"{path}: {whole!r}"
    if isinstance(part, Mapping):
        if not isinstance(whole, Mapping):
            return f"{path}: {whole!r} is not an object"
        wanted, found = cast("Mapping[str, Any]", part), cast("Mapping[str, Any]", whole)
        missing = (difference(value, found.get(key), f"{path}.{key}") for key, value in wanted.items())
        return next((problem for problem in missing if problem), None)
    return None if part == whole else f"{path}: {whole!r} is not {part!r}"
