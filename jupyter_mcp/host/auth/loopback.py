"""A listener of this machine that a browser comes back to: 127.0.0.1 only, one path, one answer, for a while.

It speaks as much HTTP as a browser needs to be told "you can close this". What it is asked with anything else than the
`state` that is waited for changes nothing, so another page or program of this machine cannot end a login. No page of a
foreign name is answered (DNS rebinding), and nothing is written down.

Source: RFC 8252 section 7.3 and 8.3.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from jupyter_mcp.client.auth.landing import DONE, GONE, POLICY, PRIVATE, page

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PATH", "Loopback"]

PATH = "/callback"
_SECONDS = 10.0  # for a request
_MOST_HEAD = 32_768  # bytes
_MOST_AT_ONCE = 16


class Loopback:
    """Listens until it is closed.

    Args:
        deliver: takes the query of a browser that came back; False when nobody waits for it.
    """

    def __init__(self, deliver: Callable[[str], bool]) -> None:
        self._deliver = deliver
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def uri(self) -> str:
        """Where a browser comes back to."""
        return f"http://127.0.0.1:{self._port}{PATH}"

    async def open(self) -> Loopback:
        """Begin to listen, on a port that is free. Raises `OSError`."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=_MOST_HEAD)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def close(self) -> None:
        """Listen no more; an answer that is being written is written. Idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        if self._talks:
            await asyncio.wait(self._talks, timeout=1.0)
        for talk in self._talks:
            talk.cancel()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._talks) >= _MOST_AT_ONCE:
            writer.close()
            return
        talk = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
                async with asyncio.timeout(_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(head.decode("latin-1")))
                    await writer.drain()
        finally:
            writer.close()

    def _answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target = rest.rpartition(" ")[0]
        hosts = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:")]
        path, _, query = target.partition("?")
        if hosts != [f"127.0.0.1:{self._port}"]:
            return _response("421 Misdirected Request", page("This address answers no one.", good=False))
        if path != PATH:
            return _response("404 Not Found", page("There is nothing here.", good=False))
        if method != "GET":
            return _response("405 Method Not Allowed", page("There is nothing to be done here.", good=False))
        if not self._deliver(query):
            return _response("400 Bad Request", page(GONE, good=False))
        return _response("200 OK", page(DONE, good=True))


def _response(status: str, body: str) -> bytes:
    content = body.encode()
    head = (
        f"HTTP/1.1 {status}",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {len(content)}",
        f"Content-Security-Policy: {POLICY}",
        *(f"{name}: {value}" for name, value in PRIVATE.items()),
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    )
    return "\r\n".join((*head, "", "")).encode() + content
