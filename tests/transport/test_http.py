"""Streamable HTTP: what travels in each era, and what each kind of answer means."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionLost, LocalProtocolError, RemoteProtocolError
from jupyter_mcp.transport.base import Refused, SessionEnded
from jupyter_mcp.transport.http import HttpOptions, HttpTransport, wire
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.web import initialize, left_over, legacy, legacy_server, modern, opened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio


async def nothing(request: Request, reply: Reply) -> None:
    await reply.result({})


# --- the modern era --------------------------------------------------------------------------------------------------


async def test_a_modern_request_repeats_its_body_in_headers_and_has_no_session() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.result({"resultType": "complete"}, mcp_session_id="never")

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("server/discover", 0))
        await web.answer(0)
        await transport.send(modern("tools/call", 1, name="naïve", arguments={}))
        await web.answer(1)
    first, second = fake.requests
    assert first.header("Content-Type") == "application/json"
    assert first.header("Accept") == "application/json, text/event-stream"
    assert first.header("MCP-Protocol-Version") == "2026-07-28"
    assert first.header("Mcp-Method") == "server/discover"
    assert first.header("Mcp-Name") is None
    assert second.header("Mcp-Name") == "=?base64?bmHDr3Zl?="
    assert all(request.header("Mcp-Session-Id") is None for request in fake.requests)
    assert fake.methods() == ["server/discover", "tools/call"]  # no GET, no DELETE


async def test_annotated_arguments_travel_as_headers_once_the_tools_are_known() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    call = {"name": "t", "arguments": {"region": "eu"}}
    async with FakeHttp(nothing) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1, **call))
        transport.learn_tools([{"name": "t", "inputSchema": schema}, {"name": 5}, {"inputSchema": None}])
        await transport.send(modern("tools/call", 2, **call))
        await transport.send(legacy("tools/call", 3, **call))
        for id in (1, 2, 3):
            await web.answer(id)
    sent = {request.json["id"]: request.header("Mcp-Param-Region") for request in fake.requests}
    assert sent == {1: None, 2: "eu", 3: None}


async def test_an_argument_that_no_header_can_carry_fails_before_anything_is_sent() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}
    async with FakeHttp(nothing) as fake, opened(fake.url) as (transport, _):
        transport.learn_tools([{"name": "t", "inputSchema": schema}])
        with pytest.raises(LocalProtocolError, match="beyond"):
            await transport.send(modern("tools/call", 1, name="t", arguments={"n": 2**60}))
        with pytest.raises(LocalProtocolError, match="NaN"):
            await transport.send(modern("tools/call", 1, name="t", arguments={"n": float("nan")}))
    assert fake.requests == []


async def test_cancelling_a_modern_request_closes_its_stream_and_sends_nothing() -> None:
    async def script(request: Request, reply: Reply) -> None:
        if request.json["params"].get("name") == "slow":
            await reply.stream()
            await reply.piece(b": working\n\n")
            await reply.gone()
        else:
            await reply.result({})

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("tools/call", 1, name="slow"))
        await web.until(lambda: web.alive == [1])
        transport.cancel(1)
        await transport.send(legacy("notifications/cancelled", requestId=1))
        await fake.until(lambda: fake.open == 0)
        await transport.send(modern("tools/call", 2, name="quick"))
        await web.answer(2)
    assert fake.methods() == ["tools/call", "tools/call"]
    assert web.failed == {} and 1 not in [message.get("id") for message in web.messages]


async def test_the_notification_alone_cancels_a_modern_request_too() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.gone()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, _):
        await transport.send(modern("tools/call", 1, name="slow"))
        await fake.until(lambda: fake.requests)
        await transport.send(legacy("notifications/cancelled", requestId=1))
        await fake.until(lambda: fake.open == 0)
    assert fake.methods() == ["tools/call"]


# --- the legacy era --------------------------------------------------------------------------------------------------


async def test_a_session_is_kept_from_initialize_to_delete() -> None:
    async with FakeHttp(legacy_server(session="s-1")) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
        await transport.send({"jsonrpc": "2.0", "id": 9, "result": {}})
        await fake.until(lambda: "GET" in fake.methods())
    by = {request.rpc: request for request in fake.requests}
    assert set(by) == {"initialize", "notifications/initialized", "GET", "tools/list", "reply", "DELETE"}
    assert by["initialize"].header("Mcp-Session-Id") is None
    assert by["initialize"].header("MCP-Protocol-Version") is None
    assert by["GET"].header("Accept") == "text/event-stream"
    for name in ("notifications/initialized", "GET", "tools/list", "reply", "DELETE"):
        assert by[name].header("Mcp-Session-Id") == "s-1"
        assert by[name].header("MCP-Protocol-Version") == "2025-11-25"
        assert by[name].header("Mcp-Method") is None


async def test_the_session_is_known_before_its_answer_is_told() -> None:
    """Whoever hears the answer may send at once, also when it came on a stream."""

    async def script(request: Request, reply: Reply) -> None:
        if request.rpc == "initialize":
            await reply.stream(mcp_session_id="s-2")
            await reply.event(reply.answer({"protocolVersion": "2025-06-18"}))
            await reply.end()
        elif request.method == "POST":
            await reply.accepted()
        else:
            await reply.send(405)

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        told: list[asyncio.Task[int]] = []
        heard = web.on_message

        def on_message(message: dict[str, Any], size: int) -> None:
            heard(message, size)
            told.append(asyncio.ensure_future(transport.send(legacy("notifications/initialized"))))

        web.on_message = on_message
        await transport.send(legacy("initialize", 0))
        await web.until(lambda: told)
        await told[0]
    assert fake.requests[1].header("Mcp-Session-Id") == "s-2"
    assert fake.requests[1].header("MCP-Protocol-Version") == "2025-06-18"


async def test_a_server_without_sessions_gets_no_delete() -> None:
    async with FakeHttp(legacy_server(session=None)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await fake.until(lambda: "GET" in fake.methods())
    assert fake.methods() == ["initialize", "notifications/initialized", "GET"]


async def test_a_session_id_that_no_header_can_carry_is_not_taken() -> None:
    async with FakeHttp(legacy_server(session="a b")) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await fake.until(lambda: "GET" in fake.methods())
    assert fake.requests[-1].header("Mcp-Session-Id") is None
    assert [noise.kind for noise in web.noise] == ["http"]


async def test_an_ended_session_is_told_once_and_a_new_one_begins_with_initialize() -> None:
    live = ["s-1"]

    async def on_request(request: Request, reply: Reply) -> None:
        if request.header("Mcp-Session-Id") in live:
            await reply.result({})
        else:
            error = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Session not found"}}
            await reply.json(error, 404)

    async with FakeHttp(legacy_server(on_request)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        live.clear()
        await transport.send(legacy("tools/list", 1))
        await transport.send(legacy("tools/list", 2))
        assert isinstance(await web.failure(1), SessionEnded)
        assert isinstance(await web.failure(2), SessionEnded)
        live.append("s-1")
        await initialize(transport, web, 3)
        assert next(r for r in fake.requests if r.json and r.json.get("id") == 3).header("Mcp-Session-Id") is None
        await transport.send(legacy("tools/list", 4))
        await web.answer(4)
    assert fake.methods().count("DELETE") == 1


async def test_a_session_that_the_server_has_ended_is_not_ended_again() -> None:
    async def on_request(request: Request, reply: Reply) -> None:
        await reply.send(404)

    async with FakeHttp(legacy_server(on_request)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/list", 1))
        assert isinstance(await web.failure(1), SessionEnded)
    assert "DELETE" not in fake.methods()


async def test_a_modern_request_beside_a_session_does_not_name_it() -> None:
    async with FakeHttp(legacy_server()) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(modern("tools/list", 1))
        await web.answer(1)
    request = next(request for request in fake.requests if request.rpc == "tools/list")
    assert request.header("Mcp-Session-Id") is None and request.header("MCP-Protocol-Version") == "2026-07-28"


async def test_a_method_that_is_not_found_is_no_ended_session() -> None:
    async def on_request(request: Request, reply: Reply) -> None:
        error = {"code": -32601, "message": "no such method"}
        await reply.json({"jsonrpc": "2.0", "id": request.json["id"], "error": error}, 404)

    async with FakeHttp(legacy_server(on_request)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("odd", 1))
        assert (await web.answer(1))["error"]["code"] == -32601


@pytest.mark.parametrize("number", range(6))
async def test_whatever_a_server_says_to_a_notification_is_fine(number: int) -> None:
    async def on_other(request: Request, reply: Reply) -> None:
        match number:
            case 0:
                await reply.send(202, b"Accepted", content_type="text/plain")
            case 1:
                await reply.send(202, content_type="text/event-stream")
            case 2:
                await reply.raw(b"HTTP/1.1 204 No Content\r\n\r\n")
            case 3:
                await reply.send(200)
            case 4:
                await reply.send(200, b"null", content_type="application/json")
            case _:
                await reply.stream()
                await reply.gone()

    async with FakeHttp(legacy_server(on_other=on_other)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
    assert web.noise == []


async def test_a_refused_notification_is_told_and_costs_nothing() -> None:
    async def on_other(request: Request, reply: Reply) -> None:
        await reply.send(400, b"<html><b>bad</b> session</html>")

    async with FakeHttp(legacy_server(on_other=on_other)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
    assert [noise.text for noise in web.noise] == ["HTTP 400 Status to notifications/initialized: bad session"]


async def test_cancelling_a_legacy_request_frees_it_and_the_notification_goes_out() -> None:
    async def on_request(request: Request, reply: Reply) -> None:
        await reply.stream()
        await reply.piece(b": working\n\n")
        await reply.gone()

    async with FakeHttp(legacy_server(on_request)) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        await transport.send(legacy("tools/call", 1))
        await web.until(lambda: web.alive)
        transport.cancel(1)
        await transport.send(legacy("notifications/cancelled", requestId=1))
        await fake.until(lambda: "notifications/cancelled" in fake.methods())
    assert web.failed == {}


# --- what an answer means --------------------------------------------------------------------------------------------


def says(status: int, body: bytes, **headers: str) -> Callable[[Request, Reply], Awaitable[None]]:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(status, body, **headers)

    return script


@pytest.mark.parametrize("id", [7, "7", None, "server-error"])
async def test_an_error_beside_a_bad_status_is_the_answer_whatever_its_id(id: Any) -> None:
    error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["x"]}}
    body = json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()
    async with FakeHttp(says(400, body, content_type="application/json")) as fake, opened(fake.url) as (transport, web):
        await transport.send(modern("server/discover", 7))
        assert (await web.answer(7))["error"] == error


@pytest.mark.parametrize(
    ("status", "body", "kept"),
    [
        (
            502,
            b"<html><style>x{}</style><script>alert(1)</script><h1>502 Bad</h1>\x1b[31mgateway</html>",
            "502 Bad gateway",
        ),
        (400, b'{"error":{"code":"bad_request","message":"no"}}', '{"error":{"code":"bad_request","message":"no"}}'),
        (404, b"", ""),
        (500, "é".encode("latin-1") + b"<scr<script>ipt>", "\ufffd ipt›"),
        (503, b"x" * 5000, "x" * 499 + "…"),
        (503, b"<!--" + b"x" * 5000, ""),
        (200, b"<html>Sign in</html>", "Sign in"),
        (200, b'{"status":"ok"}', '{"status":"ok"}'),
        (200, b"", "an empty answer, where a result is due"),
        (202, b"", "an empty answer, where a result is due"),
    ],
)
async def test_an_answer_that_holds_no_message_is_refused_with_its_text_made_safe(
    status: int, body: bytes, kept: str
) -> None:
    async with FakeHttp(says(status, body, content_type="text/html")) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("initialize", 0))
        error = await web.failure(0)
    assert isinstance(error, Refused)
    assert (error.status, error.body, error.challenge) == (status, kept, "")


async def test_a_refusal_whose_text_does_not_end_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "START_LIMIT", 0.1)

    async def script(request: Request, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nthe beg")
        await reply.gone()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("initialize", 0))
        error = await web.failure(0)
    assert isinstance(error, Refused) and (error.status, error.body) == (500, "the beg")


@pytest.mark.parametrize("name", ["Authorization", "authorization", "X-Key"])
async def test_a_refusal_knows_whether_a_token_was_sent(name: str) -> None:
    options = HttpOptions(headers={name: "Bearer x"})
    async with FakeHttp(says(401, b"no")) as fake, opened(fake.url, options) as (transport, web):
        await transport.send(legacy("initialize", 0))
        error = await web.failure(0)
    assert isinstance(error, Refused) and error.authorized == (name != "X-Key")


@pytest.mark.parametrize("status", [401, 403, 413, 421, 431])
async def test_who_may_not_come_in_is_told_so_even_in_json_rpc(status: int) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "who are you?"}}).encode()
    script = says(status, body, www_authenticate='Bearer resource_metadata="https://x/"')
    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("initialize", 0))
        error = await web.failure(0)
    assert isinstance(error, Refused)
    assert (error.status, error.body) == (status, "who are you?")
    assert error.challenge == 'Bearer resource_metadata="https://x/"'


async def test_an_id_that_came_back_as_text_is_ours_all_the_same() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.json({"jsonrpc": "2.0", "id": str(request.json["id"]), "result": {}})

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        await web.until(lambda: web.answers("1"))
    assert web.failed == {}


async def test_a_batch_as_the_answer_is_handed_on_as_one() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.json([{"jsonrpc": "2.0", "method": "notifications/message"}, reply.answer({})])

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        await web.until(lambda: web.batches)
    assert [message.get("id") for message in web.batches[0]] == [None, 1]
    assert web.failed == {}


async def test_an_answer_to_something_else_fails_the_request_and_is_handed_on() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.json({"jsonrpc": "2.0", "id": 99, "result": {}})

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        assert isinstance(await web.failure(1), RemoteProtocolError)
    assert web.answers(99)


async def test_a_compressed_answer_is_read_and_a_bomb_is_not() -> None:
    async def script(request: Request, reply: Reply) -> None:
        size = 50 if request.json["id"] == 1 else 40_000_000
        body = gzip.compress(json.dumps(reply.answer({"text": "x" * size})).encode())
        await reply.send(200, body, content_type="application/json", content_encoding="gzip")

    options = HttpOptions(max_body=1_000_000)
    async with FakeHttp(script) as fake, opened(fake.url, options) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        assert (await web.answer(1))["result"]["text"] == "x" * 50
        await transport.send(legacy("tools/list", 2))
        error = await web.failure(2)
        assert (
            isinstance(error, RemoteProtocolError)
            and "limit of 1000000 bytes" in str(error)
            and "max_event=" in str(error)
        )
    assert "gzip" in (fake.requests[0].header("Accept-Encoding") or "")


async def test_connections_are_used_again_after_every_kind_of_answer() -> None:
    async def on_request(request: Request, reply: Reply) -> None:
        if request.json["id"] % 2:
            await reply.result({})
        else:
            await reply.stream()
            await reply.event(reply.answer({}))
            await asyncio.sleep(0.01)  # the end of the stream comes apart from its last event
            await reply.end()

    async with FakeHttp(legacy_server(on_request, session=None)) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("initialize", 0))
        await web.answer(0)
        for id in range(1, 9):
            await transport.send(legacy("tools/list", id))
            await web.answer(id)
            await asyncio.sleep(0.05)
            await transport.send(legacy("notifications/x"))
    assert {request.connection for request in fake.requests} == {1}


# --- life ------------------------------------------------------------------------------------------------------------


async def test_opening_sends_nothing_and_closing_twice_is_fine() -> None:
    async with FakeHttp(nothing) as fake, opened(fake.url) as (transport, _):
        await asyncio.gather(transport.close(), transport.close())
        with pytest.raises(ConnectionLost) as caught:
            await transport.send(legacy("ping", 1))
        assert not caught.value.may_have_run
    assert fake.requests == []


async def test_closing_cuts_what_is_under_way_and_ends_although_the_server_hangs() -> None:
    async def script(request: Request, reply: Reply) -> None:
        if request.rpc == "initialize":
            await reply.result({"protocolVersion": "2025-11-25"}, mcp_session_id="s")
        else:
            await reply.gone()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        await transport.send(legacy("initialize", 0))
        await web.answer(0)
        for id in range(1, 6):
            await transport.send(legacy("tools/call", id))
        await fake.until(lambda: len(fake.requests) == 6)
        async with asyncio.timeout(20):
            await transport.close()
        await fake.until(lambda: fake.open == 0)
    assert fake.methods()[-1] == "DELETE"
    assert web.failed == {}


async def test_a_closing_that_is_cancelled_goes_on_by_itself() -> None:
    async with FakeHttp(legacy_server()) as fake, opened(fake.url) as (transport, web):
        await initialize(transport, web)
        closing = asyncio.create_task(transport.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await web.until(lambda: web.closed)
    assert fake.methods()[-1] == "DELETE" and left_over() == []


async def test_an_unopened_transport_can_be_closed() -> None:
    await HttpTransport("http://127.0.0.1:9/mcp").close()


def test_the_key_names_a_server_and_holds_no_secret() -> None:
    one = HttpTransport("https://user:pw@host/mcp?key=secret")
    assert one.key == HttpTransport("https://user:pw@host/mcp?key=secret").key
    assert one.key != HttpTransport("https://user:pw@host/mcp").key
    assert one.key != HttpTransport("https://user:pw@host/mcp?key=secret", HttpOptions(socket="/x")).key
    assert "secret" not in repr(one.key) and "pw" not in repr(one.key)


def test_options_show_no_secret() -> None:
    shown = repr(HttpOptions(headers={"Authorization": "Bearer hidden"}, proxy="http://u:hidden@p:1"))
    assert "hidden" not in shown


def test_a_fallback_is_offered_unless_this_transport_was_asked_for() -> None:
    down = HttpTransport("http://h/mcp").downgraded()
    assert down is not None and down.kind == "sse"
    assert HttpTransport("http://h/mcp", HttpOptions(insist=True)).downgraded() is None


def test_importing_the_transports_and_the_host_imports_no_http_library() -> None:
    program = (
        "import sys, jupyter_mcp.transport.http, jupyter_mcp.transport.sse, jupyter_mcp.host, jupyter_mcp.host.host, "
        "jupyter_mcp.host.transports\n"
        "print([name for name in ('aiohttp', 'httpx', 'yarl', 'httpx_aiohttp', 'ssl') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() in ("[]", "['ssl']")  # asyncio brings ssl
