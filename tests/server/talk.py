"""A raw client for the server's tests: dicts in, dicts out, at any revision, over the in-memory transport."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.revisions import era
from jupyter_mcp.transport.memory import memory_pair

if TYPE_CHECKING:
    from jupyter_mcp.server import Server
    from jupyter_mcp.transport.base import Closed, Message, Noise
    from jupyter_mcp.transport.traffic import HttpEvent

EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
Answer = Callable[[dict[str, Any]], Mapping[str, Any] | None]
"""Params of the server's question -> the bare result, an error as {"code", "message"}, or None to stay silent."""


def always(result: Mapping[str, Any]) -> Answer:
    """Answer every question of a kind with this."""
    return lambda params: result


class RpcFailure(Exception):
    """The server answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


class Talk:
    """One connection to a server under test.

    Attributes:
        received: every message of the server, in order; batches as they came.
        asked: the server's questions, in order.
        answers: method -> how to answer it.
    """

    def __init__(
        self,
        server: Server,
        revision: str = "2025-11-25",
        *,
        capabilities: Mapping[str, Any] | None = None,
        answers: Mapping[str, Answer] | None = None,
        handshake: bool = True,
    ) -> None:
        self.revision = revision
        self.era = era(revision)
        self.capabilities = dict(EVERYTHING if capabilities is None else capabilities)
        self.answers = dict(answers or {})
        self.received: list[Any] = []
        self.asked: list[dict[str, Any]] = []
        self.closed: Closed | None = None
        self.initialized: dict[str, Any] = {}
        self._server = server
        self._handshake = handshake
        self._next = 100
        self._waiting: dict[int | str, asyncio.Future[dict[str, Any]]] = {}
        self._news = asyncio.Event()
        self._background: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Talk:
        mine, its = memory_pair()
        self.transport = mine
        self.serving = asyncio.create_task(self._server.serve(its))
        await mine.open(self)
        if self._handshake and self.era == "legacy":
            params = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": INFO}
            self.initialized = await self.request("initialize", params)
            await self.notify("notifications/initialized")
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.transport.close()
        await asyncio.wait_for(self.serving, 10)

    # --- sending

    async def send(self, message: Any) -> None:
        """Anything that is JSON."""
        await self.transport.send(message)

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """A notification."""
        await self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})})

    async def start(
        self, method: str, params: Mapping[str, Any] | None = None, *, id: int | str | None = None, **meta: Any
    ) -> tuple[int | str, asyncio.Future[dict[str, Any]]]:
        """Send a request; its id, and the future of its whole response."""
        self._next += 1
        id_ = self._next if id is None else id
        given = dict(params or {})
        if self.era == "modern":
            given = modern.envelope(given, revision=self.revision, client_info=INFO, capabilities=self.capabilities)
        if meta:
            given["_meta"] = {**given.get("_meta", {}), **meta}
        self._waiting[id_] = asyncio.get_running_loop().create_future()
        await self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": given})
        return id_, self._waiting[id_]

    async def request(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """Send a request and wait for its result. Raises RpcFailure."""
        _, future = await self.start(method, params, **meta)
        message = await asyncio.wait_for(future, 10)
        if "error" in message:
            raise RpcFailure(message["error"])
        return message["result"]

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """Call a tool; modern: answer its rounds by `answers` until it is complete."""
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        result = await self.request("tools/call", params, **meta)
        while result.get("resultType") == "input_required":
            result = await self.request("tools/call", {**params, **self.replies(result)}, **meta)
        return result

    def replies(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """What to add to a retried request."""
        responses: dict[str, Any] = {}
        for key, asked in result.get("inputRequests", {}).items():
            self.asked.append(asked)
            responses[key] = self.answers[asked["method"]](asked.get("params", {}))
        found: dict[str, Any] = {"inputResponses": responses} if responses else {}
        return {**found, "requestState": result["requestState"]} if "requestState" in result else found

    # --- receiving

    def of(self, method: str) -> list[dict[str, Any]]:
        """The params of the notifications of that method so far."""
        messages = [cast("dict[str, Any]", one) for one in self.received if isinstance(one, dict)]
        return [one.get("params", {}) for one in messages if one.get("method") == method]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds, asked after every message."""
        async with asyncio.timeout(10):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def settle(self) -> None:
        """Wait until the server has dealt with everything sent so far: a round trip."""
        await self.request("ping" if self.era == "legacy" else "tools/list")

    def on_message(self, message: Message, size: int) -> None:
        self.received.append(message)
        if "method" in message and "id" in message:
            self.asked.append(message)
            answer = self.answers.get(message["method"])
            reply = answer(message.get("params", {})) if answer is not None else None
            if reply is not None:
                kind = "error" if "code" in reply else "result"
                task = asyncio.create_task(self.send({"jsonrpc": "2.0", "id": message["id"], kind: dict(reply)}))
                self._background.add(task)
                task.add_done_callback(self._background.discard)
        elif "method" not in message:
            future = self._waiting.pop(message.get("id", ""), None)
            if future is not None and not future.done():
                future.set_result(message)
        self._news.set()

    def on_batch(self, messages: list[Message], size: int) -> None:
        self.received.append(messages)
        self._news.set()

    def on_noise(self, noise: Noise) -> None:
        raise AssertionError(f"the server sent noise: {noise}")

    def on_stderr(self, line: str) -> None: ...

    def on_alive(self, request_id: int | str | None) -> None: ...

    def on_http(self, event: HttpEvent) -> None: ...

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None: ...

    def on_closed(self, closed: Closed) -> None:
        self.closed = closed
        self._news.set()


INFO = {"name": "talk", "version": "1"}
