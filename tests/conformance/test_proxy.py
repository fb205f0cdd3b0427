"""The proxy before a kernel's endpoint adds the token and nothing else, and neither side notices that it is there."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.conformance.proxy import adding_token
from tests.fakes.http import FakeHttp, Reply, Request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio
SECONDS = 10.0


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection to the proxy, for at most some seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    try:
        async with asyncio.timeout(SECONDS):
            yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def accept(request: Request, reply: Reply) -> None:
    await reply.accepted()


def post(body: bytes, *lines: str) -> bytes:
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + body


async def test_every_request_of_a_connection_gets_the_token_and_keeps_the_rest() -> None:
    own = ("Host: evil.example", "Origin: http://evil.example", "X-Thing:  a: b ", "Content-Length: 6")
    async with FakeHttp(accept) as fake, adding_token(fake.url, "secret") as url, connected(url) as (reader, writer):
        writer.write(post(b"\r\n\r\n{}", *own) + post(b"second", *own))
        await fake.until(lambda: len(fake.requests) == 2)
        await reader.readuntil(b"\r\n\r\n")
    sent = [("Host", "evil.example"), ("Origin", "http://evil.example"), ("X-Thing", "a: b"), ("Content-Length", "6")]
    assert [request.headers for request in fake.requests] == [[("Authorization", "Bearer secret"), *sent]] * 2
    assert [request.body for request in fake.requests] == [b"\r\n\r\n{}", b"second"]
    assert {(request.method, request.target, request.connection) for request in fake.requests} == {("POST", "/mcp", 1)}


async def test_a_body_in_chunks_is_not_taken_for_the_next_request() -> None:
    arrived = asyncio.get_running_loop().create_future()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set_result(await reader.readuntil(b"\r\nGET / HTTP/1.1\r\n"))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    there = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    chunks = b"5;x=y\r\nhello\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n"
    async with adding_token(there, "secret") as url, connected(url) as (_, writer):
        writer.write(post(chunks, "Transfer-Encoding: chunked") + b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert chunks + b"GET / HTTP/1.1\r\n" in await arrived
    server.close()


async def test_a_stream_comes_through_as_it_is_written() -> None:
    go_on = asyncio.Event()

    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event({"first": 1})
        await go_on.wait()
        await reply.event({"second": 2})
        await reply.end()

    async with FakeHttp(script) as fake, adding_token(fake.url, "secret") as url, connected(url) as (reader, writer):
        writer.write(post(b"", "Host: localhost"))
        await reader.readuntil(b'{"first": 1}')
        go_on.set()
        await reader.readuntil(b'{"second": 2}')


async def test_the_end_of_either_side_is_the_end_of_the_other() -> None:
    async def wait_for_the_end(request: Request, reply: Reply) -> None:
        await reply.stream()
        if request.target == "/leave":
            reply.drop()
        else:
            await reply.gone()

    async with FakeHttp(wait_for_the_end) as fake, adding_token(fake.url, "secret") as url:
        async with connected(url) as (reader, writer):
            writer.write(post(b"", "Host: localhost"))
            await reader.readuntil(b"\r\n\r\n")
        await fake.until(lambda: fake.open == 0)
        async with connected(url) as (reader, writer):
            writer.write(b"GET /leave HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await reader.read()


async def test_without_an_endpoint_the_connection_is_closed() -> None:
    async with FakeHttp(accept) as fake:
        pass
    async with adding_token(fake.url, "secret") as url, connected(url) as (reader, _):
        assert await reader.read() == b""
