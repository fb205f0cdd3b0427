"""What HTTP does beside messages is told, in both eras and over the older transport: nothing of a trace is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.test_sse_transport import OldServer
from tests.transport.web import Web, initialize, legacy, legacy_server, modern, opened, opened_sse

if TYPE_CHECKING:
    from jupyter_mcp.transport.traffic import HttpEvent

pytestmark = pytest.mark.anyio


def told(web: Web) -> list[tuple[object, ...]]:
    """The events without their words."""
    return [(e.kind, e.verb, e.status, e.method, e.request_id) for e in web.traffic]


def about(web: Web, id: int) -> list[HttpEvent]:
    """The events of one request."""
    return [event for event in web.traffic if event.request_id == id]


async def test_a_session_tells_of_what_was_accepted_of_the_stream_it_has_not_and_of_its_end() -> None:
    async with FakeHttp(legacy_server()) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await web.until(lambda: len(web.traffic) == 2)
        await transport.send({"jsonrpc": "2.0", "id": 9, "result": {}})
        await transport.close()
    assert ("answer", "POST", 202, "notifications/initialized", None) in told(web)
    assert ("answer", "GET", 405, None, None) in told(web)
    assert ("answer", "POST", 202, None, None) in told(web), "an answer of ours was taken"
    assert told(web)[-1] == ("answer", "DELETE", 204, None, None)
    assert web.traffic[0].text in ("Accepted", "Method Not Allowed", "OK")


async def test_the_stream_of_a_session_is_told_from_its_beginning_to_its_end() -> None:
    async def on_get(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event({"jsonrpc": "2.0", "method": "notifications/message"}, id="g/1", retry=60_000)
        await reply.end()

    async with FakeHttp(legacy_server(on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await web.until(lambda: any(event.kind == "closed" for event in web.traffic))
    of_session = [(e.kind, e.status) for e in web.traffic if e.verb == "GET"]
    assert of_session == [("opened", 200), ("closed", None)]


async def test_a_stream_that_is_resumed_is_told_with_the_request_it_belongs_to() -> None:
    request_id: list[int] = []

    async def on_request(request: Request, reply: Reply) -> None:
        request_id.append(request.json["id"])
        await reply.stream()
        await reply.event(None, id="call/0", retry=10)
        await reply.end()

    async def on_get(request: Request, reply: Reply) -> None:
        if request.header("Last-Event-ID") is None:
            await reply.send(405)
            return
        await reply.stream()
        await reply.event({"jsonrpc": "2.0", "id": request_id[0], "result": {}}, id="call/1")
        await reply.end()

    async with FakeHttp(legacy_server(on_request, on_get=on_get)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/call", 1))
        await web.answer(1)
    seen = [(event.kind, event.verb, event.resumed) for event in about(web, 1)]
    assert seen == [("opened", "POST", False), ("closed", "POST", False), ("opened", "GET", True)]
    assert {event.method for event in about(web, 1)} == {"tools/call"}


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("status", [404, 405, 502])
async def test_an_answer_that_holds_no_message_is_told_with_its_request(era: str, status: int) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(status, b"<h1>no</h1>", content_type="text/html")

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send((modern if era == "modern" else legacy)("tools/list", 1))
        await web.failure(1)
    assert told(web) == [("answer", "POST", status, "tools/list", 1)]


async def test_an_answer_that_is_a_message_is_not_told_twice() -> None:
    async def script(request: Request, reply: Reply) -> None:
        error = {"jsonrpc": "2.0", "id": request.json["id"], "error": {"code": -32601, "message": "no"}}
        await reply.json(error, 404)

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/list", 1))
        await web.answer(1)
    assert web.traffic == []


async def test_an_answer_that_does_not_come_is_told_in_words() -> None:
    async def script(request: Request, reply: Reply) -> None:
        reply.drop()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1))
        await web.failure(1)
    assert told(web) == [("failed", "POST", None, "tools/call", 1)]
    assert web.traffic[0].text


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_closing_the_stream_cancels_in_the_modern_era_only(era: str) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.piece(b": working\n\n")
        await reply.gone()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send((modern if era == "modern" else legacy)("tools/call", 1))
        await web.until(lambda: web.alive == [1])
        transport.cancel(1)
        transport.cancel(1)
        await fake.until(lambda: fake.open == 0)
    kind = "cancelled" if era == "modern" else "closed"
    assert told(web) == [("opened", "POST", 200, "tools/call", 1), (kind, "POST", None, "tools/call", 1)]


async def test_a_request_that_was_answered_is_not_cancelled_any_more() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event(reply.answer({}))
        await reply.gone()  # the response is there, the stream stays open

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1))
        await web.answer(1)
        transport.cancel(1)
    assert [event.kind for event in web.traffic] == ["opened"]


async def test_the_older_transport_tells_of_its_stream_and_of_what_was_accepted() -> None:
    server = OldServer()
    async with FakeHttp(server, path="/sse") as fake, opened_sse(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        await web.until(lambda: web.answers(1) and len(web.traffic) == 2)
        assert server.stream is not None
        await server.stream.end()
        await web.until(lambda: web.closed)
    assert sorted(told(web), key=str) == [
        ("answer", "POST", 202, "tools/list", 1),
        ("closed", "GET", None, None, None),
        ("opened", "GET", 200, None, None),
    ]


async def test_the_older_transport_tells_that_nobody_was_there() -> None:
    from jupyter_mcp.errors import ConnectionFailed
    from jupyter_mcp.transport.sse import SseTransport

    web = Web()
    with pytest.raises(ConnectionFailed):
        await SseTransport("http://127.0.0.1:9/sse").open(web)
    assert [(event.kind, event.verb) for event in web.traffic] == [("failed", "GET")]
