"""Our requests, from the gate to the result: shaped for the era, cancelled properly, over as many rounds as it takes.

What is sent and what the answers mean is `protocol`'s; who waits how long is `pending`'s. Here both meet the link.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.client.peer import Call, OnLog, OnProgress
from jupyter_mcp.errors import (
    Cancelled,
    ConnectionLost,
    InputRefused,
    LocalProtocolError,
    MCPError,
    RemoteProtocolError,
    RequestError,
    RequestTimeout,
)
from jupyter_mcp.protocol import jsonrpc, modern
from jupyter_mcp.protocol.jsonrpc import HEADER_MISMATCH, URL_ELICITATION_REQUIRED
from jupyter_mcp.protocol.methods import TABLE
from jupyter_mcp.protocol.modern import Ask, Send
from jupyter_mcp.protocol.probe import demands_initialize
from jupyter_mcp.spans import asking
from jupyter_mcp.transport.base import SessionEnded

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.link import Link
    from jupyter_mcp.client.pending import Pending
    from jupyter_mcp.client.session import Session
    from jupyter_mcp.client.tasks import OnTask
    from jupyter_mcp.protocol.tasks import TaskState
    from jupyter_mcp.spans import Asking
    from jupyter_mcp.transport.base import Message

_NAMED = 200  # characters of a name or URI in a sentence
# What a server's question can be about. Lists, pings and the like are not acts of a person.
_ACTS = frozenset(("tools/call", "resources/read", "prompts/get"))
_NEVER_CANCELLED = frozenset(("initialize",))


class Calls:
    """The requests of one connection in flight."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._in_flight: dict[Call, None] = {}

    def __iter__(self) -> Any:
        return iter(tuple(self._in_flight))

    def only(self) -> Call | None:
        """The one act in flight; None when there is none, or more than one."""
        acts = [call for call in self._in_flight if call.method in _ACTS]
        return acts[0] if len(acts) == 1 else None

    async def run(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_log: OnLog | None = None,
        log_level: str | None = None,
        keep: Callable[[dict[str, Any]], None] | None = None,
        on_task: OnTask | None = None,
        on_id: Callable[[int | str], object] | None = None,
    ) -> dict[str, Any]:
        """See `Connection.request`.

        Args:
            keep: given a modern result that came at once, without rounds.
            on_task: a call that becomes a task is waited for over the task, whose states are told to it.
            on_id: told the JSON-RPC id under which it is sent, in each round.
        """
        turning = self._connection.life.turning
        if turning is not None:
            await turning.settled()
        session = self._connection.require(method)
        row = TABLE.get(method)
        name = (params or {}).get(row.name_key) if row is not None and row.name_key else None
        arguments = (params or {}).get("arguments")
        call = Call(
            method,
            name if isinstance(name, str) else "",
            cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {},
            on_progress,
            on_log,
            on_id,
        )
        patience = self._connection.options.timeout if timeout is None else timeout
        self._in_flight[call] = None
        try:
            try:
                result = await self._attempt(session, call, params, patience, log_level, keep)
            except ConnectionLost as error:
                if session.link.transport.kind != "http" or not _failures().asked_again(self._connection, call, error):
                    raise
                session = self._connection.require(method)
                result = await self._attempt(session, call, params, patience, log_level, keep)
            return result if on_task is None else await self._connection.tasks.settle(call, result, on_task)
        except MCPError as error:
            error.server = error.server or self._connection.name
            raise
        finally:
            del self._in_flight[call]

    async def follow(self, call: Call, state: TaskState, on_task: OnTask) -> dict[str, Any]:
        """Wait for a task that was left; see `Tasks.follow`."""
        self._in_flight[call] = None
        try:
            return await self._connection.tasks.follow(call, state, on_task)
        except MCPError as error:
            error.server = error.server or self._connection.name
            raise
        finally:
            del self._in_flight[call]

    async def _attempt(
        self,
        session: Session,
        call: Call,
        params: Mapping[str, Any] | None,
        timeout: float,
        log_level: str | None,
        keep: Callable[[dict[str, Any]], None] | None,
    ) -> dict[str, Any]:
        if session.era == "legacy":
            return await self._legacy(session, call, params, timeout)
        try:
            return await self._rounds(session, call, params, timeout, log_level, keep)
        except RequestError as error:
            if call.method in session.proven or not demands_initialize(error.code, error.message):
                raise
            if self._connection.options.era == "modern":
                error.hint = "It is only half modern: connect with era=auto or era=legacy."
                raise
        # Half modern: it answered server/discover, lists perhaps, and wants the handshake all the same.
        await self._connection.life.turn(session, "handshake")
        return await self._legacy(self._connection.require(call.method), call, params, timeout)

    # -- legacy ---------------------------------------------------------------------------------------------------

    async def _legacy(
        self, session: Session, call: Call, params: Mapping[str, Any] | None, timeout: float
    ) -> dict[str, Any]:
        for left in range(self._connection.options.max_rounds, -1, -1):
            try:
                return self._object(call, await self._exchange(session, call, params, timeout, None))
            except SessionEnded:
                session = await self._in_new_session(session, call)
            except RequestError as error:
                if error.code == URL_ELICITATION_REQUIRED and left:
                    await self._open_pages(call, error)
                    session = self._connection.require(call.method)
                elif session.link.transport.kind == "http" and _failures().names_the_session(error):
                    session = await self._in_new_session(session, call)
                else:
                    raise
        raise _failures().no_session(self._connection.name, call)

    async def _in_new_session(self, session: Session, call: Call) -> Session:
        """HTTP: the server does not know our session any more. The one in which the request is sent again, once."""
        failures = _failures()
        if call.renewed:
            raise failures.no_session(self._connection.name, call)
        call.renewed = True
        await self._connection.life.turn(session, "session")
        if not failures.may_repeat(self._connection, call):
            raise failures.not_repeated(self._connection.name, call)
        return self._connection.require(call.method)

    async def _open_pages(self, call: Call, error: RequestError) -> None:
        """-32042 (2025-11-25): the server wants pages visited before the request is sent again."""
        data: Any = error.data
        wanted: Any = cast("dict[str, Any]", data).get("elicitations") if isinstance(data, dict) else None
        listed = cast("list[Any]", wanted) if isinstance(wanted, list) else []
        pages = [cast("dict[str, Any]", page) for page in listed if isinstance(page, dict)]
        if not pages:
            raise error
        answers = await self._connection.questions.fulfil(
            self._connection.require(call.method).link,
            call,
            {
                str(number): {"method": "elicitation/create", "params": {"mode": "url", **page}}
                for number, page in enumerate(pages)
            },
        )
        if any(answer.get("action") != "accept" for answer in answers.values()):
            raise InputRefused(f"The server needs a page to be opened first: {error.message}")

    # -- modern ---------------------------------------------------------------------------------------------------

    async def _rounds(
        self,
        session: Session,
        call: Call,
        params: Mapping[str, Any] | None,
        timeout: float,
        log_level: str | None,
        keep: Callable[[dict[str, Any]], None] | None,
    ) -> dict[str, Any]:
        flow = modern.rounds(
            call.method,
            params,
            cap=self._connection.options.max_rounds,
            capabilities=session.client_capabilities,
            result_types=self._connection.tasks.result_types(session, call.method),
        )
        answer: Any = None
        sent = 0
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as done:
                if keep is not None and sent == 1:  # what came after questions is for this call only
                    keep(done.value)
                return cast("dict[str, Any]", done.value)
            if isinstance(step, Send):
                try:
                    answer = await self._exchange(session, call, step.params, timeout, log_level)
                except RequestError as error:
                    if not self._headers_were_old(session, call, error):
                        raise
                    await self._connection.list("tools", refresh=True)
                    answer = await self._exchange(session, call, step.params, timeout, log_level)
                session.proven.add(call.method)
                sent += 1
            elif isinstance(step, Ask):
                answer = await self._interruptible(
                    call, self._connection.questions.fulfil(session.link, call, step.requests)
                )
            else:
                answer = await self._interruptible(call, asyncio.sleep(step.seconds))

    def _headers_were_old(self, session: Session, call: Call, error: RequestError) -> bool:
        """HTTP: the headers of a call were made from an old schema of the tool, or from none."""
        return (
            error.code == HEADER_MISMATCH
            and session.link.transport.kind == "http"
            and call.method == "tools/call"
            and not call.cancelled
        )

    async def _interruptible(self, call: Call, work: Any) -> Any:
        """Wait between two rounds; `call.cancel()` ends it."""
        task = asyncio.ensure_future(work)
        call.stop = task.cancel
        try:
            if call.cancelled:
                task.cancel()
            return await task
        except asyncio.CancelledError:
            if call.cancelled:
                raise self._cancelled(call) from None
            raise
        finally:
            call.stop = None
            task.cancel()

    # -- one exchange ---------------------------------------------------------------------------------------------

    async def _exchange(
        self, session: Session, call: Call, params: Mapping[str, Any] | None, timeout: float, log_level: str | None
    ) -> Any:
        """Send one request and wait for its result; raises `RequestError` for an error."""
        if call.cancelled:
            raise self._cancelled(call)
        kind, clean = session.link.transport.kind, self._connection.options.clean
        with asking(call.method, params, revision=session.revision, transport=kind, clean=clean) as span:
            message = await self._answer(session, call, span, timeout, log_level)
            span.answered(message)
        if jsonrpc.kind(message) == "response":
            return message["result"]
        error = jsonrpc.parse_error(message)
        raise RequestError(error.message, code=error.code, data=error.data, server=self._connection.name)

    async def _answer(
        self, session: Session, call: Call, span: Asking, timeout: float, log_level: str | None
    ) -> Message:
        """Send one request and wait for the message that answers it."""
        link = session.link
        limit = max(timeout, self._connection.options.max_timeout)
        pending = link.begin(call.method, timeout=timeout, limit=limit, call=call)
        call.id = pending.id
        span.identified(pending.id)
        if call.on_id is not None:
            call.on_id(pending.id)
        call.stop = lambda: self._stop(session, pending, call)
        token = None if call.on_progress is None else pending.id
        try:
            await link.request(pending, session.shape(span.params, token=token, log_level=log_level))
            return await pending.future
        except asyncio.CancelledError:
            self.give_up(session, pending, "cancelled")
            self._connection.tasks.given_up(pending)
            raise
        except LocalProtocolError as error:
            raise LocalProtocolError(
                f"{_what(call)} was not sent: {error.message}", server=self._connection.name
            ) from None
        except SessionEnded as error:
            if session.era == "legacy":
                raise
            raise _failures().of_request(error, self._connection.name, _what(call)) from None
        except Exception as error:
            if isinstance(error, MCPError) and error.server:
                raise
            raise _failures().of_request(error, self._connection.name, _what(call)) from None
        finally:
            call.stop = None

    def _object(self, call: Call, result: Any) -> dict[str, Any]:
        if not isinstance(result, dict):
            raise RemoteProtocolError(f"The server's result of {call.method} is not an object.")
        return cast("dict[str, Any]", result)

    # -- ending one -----------------------------------------------------------------------------------------------

    def _stop(self, session: Session, pending: Pending, call: Call) -> None:
        self.give_up(session, pending, "cancelled")
        if not pending.future.done():
            pending.future.set_exception(self._cancelled(call))

    def _cancelled(self, call: Call) -> Cancelled:
        return Cancelled(f"{_what(call)} was cancelled.", server=self._connection.name)

    def give_up(self, session: Session, pending: Pending, reason: str) -> None:
        """Wait no more, and tell the server, unless the answer came in the same moment."""
        if session.link.waiting.drop(pending):
            self.tell_cancelled(session, pending, reason)

    def tell_cancelled(self, session: Session, pending: Pending, reason: str) -> None:
        """Tell the server that nobody waits for this request."""
        link = session.link
        link.transport.cancel(pending.id)
        by_stream = session.era == "modern" and link.transport.kind in ("http", "sse")  # closing it says it there
        if pending.sent and not by_stream and pending.method not in _NEVER_CANCELLED:
            link.post(jsonrpc.notification("notifications/cancelled", {"requestId": pending.id, "reason": reason}))

    def timed_out(self, link: Link, pending: Pending) -> None:
        """Its time is over."""
        session = self._connection.session
        if session is not None and session.link is link:
            self.tell_cancelled(session, pending, "timeout")
        if not pending.future.done():
            what = _what(pending.call) if pending.call is not None else pending.method
            pending.future.set_exception(
                RequestTimeout(
                    f"The server '{self._connection.name}' did not answer {what} within {pending.timeout:g} s;"
                    " it was told to stop.",
                    server=self._connection.name,
                )
            )


def _failures() -> Any:
    """Loaded when something fails over HTTP."""
    from jupyter_mcp.client import failures

    return failures


def _what(call: Call) -> str:
    name = call.name
    if len(name) > _NAMED:
        name = f"{name[:_NAMED]}… ({len(name):,} characters)"
    return f"{call.method} {name}".rstrip()
