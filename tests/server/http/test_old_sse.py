"""HTTP+SSE of 2024-11-05: off unless asked for; one stream, and an address to post to."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.server.http.conftest import serving, until
from tests.server.http.raw import INFO, Answer, Connection, Raw

pytestmark = pytest.mark.anyio


async def open_stream(raw: Raw, on: Connection | None = None) -> tuple[Answer, str]:
    answer = await raw.http("GET", {"Accept": "text/event-stream"}, path="/sse", on=on)
    assert answer.status == 200 and answer.kind == "text/event-stream"
    event = await answer.event()
    assert event is not None and event.event == "endpoint"
    return answer, event.data.decode()


async def ask(raw: Raw, answer: Answer, address: str, method: str, params: Any = None, id: Any = 1) -> Any:
    posted = await raw.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}, path=address)
    assert (posted.status, await posted.body()) == (202, b"")
    event = await answer.event()
    assert event is not None and event.event == "message"
    return json.loads(event.data)


async def connected(raw: Raw, on: Connection | None = None) -> tuple[Answer, str]:
    answer, address = await open_stream(raw, on)
    params: dict[str, Any] = {
        "protocolVersion": "2024-11-05",
        "capabilities": {"sampling": {}, "roots": {}},
        "clientInfo": INFO,
    }
    result = (await ask(raw, answer, address, "initialize", params, 0))["result"]
    assert result["protocolVersion"] == "2024-11-05"
    assert (await raw.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, path=address)).status == 202
    return answer, address


async def test_it_is_not_there_unless_asked_for():
    async with serving() as (raw, _, _):
        assert (await raw.http("GET", path="/sse")).status == 404
        assert (await raw.http("POST", path="/messages", body=b"{}")).status == 404


async def test_a_call_is_posted_and_answered_on_the_stream():
    async with serving(sse=True) as (raw, server, _):
        answer, address = await connected(raw)
        assert urlsplit(address).path == "/messages"
        called = await ask(raw, answer, address, "tools/call", {"name": "add", "arguments": {"a": 1}}, "x")
        assert called["id"] == "x" and called["result"]["content"][0]["text"] == "2"
        server.tools_changed()
        event = await answer.event()
        assert event is not None and b"notifications/tools/list_changed" in event.data
        assert b"\nid:" not in answer.raw and not answer.raw.startswith(b"id:")


async def test_a_question_comes_on_the_stream():
    async with serving(sse=True) as (raw, _, _):
        answer, address = await connected(raw)
        asked = await ask(raw, answer, address, "tools/call", {"name": "several"}, 5)
        assert asked["id"] == 5 and asked["result"]["isError"]  # 2024-11-05 has no elicitation


async def test_its_two_addresses_want_the_token_and_the_right_names():
    async with serving(sse=True) as (raw, _, _):
        _, address = await open_stream(raw)
        for path, method in (("/sse", "GET"), (address, "POST")):
            body = b"{}" if method == "POST" else None
            assert (await raw.http(method, {"Authorization": None}, body, path=path)).status == 401
            assert (await raw.http(method, {"Host": "evil.example"}, body, path=path)).status == 421
            assert (await raw.http(method, {"Origin": "http://evil.example"}, body, path=path)).status == 403


async def test_a_post_to_no_connection_is_404_and_one_to_the_stream_405():
    async with serving(sse=True) as (raw, _, _):
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        await raw.initialize()
        for path in ("/messages", "/messages?session_id=x", f"/messages?session_id={raw.session}"):
            assert (await raw.post(message, path=path)).status == 404
        answer = await raw.post(message, path="/sse")
        assert answer.status == 405 and answer.headers["allow"] == "GET"


async def test_odd_bodies_are_refused_and_cost_nothing():
    async with serving(sse=True) as (raw, _, _):
        answer, address = await connected(raw)
        for body, status in ((b"{", 400), (b"7", 400), (b"null", 400), (b"\xff", 400)):
            assert (await raw.post(body, path=address)).status == status
        assert (await raw.post(b"{}", {"Content-Type": "text/plain"}, path=address)).status == 415
        assert (await ask(raw, answer, address, "ping", id=9))["id"] == 9


async def test_the_connection_is_over_with_its_stream():
    async with serving(sse=True) as (raw, _, gates):
        connection = await raw.connect()
        _, address = await connected(raw, connection)
        await raw.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}, path=address)
        connection.abort()
        await until(lambda: gates.seen == ["cancelled"])
        assert (await raw.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, path=address)).status == 404


async def test_streams_end_when_the_server_stops():
    async with serving(sse=True) as (raw, _, _):
        answer, _ = await connected(raw)
        await raw.running.endpoint.close()
        assert await answer.event() is None
