"""The way to one notebook: requests of the modern era over HTTP, each with its own notifications and its own end.

It keeps nothing of the talk. Nothing heavy is imported before it is opened.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, RequestError
from jupyter_mcp.protocol import jsonrpc, modern
from jupyter_mcp.protocol.revisions import LATEST_MODERN
from jupyter_mcp.transport.base import Refused, SessionEnded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from jupyter_mcp.transport.base import Closed, Message, Noise
    from jupyter_mcp.transport.http import HttpTransport
    from jupyter_mcp.transport.traffic import HttpEvent

    OnNote = Callable[[Message], Awaitable[None]]
    Came = asyncio.Queue[Message | Exception]


class Upstream:
    """One notebook; implements `transport.base.Receiver`.

    Args:
        slug: its name in addresses, and as the argument `notebook` of its tools.
        about: name, title and version of who asks on nobody's behalf.
    """

    def __init__(self, slug: str, about: Mapping[str, Any]) -> None:
        self.slug = slug
        self._about = about
        self._ids = itertools.count(1)
        self._waiting: dict[int | str, Came] = {}
        self._logging: list[int] = []  # requests that want log messages
        self._transport: HttpTransport | None = None

    def transport(self) -> HttpTransport:
        """What its messages go by."""
        raise NotImplementedError

    async def open(self) -> None:
        """Get ready; nothing is sent."""
        self._transport = self.transport()
        await self._transport.open(self)

    async def close(self) -> None:
        """End it; whoever waits is told."""
        if self._transport is not None:
            await self._transport.close()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        client_info: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        log_level: str | None = None,
        on_note: OnNote | None = None,
    ) -> dict[str, Any]:
        """One request; its result as it came, rounds that ask included. Cancelling the task cancels it.

        Args:
            method, params: without an envelope.
            client_info, capabilities, log_level: of the client on whose behalf it is.
            on_note: takes its notifications, one after the other; without it no progress is asked for.

        Raises:
            RequestError: the notebook answered with an error.
            ConnectionLost: there is no answer.
            LocalProtocolError: it is not JSON.
        """
        transport = self._transport
        if transport is None:
            raise ConnectionLost("The way to the notebook is not open.", may_have_run=False)
        id_ = next(self._ids)
        came: Came = asyncio.Queue()
        self._waiting[id_] = came
        if log_level is not None:
            self._logging.append(id_)
        given = modern.envelope(
            params,
            revision=LATEST_MODERN,
            client_info=client_info or self._about,
            capabilities=capabilities or {},
            log_level=log_level,
            progress_token=id_ if on_note is not None else None,
        )
        try:
            await transport.send(jsonrpc.request(id_, method, given))
            return await self._answer(came, on_note)
        except asyncio.CancelledError:
            transport.cancel(id_)
            raise
        finally:
            del self._waiting[id_]
            if log_level is not None:
                self._logging.remove(id_)

    async def _answer(self, came: Came, on_note: OnNote | None) -> dict[str, Any]:
        while True:
            item = await came.get()
            if isinstance(item, Exception):
                raise item
            if "method" in item:
                if on_note is not None and "id" not in item:
                    await on_note(item)
            elif "error" in item:
                error = jsonrpc.parse_error(item)
                raise RequestError(error.message, code=error.code, data=error.data)
            else:
                result = item.get("result")
                if isinstance(result, dict):
                    return result  # pyright: ignore[reportUnknownVariableType]
                raise RequestError("The notebook's answer is not an object.", code=jsonrpc.INTERNAL_ERROR)

    def learn_tools(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Tools as they were listed: some want arguments repeated as headers."""
        if self._transport is not None:
            self._transport.learn_tools(tools)

    # --- what a transport calls

    def on_message(self, message: Message, size: int) -> None:
        """A response, or a notification that belongs to one of our requests."""
        key = message.get("id") if "method" not in message else self._subject(message)
        came = self._waiting.get(key) if type(key) is int else None
        if came is not None:
            came.put_nowait(message)

    def _subject(self, message: Message) -> Any:
        """Which request a notification belongs to.

        Log messages do not say; on the agent's pipe they do not either, so any request that wants them will do.
        """
        params: Any = message.get("params") or {}
        mark = modern.meta_of(params).get(modern.SUBSCRIPTION_KEY, params.get("progressToken"))
        return self._logging[-1] if mark is None and self._logging else mark

    def on_batch(self, messages: list[Message], size: int) -> None:
        """Not part of the modern era."""

    def on_noise(self, noise: Noise) -> None:
        """Nothing that concerns the agent."""

    def on_stderr(self, line: str) -> None:
        """HTTP has none."""

    def on_request_failed(self, request_id: int | str | None, error: Exception) -> None:
        """A request gets no answer."""
        came = self._waiting.get(request_id) if request_id is not None else None
        if came is not None:
            came.put_nowait(_as_lost(error))

    def on_alive(self, request_id: int | str | None) -> None:
        """Streams are kept open."""

    def on_http(self, event: HttpEvent) -> None:
        """Nobody looks at it here."""

    def on_closed(self, closed: Closed) -> None:
        """No more messages will come."""
        for came in self._waiting.values():
            came.put_nowait(ConnectionLost(f"The way to the notebook {closed.reason}."))


def _as_lost(error: Exception) -> Exception:
    """What an HTTP status means for a request to a notebook: it is not the one we knew, or takes no more."""
    if isinstance(error, Refused):
        return ConnectionLost(f"The notebook refused the request ({error}).", may_have_run=False)
    if isinstance(error, SessionEnded):
        return ConnectionLost("The notebook does not know this session.", may_have_run=False)
    return error
