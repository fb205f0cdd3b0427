"""Answers over HTTP that are nearly right: what was meant is taken, what cannot be is told at once."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from jupyter_mcp.errors import ConnectionLost, RemoteProtocolError
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.web import initialize, legacy, legacy_server, modern, opened

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", ["drop", "reset", "204 with a body", "never ends", "not what it says"])
async def test_a_notification_counts_as_taken_however_the_connection_ends_under_it(how: str) -> None:
    async def on_other(request: Request, reply: Reply) -> None:
        if how == "204 with a body":
            await reply.raw(b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok")
            reply.drop()
        elif how == "never ends":
            await reply.raw(b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n")
            await reply.gone()
        elif how == "not what it says":
            await reply.send(202, b"plain", content_encoding="gzip")
        else:
            getattr(reply, how)()

    async with FakeHttp(legacy_server(on_other=on_other)) as fake, opened(fake.url) as (transport, web):
        started = time.monotonic()
        await initialize(transport, web)
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
        assert time.monotonic() - started < 2.5
        await fake.until(lambda: "GET" in fake.methods())  # the session's stream is asked for
        assert web.noise == []


@pytest.mark.parametrize("way", ["json", "event"])
@pytest.mark.parametrize(
    "broken", [b'{"n":' + b"9" * 5000 + b"}", b"[" * 100_000, b'{"n":tru}', b'{"t":"\x00"}'], ids=range(4)
)
async def test_an_answer_that_cannot_be_read_ends_its_request_at_once_and_says_why(way: str, broken: bytes) -> None:
    async def script(request: Request, reply: Reply) -> None:
        body = b'{"jsonrpc":"2.0","id":5,"result":' + broken + b"}"
        if way == "json":
            await reply.send(200, body, content_type="application/json")
        else:
            await reply.stream()
            await reply.piece(b"data: " + body + b"\n\n")
            await reply.gone()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 5))
        with pytest.raises(RemoteProtocolError, match="answer cannot be read: "):
            raise await web.failure(5)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_an_answer_that_is_not_compressed_as_it_says_is_told_so(encoding: str) -> None:
    async def script(request: Request, reply: Reply) -> None:
        body = json.dumps(reply.answer({})).encode()
        await reply.send(200, body, content_type="application/json", content_encoding=encoding)

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 5))
        with pytest.raises(ConnectionLost, match="Content-Encoding"):
            raise await web.failure(5)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\nid: 9"])
@pytest.mark.parametrize("make", [legacy, modern])
async def test_a_response_is_whole_although_the_blank_line_after_it_is_missing(end: bytes, make: Any) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.piece(b"data: " + json.dumps(reply.answer({"whole": True})).encode() + end)
        await reply.end()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(make("tools/list", 1))
        assert (await web.answer(1))["result"] == {"whole": True}


@pytest.mark.parametrize("cut", range(8, 40, 4))
async def test_a_response_that_is_not_whole_is_none(cut: int) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.piece(b"id: 9\nretry: 1\ndata: " + json.dumps(reply.answer({"t": "é"})).encode()[:cut])
        await reply.end()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/list", 1))
        with pytest.raises(ConnectionLost, match="ended without a response"):
            raise await web.failure(1)


@pytest.mark.parametrize("way", ["json", "event"])
@pytest.mark.parametrize("extra", [{"method": "tools/list", "params": {}}, {"method": None, "error": None}])
async def test_an_answer_that_repeats_its_request_is_the_answer(way: str, extra: dict[str, Any]) -> None:
    async def script(request: Request, reply: Reply) -> None:
        message = {**reply.answer({"there": 1}), **extra}
        await (reply.json(message) if way == "json" else reply.event_stream_of(message))

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 5))
        await web.until(lambda: web.messages or web.failed)
        assert web.messages[0]["result"] == {"there": 1} and not web.failed


async def test_the_text_of_a_refusal_is_not_waited_for_long() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 502 Bad\r\nContent-Length: 1000\r\n\r\n<html>half a page")
        await reply.gone()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        started = time.monotonic()
        await transport.send(legacy("tools/list", 5))
        assert "502" in str(await web.failure(5))
        assert time.monotonic() - started < 4
