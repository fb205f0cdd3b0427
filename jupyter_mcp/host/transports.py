"""From a spec to a transport: the one place that knows which transports this version has.

It speaks stdio, HTTP (Streamable and the older HTTP+SSE) and memory.
A server in memory runs on the same loop, in a task that ends with its connection.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from jupyter_mcp.host.auth.logins import Gate
    from jupyter_mcp.host.sandbox.rules import Sandbox
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.transport.base import Receiver, Transport
    from jupyter_mcp.transport.http.options import HttpOptions

    LetsIn = Callable[[ServerSpec, HttpOptions], Gate | None]

__all__ = ["transport_for"]


class _Serves(Protocol):
    """What is served in memory. It may have a `check()` too, which raises ConnectionFailed when it cannot be now."""

    def serve(self, transport: Transport) -> Awaitable[Any]: ...


def transport_for(
    spec: ServerSpec, roots: Sequence[Mapping[str, Any]] = (), lets_in: LetsIn | None = None
) -> Callable[[], Transport]:
    """A maker of fresh transports to the server of an expanded spec (a connection may need more than one).

    Args:
        spec: how it is started or reached.
        roots: what it may write when it runs in a sandbox.
        lets_in: gives what lets requests in over HTTP; None: nobody logs in.
    """
    if spec.kind == "http":
        return lambda: _http(spec, lets_in)
    if spec.kind == "memory":
        return lambda: _InMemory(spec.name, cast("_Serves", spec.server))
    return lambda: _stdio(spec, roots)


def _stdio(spec: ServerSpec, roots: Sequence[Mapping[str, Any]]) -> Transport:
    from jupyter_mcp.transport.stdio import StdioTransport

    return StdioTransport(
        spec.command,
        spec.args,
        env=spec.env,
        inherit_env=spec.inherit_env,
        cwd=spec.cwd or spec.folder,
        within=None if spec.sandbox is None else _Inside(spec.sandbox, roots),
    )


def _http(spec: ServerSpec, lets_in: LetsIn | None) -> Transport:
    from jupyter_mcp.protocol.sse import LIMIT
    from jupyter_mcp.transport.http import HttpOptions, HttpTransport
    from jupyter_mcp.transport.http.options import MAX_BODY
    from jupyter_mcp.transport.sse import SseTransport

    way = spec.way
    options = HttpOptions(
        headers=spec.headers,
        max_event=way.max_event or LIMIT,
        max_body=way.max_event or MAX_BODY,
        proxy=way.proxy or None,
        ca=way.ca,
        cert=way.cert,
        insecure=way.insecure,
        socket=way.socket,
        insist=spec.transport == "http",
    )
    if lets_in is not None:
        options = replace(options, authorization=lets_in(spec, options))
    return SseTransport(spec.url, options) if spec.transport == "sse" else HttpTransport(spec.url, options)


class _Inside:
    """Puts a command into its sandbox when it is started, which is when one finds out whether there is one."""

    def __init__(self, rules: Sandbox, roots: Sequence[Mapping[str, Any]]) -> None:
        self._rules = rules
        self._roots = [str(root.get("uri")) for root in roots]

    def __call__(self, argv: Sequence[str], cwd: str | None) -> list[str]:
        from jupyter_mcp.host.sandbox.confine import confine

        return confine(self._rules, self._roots)(argv, cwd)


class _InMemory:
    """Our end of a pair whose other end a server of this process serves."""

    kind = "memory"
    stderr: Sequence[str] = ()

    def __init__(self, name: str, server: _Serves) -> None:
        self._name = name
        self._server = server
        self._task: asyncio.Task[None] | None = None
        self._ours: Transport | None = None

    async def open(self, receiver: Receiver) -> None:
        from jupyter_mcp.transport.memory import memory_pair

        check = getattr(self._server, "check", None)
        if check is not None:
            check()
        ours, theirs = memory_pair()
        self._ours = ours
        await ours.open(receiver)
        self._task = asyncio.create_task(self._serve(theirs), name=f"mcp-server-{self._name}")

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        assert self._ours is not None
        return await self._ours.send(message)

    def cancel(self, request_id: int | str) -> None:
        """Nothing is held for one request."""

    async def close(self) -> None:
        if self._ours is None:
            return
        await self._ours.close()
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            await asyncio.wait([task], timeout=2)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task], timeout=2)

    async def _serve(self, theirs: Transport) -> None:
        """A server that fails ends its connection, as a process that exits does."""
        import logging

        try:
            await self._server.serve(theirs)
        except Exception:
            logging.getLogger("jupyter_mcp.host").exception("the server %s in memory failed", self._name)
        finally:
            await theirs.close()
