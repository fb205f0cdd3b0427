"""A proxy on loopback that adds the token, so that programs which have none can test an endpoint that wants one.

It changes nothing else: Host and Origin arrive as they were sent, and what comes back is passed on byte by byte. There
is no endpoint without a token in a kernel, and this is no way to make one: it lives in the tests.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.fakes.http import copy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine

MOST_HEAD = 64 * 1024


@asynccontextmanager
async def adding_token(url: str, token: str) -> AsyncGenerator[str]:
    """The URL under which `url` is reached without its token, for the length of an `async with`."""
    there = urlsplit(url)
    line = f"Authorization: Bearer {token}\r\n".encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, forth = await asyncio.open_connection(there.hostname, there.port, limit=MOST_HEAD)
        except OSError:  # the kernel is gone; whoever asks sees a connection that was closed
            await _close(writer)
            return
        try:
            await _first(_requests(reader, forth, line), copy(back, writer))
        finally:
            await _close(forth, writer)

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    serving: set[asyncio.Task[None]] = set()
    listening = await asyncio.start_server(begin, "127.0.0.1", 0, limit=MOST_HEAD)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}{there.path}"
    finally:
        listening.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _first(*ways: Coroutine[Any, Any, None]) -> None:
    """Carry both ways until one of them ends, which ends the other: the endpoint sees that its client is gone."""
    tasks = {asyncio.ensure_future(way) for way in ways}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _close(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.close()
    for writer in writers:
        with suppress(OSError):
            await writer.wait_closed()


async def _requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes) -> None:
    """Request after request, with one header line more."""
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        first, rest = head.split(b"\r\n", 1)
        writer.write(first + b"\r\n" + line + rest)
        await _body(reader, writer, _headers(rest))
        await writer.drain()


def _headers(lines: bytes) -> dict[str, str]:
    """By name in small letters."""
    pairs = (one.partition(":") for one in lines.decode("latin-1").split("\r\n") if one)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: dict[str, str]) -> None:
    if "chunked" not in headers.get("transfer-encoding", ""):
        writer.write(await reader.readexactly(int(headers.get("content-length", "0"))))
        return
    size = -1
    while size != 0:
        announced = await reader.readuntil(b"\r\n")
        size = int(announced.split(b";")[0], 16)
        writer.write(announced + await reader.readexactly(size + 2))
