"""Does what a flow asks for: sends its requests, shows its pages, keeps what it wants kept.

`Network` sends by the wires that messages travel on: the same proxy and certificates, no cookies, redirects on the same
origin only, bounded in time, size and number. What a person set for the MCP server (headers, a client certificate, no
checks of certificates) goes to that server alone.

Above: `oauth`. Tests put another `send` in place of the network.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from jupyter_mcp.client.auth.addresses import Near, Reach, near, near_host, origin
from jupyter_mcp.client.auth.failing import failed, said, shown
from jupyter_mcp.client.auth.steps import Flow, Forget, Load, Request, Response, Save, Step
from jupyter_mcp.client.auth.visit import Prepare, Visit
from jupyter_mcp.errors import AuthorizationFailed, ConnectionFailed, ConnectionLost, InputRefused
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.http.ways import proxy_for
from jupyter_mcp.transport.http.wire import TooBig, Wire
from jupyter_mcp.transport.traffic import HttpEvent

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.store import TokenStore
    from jupyter_mcp.transport.http.options import HttpOptions
    from jupyter_mcp.transport.http.wire import Answer

__all__ = ["Network", "Send", "nearest", "run", "traced"]

SECONDS = 15.0  # for one request
ALL_SECONDS = 60.0  # for all requests of one login; a person takes what time they need
MAX_BODY = 2**20  # bytes
MOST = 40  # requests of one flow
RESOLVE_SECONDS = 10.0
_KEPT_HEADERS = ("content-type", "dpop-nonce", "location", "retry-after")

Send = Callable[[Request], Awaitable[Response]]
"""Sends one request. Raises AuthorizationFailed when there is no answer."""

T = TypeVar("T")


def traced(send: Send, trace: Callable[[HttpEvent], None]) -> Send:
    """The same, and somebody is told of each request: what it was for, where it went, its status. No more than that."""

    async def sending(request: Request) -> Response:
        what = f"{request.step}: {shown(request.url)}"
        try:
            response = await send(request)
        except AuthorizationFailed as error:
            trace(HttpEvent("failed", request.method, text=str(error)))
            raise
        trace(HttpEvent("answer", request.method, response.status, text=what))
        return response

    return sending


async def run(flow: Flow[T], send: Send, visit: Visit, store: TokenStore) -> T:
    """Run a flow to its end; what goes wrong in a step goes wrong in the flow.

    Raises:
        AuthorizationFailed: and whatever `visit` and `store` raise.
    """
    requests = 0
    try:
        step = next(flow)
        while True:
            requests += isinstance(step, Request)
            try:
                outcome = await _done(step, send, visit, store, requests)
            except Exception as error:
                step = flow.throw(error)
            else:
                step = flow.send(outcome)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        flow.close()


async def _done(step: Step, send: Send, visit: Visit, store: TokenStore, requests: int) -> Any:
    if isinstance(step, Request):
        if requests > MOST:
            raise failed(step.step, step.url, f"would be request {requests} of one login, which is too many")
        return await send(step)
    if isinstance(step, Load):
        return await store.load(step.key)
    if isinstance(step, Save):
        return await store.save(step.key, step.stored)
    if isinstance(step, Forget):
        return await store.forget(step.key)
    try:
        return await (visit.prepare(step) if isinstance(step, Prepare) else visit.visit(step))
    except InputRefused as error:
        raise AuthorizationFailed(error.message, step="the person", declined=True, hint=error.hint) from error


class Network:
    """Sends the requests of one login. Use as `async with Network(options, reach) as send`.

    Args:
        options: how the MCP server is reached.
        reach: where requests may go.
    """

    def __init__(self, options: HttpOptions, reach: Reach) -> None:
        self._options = options
        self._reach = reach
        self._wires: dict[tuple[str, bool], Wire] = {}
        self._left = ALL_SECONDS

    async def __aenter__(self) -> Send:
        return self.send

    async def __aexit__(self, *exc: object) -> None:
        wires, self._wires = list(self._wires.values()), {}
        for wire in wires:
            await wire.close()

    async def send(self, request: Request) -> Response:
        """Send one request. Raises `AuthorizationFailed` when there is no answer that could be read."""
        loop = asyncio.get_running_loop()
        began, limit = loop.time(), min(SECONDS, self._left)
        try:
            async with asyncio.timeout(limit):
                return await self._send(request)
        except TimeoutError:
            what = f"did not answer within {limit:.3g} s"
        except TooBig:
            what = f"answered with more than {MAX_BODY // 2**20} MiB"
        except Refused as error:
            raise failed(request.step, request.url, "is not there", said(error.body)) from None
        except (ConnectionLost, ConnectionFailed) as error:
            raise failed(request.step, request.url, "cannot be used", said(error.message), error.hint) from None
        finally:
            self._left -= loop.time() - began
        raise failed(request.step, request.url, what)

    async def _send(self, request: Request) -> Response:
        wire = self._wire(request.url, request.anywhere)
        answer = await wire.send(request.method, request.headers, request.body or None, wire.at(request.url))
        try:
            return Response(answer.status, _headers(answer), await answer.all(MAX_BODY))
        finally:
            answer.close()

    def _wire(self, url: str, anywhere: bool) -> Wire:
        key = (origin(url), anywhere)
        if key not in self._wires:
            ours = key[0] == origin(self._reach.server_url)
            named = anywhere or self._reach.anywhere  # by a person
            guard = self._reach.may_stay if ours else None if named else self._reach.may_connect
            wire = Wire(url, self._way(ours), guard)
            wire.open()
            self._wires[key] = wire
        return self._wires[key]

    def _way(self, ours: bool) -> HttpOptions:
        """How to get there; what is for the MCP server goes to nobody else."""
        if ours:
            headers = {k: v for k, v in self._options.headers.items() if k.lower() not in _NOT_FOR_METADATA}
            return replace(self._options, headers=headers, authorization=None)
        return replace(self._options, headers={}, authorization=None, cert=None, insecure=False, socket=None)


_NOT_FOR_METADATA = ("authorization", "dpop")


def _headers(answer: Answer) -> dict[str, str]:
    return {name: value for name in _KEPT_HEADERS if (value := answer.header(name))}


async def nearest(url: str, options: HttpOptions) -> Near:
    """How near the server at `url` is; the farthest, where its name stands for several addresses, and far where it is
    a proxy that looks it up.
    """
    host = urlsplit(url).hostname or ""
    if options.socket is not None:
        return Near.HERE
    if (named := near_host(host)) is not None:
        return named
    try:
        if proxy_for(url, options)[0] is not None:
            return Near.PUBLIC
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return min((near(str(one[4][0])) for one in found), default=Near.PUBLIC)
    except (ConnectionFailed, OSError, TimeoutError, ValueError):
        return Near.PUBLIC  # nobody knows it
