"""HTTP+SSE (2024-11-05): one stream down, POSTs up, and everything that can be wrong with either."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, RemoteProtocolError
from jupyter_mcp.transport import sse as module
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.http import HttpOptions, HttpTransport
from jupyter_mcp.transport.sse import SseTransport
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.recorder import Recorder
from tests.transport.web import left_over, legacy, opened_sse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio


class OldServer:
    """The script of such a server: answers everything with `{}` on its stream.

    Args:
        endpoint: what its first event names.
        accepts: how a POST is answered.
        first: sent before that event.
    """

    def __init__(
        self,
        endpoint: str = "/messages?session=1",
        accepts: Callable[[Request, Reply], Awaitable[None]] | None = None,
        first: bytes = b"",
    ) -> None:
        self.endpoint = endpoint
        self.first = first
        self.stream: Reply | None = None
        self._accepts = accepts

    async def __call__(self, request: Request, reply: Reply) -> None:
        if request.method == "GET":
            await reply.stream()
            await reply.piece(self.first + f"event: endpoint\ndata: {self.endpoint}\n\n".encode())
            self.stream = reply
            await reply.gone()
        elif self._accepts is not None:
            await self._accepts(request, reply)
        else:
            await reply.accepted()
            if "id" in request.json and "method" in request.json:
                await self.say(reply.answer({"echo": request.json["method"]}))

    async def say(self, value: object) -> None:
        """An event on the stream."""
        assert self.stream is not None
        await self.stream.event(value, name="message")


async def test_requests_are_posted_to_the_endpoint_and_answered_on_the_stream() -> None:
    server = OldServer(first=b": hi\n\n")
    options = HttpOptions(headers={"Authorization": "Bearer t"})
    async with FakeHttp(server, path="/sse") as fake, opened_sse(fake.url, options) as (transport, web):
        await transport.send(legacy("initialize", 1))
        assert (await web.answer(1))["result"] == {"echo": "initialize"}
        await transport.send(legacy("notifications/initialized"))
        await server.say({"jsonrpc": "2.0", "id": "s", "method": "ping"})
        await web.until(lambda: len(web.messages) == 2)
        await transport.send({"jsonrpc": "2.0", "id": "s", "result": {}})
        await transport.close()
        await fake.until(lambda: fake.open == 0)
    stream, *posts = fake.requests
    assert (stream.method, stream.target, stream.header("Accept")) == ("GET", "/sse", "text/event-stream")
    assert {post.target for post in posts} == {"/messages?session=1"}
    assert [post.rpc for post in posts] == ["initialize", "notifications/initialized", "reply"]
    assert all(request.header("Authorization") == "Bearer t" for request in fake.requests)
    assert web.closed[0].reason == "was closed" and web.alive == [None]


@pytest.mark.parametrize(
    ("endpoint", "target"),
    [("messages?x=%2F", "/deep/messages?x=%2F"), ("?session=2", "/deep/sse?session=2"), ("/a%2Fb", "/a%2Fb")],
)
async def test_a_relative_endpoint_is_meant_from_the_stream(endpoint: str, target: str) -> None:
    async with FakeHttp(OldServer(endpoint), path="/deep/sse") as fake, opened_sse(fake.url) as (transport, web):
        await transport.send(legacy("ping", 1))
        await web.answer(1)
    assert fake.requests[1].target == target


@pytest.mark.parametrize("endpoint", ["http://localhost:1/x", "//127.0.0.1:1/x", "https://127.0.0.1/x", "file:///x"])
async def test_an_endpoint_of_another_origin_is_refused(endpoint: str) -> None:
    async with FakeHttp(OldServer(endpoint)) as fake:
        with pytest.raises(ConnectionFailed, match="another origin"):
            await SseTransport(fake.url).open(Recorder())
    assert len(fake.requests) == 1 and left_over() == []


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (404, {"content_type": "text/html"}, "HTTP 404 Not Found: gone away"),
        (401, {"www_authenticate": "Bearer"}, "HTTP 401.*give it a token"),
        (401, {"www_authenticate": 'Bearer error="invalid_token"'}, "does not take the token"),
        (200, {"content_type": "text/html"}, "no event stream but text/html"),
        (307, {"location": "http://localhost:1/sse"}, "use that URL"),
    ],
)
async def test_what_is_no_event_stream_is_said(status: int, headers: dict[str, str], says: str) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(status, b"<b>gone</b> away", **headers)

    async with FakeHttp(script) as fake:
        with pytest.raises(ConnectionFailed, match=says) as caught:
            await SseTransport(fake.url).open(Recorder())
    assert caught.value.status == status


async def test_nobody_there_is_said() -> None:
    with pytest.raises(ConnectionFailed, match="refuses connections"):
        await SseTransport("http://127.0.0.1:9/sse").open(Recorder())


@pytest.mark.parametrize("ends", [True, False])
async def test_a_stream_that_names_no_endpoint_is_no_connection(ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENDPOINT_LIMIT", 0.2)

    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.event({"jsonrpc": "2.0", "method": "hello"})
        await (reply.end() if ends else reply.gone())

    async with FakeHttp(script) as fake:
        with pytest.raises(ConnectionFailed, match="endpoint"):
            await SseTransport(fake.url).open(Recorder())
        await fake.until(lambda: fake.open == 0 or ends)


@pytest.mark.parametrize("how", ["ends", "reset"])
async def test_the_end_of_the_stream_is_the_end_of_the_connection(how: str) -> None:
    server = OldServer(accepts=lambda request, reply: reply.accepted())
    async with FakeHttp(server) as fake, opened_sse(fake.url) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        await fake.until(lambda: len(fake.requests) == 2)
        assert server.stream is not None
        if how == "ends":
            await server.stream.end()
        else:
            server.stream.reset()
        await web.until(lambda: web.closed)
        with pytest.raises(ConnectionLost) as caught:
            await transport.send(legacy("ping", 2))
        assert not caught.value.may_have_run
    assert len(web.closed) == 1
    assert web.closed[0].reason.startswith("closed its event stream" if how == "ends" else "is gone: ")


async def test_a_refused_post_fails_that_request_only() -> None:
    async def accepts(request: Request, reply: Reply) -> None:
        number = request.json.get("id")
        if number == 1:
            await reply.send(502, b"<h1>Bad</h1> gateway")
        elif number == 2:
            error = {"code": -32602, "message": "bad"}
            await reply.json({"jsonrpc": "2.0", "id": None, "error": error}, 400)
        elif number == 3:
            reply.drop()
        elif number == 4:
            await reply.result({"at": "once"})
        else:
            await reply.send(400, b"no")

    async with FakeHttp(OldServer(accepts=accepts)) as fake, opened_sse(fake.url) as (transport, web):
        for id in (1, 2, 3, 4):
            await transport.send(legacy("tools/call", id))
        await transport.send(legacy("notifications/x"))
        refused, error, lost, done = [await web.settled(id) for id in (1, 2, 3, 4)]
        assert isinstance(refused, Refused) and (refused.status, refused.body) == (502, "Bad gateway")
        assert isinstance(error, dict) and error["error"]["code"] == -32602
        assert isinstance(lost, ConnectionLost) and lost.may_have_run
        assert isinstance(done, dict) and done["result"] == {"at": "once"}
        assert [noise.text for noise in web.noise] == ["HTTP 400 Status to notifications/x: no"]


async def test_an_answer_beyond_the_limit_fails_its_request_and_the_stream_goes_on() -> None:
    server = OldServer(accepts=lambda request, reply: reply.accepted())
    async with FakeHttp(server) as fake, opened_sse(fake.url, HttpOptions(max_event=2000)) as (transport, web):
        for id in (1, 2):
            await transport.send(legacy("tools/call", id))
        await fake.until(lambda: len(fake.requests) == 3)
        await server.say({"jsonrpc": "2.0", "id": 1, "result": {"t": "x" * 5000}})
        await server.say({"jsonrpc": "2.0", "id": 2, "result": {}})
        await web.answer(2)
        assert isinstance(web.failed[1], RemoteProtocolError) and "max_event" in str(web.failed[1])


async def test_closing_ends_what_is_under_way() -> None:
    async def accepts(request: Request, reply: Reply) -> None:
        await reply.gone()

    async with FakeHttp(OldServer(accepts=accepts)) as fake, opened_sse(fake.url) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        await transport.send(legacy("tools/call", 2))
        await fake.until(lambda: len(fake.requests) == 3)
        transport.cancel(1)
        await fake.until(lambda: fake.open == 2)
        await asyncio.gather(transport.close(), transport.close())
        await fake.until(lambda: fake.open == 0)
    assert web.failed == {}


async def test_an_unopened_transport_can_be_closed() -> None:
    await SseTransport("http://127.0.0.1:9/sse").close()


def test_the_keys_of_both_transports_differ() -> None:
    assert SseTransport("http://h/mcp").key != HttpTransport("http://h/mcp").key
