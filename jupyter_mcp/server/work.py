"""Requests while they are worked on, and streams that listen: the same for a pipe, a session and stateless HTTP.

`Work` knows no transport and no handshake. It takes an `Exchange` and the `Way` its answer goes, runs it as a task, and
sees to it that every request ends with exactly one response or, when it was cancelled, with none. Whoever owns it
chooses the keys: JSON-RPC ids where one client talks, something else where many do.

Below: `dispatch`, `ways`. Above: `session`, `http`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import LocalProtocolError
from jupyter_mcp.protocol import jsonrpc, listen
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, RpcError
from jupyter_mcp.server.failures import Failure, complain
from jupyter_mcp.server.rounds import NeedInput
from jupyter_mcp.spans import Serving, serving

if TYPE_CHECKING:
    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.server import Server
    from jupyter_mcp.server.ways import Way

LAST_STEPS = 0.5
"""Seconds for cancelled handlers to clean up."""
_ASKING = ("tools/call", "resources/read", "prompts/get")

Own = Mapping[str, "Callable[[Exchange], dict[str, Any]]"]
"""Methods that belong to whoever owns the work: name -> what answers at once."""
_NOTHING: Own = {}


@dataclass(slots=True)
class Job:
    """One request that is being worked on."""

    exchange: Exchange
    way: Way
    task: asyncio.Task[None]


@dataclass(slots=True)
class Listening:
    """One `subscriptions/listen` that is open."""

    id: jsonrpc.Id
    kept: Mapping[str, Any]
    way: Way


class Work:
    """What runs for one client, or for all stateless ones. Loop only, but for `changed`.

    Attributes:
        on_change: told of every change (method, params), after the streams that listen.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._jobs: dict[Hashable, Job] = {}
        self._listening: dict[Hashable, Listening] = {}
        self._changes: dict[str, dict[str, Any] | None] = {}
        self._lock = threading.Lock()
        self.loop = asyncio.get_running_loop()
        self.on_change: Callable[[str, dict[str, Any] | None], None] | None = None

    def __contains__(self, key: Hashable) -> bool:
        """Whether a request, or a stream that listens, has this key."""
        return key in self._jobs or key in self._listening

    def __len__(self) -> int:
        """How many requests are being worked on."""
        return len(self._jobs)

    # --- requests

    def start(self, key: Hashable, exchange: Exchange, way: Way, own: Own = _NOTHING) -> None:
        """Begin to answer. What needs no waiting is answered now: a client may send more without waiting either."""
        if exchange.method == "subscriptions/listen":
            self._begin(key, exchange, way, own, Serving())  # a stream has no time of its own worth a span
            return
        span = serving(exchange.method, exchange.params, exchange.id, revision=exchange.peer.revision)
        with span.current():  # what is begun inside stays there: tasks and threads take the context along
            self._begin(key, exchange, way, own, span)

    def _begin(self, key: Hashable, exchange: Exchange, way: Way, own: Own, span: Serving) -> None:
        try:
            if self._server.admit is not None:
                self._server.admit(exchange)
            if exchange.method == "subscriptions/listen":
                self._listen(key, exchange, way)
                return
            answer = self._answer(exchange, own)
        except Failure as failure:
            answer = _Ready(jsonrpc.error(exchange.id, failure.code, failure.message, failure.data))
        except Exception as error:
            answer = _Ready(internal(exchange, error))
        task = self.loop.create_task(self._serve(exchange, answer, way, span))
        self._jobs[key] = Job(exchange, way, task)
        task.add_done_callback(lambda task: self._ended(key, task, exchange, way, span))

    def _ended(self, key: Hashable, task: asyncio.Task[None], exchange: Exchange, way: Way, span: Serving) -> None:
        self._jobs.pop(key, None)
        span.end(asyncio.CancelledError() if exchange.cancelled else None)
        if exchange.cancelled:
            way.drop()
        if not task.cancelled() and (error := task.exception()) is not None:
            complain(f"{exchange.method} failed:", error)

    def _answer(self, exchange: Exchange, own: Own) -> Awaitable[dict[str, Any]]:
        """The response, or how to wait for the result. Raises Failure."""
        method = own.get(exchange.method)
        if method is not None:
            result = method(exchange)
        elif exchange.method == "server/discover":
            result = self._server.discover()
        else:
            if exchange.peer.era == "modern" and exchange.method in _ASKING:
                self._server.dispatcher.open_ledger(exchange)
            result = self._server.dispatcher.answer(exchange)
        return _Ready(self._finished(exchange, result)) if isinstance(result, dict) else result

    def _finished(self, exchange: Exchange, result: dict[str, Any]) -> dict[str, Any]:
        if exchange.peer.era == "modern":
            result = self._server.complete(exchange.method, result)
        return jsonrpc.result(exchange.id, result)

    async def _serve(self, exchange: Exchange, answer: Awaitable[dict[str, Any]], way: Way, span: Serving) -> None:
        """Answer one request; nothing is sent when it was cancelled meanwhile."""
        try:
            message = answer.message if isinstance(answer, _Ready) else await self._outcome(exchange, answer)
        except asyncio.CancelledError:
            if exchange.cancelled:
                return
            # Not ours: the handler let somebody else's cancellation through. The client must not wait for ever.
            message = jsonrpc.error(exchange.id, INTERNAL_ERROR, "The handler was cancelled by its own doing")
        if exchange.cancelled:
            return
        span.answered(message)
        span.end()
        if self._server.answered is not None:
            self._server.answered(exchange, message)
        try:
            await way.send(message)
        except LocalProtocolError as error:
            complain(f"{exchange.method}: the result is not JSON: {error}")
            await way.send(jsonrpc.error(exchange.id, INTERNAL_ERROR, f"The server's result is not JSON: {error}"))

    async def _outcome(self, exchange: Exchange, answer: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        """The response to send for what is still being worked on."""
        try:
            return self._finished(exchange, await answer)
        except NeedInput as need:
            try:
                return self._finished(exchange, self._server.dispatcher.paused(exchange, need))
            except Exception as error:
                return internal(exchange, error)
        except Failure as failure:
            return jsonrpc.error(exchange.id, failure.code, failure.message, failure.data)
        except Exception as error:
            return internal(exchange, error)

    def cancel(self, key: Hashable) -> None:
        """The client gave it up: end its task, what its handler waits for, or its stream. Nothing is sent any more.

        `initialize` cannot be cancelled.
        """
        self._listening.pop(key, None)
        found = self._jobs.get(key)
        if found is not None and found.exchange.method != "initialize":
            found.exchange.cancel()
            found.task.cancel()

    # --- streams that listen (modern)

    def _listen(self, key: Hashable, exchange: Exchange, way: Way) -> None:
        wanted = listen.read_filter(exchange.params)
        if isinstance(wanted, RpcError):
            raise Failure(wanted.code, wanted.message, wanted.data)
        kept = listen.honoured(wanted, self._server.capabilities())
        if ids := self._server.tasks_visible(wanted.get("taskIds"), exchange.peer.principal):
            kept["taskIds"] = ids
        self._listening[key] = Listening(exchange.id, kept, way)
        way.note(jsonrpc.notification(listen.ACKNOWLEDGED, listen.stamp({"notifications": kept}, exchange.id)))

    def watched(self) -> set[str]:
        """The URIs that streams which listen asked for. Any thread."""
        listening = list(self._listening.values())
        return {uri for one in listening for uri in one.kept.get("resourceSubscriptions", ())}

    def end_listens(self) -> None:
        """End every stream that listens in good order: with its result."""
        listening, self._listening = self._listening, {}
        for one in listening.values():
            result = self._server.complete("subscriptions/listen", listen.stamp({}, one.id))
            one.way.post(jsonrpc.result(one.id, result))

    # --- what changed

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread; a burst becomes one notification each."""
        with self._lock:
            first = not self._changes
            self._changes[f"{method} {_subject(params or {})}"] = params
        if first:
            try:
                self.loop.call_soon_threadsafe(self._tell_changes)
            except RuntimeError:
                pass  # the loop is closed

    def _tell_changes(self) -> None:
        with self._lock:
            changes, self._changes = self._changes, {}
        for key, params in changes.items():
            method = key.split(" ", 1)[0]
            for one in list(self._listening.values()):
                if listen.wants(one.kept, method, params):
                    one.way.note(jsonrpc.notification(method, listen.stamp(params, one.id)))
            if self.on_change is not None:
                self.on_change(method, params)

    # --- the end

    async def finish(self, seconds: float) -> None:
        """Give what is being worked on so long to come to its end by itself."""
        if self._jobs:
            await asyncio.wait([job.task for job in self._jobs.values()], timeout=seconds)

    async def stop(self) -> None:
        """Cancel what is left and wait a moment for it to clean up."""
        tasks = [job.task for job in self._jobs.values()]
        for key in list(self._jobs):
            self.cancel(key)
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_STEPS)


def _subject(params: Mapping[str, Any]) -> str:
    """What a change is about; two changes of the same thing are one."""
    return next((str(params[key]) for key in ("uri", "taskId", "elicitationId") if key in params), "")


class _Ready(Awaitable[dict[str, Any]]):
    """A response that is there already, in the clothes of one to wait for."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.message = message

    def __await__(self) -> Generator[Any, Any, dict[str, Any]]:
        yield from ()
        return self.message


def internal(exchange: Exchange, error: BaseException) -> dict[str, Any]:
    """The response to a request that our own code failed on; the author reads why on stderr."""
    complain(f"{exchange.method} failed:", error)
    return jsonrpc.error(exchange.id, INTERNAL_ERROR, f"Internal error: {type(error).__name__}")
