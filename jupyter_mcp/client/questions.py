"""What a server asks of us, forwarded to the host: requests of its own (legacy), input of a round (modern).

Each question is a task, because a person may take minutes; meanwhile the clocks of our own requests stand still. This
module decides nothing but what was not declared.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import InputRefused, LocalProtocolError, MCPError, RequestError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.capabilities import client_allows
from jupyter_mcp.protocol.jsonrpc import Id, match_id
from jupyter_mcp.spans import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.link import Link
    from jupyter_mcp.client.peer import Call, QuestionMethod, ServerPeer
    from jupyter_mcp.transport.base import Message

log = logging.getLogger("jupyter_mcp.client")

MOST = 100  # open at the same time
_WHAT = {
    "sampling/createMessage": "sampling request",
    "elicitation/create": "elicitation request",
    "roots/list": "roots request",
}


class Questions:
    """The open questions of one connection."""

    def __init__(self, connection: Connection, peer: ServerPeer, cause: Callable[[], Call | None]) -> None:
        self._connection = connection
        self._peer = peer
        self._cause = cause
        self._open: dict[Id, asyncio.Task[None]] = {}

    # -- legacy: requests of the server ---------------------------------------------------------------------------

    def asked(self, link: Link, id: Id, method: str, params: Any, declared: Mapping[str, Any]) -> None:
        """A request came: answer it beside."""
        if method == "ping":
            link.post(jsonrpc.result(id, {}))
            return
        given = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        refusal = client_allows(declared, method, given)
        if refusal is not None:
            link.post(jsonrpc.error(id, refusal.code, refusal.message))
            return
        if id in self._open:
            log.debug("a second request with the id %r of an open one", id)
            return
        if len(self._open) >= MOST:
            link.post(jsonrpc.error(id, jsonrpc.INTERNAL_ERROR, f"More than {MOST} questions are open already"))
            return
        cause = self._connection.tasks.cause(given) or self._cause()
        task = link.spawn(self._answer(link, id, cast("QuestionMethod", method), given, cause))
        self._open[id] = task
        task.add_done_callback(lambda _: self._open.pop(id, None))

    def withdraw(self, id: object) -> None:
        """The server does not want the answer any more."""
        key = match_id(self._open, id)
        if key is not None:
            self._open.pop(key).cancel()

    def end(self) -> None:
        """Nobody will read the answers."""
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def _answer(
        self, link: Link, id: Id, method: QuestionMethod, params: dict[str, Any], cause: Call | None
    ) -> None:
        serve = serving(
            method,
            params,
            id,
            revision=self._connection.revision or "",
            transport=link.transport.kind,
            clean=self._connection.options.clean,
        )
        try:
            with serve.current():
                reply = await self._reply(link, id, method, params, cause)
            serve.answered(reply)
        except BaseException as error:
            serve.end(error)
            raise
        serve.end()
        try:
            await link.send(reply)
        except LocalProtocolError as error:  # NaN in the answer
            await link.send(jsonrpc.error(id, jsonrpc.INTERNAL_ERROR, error.message))

    async def _reply(
        self, link: Link, id: Id, method: QuestionMethod, params: dict[str, Any], cause: Call | None
    ) -> Message:
        """The message that answers a question."""
        try:
            with link.waiting.paused():
                return jsonrpc.result(id, await self._peer.question(self._connection, method, params, cause))
        except InputRefused:
            return jsonrpc.error(id, jsonrpc.USER_REJECTED, f"User rejected {_WHAT.get(method, 'the request')}")
        except RequestError as error:
            return jsonrpc.error(id, error.code, error.message, error.data)
        except MCPError as error:
            return jsonrpc.error(id, jsonrpc.INTERNAL_ERROR, error.message)
        except Exception:
            log.exception("a question could not be answered")
            return jsonrpc.error(id, jsonrpc.INTERNAL_ERROR, "Internal error")

    # -- modern: input of a round ---------------------------------------------------------------------------------

    async def fulfil(
        self, link: Link, call: Call, requests: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, dict[str, Any]]:
        """All that one round asks for, at the same time. The first refusal ends the others and the call.

        Raises:
            InputRefused: something is refused, or cannot be had; there is no other way to say so in this era.
        """
        tasks = {
            key: asyncio.ensure_future(
                self._peer.question(self._connection, request["method"], request["params"], call)
            )
            for key, request in requests.items()
        }
        try:
            with link.waiting.paused():
                await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks.values():
                task.cancel()
            await _settled(tasks.values())
        failed = next((error for task in tasks.values() if (error := _error(task)) is not None), None)
        if failed is not None:
            raise _refused(failed)
        return {key: task.result() for key, task in tasks.items()}


async def _settled(tasks: Any) -> None:
    """Let cancelled questions clean up, briefly; even while being cancelled."""
    pending = [task for task in tasks if not task.done()]
    if pending:
        await asyncio.wait(pending, timeout=1.0)


def _error(task: asyncio.Future[Any]) -> BaseException | None:
    return None if not task.done() or task.cancelled() else task.exception()


def _refused(error: BaseException) -> BaseException:
    if isinstance(error, InputRefused) or not isinstance(error, RequestError):
        return error
    return InputRefused(f"The call was ended: what the server asked for cannot be had ({error.message}).")
