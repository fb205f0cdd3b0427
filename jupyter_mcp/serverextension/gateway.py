"""MCP over Streamable HTTP for one kernel, at the address and behind the sign-in of the Jupyter Server.

    jupyter-mcp/kernels/<kernel id>     POST, GET and DELETE, as at the kernel's own endpoint; both eras

What a client sends goes on to the endpoint of that kernel as it came, with the endpoint's own token in place of the
client's, and what the endpoint answers comes back as it comes: a body, or a stream. Nothing of the protocol is known
here. Who may not execute code in kernels gets no further than the door.

Source: spec "Transports / Streamable HTTP" (every revision).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import ensure_async
from tornado import iostream, web

from jupyter_mcp.protocol.forwarded import LIFE, USER
from jupyter_mcp.serverextension.lives import Lives, client_of, user_of
from jupyter_mcp.serverextension.ways import BrokenOff, Request, Unreachable, by_control, by_http

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from aiohttp import ClientSession

    from jupyter_mcp.serverextension.endpoints import Endpoints, Standing
    from jupyter_mcp.serverextension.line import Lines
    from jupyter_mcp.serverextension.lives import Client
    from jupyter_mcp.serverextension.ways import Answer

__all__ = ["Gateway", "KernelHandler", "NotServed"]

_INTERNAL = -32603
_MOST_BODY = 64 * 2**20  # bytes of a request
_SENT = (
    "accept",
    "accept-encoding",
    "content-encoding",
    "content-type",
    "last-event-id",
    "user-agent",
    "traceparent",
    "tracestate",
)
_BACK = ("content-type", "cache-control", "mcp-session-id", "mcp-protocol-version", "retry-after", "allow")
_CONNECT_SECONDS = 5.0


class NotServed(Exception):
    """There is nobody to ask; what to do about it, in one sentence.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Gateway:
    """What the handlers share: where kernels are served, and connections to there.

    Args:
        endpoints: of this Jupyter Server. lines: to its kernels.
    """

    def __init__(self, endpoints: Endpoints, lines: Lines) -> None:
        self.endpoints = endpoints
        self.lives = Lives()
        self._lines = lines
        self._kept: ClientSession | None = None

    @contextlib.asynccontextmanager
    async def asked(self, kernel_id: str, client: Client, request: Request) -> AsyncGenerator[Answer]:
        """A kernel's answer; an endpoint that is gone is looked for once more, as long as nothing has come back.

        Args:
            client: whose request it is.

        Raises:
            NotServed: there is nobody to ask.
            Unreachable: nobody has taken it.
            BrokenOff: the answer never came; also while the chunks are read.
        """
        for last in (False, True):
            standing = await self.endpoints.find(kernel_id)
            if standing.state != "served":
                raise self._not_served(kernel_id, standing)
            async with contextlib.AsyncExitStack() as stack:
                answer = await self._taken(stack, kernel_id, standing, request)
                if answer is None and last:
                    raise Unreachable
                if answer is None or (answer.status == HTTPStatus.UNAUTHORIZED and not last):
                    self.endpoints.forget(kernel_id)
                    continue
                self.lives.saw(client, answer.headers.get(LIFE.lower()))
                try:
                    yield answer
                except BrokenOff:
                    self.endpoints.forget(kernel_id)
                    raise
                return

    async def _taken(
        self, stack: contextlib.AsyncExitStack, kernel_id: str, standing: Standing, request: Request
    ) -> Answer | None:
        """The answer, to be read while the stack is open; None: nobody has taken the request. Raises `BrokenOff`."""
        try:
            if standing.endpoint is not None:
                way = by_http(await self._session(), standing.endpoint, request)
            else:
                way = by_control(self._lines.to(kernel_id), request)
            return await stack.enter_async_context(way)
        except (Unreachable, KeyError):  # KeyError: the kernel has just gone
            return None
        except BrokenOff:
            self.endpoints.forget(kernel_id)
            raise

    def _not_served(self, kernel_id: str, standing: Standing) -> NotServed:
        gone = standing.state == "gone"
        if gone:
            self._lines.forget(kernel_id)
        status = HTTPStatus.NOT_FOUND if gone else HTTPStatus.SERVICE_UNAVAILABLE
        return NotServed(status, f"This notebook is not served here. {standing.hint}")

    def about(self, client: Client) -> list[tuple[str, str]]:
        """The headers that say to a kernel's endpoint whose request it is."""
        return [(USER, quote(client[1])), (LIFE, self.lives.of(client))]

    async def _session(self) -> ClientSession:
        """Connections to this machine's endpoints, made at first use; no proxy, no cookies."""
        import aiohttp

        if self._kept is None or self._kept.closed:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
            self._kept = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            )
        return self._kept


class KernelHandler(JupyterHandler):
    """One kernel's MCP endpoint."""

    auth_resource = "kernels"

    def initialize(self, gateway: Gateway) -> None:
        """Called by tornado."""
        self._gateway = gateway
        self._work: asyncio.Task[None] | None = None

    async def prepare(self, *, _redirect_to_login: bool = False) -> None:
        """A page of another site gets nothing, whoever is signed in."""
        await ensure_async(super().prepare(_redirect_to_login=_redirect_to_login))
        if not self._finished and not self.check_origin():
            raise web.HTTPError(HTTPStatus.FORBIDDEN, "This origin may not talk to kernels.")

    @web.authenticated
    @authorized(action="execute")  # pyright: ignore[reportUntypedFunctionDecorator]
    async def post(self, kernel_id: str) -> None:
        """A message."""
        await self._hand_on(kernel_id)

    @web.authenticated
    @authorized(action="execute")  # pyright: ignore[reportUntypedFunctionDecorator]
    async def get(self, kernel_id: str) -> None:
        """A stream."""
        await self._hand_on(kernel_id)

    @web.authenticated
    @authorized(action="execute")  # pyright: ignore[reportUntypedFunctionDecorator]
    async def delete(self, kernel_id: str) -> None:
        """The end of a session."""
        await self._hand_on(kernel_id)

    def get_login_url(self) -> str:
        """A client is no browser: it is refused, not sent to a page."""
        raise web.HTTPError(HTTPStatus.FORBIDDEN)

    def write_error(self, status_code: int, **more: Any) -> None:
        """One sentence as JSON-RPC has it."""
        error = more.get("exc_info", (None, None, None))[1]
        said = getattr(error, "log_message", None) or HTTPStatus(status_code).phrase
        self._refuse(status_code, str(said))

    def on_connection_close(self) -> None:
        """The client has gone: so has what it asked for."""
        if self._work is not None:
            self._work.cancel()

    # --- handing on --------------------------------------------------------------------------------------------------

    async def _hand_on(self, kernel_id: str) -> None:
        if len(self.request.body) > _MOST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")
            return
        self._work = asyncio.ensure_future(self._exchange(kernel_id))
        with contextlib.suppress(asyncio.CancelledError, iostream.StreamClosedError):
            await self._work

    async def _exchange(self, kernel_id: str) -> None:
        client = client_of(kernel_id, user_of(self), self.request)
        try:
            async with self._gateway.asked(kernel_id, client, self._request(client)) as answer:
                await self._answer(answer)
        except NotServed as no:
            self._refuse(no.status, str(no))
        except Unreachable:
            self._refuse(HTTPStatus.BAD_GATEWAY, "The notebook's endpoint cannot be reached.")
        except BrokenOff:
            self._broken_off()

    def _request(self, client: Client) -> Request:
        sent = [
            (name, value)
            for name, value in self.request.headers.get_all()
            if name.lower() in _SENT or name.lower().startswith("mcp-")
        ]
        headers = [*sent, *self._gateway.about(client)]
        return Request(
            self.request.method or "GET", headers, self.request.body if self.request.method == "POST" else None
        )

    async def _answer(self, answer: Answer) -> None:
        status = HTTPStatus.BAD_GATEWAY if answer.status == HTTPStatus.UNAUTHORIZED else answer.status
        self.set_status(status)
        self.clear_header("Content-Type")
        for name in (*_BACK, "content-encoding"):
            if name in answer.headers:
                self.set_header(name, answer.headers[name])
        if "event-stream" in answer.headers.get("content-type", ""):
            await self.flush()  # the client may wait for the head before it does something that makes an event
        async for chunk in answer.chunks:
            self.write(chunk)  # pyright: ignore[reportUnknownMemberType]
            await self.flush()

    def _broken_off(self) -> None:
        """The notebook went away; half an answer must not look like a whole one."""
        if not self._headers_written:
            self._refuse(HTTPStatus.BAD_GATEWAY, "The notebook went away before it answered; it may have run.")
            return
        connection: Any = self.request.connection
        connection.stream.close()

    def _refuse(self, status: int, text: str) -> None:
        if self._finished or self._headers_written:
            return
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": _INTERNAL, "message": text}}
        self.write(json.dumps(error))  # pyright: ignore[reportUnknownMemberType]
