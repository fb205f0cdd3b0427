"""Requests of ours on the kernel's control channel: answered while a cell computes, on a thread of its own.

    jupyter_mcp_request    {"version": 1, "kind": str, "data": object}
    jupyter_mcp_reply      {"status": "ok", "data": object} | {"status": "error", "ename": str, "evalue": one sentence}

Who may send one may execute code in this kernel: it is trusted as `execute_request` is. What a kind does is registered
by whoever does it (`handle`); nothing here imports it. A handler that returns a coroutine has it run on the runtime's
loop, so that a slow one never holds up an interrupt or a shutdown, which come on the same channel.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import MutableMapping

__all__ = ["REPLY", "REQUEST", "VERSION", "Handler", "handle", "install", "uninstall"]

log = logging.getLogger("jupyter_mcp.kernel")
REQUEST = "jupyter_mcp_request"
REPLY = "jupyter_mcp_reply"
VERSION = 1

Handler = Callable[[Mapping[str, Any]], "Mapping[str, Any] | Awaitable[Mapping[str, Any]]"]
_handlers: dict[str, Handler] = {}


def handle(kind: str, handler: Handler) -> None:
    """Answer requests of a kind from now on; the last one that was registered does.

    Args:
        kind: "panel", "mcp", "state", "oauth".
        handler: called with the request's data on the control thread, where it must not wait; it returns the answer's
            data (JSON), or an awaitable of it. What it raises is told in one sentence.
    """
    _handlers[kind] = handler


def install(shell: Any) -> None:
    """Listen on the control channel of this shell's kernel; in a terminal there is none, and nothing happens."""
    kernel = getattr(shell, "kernel", None)
    table = cast("MutableMapping[str, Any] | None", getattr(kernel, "control_handlers", None))
    if table is None:
        return

    def answer(stream: Any, identities: Any, message: Mapping[str, Any]) -> None:
        _answer(kernel, stream, identities, message)

    table[REQUEST] = answer


def uninstall(shell: Any) -> None:
    """Listen no longer."""
    table = getattr(getattr(shell, "kernel", None), "control_handlers", None)
    if table is not None:
        table.pop(REQUEST, None)


def _answer(kernel: Any, stream: Any, identities: Any, message: Mapping[str, Any]) -> None:
    """On the control thread."""

    def send(content: Mapping[str, Any]) -> None:
        try:
            kernel.session.send(stream, REPLY, content, message, ident=identities)
        except (ValueError, TypeError, OverflowError) as error:  # what no JSON can say, half a surrogate among it
            kernel.session.send(stream, REPLY, _failed(error), message, ident=identities)

    try:
        found: Any = _begin(message.get("content"))
    except Exception as error:
        send(_failed(error))
        return
    if not isinstance(found, Future):
        send({"status": "ok", "data": found})
        return
    waited = cast("Future[Any]", found)
    loop = kernel.control_thread.io_loop  # sockets are used on the thread that they belong to

    def done(future: Future[Any]) -> None:
        error = future.exception() if not future.cancelled() else RuntimeError("This kernel's host has been closed.")
        content: dict[str, Any] = {"status": "ok", "data": future.result()} if error is None else _failed(error)
        loop.add_callback(send, content)

    waited.add_done_callback(done)


def _begin(content: Any) -> Any:
    """The answer's data, or a future of it. Raises whatever the handler raises."""
    request = cast("dict[str, Any]", content if isinstance(content, dict) else {})
    kind, data = request.get("kind"), request.get("data")
    if request.get("version") != VERSION:
        raise ValueError(f"This kernel speaks version {VERSION} of {REQUEST}, not {request.get('version')!r}.")
    if not isinstance(kind, str) or kind not in _handlers:
        raise ValueError(
            f"There is no request of the kind {kind!r}; there is {', '.join(sorted(_handlers)) or 'none'}."
        )
    if not isinstance(data, dict):
        raise ValueError("The data of a request is an object.")
    found: Any = _handlers[kind](cast("dict[str, Any]", data))
    return _on_loop(found) if inspect.isawaitable(found) else found


def _on_loop(awaitable: Awaitable[Any]) -> Future[Any]:
    from jupyter_mcp.runtime.thread import get_runtime

    async def wait() -> Any:
        return await awaitable

    return get_runtime().submit(wait)


def _failed(error: BaseException) -> dict[str, Any]:
    from jupyter_mcp.errors import MCPError

    if not isinstance(error, (MCPError, ValueError)):
        log.error("a request on the control channel failed", exc_info=error)
    hint = getattr(error, "hint", None)
    said = " ".join(f"{error} {hint or ''}".split()) or type(error).__name__
    return {"status": "error", "ename": type(error).__name__, "evalue": said[:1_000]}
