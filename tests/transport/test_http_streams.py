"""Event streams over HTTP: early ends, resumption, the session's own stream, sizes."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionLost, RemoteProtocolError
from jupyter_mcp.protocol import sse
from jupyter_mcp.transport.base import SessionEnded
from jupyter_mcp.transport.http import HttpOptions
from jupyter_mcp.transport.http import session as module
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.web import initialize, legacy, legacy_server, modern, opened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio

NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hi"}}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that the server did not ask for are short."""
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.05)


def streaming(play: Callable[[Request, Reply], Awaitable[None]]) -> Callable[[Request, Reply], Awaitable[None]]:
    async def script(request: Request, reply: Reply) -> None:
        if request.method == "POST":
            await reply.stream()
            await play(request, reply)
        else:
            await reply.send(405)

    return script


async def test_messages_before_the_response_arrive_in_order_and_the_request_lives() -> None:
    async def play(request: Request, reply: Reply) -> None:
        await reply.piece(b": hello\n\n")
        await reply.event(NOTE)
        await reply.event({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})  # a request of theirs with our id
        await reply.event(reply.answer({"x": 1}), name="message")
        await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        assert (await web.answer(1))["result"] == {"x": 1}
    assert [message.get("method", "response") for message in web.messages] == [
        "notifications/message",
        "roots/list",
        "response",
    ]
    assert web.alive == [1] and web.noise == []


async def test_every_byte_in_its_own_chunk_and_no_charset_gives_the_exact_text() -> None:
    text = "é漢字🎉\u2028x\u0085✅"

    async def play(request: Request, reply: Reply) -> None:
        for byte in sse.encode(json.dumps(reply.answer({"t": text}), ensure_ascii=False).encode()):
            await reply.piece(bytes([byte]))
        await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1))
        assert (await web.answer(1))["result"]["t"] == text


async def test_events_without_data_of_other_types_or_without_sense_do_no_harm() -> None:
    async def play(request: Request, reply: Reply) -> None:
        await reply.event(None, id="1")
        await reply.piece(b"retry: 500\n\nevent: ping\ndata: 12:00\n\ndata: {not json\n\ndata: 17\n\n")
        await reply.event(reply.answer({}), name="result")
        await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1))
        await web.answer(1)
    assert [noise.text for noise in web.noise] == ["{not json", "17"]


@pytest.mark.parametrize("how", ["ends", "drops", "resets"])
async def test_a_stream_that_ends_without_its_response_fails_that_request_only(how: str) -> None:
    async def play(request: Request, reply: Reply) -> None:
        await reply.event(NOTE)
        if request.json["id"] == 2:
            await reply.event(reply.answer({}))
            await reply.end()
        elif how == "ends":
            await reply.end()
        elif how == "drops":
            reply.drop()
        else:
            reply.reset()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        error = await web.failure(1)
        assert isinstance(error, ConnectionLost) and error.may_have_run
        assert "ended without a response" in str(error)
        await transport.send(legacy("tools/list", 2))
        await web.answer(2)
    assert "GET" not in fake.methods()


async def test_a_modern_stream_is_never_resumed() -> None:
    async def play(request: Request, reply: Reply) -> None:
        await reply.event(NOTE, id="e-1")
        await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1))
        assert isinstance(await web.failure(1), ConnectionLost)
    assert fake.methods() == ["tools/call"]


async def test_a_legacy_stream_is_resumed_where_it_stopped_after_the_time_the_server_names() -> None:
    times: list[float] = []
    request_id: list[Any] = []

    async def on_request(request: Request, reply: Reply) -> None:
        request_id.append(request.json["id"])
        await reply.stream()
        await reply.event(None, id="call/0", retry=300)
        times.append(asyncio.get_running_loop().time())
        await reply.end()

    async def on_get(request: Request, reply: Reply) -> None:
        last = request.header("Last-Event-ID")
        if last is None:
            await reply.send(405)
            return
        times.append(asyncio.get_running_loop().time())
        await reply.stream()
        if last == "call/0":
            await reply.event(NOTE, id="call/1", retry=50)
            await reply.piece(b"data: half an ev")
            reply.drop()
        else:
            await reply.event({"jsonrpc": "2.0", "id": request_id[0], "result": {"late": True}}, id="call/2")
            await reply.end()

    async with FakeHttp(legacy_server(on_request, on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/call", 1))
        assert (await web.answer(1))["result"] == {"late": True}
    resumed = [r for r in fake.requests if r.header("Last-Event-ID")]
    assert [r.header("Last-Event-ID") for r in resumed] == ["call/0", "call/1"]
    assert all(r.header("Mcp-Session-Id") == "s-1" and r.header("Accept") == "text/event-stream" for r in resumed)
    assert times[1] - times[0] >= 0.28


@pytest.mark.parametrize("how", ["405", "500", "nothing new", "drop"])
async def test_resuming_ends_when_it_brings_nothing(how: str) -> None:
    async def on_request(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event(None, id="0", retry=5)
        await reply.end()

    async def on_get(request: Request, reply: Reply) -> None:
        if request.header("Last-Event-ID") is None or how == "405":
            await reply.send(405)
        elif how == "500":
            await reply.send(500)
        elif how == "drop":
            reply.drop()
        else:
            await reply.stream()
            await reply.end()

    async with FakeHttp(legacy_server(on_request, on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/call", 1))
        error = await web.failure(1)
        assert isinstance(error, ConnectionLost) and error.may_have_run
        attempts = [request for request in fake.requests if request.header("Last-Event-ID")]
    assert 1 <= len(attempts) <= 2 * module.MOST_ATTEMPTS  # the library repeats a dropped GET once by itself


async def test_cancelling_a_request_that_is_being_resumed_ends_that() -> None:
    async def on_request(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event(None, id="0", retry=5)
        await reply.end()

    async def on_get(request: Request, reply: Reply) -> None:
        if request.header("Last-Event-ID") is None:
            await reply.send(405)
        else:
            await reply.stream()
            await reply.gone()

    async with FakeHttp(legacy_server(on_request, on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/call", 1))
        await fake.until(lambda: fake.requests[-1].header("Last-Event-ID"))
        transport.cancel(1)
        await fake.until(lambda: fake.open <= 1)
    assert web.failed == {}


# --- the session's own stream ----------------------------------------------------------------------------------------


async def test_the_session_stream_brings_messages_and_goes_on_after_it_ended() -> None:
    async def on_get(request: Request, reply: Reply) -> None:
        await reply.stream()
        if request.header("Last-Event-ID") is None:
            await reply.event(NOTE, id="g/1", retry=10)
            await reply.end()
        else:
            await reply.event({"jsonrpc": "2.0", "id": "s1", "method": "ping"})
            await reply.piece(b": alive\n\n")
            await reply.gone()

    async with FakeHttp(legacy_server(on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await web.until(lambda: web.alive)
        assert [message["method"] for message in web.messages[1:]] == ["notifications/message", "ping"]
        assert web.alive == [None]
        assert [r.header("Last-Event-ID") for r in fake.requests if r.method == "GET"] == [None, "g/1"]
        await transport.close()
        await fake.until(lambda: fake.open == 0)


@pytest.mark.parametrize("status", [404, 405, 400, 501, 200])
async def test_a_server_without_a_session_stream_is_asked_once(status: int) -> None:
    async def on_get(request: Request, reply: Reply) -> None:
        await reply.send(status, b"<html>", content_type="text/html")

    async with FakeHttp(legacy_server(on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await fake.until(lambda: "GET" in fake.methods())
        for id in range(1, 4):
            await transport.send(legacy("tools/list", id))
            await web.answer(id)
            await asyncio.sleep(0.05)
    assert fake.methods().count("GET") == 1
    assert web.failed == {} and web.noise == []


async def test_a_session_stream_that_ends_at_once_is_opened_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    async def on_get(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.end()

    monkeypatch.setattr(module, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 60.0)
    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    async with FakeHttp(legacy_server(on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await fake.until(lambda: fake.methods().count("GET") == 9)
    assert pauses[:8] == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


async def test_a_server_that_ends_its_stream_at_once_and_says_no_pause_is_not_hurried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    async def on_get(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.piece(b"retry: 0\n\n")
        await reply.end()

    monkeypatch.setattr(module, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(module.asyncio, "sleep", sleep)
    async with FakeHttp(legacy_server(on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await fake.until(lambda: fake.methods().count("GET") == 4)
    assert pauses[:3] == [0.05, 0.05, 0.05]  # the longest pause of these tests


async def test_the_end_of_the_session_is_told_when_its_stream_had_been_there() -> None:
    async def on_get(request: Request, reply: Reply) -> None:
        if request.header("Last-Event-ID"):
            await reply.send(404)
        else:
            await reply.stream()
            await reply.event(NOTE, id="1", retry=5)
            await reply.end()

    async with FakeHttp(legacy_server(on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await web.until(lambda: None in web.failed)
        assert isinstance(web.failed[None], SessionEnded)


async def test_a_server_that_is_gone_is_told_when_the_session_stream_had_been_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "UNREACHABLE", 0.1)

    async def on_get(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event(NOTE)
        await reply.gone()

    fake = FakeHttp(legacy_server(on_get=on_get))
    await fake.__aenter__()
    async with opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await web.until(lambda: len(web.messages) == 2)
        await fake.__aexit__(None)
        await web.until(lambda: None in web.failed)
        error = web.failed[None]
        assert isinstance(error, ConnectionLost) and not error.may_have_run


# --- sizes -----------------------------------------------------------------------------------------------------------


async def test_ten_megabytes_in_one_event_arrive_within_four_times_the_memory() -> None:
    size = 10_000_000
    payload = sse.encode(b'{"jsonrpc":"2.0","id":1,"result":{"t":"' + b"x" * size + b'"}}')
    pieces = [payload[i : i + 16384] for i in range(0, len(payload), 16384)]

    async def play(request: Request, reply: Reply) -> None:
        for piece in pieces:
            await reply.piece(piece)
        await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 0))  # imports and buffers come once
        await web.settled(1)
        web.messages.clear()
        tracemalloc.start()
        try:
            await transport.send(modern("tools/call", 1))
            message = await web.answer(1, 30)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert len(message["result"]["t"]) == size
    assert peak < 4 * size


async def test_a_response_beyond_the_limit_fails_at_once_and_says_how_to_raise_it() -> None:
    async def play(request: Request, reply: Reply) -> None:
        if request.json["id"] == 1:
            await reply.piece(b'data: {"jsonrpc":"2.0","id":1,"result":{"t":"' + b"x" * 3000)
            await reply.gone()
        else:
            await reply.event(reply.answer({}))
            await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url, HttpOptions(max_event=2048)) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        error = await web.failure(1)
        assert isinstance(error, RemoteProtocolError)
        assert "larger than the limit of 2048 bytes" in str(error) and "max_event=" in str(error)
        await transport.send(legacy("tools/list", 2))
        await web.answer(2)


async def test_a_notification_beyond_the_limit_costs_itself_only() -> None:
    async def play(request: Request, reply: Reply) -> None:
        await reply.event({**NOTE, "params": {"data": "x" * 3000}})
        await reply.event(reply.answer({}))
        await reply.end()

    async with FakeHttp(streaming(play)) as fake, opened(fake.url, HttpOptions(max_event=2048)) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        await web.answer(1)
    assert len(web.noise) == 1 and "larger than the limit" in web.noise[0].text
